import { SystemClock } from '#kernel/clock.js';
import type { LoadMonitor } from '#kernel/concurrency/load-monitor.js';
import type { Config } from '#kernel/config/config.js';
import type { Environments } from '#modules/auth/environments/environments.js';
import type { ClaimedDelivery } from '#modules/ledger/claims.contract.js';
import type { CircuitWatch } from './circuit-watch.js';
import { type DeliveryTurn, LocalScheduler } from './local-scheduler.js';
import type { RateLimitTokens } from './rate-limit-tokens.js';
import type { WorkerHeartbeat } from './worker-heartbeat.js';

const AT_ONCE_AT_FIRST = 32;

describe('attempts that take minutes', () => {
  it('release their slots in the window to other deliveries of the target, and end normally', () => {
    const presence = {
      claimant: () => 'worker',
      mayStart: () => true,
      isOwnClaim: () => true,
    } as unknown as WorkerHeartbeat;
    const environments = { get: async () => ({ organizationId: 'organization' }) } as unknown as Environments;
    const load = { sampler: () => () => ({ urgentPerSecond: 0, utilization: 1 }) } as unknown as LoadMonitor;
    const scheduler = new LocalScheduler(
      { deliveryConcurrency: 100 } as Config,
      { isClosed: () => true } as unknown as CircuitWatch,
      {} as RateLimitTokens,
      presence,
      environments,
      new SystemClock(),
      load,
    );
    const running: DeliveryTurn[] = [];
    scheduler.connect(
      (turn) => running.push(turn),
      () => undefined,
    );
    let events = 0;
    const accept = (count: number): void => {
      for (let i = 0; i < count; i += 1)
        scheduler.accept({
          environmentId: 1,
          eventId: `event ${(events += 1)}`,
          ordinal: 0,
          targetId: 'a',
          payload: '{}',
          attempts: 0,
          claimedBy: 'worker',
        } as ClaimedDelivery);
    };
    accept(40);
    expect(running).toHaveLength(AT_ONCE_AT_FIRST);

    for (const turn of running.slice(0, 5)) scheduler.onLinger(turn);
    expect(running).toHaveLength(AT_ONCE_AT_FIRST + 5);

    for (let turn = running.shift(); turn !== undefined; turn = running.shift()) {
      scheduler.recordAnswer(turn, 'failed');
      scheduler.releaseSlot(turn);
    }
    expect(scheduler.figures()).toMatchObject({ running: 0, held: 0 });
    accept(40);
    expect(running).toHaveLength(AT_ONCE_AT_FIRST);
  });
});
