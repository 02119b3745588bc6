import { nextOf } from './next-of';

const delivery = (next: string | null, probe?: string | null) => ({
  id: 'evt_1.0',
  destination: 'dst_1',
  status: 'retrying' as const,
  next_attempt_at: next,
  reason: null,
  replayed: false,
  circuit: probe === undefined ? null : { state: 'open' as const, opened_at: null, next_probe_at: probe },
});

describe('nextOf', () => {
  it.each([
    [
      'retrying',
      [delivery('2026-11-21T09:35:00.000Z'), delivery('2026-11-21T09:31:00.000Z')],
      { at: '2026-11-21T09:31:00.000Z', isProbe: false },
    ],
    [
      'retrying',
      [delivery('2026-11-21T09:35:00.000Z', '2026-11-21T09:30:30.000Z')],
      { at: '2026-11-21T09:30:30.000Z', isProbe: true },
    ],
    ['retrying', [delivery('2026-11-21T09:35:00.000Z', null)], null],
    ['retrying', [delivery(null)], null],
    ['dlq', [delivery('2026-11-21T09:35:00.000Z')], null],
  ] as const)('%s %j', (status, deliveries, expected) => {
    expect(nextOf({ status, deliveries: [...deliveries] })).toEqual(expected);
  });
});
