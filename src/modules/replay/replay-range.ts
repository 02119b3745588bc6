import { invalid } from '#kernel/errors.js';
import { type Id, lowestIdAt } from '#kernel/ids.js';
import { momentMs } from '#kernel/moment.js';

/** Time range of a job, as the caller gave it and as a range of ids. `beforeId` is exclusive. */
export interface ReplayRange {
  since: Date | null;
  until: Date | null;
  fromId: Id;
  beforeId: Id;
}

/**
 * Returns the time range of a job. It ends at the current time at the latest, to exclude events that arrive or fail
 * while the job runs. Throws 422 for an invalid time. `within` is the prefix of the field names in the error.
 */
export function windowOf(query: { since?: string; until?: string }, nowMs: number, within = ''): ReplayRange {
  const since = query.since === undefined ? null : new Date(momentMs(query.since, `${within}since`));
  const until = query.until === undefined ? null : new Date(momentMs(query.until, `${within}until`));
  if (since && until && since > until) throw invalid([{ path: `${within}since`, message: 'must not be after until' }]);
  const endMs = Math.min(until?.getTime() ?? nowMs, nowMs);
  return { since, until, fromId: lowestIdAt(since?.getTime() ?? 0), beforeId: lowestIdAt(endMs + 1) };
}
