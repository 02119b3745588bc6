import { attemptsIn, failureRate, healthOf, type TargetFacts, totalOf } from './health';

const outcomes = (delivered: number, retried = 0, dlq = 0): TargetFacts['day'] => ({
  delivered,
  retried,
  failed: 0,
  dlq,
});
const OPENED = '2026-11-27T14:05:00.000Z';
const PROBE = '2026-11-27T14:10:00.000Z';
const ACTIVE: TargetFacts = {
  status: 'active',
  reason: null,
  disabledAt: null,
  circuit: { state: 'closed', openedAt: null, nextProbeAt: null },
  hour: outcomes(20),
  day: outcomes(100),
};

describe('healthOf', () => {
  it.each<[string, Partial<TargetFacts>, ReturnType<typeof healthOf>]>([
    ['no failures in the day', {}, { state: 'healthy' }],
    ['no failures in the day, before the hour is known', { hour: null }, { state: 'healthy' }],
    ['no attempts in the day', { hour: outcomes(0), day: outcomes(0) }, { state: 'idle' }],
    ['no figures yet', { hour: null, day: null }, null],
    ['failures in the day, before the hour is known', { hour: null, day: outcomes(9, 1) }, null],
    [
      'a quarter of the last hour failed',
      { hour: outcomes(15, 3, 2), day: outcomes(95, 3, 2) },
      { state: 'degraded', failureRate: 0.25, range: 'hour' },
    ],
    ['failures in the day, none in a busy last hour', { day: outcomes(50, 40, 10) }, { state: 'healthy' }],
    [
      'failures in the day, and too few attempts in the last hour to decide',
      { hour: outcomes(9), day: outcomes(50, 40, 10) },
      { state: 'degraded', failureRate: 0.5, range: 'day' },
    ],
    ['fewer failures than one in a hundred', { hour: outcomes(0), day: outcomes(995, 5) }, { state: 'healthy' }],
    [
      'one failure in a hundred',
      { hour: outcomes(0), day: outcomes(99, 1) },
      { state: 'degraded', failureRate: 0.01, range: 'day' },
    ],
    [
      'an open circuit, whatever the figures are',
      { circuit: { state: 'open', openedAt: OPENED, nextProbeAt: PROBE } },
      { state: 'circuit-open', since: OPENED, nextProbeAt: PROBE, isProbing: false },
    ],
    [
      'a probe in progress',
      { circuit: { state: 'half_open', openedAt: OPENED, nextProbeAt: null }, day: null },
      { state: 'circuit-open', since: OPENED, nextProbeAt: null, isProbing: true },
    ],
    [
      'disabled, although the circuit is open',
      {
        status: 'disabled',
        reason: 'The receiver answered 410 Gone.',
        disabledAt: OPENED,
        circuit: { state: 'open', openedAt: OPENED, nextProbeAt: PROBE },
      },
      { state: 'disabled', reason: 'The receiver answered 410 Gone.', since: OPENED },
    ],
    ['a target without a circuit of its own', { circuit: null }, { state: 'healthy' }],
  ])('%s', (_, facts, expected) => {
    expect(healthOf({ ...ACTIVE, ...facts })).toEqual(expected);
  });
});

describe('figures of several windows', () => {
  it('are added up, and the share of failed attempts follows from the sum', () => {
    const total = totalOf([
      { delivered: 6, retried: 1, failed: 0, dlq: 0 },
      { delivered: 0, retried: 0, failed: 2, dlq: 1 },
    ]);

    expect(total).toEqual({ delivered: 6, retried: 1, failed: 2, dlq: 1 });
    expect([attemptsIn(total), failureRate(total), failureRate(totalOf([]))]).toEqual([10, 0.4, null]);
  });
});
