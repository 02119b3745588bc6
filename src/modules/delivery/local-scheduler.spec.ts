import type { Outcome } from '#engine/outcome.js';
import { SystemClock } from '#kernel/clock.js';
import type { LoadMonitor } from '#kernel/concurrency/load-monitor.js';
import type { Config } from '#kernel/config/config.js';
import type { Environments } from '#modules/auth/contract.js';
import type { NewEvent } from '#modules/ledger/accept.contract.js';
import type { ClaimedDelivery } from '#modules/ledger/claims.contract.js';
import type { CircuitWatch } from './circuit-watch.js';
import { type DeliveryTurn, LocalScheduler } from './local-scheduler.js';
import type { RateLimitTokens } from './rate-limit-tokens.js';
import type { WorkerHeartbeat } from './worker-heartbeat.js';

const BYTES_MAX = 128 * 1024 * 1024;
/** Far more looks at the configuration than any single call needs: whoever takes more is going round in circles. */
const LOOKS_MAX = 10_000;

/** A lane with everything around it in memory; attempts start and end only as the test says. */
function arrange(concurrency = 4) {
  const world = {
    open: new Set<string>(),
    permits: Infinity,
    present: true,
    looks: 0,
    inDoubt: false,
    dead: new Set<string>(),
  };
  const config = {
    get deliveryConcurrency(): number {
      world.looks += 1;
      if (world.looks > LOOKS_MAX) throw new Error('The lane goes round in circles.');
      return concurrency;
    },
  } as Config;
  const circuits = {
    isClosed: (_environmentId: number, targetId: string) => !world.open.has(targetId),
  } as CircuitWatch;
  const permits = {
    consume: (_environmentId: number, _targetId: string, _perSecond: number, wanted: number) => {
      const spent = Math.min(world.permits, wanted);
      world.permits -= spent;
      return spent;
    },
  } as RateLimitTokens;
  const presence = {
    claimant: () => (world.present ? 'worker' : null),
    mayStart: () => !world.inDoubt,
    isOwnClaim: (claimant: string) => !world.dead.has(claimant),
  } as unknown as WorkerHeartbeat;
  const environments = {
    get: async (environmentId: number) => ({ organizationId: `organization ${Math.ceil(environmentId / 2)}` }),
  } as unknown as Environments;
  const load = { sampler: () => () => ({ urgentPerSecond: 0, utilization: 1 }) } as unknown as LoadMonitor;
  const lane = new LocalScheduler(config, circuits, permits, presence, environments, new SystemClock(), load);
  const running: DeliveryTurn[] = [];
  lane.connect(
    (turn) => running.push(turn),
    () => undefined,
  );
  /** The oldest running attempt against a target is answered and recorded. */
  const end = (targetId: string, outcome: Outcome | null = 'success'): void => {
    world.looks = 0;
    const at = running.findIndex(({ delivery }) => delivery.targetId === targetId);
    const [turn] = running.splice(at, at < 0 ? 0 : 1);
    if (!turn) throw new Error(`Nothing runs against ${targetId}.`);
    lane.recordAnswer(turn, outcome);
    lane.releaseSlot(turn);
  };
  const against = (targetId: string): number => running.filter(({ delivery }) => delivery.targetId === targetId).length;
  return { lane, world, running, end, against };
}

let count = 0;

function delivery(targetId: string, attempts = 0, payload = '{}'): ClaimedDelivery {
  count += 1;
  return { environmentId: 1, eventId: `event ${count}`, ordinal: 0, targetId, payload, attempts } as ClaimedDelivery;
}

function event(targetId: string, more: Partial<NewEvent> = {}): NewEvent {
  count += 1;
  return {
    environmentId: 1,
    id: `event ${count}`,
    targetId,
    payload: '{}',
    ratePerSecond: null,
    concurrency: null,
    ...more,
  } as NewEvent;
}

const claimed = ({ environmentId, id, targetId, payload }: NewEvent): ClaimedDelivery =>
  ({ environmentId, eventId: id, ordinal: 0, targetId, payload, attempts: 0 }) as ClaimedDelivery;

/** A payload as long as this, without its bytes. */
const payloadOf = (length: number): string => ({ length }) as unknown as string;

const many = (length: number, targetId: string, attempts = 0): ClaimedDelivery[] =>
  Array.from({ length }, () => delivery(targetId, attempts));

describe('what the lane lets in', () => {
  it('keeps a place for an event until its commit, and runs it then', () => {
    const { lane, running } = arrange();
    const accepted = event('a');

    expect(lane.reserve(accepted)).toBe('run');
    expect(running).toHaveLength(0);
    expect(lane.figures()).toMatchObject({ running: 0, held: 1 });
    lane.enqueue([claimed(accepted)]);

    expect(running.map((turn) => turn.delivery.eventId)).toEqual([accepted.id]);
    expect(running[0]?.probe).toBe(false);
  });

  it('frees the place when the commit fails', () => {
    const { lane } = arrange();
    const accepted = event('a');
    lane.reserve(accepted);

    lane.releaseSlots([accepted]);

    expect(lane.figures()).toMatchObject({ running: 0, held: 0 });
  });

  it('parks events of a target whose circuit is open', () => {
    const { lane, world } = arrange();
    world.open.add('a');

    expect(lane.reserve(event('a'))).toBe('park');
    expect(lane.reserve(event('b'))).toBe('run');
    expect(lane.figures().held).toBe(1);
  });

  it('parks events beyond the permits of a limited target, and asks for none for an unlimited one', () => {
    const { lane, world } = arrange();
    world.permits = 2;

    expect(lane.reserve(event('b'))).toBe('run');
    expect([1, 2, 3].map(() => lane.reserve(event('a', { ratePerSecond: 10 })))).toEqual(['run', 'run', 'park']);
    expect(lane.figures().held).toBe(3);
  });

  it('spends no permit on an event that does not run', () => {
    const { lane, world } = arrange();
    world.permits = 1;
    world.open.add('a');

    lane.reserve(event('a', { ratePerSecond: 10 }));

    expect(world.permits).toBe(1);
  });

  it('holds 2000 of one target and parks the next, and 8000 in all and leaves the next', () => {
    const { lane } = arrange();
    const admitted = ['a', 'b', 'c', 'd'].map((target) =>
      Array.from({ length: 2_000 }, () => lane.reserve(event(target))),
    );

    expect(new Set(admitted.flat())).toEqual(new Set(['run']));
    expect(lane.reserve(event('a'))).toBe('leave');
    expect(lane.room()).toBe(0);
    expect(lane.roomFor(1, 'e')).toBe(0);
    lane.releaseSlots([event('b')]);
    expect(lane.reserve(event('a'))).toBe('park');
    expect(lane.reserve(event('e'))).toBe('run');
  });

  it('leaves what comes once 128 MB are held, and claims nothing more', () => {
    const { lane } = arrange();
    lane.reserve(event('a', { payload: payloadOf(BYTES_MAX - 1) }));

    expect(lane.room()).toBe(4);
    expect(lane.reserve(event('b', { payload: payloadOf(1) }))).toBe('run');
    expect(lane.reserve(event('c'))).toBe('leave');
    expect(lane.room()).toBe(0);
  });

  it('has room for twice the window of each target', () => {
    const { lane } = arrange(1_000);
    expect(lane.roomFor(1, 'a')).toBe(64);

    for (const each of many(64, 'a')) lane.accept(each);

    expect(lane.roomFor(1, 'a')).toBe(0);
    expect(lane.roomFor(2, 'a')).toBe(64);
  });

  it('passes the word on that rows were left', () => {
    const { lane } = arrange();
    let told = 0;
    lane.connect(
      () => undefined,
      () => (told += 1),
    );

    lane.onUnclaimed();

    expect(told).toBe(1);
  });

  it('claims under the name of the worker while that is present', () => {
    const { lane, world } = arrange();

    expect(lane.claimant()).toBe('worker');
    world.present = false;
    expect(lane.claimant()).toBeNull();
  });
});

describe('what the lane starts', () => {
  it('runs no more against one target than its window, and others meanwhile', () => {
    const { lane, against } = arrange(1_000);

    for (const each of [...many(40, 'slow'), ...many(5, 'healthy')]) lane.accept(each);

    expect(against('slow')).toBe(32);
    expect(against('healthy')).toBe(5);
  });

  it('starts in the order of arrival, the next one when one is answered and not only when it is recorded', () => {
    const { lane, running } = arrange(1_000);
    const deliveries = many(34, 'a');
    for (const each of deliveries) lane.accept(each);

    lane.recordAnswer(running[0] as DeliveryTurn, 'success');

    expect(running.map((turn) => turn.delivery)).toEqual(deliveries.slice(0, running.length));
    expect(running.length).toBeGreaterThan(32);
    expect(lane.figures().held).toBe(34);
    lane.releaseSlot(running[0] as DeliveryTurn);
    expect(lane.figures().held).toBe(33);
  });

  it('halves the window of a target that asks for less', () => {
    const { lane, end, against } = arrange(1_000);
    for (const each of many(100, 'a')) lane.accept(each);

    end('a', 'throttled');
    for (let i = 0; i < 15; i += 1) end('a', 'failed');
    expect(against('a')).toBe(16);
    end('a', 'failed');

    expect(against('a')).toBe(16);
  });

  it("keeps to what a target's owner allows, however the deliveries come", () => {
    const { lane, end, against } = arrange(1_000);
    const arriving = Array.from({ length: 5 }, () => event('a', { concurrency: 2 }));

    expect(arriving.map((each) => lane.reserve(each))).toEqual(Array.from({ length: 5 }, () => 'run'));
    lane.enqueue(arriving.map(claimed));
    lane.setCeiling(1, 'b', 3);
    for (const each of [...many(10, 'a'), ...many(10, 'b')]) lane.accept(each);
    end('a');
    end('b');

    expect([against('a'), against('b'), lane.roomFor(1, 'b')]).toEqual([2, 3, -3]);
  });

  it("follows a change of what a target's owner allows", () => {
    const { lane, end, against } = arrange(1_000);
    for (const each of many(40, 'a')) lane.accept(each);

    lane.setCeiling(1, 'a', 2);
    for (let i = 0; i < 31; i += 1) end('a');
    expect(against('a')).toBe(2);
    lane.setCeiling(1, 'a', null);
    end('a');
    end('a');

    expect(against('a')).toBeGreaterThan(2);
  });

  it('remembers nothing of a target that is allowed what all are', () => {
    const { lane } = arrange();

    lane.setCeiling(1, 'a', null);

    expect(lane.figures().targets).toBe(0);
  });

  it('keeps a probe a probe', () => {
    const { lane, running } = arrange();

    lane.accept(delivery('a'), true);

    expect(running[0]?.probe).toBe(true);
  });

  it('leaves half of the ceiling to first attempts', () => {
    const { lane, against } = arrange(4);

    for (const each of [...many(10, 'dead', 1), ...many(10, 'healthy')]) lane.accept(each);

    expect(against('dead')).toBe(2);
    expect(against('healthy')).toBe(2);
  });

  it('goes on while retries wait for their half and a first attempt ends', () => {
    const { lane, end, against } = arrange(4);
    for (const each of [...many(3, 'dead', 1), ...many(2, 'healthy')]) lane.accept(each);

    end('healthy');

    expect(against('dead')).toBe(2);
    expect(against('healthy')).toBe(1);
  });

  it("lets a first attempt start while a retry of the same target waits for the retries' half", () => {
    const { lane, running } = arrange(4);

    for (const each of [...many(3, 'a', 1), delivery('a')]) lane.accept(each);

    expect(running.map((turn) => turn.delivery.attempts)).toEqual([1, 1, 0]);
  });

  it('gives the free place to a target that waits for one, also while the target that freed it has more to do', () => {
    const { lane, end, against } = arrange(2);
    for (const each of [...many(50, 'busy'), delivery('other')]) lane.accept(each);

    end('busy');
    end('busy');

    expect(against('other')).toBe(1);
  });
});

describe('what a free place costs', () => {
  it('looks at no target that waits with retries only, however many do, while retries hold their half', () => {
    const { lane, world, running, end, against } = arrange(8);
    for (let i = 0; i < 3_000; i += 1) lane.accept(delivery(`failing ${i}`, 1));
    for (const each of many(10, 'healthy')) lane.accept(each);
    expect([running.length, against('healthy')]).toEqual([8, 4]);

    end('healthy');

    expect(against('healthy')).toBe(4);
    expect(world.looks).toBeLessThan(10);
  });

  it('starts one of them for one retry that ends', () => {
    const { lane, world, running, end } = arrange(8);
    for (let i = 0; i < 3_000; i += 1) lane.accept(delivery(`failing ${i}`, 1));
    expect(running).toHaveLength(4);

    end('failing 0', 'failed');

    expect(running).toHaveLength(4);
    expect(running.at(-1)?.delivery.targetId).toBe('failing 4');
    expect(world.looks).toBeLessThan(10);
  });
});

describe('what the lane gives back', () => {
  it('evicts what waits for one target, and nothing that runs or waits for another', () => {
    const { lane, running } = arrange(3);
    const [a, b] = [many(5, 'a'), many(2, 'b')];
    for (const each of [...a, ...b]) lane.accept(each);

    expect(lane.evict(1, 'a')).toEqual(a.slice(3));
    expect(lane.evict(1, 'a')).toEqual([]);
    expect(lane.evict(1, 'unknown')).toEqual([]);

    expect(running).toHaveLength(3);
    expect(lane.figures()).toMatchObject({ running: 3, held: 5 });
  });

  it('closes: returns what had not started, starts and admits nothing more', () => {
    const { lane, running, end } = arrange(2);
    const reserved = event('a');
    lane.reserve(reserved);
    const deliveries = [...many(3, 'a'), ...many(3, 'b')];
    for (const each of deliveries) lane.accept(each);

    const waiting = lane.close();
    lane.enqueue([claimed(reserved)]);
    end('a');

    expect(waiting).toEqual(deliveries.slice(2));
    expect(running).toHaveLength(1);
    expect(lane.claimant()).toBeNull();
    expect(lane.room()).toBe(0);
  });
});

describe('what the lane holds while its claims are in doubt', () => {
  const held = (targetId: string, claimedBy: string): ClaimedDelivery => ({ ...delivery(targetId), claimedBy });

  it('starts nothing that waits, and all of it once the lease is known to last', () => {
    const { lane, world, running, end } = arrange(2);
    for (const each of many(4, 'a')) lane.accept(each);
    world.inDoubt = true;

    end('a');
    lane.accept(delivery('b'));
    expect(running).toHaveLength(1);

    world.inDoubt = false;
    lane.resume();
    expect(running).toHaveLength(2);
    while (running.length > 0) end((running[0] as DeliveryTurn).delivery.targetId);
    expect(lane.figures()).toMatchObject({ running: 0, held: 0 });
  });

  it('forgets what waits under a name that was declared dead, and nothing else', () => {
    const { lane, running, end } = arrange(1);
    lane.accept(held('a', 'dead'));
    lane.accept(held('a', 'dead'));
    lane.accept(held('a', 'alive'));
    lane.accept(held('b', 'dead'));

    lane.dropClaim('dead');

    expect(lane.figures()).toMatchObject({ running: 1, held: 2 });
    end('a');
    expect(running.map((turn) => turn.delivery.claimedBy)).toEqual(['alive']);
    end('a');
    expect(lane.holds('dead')).toBe(false);
    expect(lane.figures()).toMatchObject({ running: 0, held: 0 });
  });

  it('forgets with the next beat what came in under a name that was dead already', () => {
    const { lane, world, running } = arrange();
    world.inDoubt = true;
    lane.accept(held('a', 'dead'));
    world.dead.add('dead');

    lane.resume();
    world.inDoubt = false;
    lane.resume();

    expect(running).toHaveLength(0);
    expect(lane.figures()).toMatchObject({ running: 0, held: 0 });
  });
});

describe('what the lane does for one tenant beside another that fills it', () => {
  const of = (environmentId: number, targetId: string): ClaimedDelivery => ({ ...delivery(targetId), environmentId });

  it('has places for it beyond the ceiling, again and again, and none for who fills it', () => {
    const { lane, running, end, against } = arrange(8);
    for (let i = 0; i < 50; i += 1) lane.accept(of(1, `hanging ${i}`));
    expect(running).toHaveLength(8);

    for (let i = 0; i < 20; i += 1) {
      lane.accept(of(3, 'healthy'));
      expect(against('healthy')).toBe(1);
      end('healthy');
      expect(running).toHaveLength(8);
    }
    for (let i = 0; i < 50; i += 1) lane.accept(of(3, `as bad ${i}`));

    expect(running).toHaveLength(10);
    for (let i = 0; i < 3; i += 1) end(`hanging ${i}`);
    expect(running.filter(({ delivery: { environmentId } }) => environmentId === 3).length).toBeGreaterThanOrEqual(3);
  });

  it('gives it the next place that is free, however many wait', () => {
    const { lane, running, end } = arrange(4);
    for (let i = 0; i < 50; i += 1) lane.accept(of(1, `hanging ${i}`));
    lane.accept(of(3, 'healthy'));

    end('hanging 0');

    expect(running.map((turn) => turn.delivery.targetId)).toContain('healthy');
  });

  it('names who fills it, keeps room for others to claim, and takes what they are sent beyond the bound of one', () => {
    const { lane } = arrange(4);
    for (let i = 0; i < 8_000; i += 1) lane.accept(of(1, `hanging ${i}`));

    expect(lane.crowdedEnvironments()).toEqual([1]);
    expect([lane.room(), lane.room(1), lane.room(3)]).toEqual([0, 0, 100]);
    expect(lane.reserve(event('hanging 9', { environmentId: 1 }))).toBe('leave');
    expect(lane.reserve(event('healthy', { environmentId: 3 }))).toBe('run');
  });

  it('names who holds all there is room for also while places are free', () => {
    const { lane, running } = arrange(1_024);
    for (let i = 0; i < 8_000; i += 1) lane.accept(of(1, `slow ${i % 4}`));

    expect(running).toHaveLength(128);
    expect(lane.crowdedEnvironments()).toEqual([1]);
    expect([lane.room(1), lane.room(3)]).toEqual([0, 100]);
  });

  it('lets one tenant alone have every place', () => {
    const { lane, running } = arrange(64);
    for (let i = 0; i < 100; i += 1) lane.accept(of(1, `target ${i}`));

    expect(running).toHaveLength(64);
  });
});

describe('what the lane says of its pressure', () => {
  /** So many have been delivered a moment ago. */
  const delivered = ({ lane, end }: Pick<ReturnType<typeof arrange>, 'lane' | 'end'>, count: number): void => {
    for (let i = 0; i < count; i += 1) {
      lane.accept(delivery('quick'));
      end('quick');
    }
  };

  it('is what waits for a place, until it has one', () => {
    const { lane, end } = arrange(4);
    delivered({ lane, end }, 100);
    for (const each of many(7, 'a')) lane.accept(each);
    expect(lane.pressure(1)).toMatchObject({ ready: 3 });

    end('a');
    expect(lane.pressure(1)).toMatchObject({ ready: 2 });

    end('a');
    end('a');
    expect(lane.pressure(1)).toBeNull();
  });

  it('is nothing of what waits for a receiver, and nothing of retries', () => {
    const { lane, end } = arrange(1_000);
    delivered({ lane, end }, 1_000);
    for (const each of [...many(100, 'never answers'), ...many(600, 'retried', 1)]) lane.accept(each);

    expect(lane.figures()).toMatchObject({ held: 700 });
    expect(lane.pressure(1)).toBeNull();
  });

  it('is nothing while every place is kept by receivers that do not answer', () => {
    const { lane } = arrange(4);

    for (const each of many(7, 'a')) lane.accept(each);

    expect(lane.pressure(1)).toBeNull();
  });

  it('is nothing of what was handed back', () => {
    const { lane, end } = arrange(4);
    delivered({ lane, end }, 100);
    for (const each of many(7, 'a')) lane.accept(each);
    expect(lane.pressure(1)).toMatchObject({ ready: 3 });

    lane.evict(1, 'a');

    expect(lane.pressure(1)).toBeNull();
  });
});
