import type { Schemas } from '../api/client';

/** Fields of a listed event that describe its attempts. */
interface Listed {
  id: string;
  attempt_count: number;
  last_attempt: { status: number | null; error: string | null; at: string } | null;
}
type Attempt = Schemas['AttemptItem'];

/** A failed attempt to a destination, with its event. */
export interface LastError {
  event: string;
  at: string;
  status: number | null;
  error: string | null;
  excerpt: string | null;
}

/** Returns whether an attempt delivered its event, which requires a response with a 2xx status. */
export function isDelivered({ status, error }: { status: number | null; error: string | null }): boolean {
  return error === null && status !== null && status >= 200 && status < 300;
}

/** Returns the ids of the events that have a failed attempt, newest attempt first, each once. */
export function eventsWithErrors(events: readonly Listed[]): string[] {
  const failed = events.flatMap(({ id, attempt_count: count, last_attempt: last }) =>
    last !== null && (count > 1 || !isDelivered(last)) ? [{ id, at: last.at }] : [],
  );
  return [...new Set(failed.sort((a, b) => b.at.localeCompare(a.at)).map(({ id }) => id))];
}

/** Returns the last failed attempt to a destination among the attempts of an event, or null if there is none. */
export function lastErrorIn(
  { id, attempts }: { id: string; attempts: readonly Attempt[] },
  destination: string,
): LastError | null {
  const failed = attempts.filter((each) => each.destination === destination && !isDelivered(each));
  const last = failed.sort((a, b) => a.at.localeCompare(b.at)).at(-1);
  return last === undefined
    ? null
    : { event: id, at: last.at, status: last.status, error: last.error, excerpt: last.response_excerpt };
}
