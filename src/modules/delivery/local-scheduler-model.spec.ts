import { strictEqual } from 'node:assert/strict';
import fc from 'fast-check';
import { type ConcurrencyWindow, hasRoom, initialWindow, onSettle, onStart } from '#engine/concurrency-window.js';
import type { Outcome } from '#engine/outcome.js';
import { type Answering, isQuick, noteAnswer, turnsOver, unanswered } from '#engine/pressure.js';
import { Clock } from '#kernel/clock.js';
import type { LoadMonitor } from '#kernel/concurrency/load-monitor.js';
import type { Config } from '#kernel/config/config.js';
import type { Environments } from '#modules/auth/environments/environments.js';
import type { NewEvent } from '#modules/ledger/accept.contract.js';
import type { ClaimedDelivery } from '#modules/ledger/claims.contract.js';
import type { CircuitWatch } from './circuit-watch.js';
import { type DeliveryTurn, LocalScheduler } from './local-scheduler.js';
import type { RateLimitTokens } from './rate-limit-tokens.js';
import type { WorkerHeartbeat } from './worker-heartbeat.js';

const BYTES_MAX = 128 * 1024 * 1024;
/** Maximum reads of the configuration per scheduler call. A higher number indicates an endless loop. */
const LOOKS_MAX = 10_000;

const TARGETS = ['a', 'b', 'c'] as const;
const OUTCOMES: (Outcome | null)[] = ['success', 'gone', 'throttled', 'failed', null];
const target = fc.constantFrom(...TARGETS);
const pick = fc.nat();
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('accept' as const),
      target,
      attempts: fc.constantFrom(0, 0, 1),
      size: fc.nat(9),
      probe: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('admit' as const),
      target,
      size: fc.nat(9),
      rate: fc.constantFrom(null, 10),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('take' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('giveBack' as const), pick }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('answered' as const), pick, outcome: fc.constantFrom(...OUTCOMES) }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('done' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('evict' as const), target }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('flip' as const), target }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

let count = 0;

/** A stopped clock, so that every response seems to arrive immediately. */
class StoppedClock extends Clock {
  override now = (): Date => new Date(0);
  override nowMs = (): number => 0;
  override random = (): number => 0;
}

const BUSY = { sampler: () => () => ({ urgentPerSecond: 0, utilization: 1 }) } as unknown as LoadMonitor;

/** Returns an object with this length, to simulate a payload without allocating it. */
const payloadOf = (length: number): string => ({ length }) as unknown as string;

function event(targetId: string, payloadLength = 0, ratePerSecond: number | null = null): NewEvent {
  count += 1;
  return {
    environmentId: 1,
    id: `event ${count}`,
    targetId,
    payload: payloadOf(payloadLength),
    ratePerSecond,
    concurrency: null,
  } as NewEvent;
}

const claimed = ({ environmentId, id, targetId, payload }: NewEvent, attempts = 0): ClaimedDelivery =>
  ({ environmentId, eventId: id, ordinal: 0, targetId, payload, attempts }) as ClaimedDelivery;

class Model {
  readonly scheduler: LocalScheduler;
  readonly reserved: NewEvent[] = [];
  readonly waiting = new Map<string, ClaimedDelivery>();
  readonly running: DeliveryTurn[] = [];
  readonly answered: DeliveryTurn[] = [];
  private readonly windows = new Map<string, ConcurrencyWindow>(TARGETS.map((each) => [each, initialWindow()]));
  private readonly answering = new Map<string, Answering>(TARGETS.map((each) => [each, unanswered()]));
  private readonly open = new Set<string>();
  private permits = 20;
  private isClosed = false;
  private answers = 0;
  private looks = 0;

  constructor(private readonly concurrency: number) {
    const circuits = {
      isClosed: (_environmentId: number, targetId: string) => !this.open.has(targetId),
    } as CircuitWatch;
    const permits = { consume: () => ((this.permits -= 1) < 0 ? 0 : 1) } as unknown as RateLimitTokens;
    const presence = {
      claimant: () => 'worker',
      mayStart: () => true,
      isOwnClaim: () => true,
    } as unknown as WorkerHeartbeat;
    this.scheduler = new LocalScheduler(
      this.config(),
      circuits,
      permits,
      presence,
      { get: async () => ({ organizationId: 'one' }) } as unknown as Environments,
      new StoppedClock(),
      BUSY,
    );
    this.scheduler.connect(
      (turn) => this.starts(turn),
      () => undefined,
    );
  }

  take(each: Step): void {
    this.looks = 0;
    if (each.do === 'accept') this.accept(claimed(event(each.target, each.size), each.attempts), each.probe);
    else if (each.do === 'admit') this.admit(event(each.target, each.size, each.rate));
    else if (each.do === 'take') this.commit(each.pick);
    else if (each.do === 'giveBack') this.scheduler.releaseSlots(chosen(this.reserved, each.pick));
    else if (each.do === 'answered') this.answer(each.pick, each.outcome);
    else if (each.do === 'done') for (const turn of chosen(this.answered, each.pick)) this.scheduler.releaseSlot(turn);
    else if (each.do === 'evict') this.evicted(this.scheduler.evict(1, each.target));
    else this.flip(each.target);
    this.compare();
  }

  /** Ends all remaining deliveries, in the order in which a process that shuts down ends them. */
  finish(closes: boolean): void {
    this.looks = 0;
    if (closes) {
      this.evicted(this.scheduler.close());
      this.isClosed = true;
    }
    while (this.reserved.length > 0) this.scheduler.releaseSlots(chosen(this.reserved, 0));
    while (this.running.length > 0) this.answer(0, 'failed');
    while (this.answered.length > 0) this.scheduler.releaseSlot(this.answered.pop() as DeliveryTurn);
    this.compare();
  }

  private config(): Config {
    const look = (): number => {
      this.looks += 1;
      if (this.looks > LOOKS_MAX) throw new Error('The scheduler never comes to rest.');
      return this.concurrency;
    };
    return {
      get deliveryConcurrency(): number {
        return look();
      },
    } as Config;
  }

  private accept(taken: ClaimedDelivery, probe: boolean): void {
    this.waiting.set(taken.eventId, taken);
    this.scheduler.accept(taken, probe);
  }

  private admit(accepted: NewEvent): void {
    const isOpen = this.open.has(accepted.targetId);
    const admission = this.scheduler.reserve(accepted);
    if (isOpen) expect(admission).toBe('park');
    if (admission === 'run') this.reserved.push(accepted);
  }

  private commit(index: number): void {
    for (const accepted of chosen(this.reserved, index)) {
      const taken = claimed(accepted);
      this.waiting.set(taken.eventId, taken);
      this.scheduler.enqueue([taken]);
    }
  }

  private starts(deliveryTurn: DeliveryTurn): void {
    expect(this.waiting.delete(deliveryTurn.delivery.eventId)).toBe(true);
    const window = this.windows.get(deliveryTurn.delivery.targetId) as ConcurrencyWindow;
    expect(hasRoom(window)).toBe(true);
    onStart(window);
    this.running.push(deliveryTurn);
    expect(this.running.length).toBeLessThanOrEqual(this.concurrency);
    const retries = this.running.filter((each) => each.delivery.attempts > 0).length;
    expect(retries).toBeLessThanOrEqual(Math.ceil(this.concurrency / 2));
  }

  private answer(index: number, outcome: Outcome | null): void {
    for (const turn of chosen(this.running, index)) {
      onSettle(this.windows.get(turn.delivery.targetId) as ConcurrencyWindow, outcome ?? 'failed');
      noteAnswer(
        this.answering.get(turn.delivery.targetId) as Answering,
        { tookMs: 0, isSuccess: outcome === 'success' },
        0,
      );
      this.answers += 1;
      this.answered.push(turn);
      this.scheduler.recordAnswer(turn, outcome);
    }
  }

  private evicted(deliveries: ClaimedDelivery[]): void {
    for (const { eventId } of deliveries) expect(this.waiting.delete(eventId)).toBe(true);
  }

  private flip(targetId: string): void {
    if (!this.open.delete(targetId)) this.open.add(targetId);
  }

  /** Compares the scheduler with the model after every step. `strictEqual` takes a fraction of the time of `expect`. */
  private compare(): void {
    const { running, held } = this.scheduler.figures();
    strictEqual(running, this.running.length);
    strictEqual(held, this.reserved.length + this.waiting.size + this.running.length + this.answered.length);
    strictEqual(this.scheduler.pressure(1)?.ready ?? 0, this.isClosed ? 0 : this.ready());
  }

  /**
   * Returns the number of first attempts whose target has a free slot, or responds so fast that a slot will soon be
   * free.
   */
  private ready(): number {
    // All responses of this test arrive at the same time. The rate meter divides by half a second, so the rate per
    // second is twice their number.
    if (!turnsOver(this.running.length, this.answers * 2)) return 0;
    const ofUs = TARGETS.filter(
      (each) =>
        hasRoom(this.windows.get(each) as ConcurrencyWindow) || isQuick(this.answering.get(each) as Answering, 0),
    );
    return [...this.waiting.values()].filter(
      ({ attempts, targetId }) => attempts === 0 && (ofUs as readonly string[]).includes(targetId),
    ).length;
  }
}

function chosen<T>(list: T[], index: number): T[] {
  return list.length === 0 ? [] : list.splice(index % list.length, 1);
}

describe('LocalScheduler under any sequence of events', () => {
  const steps = fc.array(step, { maxLength: 200, size: 'max' });

  it.each([1, 2, 5, 1_000])(
    "respects the windows, the ceiling and the retries' half, and holds the expected deliveries, at a concurrency of %i",
    (concurrency) => {
      fc.assert(
        fc.property(steps, (each) => {
          const model = new Model(concurrency);
          for (const one of each) model.take(one);
        }),
        { numRuns: 60 },
      );
    },
  );

  it('holds no deliveries and no bytes after everything has ended', () => {
    fc.assert(
      fc.property(steps, fc.constantFrom(3, 1_000), fc.boolean(), (each, concurrency, closes) => {
        const model = new Model(concurrency);
        for (const one of each) model.take(one);
        model.finish(closes);

        const { scheduler } = model;
        expect(model.waiting.size).toBe(0);
        expect(scheduler.figures()).toMatchObject({ running: 0, held: 0 });
        expect(scheduler.reserve(event('fresh', BYTES_MAX - 1))).toBe('run');
        expect(scheduler.reserve(event('fresh', 1))).toBe('run');
        expect(scheduler.reserve(event('fresh'))).toBe('leave');
      }),
      { numRuns: 100 },
    );
  });
});
