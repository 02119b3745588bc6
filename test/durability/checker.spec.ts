import type { Arrival, Disruption, Evidence, Sent } from './checker.js';
import { broken, check, summary } from './checker.js';

const AT_MS = 1_000_000;

const sent = (n: number, changes: Partial<Sent> = {}): Sent => ({
  key: `key-${n}`,
  bodyHash: `hash-${n}`,
  ids: [`msg_${n}`],
  acceptedAtMs: AT_MS,
  ...changes,
});

const arrival = (n: number, changes: Partial<Arrival> = {}): Arrival => ({
  id: `msg_${n}`,
  bodyHash: `hash-${n}`,
  isSigned: true,
  status: 200,
  receivedAtMs: AT_MS + 10,
  answeredAtMs: AT_MS + 11,
  ...changes,
});

const kill = (changes: Partial<Disruption> = {}): Disruption => ({
  kind: 'worker',
  atMs: AT_MS + 20,
  cutsAttempts: true,
  ...changes,
});

const evidence = (changes: Partial<Evidence> = {}): Evidence => ({
  sent: [sent(1), sent(2)],
  arrivals: [arrival(1), arrival(2)],
  disruptions: [],
  outages: [],
  ...changes,
});

const again = (n: number, afterMs: number): Arrival =>
  arrival(n, { receivedAtMs: AT_MS + afterMs, answeredAtMs: AT_MS + afterMs + 1 });

describe('the checker', () => {
  it('finds nothing if every accepted message arrived once', () => {
    const report = check(evidence());

    expect(broken(report)).toEqual([]);
    expect(report).toMatchObject({ accepted: 2, duplicates: 0, duplicatesMax: 0 });
  });

  it('finds nothing if the receiver itself requested another attempt', () => {
    const failed = [arrival(1, { status: 500 }), arrival(2, { status: 0, answeredAtMs: null })];

    const report = check(evidence({ arrivals: [...failed, again(1, 1000), again(2, 1000)] }));

    expect(broken(report)).toEqual([]);
    expect(report.duplicates).toBe(0);
  });

  it.each<[string, Partial<Evidence>, string]>([
    ['nothing arrived', { arrivals: [arrival(1)] }, '1 messages were answered 202 and never delivered'],
    [
      'only failed attempts arrived',
      { arrivals: [arrival(1), arrival(2, { status: 500 })] },
      '1 messages were answered 202 and never delivered',
    ],
    [
      'an id was never given',
      { arrivals: [arrival(1), arrival(2), arrival(3)] },
      '1 deliveries came under an id that no answer gave',
    ],
    [
      'a key has two ids',
      { sent: [sent(1, { ids: ['msg_1', 'msg_2'], bodyHash: 'hash' })], arrivals: [] },
      '1 idempotency keys made two messages',
    ],
    [
      'a key has no answer',
      { sent: [sent(1), sent(2), sent(3, { ids: [], acceptedAtMs: null })] },
      '1 idempotency keys were never answered',
    ],
  ])('reports when %s', (_what, changes, sentence) => {
    expect(broken(check(evidence(changes)))).toContain(sentence);
  });

  it.each<[string, Partial<Arrival>, string]>([
    ['body', { bodyHash: 'hash-1' }, '1 messages were delivered with another body'],
    ['signature', { isSigned: false }, '1 messages were delivered with a bad signature'],
  ])('reports a delivery with another %s, and does not count it as delivered', (_what, changes, sentence) => {
    const report = check(evidence({ arrivals: [arrival(1), arrival(2, changes)] }));

    expect(broken(report)).toEqual(expect.arrayContaining([sentence]));
    expect(report.lost).toEqual(['msg_2']);
  });

  it('reports a bad duplicate beside a good delivery', () => {
    const report = check(
      evidence({ arrivals: [arrival(1), arrival(2), arrival(2, { isSigned: false, bodyHash: 'other' })] }),
    );

    expect(report).toMatchObject({ lost: [], altered: ['msg_2'], unsigned: ['msg_2'] });
  });

  it.each<[string, Partial<Arrival>, Partial<Evidence>]>([
    ['the first was unanswered', { answeredAtMs: null }, {}],
    ['the first was answered right before the kill', {}, {}],
    ['the first was in flight', { receivedAtMs: AT_MS + 500, answeredAtMs: AT_MS + 501 }, {}],
    [
      'its result was in flight to a slow PostgreSQL',
      {},
      {
        disruptions: [kill({ atMs: AT_MS + 3_400 })],
        slownesses: [{ fromMs: AT_MS, toMs: AT_MS + 8_000, roundTripMs: 500 }],
      },
    ],
    [
      'its result waited for PostgreSQL',
      {},
      { disruptions: [kill({ atMs: AT_MS + 9_000 })], outages: [{ fromMs: AT_MS, toMs: AT_MS + 8_000 }] },
    ],
  ])('counts a repeated delivery and accepts a kill as its cause if %s', (_when, first, changes) => {
    const arrivals = [arrival(1), arrival(2, first), again(2, 20_000)];

    const report = check(evidence({ disruptions: [kill()], ...changes, arrivals }));

    expect(broken(report)).toEqual([]);
    expect(report.duplicates).toBe(1);
    expect(report.duplicatesMax).toBeGreaterThanOrEqual(1);
  });

  it.each<[string, Partial<Evidence>, number]>([
    ['nothing was killed', { disruptions: [] }, 20_000],
    ['only an API was killed', { disruptions: [kill({ cutsAttempts: false })] }, 20_000],
    ['the kill came long after its result was recorded', { disruptions: [kill({ atMs: AT_MS + 9_000 })] }, 20_000],
    [
      'PostgreSQL was slow, but not that slow',
      {
        disruptions: [kill({ atMs: AT_MS + 3_600 })],
        slownesses: [{ fromMs: AT_MS, toMs: AT_MS + 8_000, roundTripMs: 500 }],
      },
      20_000,
    ],
    ['the kill came before it was sent', { disruptions: [kill({ atMs: AT_MS - 2_000 })] }, 20_000],
    ['the kill came after the duplicate', { disruptions: [kill({ atMs: AT_MS + 800 })] }, 700],
  ])('reports a repeated delivery if %s', (_when, changes, afterMs) => {
    const report = check(evidence({ ...changes, arrivals: [arrival(1), arrival(2), again(2, afterMs)] }));

    expect(report.unexplained).toEqual(['msg_2']);
    expect(broken(report)).toContain('1 deliveries were repeated though nothing was killed during the first');
  });

  it('summarizes the faults and the result in one line', () => {
    const arrivals = [arrival(1), arrival(2), again(2, 12_020)];
    const late = check(
      evidence({
        sent: [sent(1), sent(2)],
        arrivals: arrivals.slice(0, 1).concat(again(2, 12_020)),
        disruptions: [kill()],
      }),
    );

    expect(summary(7, late)).toBe(
      'seed 7 · accepted 2 · 1 × worker · lost 0 · duplicates 0 of at most 1 · slowest recovery 12.0 s',
    );
  });
});
