import { word } from '../kit/messages/t';

/** What a job does, in words: one over events that a filter matches says what it does to them. */
export function tellKind({ kind, action }: { kind: string; action?: string | null }): string {
  return word('job', action ? `${kind}.${action}` : kind);
}
