import { word } from '../kit/messages/t';

/** Returns the kind of a job in words. For a job on filtered events, this is its action. */
export function describeKind({ kind, action }: { kind: string; action?: string | null }): string {
  return word('job', action ? `${kind}.${action}` : kind);
}
