import fc from 'fast-check';
import { after, type Circuit, CLOSED, DEFAULT_CIRCUIT_POLICY, mayProbe, probing } from './circuit.js';
import type { Outcome } from './outcome.js';

const START = new Date('2026-11-20T12:00:00.000Z');
const LEASE_MS = 20_000;
const at = (seconds: number): Date => new Date(START.getTime() + seconds * 1000);
const failing = (failures: number): Circuit => ({ ...CLOSED, consecutiveFailures: failures });
const open: Circuit = { state: 'open', consecutiveFailures: 10, openedAt: START, probeAt: at(30), probes: 0 };
const halfOpen: Circuit = { ...open, state: 'half_open', probeAt: at(50) };
const step = (circuit: Circuit, outcome: Outcome, now = START): Circuit =>
  after(circuit, outcome, now, DEFAULT_CIRCUIT_POLICY);

describe('after', () => {
  it.each<[string, Circuit, Outcome, Circuit]>([
    ['closed: a failure is counted', CLOSED, 'failed', failing(1)],
    ['closed: the ninth consecutive failure does not open', failing(8), 'failed', failing(9)],
    ['closed: the tenth consecutive failure opens, with the first probe after 30 s', failing(9), 'failed', open],
    ['closed: throttled neither counts nor resets', failing(9), 'throttled', failing(9)],
    ['closed: gone changes nothing', failing(9), 'gone', failing(9)],
    ['closed: a refused payload changes nothing', failing(9), 'refused', failing(9)],
    ['half open: a refused payload changes nothing', halfOpen, 'refused', halfOpen],
    ['closed: a success resets the count', failing(9), 'success', CLOSED],
    ['open: a late failure changes nothing', open, 'failed', open],
    ['open: a late throttled answer changes nothing', open, 'throttled', open],
    ['open: gone changes nothing', open, 'gone', open],
    ['open: a late success closes', open, 'success', CLOSED],
    ['half open: a success closes completely', { ...halfOpen, probes: 3 }, 'success', CLOSED],
    ['half open: gone changes nothing', halfOpen, 'gone', halfOpen],
    [
      'half open: a failed probe opens',
      halfOpen,
      'failed',
      { ...open, consecutiveFailures: 11, probeAt: at(60), probes: 1 },
    ],
    ['half open: a throttled probe opens', halfOpen, 'throttled', { ...open, probeAt: at(60), probes: 1 }],
  ])('%s', (_title, circuit, outcome, expected) => {
    expect(step(circuit, outcome)).toEqual(expected);
  });
});

describe('after, over time', () => {
  it('does not open on a throttled answer, even when the threshold was lowered below the count', () => {
    expect(after(failing(9), 'throttled', START, { failureThreshold: 5 })).toEqual(failing(9));
  });

  it.each([1, 3])('opens after %i failures when the policy says so', (failureThreshold) => {
    let circuit = CLOSED;
    for (let n = 1; n <= failureThreshold; n += 1) {
      expect(circuit.state).toBe('closed');
      circuit = after(circuit, 'failed', START, { failureThreshold });
    }
    expect(circuit.state).toBe('open');
  });

  it.each<Outcome>(['failed', 'throttled'])(
    'probes after 30 s, then 1, 2, 5, 10 and 10 min of %s probes',
    (outcome) => {
      let now = START;
      let circuit = step(failing(9), 'failed', now);
      const waitsSeconds: number[] = [];
      for (let n = 0; n < 7; n += 1) {
        const probeAt = circuit.probeAt as Date;
        waitsSeconds.push((probeAt.getTime() - now.getTime()) / 1000);
        now = probeAt;
        circuit = step(probing(circuit, now, LEASE_MS), outcome, now);
      }

      expect(waitsSeconds).toEqual([30, 60, 120, 300, 600, 600, 600]);
      expect(circuit).toMatchObject({ state: 'open', openedAt: START, probes: 7 });
    },
  );
});

describe('mayProbe and probing', () => {
  it.each<[string, Circuit, number, boolean]>([
    ['closed: never', CLOSED, 1e6, false],
    ['open: does not probe before the probe is due', open, 29.999, false],
    ['open: probes when the probe is due', open, 30, true],
    ['half open: does not probe while the prober holds its lease', halfOpen, 49.999, false],
    ['half open: probes again when the lease of the prober has expired', halfOpen, 50, true],
  ])('%s', (_title, circuit, seconds, expected) => {
    const taken = probing(circuit, at(seconds), LEASE_MS);

    expect(mayProbe(circuit, at(seconds))).toBe(expected);
    expect(taken).toEqual(expected ? { ...circuit, state: 'half_open', probeAt: at(seconds + 20) } : circuit);
    expect(taken === circuit).toBe(!expected);
  });
});

type Move = { kind: 'answer'; outcome: Outcome } | { kind: 'probe'; outcome: Outcome | 'dies' };

const outcome = fc.constantFrom<Outcome>('success', 'gone', 'throttled', 'failed', 'failed', 'failed', 'failed');
const moves = fc.array(
  fc.record({
    waitMs: fc.oneof(fc.nat(1000), fc.nat(700_000)),
    move: fc.oneof(
      fc.record({ kind: fc.constant('answer' as const), outcome }),
      fc.record({ kind: fc.constant('probe' as const), outcome: fc.oneof(outcome, fc.constant('dies' as const)) }),
    ),
  }),
  { maxLength: 80 },
);

type Observer = (before: Circuit, circuit: Circuit, move: Move, now: Date) => void;

function play(sequence: { waitMs: number; move: Move }[], see: Observer): void {
  let circuit = CLOSED;
  let now = START;
  for (const { waitMs, move } of sequence) {
    now = new Date(now.getTime() + waitMs);
    const before = circuit;
    if (move.kind === 'answer') circuit = after(circuit, move.outcome, now, { failureThreshold: 3 });
    else {
      const taken = probing(circuit, now, LEASE_MS);
      circuit =
        taken === circuit || move.outcome === 'dies' ? taken : after(taken, move.outcome, now, { failureThreshold: 3 });
    }
    see(before, circuit, move, now);
  }
}

describe('any sequence of answers and probes', () => {
  it('an outage start and a next probe are set exactly while not closed, and a success always closes', () => {
    fc.assert(
      fc.property(moves, (sequence) =>
        play(sequence, (before, circuit, move) => {
          const shut = circuit.state !== 'closed';
          expect([circuit.openedAt !== null, circuit.probeAt !== null]).toEqual([shut, shut]);
          if (!shut) expect(circuit.probes).toBe(0);
          if (move.kind === 'answer' && move.outcome === 'success') expect(circuit).toEqual(CLOSED);
          if (before.state === 'closed' && shut) expect(circuit.consecutiveFailures).toBe(3);
        }),
      ),
      { numRuns: 500 },
    );
  });

  it('never allows two probes of one outage within the lease, nor a probe before 30 s', () => {
    fc.assert(
      fc.property(moves, (sequence) => {
        let turnsOverAt = START;
        play(sequence, (before, circuit, move, now) => {
          if (before.state === 'closed' && circuit.state === 'open') turnsOverAt = new Date(now.getTime() + 30_000);
          if (move.kind !== 'probe' || circuit === before) return;
          expect(now.getTime()).toBeGreaterThanOrEqual(turnsOverAt.getTime());
          turnsOverAt = new Date(now.getTime() + LEASE_MS);
        });
      }),
      { numRuns: 500 },
    );
  });

  it('opens exactly when a model that counts only consecutive failures does', () => {
    fc.assert(
      fc.property(fc.array(outcome, { maxLength: 40 }), (outcomes) => {
        let circuit = CLOSED;
        let failures = 0;
        for (const next of outcomes) {
          circuit = after(circuit, next, START, { failureThreshold: 3 });
          if (next === 'success') failures = 0;
          if (next === 'failed') failures += 1;
          expect(circuit.state).toBe(failures >= 3 ? 'open' : 'closed');
        }
      }),
    );
  });
});
