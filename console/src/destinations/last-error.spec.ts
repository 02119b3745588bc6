import { eventsWithErrors, isDelivered, lastErrorIn } from './last-error';

const at = (minute: number): string => `2026-11-27T14:${String(minute).padStart(2, '0')}:00.000Z`;

describe('isDelivered', () => {
  it.each([
    [{ status: 200, error: null }, true],
    [{ status: 204, error: null }, true],
    [{ status: 302, error: null }, false],
    [{ status: 500, error: null }, false],
    [{ status: null, error: 'timeout' }, false],
    [{ status: 200, error: 'protocol' }, false],
  ])('%j: %s', (attempt, expected) => {
    expect(isDelivered(attempt)).toBe(expected);
  });
});

describe('eventsWithErrors', () => {
  const event = (id: string, minute: number, status: number | null, count = 1) => ({
    id,
    attempt_count: count,
    last_attempt: { status, error: status === null ? 'timeout' : null, at: at(minute) },
  });

  it.each([
    ['nothing', [], []],
    ['events without attempts', [{ ...event('a', 1, 500), attempt_count: 0, last_attempt: null }], []],
    ['events delivered at once', [event('a', 1, 200)], []],
    ['events delivered by a retry', [event('a', 1, 200, 2)], ['a']],
    [
      'newest attempt first, each event once',
      [event('a', 1, 500), event('b', 3, null), event('a', 1, 500)],
      ['b', 'a'],
    ],
  ])('%s', (_, events, expected) => {
    expect(eventsWithErrors(events)).toEqual(expected);
  });
});

describe('lastErrorIn', () => {
  const attempt = (destination: string, minute: number, status: number) => ({
    delivery: 'evt_1.0',
    destination,
    number: 1,
    status,
    duration_ms: 4,
    at: at(minute),
    response_excerpt: `answer ${status}`,
    error: null,
    replayed: false,
  });

  it.each([
    ['no attempts', [], null],
    ['only an attempt that delivered', [attempt('dst_1', 1, 200)], null],
    ['only another destination failed', [attempt('dst_2', 1, 500)], null],
    [
      'the later of two failures',
      [attempt('dst_1', 4, 503), attempt('dst_1', 2, 500), attempt('dst_1', 5, 200), attempt('dst_2', 6, 400)],
      { event: 'evt_1', at: at(4), status: 503, error: null, excerpt: 'answer 503' },
    ],
  ])('%s', (_, attempts, expected) => {
    expect(lastErrorIn({ id: 'evt_1', attempts }, 'dst_1')).toEqual(expected);
  });
});
