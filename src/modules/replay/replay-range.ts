import { invalid } from '#kernel/errors.js';
import { type Id, lowestIdAt } from '#kernel/ids.js';
import { momentMs } from '#kernel/moment.js';

/** The time that a job covers: as the caller gave it, and as the ids that lie in it, from `fromId` to below `beforeId`. */
export interface ReplayRange {
  since: Date | null;
  until: Date | null;
  fromId: Id;
  beforeId: Id;
}

/** The window ends now at the latest: what comes, or fails, while the job runs is none of its. `within` is where it stands in the body. Throws 422. */
export function windowOf(query: { since?: string; until?: string }, nowMs: number, within = ''): ReplayRange {
  const since = query.since === undefined ? null : new Date(momentMs(query.since, `${within}since`));
  const until = query.until === undefined ? null : new Date(momentMs(query.until, `${within}until`));
  if (since && until && since > until) throw invalid([{ path: `${within}since`, message: 'must not be after until' }]);
  const endMs = Math.min(until?.getTime() ?? nowMs, nowMs);
  return { since, until, fromId: lowestIdAt(since?.getTime() ?? 0), beforeId: lowestIdAt(endMs + 1) };
}
