import type { Clock } from '#kernel/clock.js';
import type { DueWorkPoller } from '#kernel/concurrency/due-work-poller.js';
import type { ClaimedDelivery } from '#modules/ledger/claims.contract.js';
import { Claims } from '#modules/ledger/claims.js';
import type { CircuitWatch } from './circuit-watch.js';
import { Dispatcher } from './dispatcher.js';
import type { Gates } from './gates.js';
import type { LocalScheduler } from './local-scheduler.js';
import { ParkedDeliveryReleaser } from './parked-delivery-releaser.js';
import { QueuedTargets } from './queued-targets.js';
import type { RateLimitTokens } from './rate-limit-tokens.js';
import type { WorkerHeartbeat } from './worker-heartbeat.js';

const LARGE = { messageId: null, payload: Buffer.alloc(20 * 1024 * 1024) } as unknown as ClaimedDelivery;
const SMALL = { ...LARGE, payload: '{}' } as ClaimedDelivery;

const scheduler = {
  room: () => 100,
  roomFor: () => 100,
  isStarved: () => false,
  accept: () => undefined,
} as unknown as LocalScheduler;
const heartbeat = {
  claimant: () => 'worker',
  trackClaim: (_claimant: string, claim: Promise<unknown>) => claim,
} as unknown as WorkerHeartbeat;
const clock = { nowMs: () => 0, monotonicMs: () => 0, random: () => 0 } as unknown as Clock;
const dueWork = { restMs: (ownMs: number) => ownMs } as unknown as DueWorkPoller;
const gates = { pass: () => Promise.resolve(), applyLimits: () => Promise.resolve(50) } as unknown as Gates;

function claimsOf(claimed: ClaimedDelivery[]): Claims {
  const store = {
    claimDue: () => Promise.resolve(claimed),
    claimParked: () => Promise.resolve(claimed),
    parkedTargets: () => Promise.resolve([{ environmentId: 1, targetId: 't' }]),
  };
  return new Claims(store as never, dueWork);
}

describe('a claim that the bytes of payloads cut', () => {
  it.each([
    [[LARGE, LARGE], 0],
    [[SMALL, SMALL], 200],
  ])('is followed by the next claim at once', async (claimed, restMs) => {
    const dispatcher = new Dispatcher(claimsOf(claimed), scheduler, gates, heartbeat, dueWork, clock);

    expect(await dispatcher['turn']()).toEqual({ restMs });
  });

  it('gives back the tokens of a rate limit that it does not use', async () => {
    const given: unknown[] = [];
    const releaser = new ParkedDeliveryReleaser(
      claimsOf([LARGE, LARGE]),
      scheduler,
      gates,
      { isClosed: () => true, drainPerSecond: () => null } as unknown as CircuitWatch,
      { consume: () => 10, giveBack: (...args: unknown[]) => given.push(args) } as unknown as RateLimitTokens,
      heartbeat,
      new QueuedTargets(),
      dueWork,
      clock,
    );

    await releaser['turn']();

    expect(given).toEqual([[1, 't', 8]]);
  });
});
