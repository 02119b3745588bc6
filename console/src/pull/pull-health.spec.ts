import { pullHealthOf } from './pull-health';

const NOW = Date.parse('2026-11-27T12:00:00Z');
const RECENT = '2026-11-27T11:30:00Z';
const OLD = '2026-11-27T11:00:00Z';

describe('pullHealthOf', () => {
  it.each([
    [null, 0, null, false, 'unused', 'dull'],
    ['evt_1', 0, null, false, 'caught-up', 'good'],
    ['evt_1', 3, RECENT, false, 'behind', 'busy'],
    ['evt_1', 3, OLD, false, 'behind', 'bad'],
    [null, 2, RECENT, false, 'never', 'busy'],
    [null, 1000, OLD, true, 'never', 'bad'],
  ] as const)('acknowledged through %s, %d pending since %s: %s', (through, count, at, isCapped, sentence, tone) => {
    const backlog = { count, is_capped: isCapped, oldest_at: at, oldest_event: at && 'evt_2' };

    expect(pullHealthOf({ committed_through: through, backlog }, NOW)).toEqual({ sentence, tone });
  });
});
