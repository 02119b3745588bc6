import type { Schemas } from '../api/client';

type Position = Pick<Schemas['PullPositionItem'], 'committed_through' | 'backlog'>;

/** Health of a consumer: the key of its sentence, and its color. */
export interface PullHealth {
  sentence: 'caught-up' | 'unused' | 'behind' | 'never';
  tone: 'good' | 'busy' | 'bad' | 'dull';
}

/**
 * A consumer counts as stuck if its oldest pending event is at least this old. Consumers usually pull every few
 * minutes.
 */
const STUCK_MS = 3_600_000;

export function pullHealthOf({ committed_through: through, backlog }: Position, nowMs: number): PullHealth {
  if (backlog.count === 0)
    return through === null ? { sentence: 'unused', tone: 'dull' } : { sentence: 'caught-up', tone: 'good' };
  const isStuck = backlog.oldest_at !== null && nowMs - new Date(backlog.oldest_at).getTime() >= STUCK_MS;
  return { sentence: through === null ? 'never' : 'behind', tone: isStuck ? 'bad' : 'busy' };
}
