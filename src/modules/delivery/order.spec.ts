import fc from 'fast-check';
import type { Clock } from '#kernel/clock.js';
import { SystemClock } from '#kernel/clock.js';
import type { DueWorkPoller } from '#kernel/concurrency/due-work-poller.js';
import { LoadMonitor } from '#kernel/concurrency/load-monitor.js';
import type { Config } from '#kernel/config/config.js';
import type { Environments } from '#modules/auth/environments/environments.js';
import type { Targets } from '#modules/destinations/targets.js';
import type { ClaimedDelivery, TargetKey } from '#modules/ledger/claims.contract.js';
import type { Claims } from '#modules/ledger/claims.js';
import type { CircuitWatch } from './circuit-watch.js';
import { Gates } from './gates.js';
import { LocalScheduler } from './local-scheduler.js';
import { ParkedDeliveryReleaser } from './parked-delivery-releaser.js';
import { QueuedTargets } from './queued-targets.js';
import type { RateLimitTokens } from './rate-limit-tokens.js';
import type { WorkerHeartbeat } from './worker-heartbeat.js';

const CLAIM_MAX = 7;

/** A row of the simulated delivery table. The table is sorted by due time. */
interface Row {
  delivery: ClaimedDelivery;
  is: 'due' | 'parked' | 'claimed';
}

/**
 * One worker, and a table with the deliveries of one target. The fuzzing scheduler decides when statements and requests
 * complete.
 */
class Worker {
  readonly started: string[] = [];
  private readonly rows: Row[] = [];
  private readonly localScheduler: LocalScheduler;
  private readonly gates: Gates;
  private readonly releaser: ParkedDeliveryReleaser;

  constructor(
    private readonly scheduler: fc.Scheduler,
    concurrency: number | null,
  ) {
    const circuits = { isClosed: () => true, drainPerSecond: () => null } as unknown as CircuitWatch;
    const presence = {
      claimant: () => 'worker',
      mayStart: () => true,
      trackClaim: async (_claimant: string, claim: Promise<unknown>) => claim,
    } as unknown as WorkerHeartbeat;
    const environments = { get: () => Promise.resolve({ organizationId: 'o' }) } as unknown as Environments;
    const targets = {
      ofDestination: () => Promise.resolve({ concurrency, ratePerSecond: null }),
    } as unknown as Targets;
    const clock = { monotonicMs: () => 0, nowMs: () => 0, random: () => 0 } as unknown as Clock;
    const queued = new QueuedTargets();
    const permits = {} as RateLimitTokens;
    this.localScheduler = new LocalScheduler(
      { deliveryConcurrency: 1_000 } as Config,
      circuits,
      permits,
      presence,
      environments,
      new SystemClock(),
      new LoadMonitor(),
    );
    this.gates = new Gates(this.claims(), this.localScheduler, circuits, permits, targets, queued);
    this.releaser = new ParkedDeliveryReleaser(
      this.claims(),
      this.localScheduler,
      this.gates,
      circuits,
      permits,
      presence,
      queued,
      { restMs: (ownMs: number) => ownMs } as unknown as DueWorkPoller,
      clock,
    );
    this.localScheduler.connect(
      (turn) => {
        this.started.push(turn.delivery.eventId);
        void this.takes('answer').then(() => {
          this.localScheduler.recordAnswer(turn, 'success');
          this.localScheduler.releaseSlot(turn);
        });
      },
      () => undefined,
    );
  }

  enqueue(ids: readonly string[]): void {
    for (const eventId of ids)
      this.rows.push({
        is: 'due',
        delivery: {
          environmentId: 1,
          eventId,
          ordinal: 0,
          targetId: 't',
          url: null,
          payload: '',
          attempts: 0,
          replayed: true,
        } as ClaimedDelivery,
      });
  }

  async dispatch(): Promise<void> {
    while (this.rows.some(({ is }) => is === 'due')) {
      await this.takes('claim due');
      await this.gates.pass(this.take('due', CLAIM_MAX));
    }
  }

  async drain(total: number): Promise<void> {
    while (this.started.length < total) await this.releaser['turn']();
  }

  private claims(): Claims {
    return {
      parkedTargets: async (): Promise<TargetKey[]> => {
        await this.takes('look');
        const found = this.rows.some(({ is }) => is === 'parked') ? [{ environmentId: 1, targetId: 't' }] : [];
        await this.takes('what was seen');
        return found;
      },
      parked: async (_claimant: string, _environmentId: number, _targetId: string, limit: number) => {
        await this.takes('claim parked');
        const taken = this.take('parked', limit);
        await this.takes('what was claimed');
        return taken;
      },
      release: async (deliveries: readonly ClaimedDelivery[], isParked: boolean) => {
        if (deliveries.length === 0) return;
        await this.takes('release');
        for (const row of this.rows) if (deliveries.includes(row.delivery)) row.is = isParked ? 'parked' : 'due';
        await this.takes('released');
      },
    } as unknown as Claims;
  }

  private take(from: 'due' | 'parked', limit: number): ClaimedDelivery[] {
    const taken = this.rows.filter(({ is }) => is === from).slice(0, limit);
    for (const row of taken) row.is = 'claimed';
    return taken.map(({ delivery }) => delivery);
  }

  private takes(what: string): Promise<unknown> {
    return this.scheduler.schedule(Promise.resolve(), what);
  }
}

describe('a replay to one target', () => {
  it('starts in order, however long statements and responses take, at any concurrency', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.constantFrom(1, 1, 2, 5, null),
        fc.integer({ min: 1, max: 90 }),
        fc.nat(90),
        async (scheduler, concurrency, first, second) => {
          const worker = new Worker(scheduler, concurrency);
          const ids = Array.from({ length: first + second }, (_, n) => String(n).padStart(3, '0'));
          worker.enqueue(ids.slice(0, first));

          const dispatched = worker.dispatch().then(() => {
            worker.enqueue(ids.slice(first));
            return worker.dispatch();
          });
          await scheduler.waitFor(Promise.all([dispatched, worker.drain(ids.length)]));

          expect(worker.started).toEqual(ids);
        },
      ),
      { numRuns: 150 },
    );
  });
});
