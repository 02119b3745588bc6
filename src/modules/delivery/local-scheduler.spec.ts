import type { Outcome } from '#engine/outcome.js';
import { SystemClock } from '#kernel/clock.js';
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

/** A local scheduler with in-memory dependencies. Attempts start and end only when the test says so. */
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
      if (world.looks > LOOKS_MAX) throw new Error('The scheduler never comes to rest.');
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
  const scheduler = new LocalScheduler(config, circuits, permits, presence, environments, new SystemClock(), load);
  const running: DeliveryTurn[] = [];
  scheduler.connect(
    (turn) => running.push(turn),
    () => undefined,
  );
  const end = (targetId: string, outcome: Outcome | null = 'success'): void => {
    world.looks = 0;
    const at = running.findIndex(({ delivery }) => delivery.targetId === targetId);
    const [turn] = running.splice(at, at < 0 ? 0 : 1);
    if (!turn) throw new Error(`Nothing runs against ${targetId}.`);
    scheduler.recordAnswer(turn, outcome);
    scheduler.releaseSlot(turn);
  };
  const against = (targetId: string): number => running.filter(({ delivery }) => delivery.targetId === targetId).length;
  return { scheduler, world, running, end, against };
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

/** Returns an object with this length, to simulate a payload without allocating it. */
const payloadOf = (length: number): string => ({ length }) as unknown as string;

const many = (length: number, targetId: string, attempts = 0): ClaimedDelivery[] =>
  Array.from({ length }, () => delivery(targetId, attempts));

describe('LocalScheduler: admission', () => {
  it('reserves a slot for an event until its commit, and then starts the delivery', () => {
    const { scheduler, running } = arrange();
    const accepted = event('a');

    expect(scheduler.reserve(accepted)).toBe('run');
    expect(running).toHaveLength(0);
    expect(scheduler.figures()).toMatchObject({ running: 0, held: 1 });
    scheduler.enqueue([claimed(accepted)]);

    expect(running.map((turn) => turn.delivery.eventId)).toEqual([accepted.id]);
    expect(running[0]?.probe).toBe(false);
  });

  it('releases the slot when the commit fails', () => {
    const { scheduler } = arrange();
    const accepted = event('a');
    scheduler.reserve(accepted);

    scheduler.releaseSlots([accepted]);

    expect(scheduler.figures()).toMatchObject({ running: 0, held: 0 });
  });

  it('parks events of a target whose circuit is open', () => {
    const { scheduler, world } = arrange();
    world.open.add('a');

    expect(scheduler.reserve(event('a'))).toBe('park');
    expect(scheduler.reserve(event('b'))).toBe('run');
    expect(scheduler.figures().held).toBe(1);
  });

  it('parks events beyond the rate limit of a target, and takes no tokens for an unlimited one', () => {
    const { scheduler, world } = arrange();
    world.permits = 2;

    expect(scheduler.reserve(event('b'))).toBe('run');
    expect([1, 2, 3].map(() => scheduler.reserve(event('a', { ratePerSecond: 10 })))).toEqual(['run', 'run', 'park']);
    expect(scheduler.figures().held).toBe(3);
  });

  it('consumes no token for an event that does not run', () => {
    const { scheduler, world } = arrange();
    world.permits = 1;
    world.open.add('a');

    scheduler.reserve(event('a', { ratePerSecond: 10 }));

    expect(world.permits).toBe(1);
  });

  it('holds 2,000 deliveries of one target and parks the next; holds 8,000 in total and leaves the next', () => {
    const { scheduler } = arrange();
    const admitted = ['a', 'b', 'c', 'd'].map((target) =>
      Array.from({ length: 2_000 }, () => scheduler.reserve(event(target))),
    );

    expect(new Set(admitted.flat())).toEqual(new Set(['run']));
    expect(scheduler.reserve(event('a'))).toBe('leave');
    expect(scheduler.room()).toBe(0);
    expect(scheduler.roomFor(1, 'e')).toBe(0);
    scheduler.releaseSlots([event('b')]);
    expect(scheduler.reserve(event('a'))).toBe('park');
    expect(scheduler.reserve(event('e'))).toBe('run');
  });

  it('leaves further events once 128 MB are held, and claims nothing more', () => {
    const { scheduler } = arrange();
    scheduler.reserve(event('a', { payload: payloadOf(BYTES_MAX - 1) }));

    expect(scheduler.room()).toBe(4);
    expect(scheduler.reserve(event('b', { payload: payloadOf(1) }))).toBe('run');
    expect(scheduler.reserve(event('c'))).toBe('leave');
    expect(scheduler.room()).toBe(0);
  });

  it('has room for twice the window of each target', () => {
    const { scheduler } = arrange(1_000);
    expect(scheduler.roomFor(1, 'a')).toBe(64);

    for (const each of many(64, 'a')) scheduler.accept(each);

    expect(scheduler.roomFor(1, 'a')).toBe(0);
    expect(scheduler.roomFor(2, 'a')).toBe(64);
  });

  it('reports unclaimed rows', () => {
    const { scheduler } = arrange();
    let unclaimed = 0;
    scheduler.connect(
      () => undefined,
      () => (unclaimed += 1),
    );

    scheduler.onUnclaimed();

    expect(unclaimed).toBe(1);
  });

  it('returns the id of the worker for claims while its heartbeat is valid', () => {
    const { scheduler, world } = arrange();

    expect(scheduler.claimant()).toBe('worker');
    world.present = false;
    expect(scheduler.claimant()).toBeNull();
  });
});

describe('LocalScheduler: starting', () => {
  it("runs no more attempts at a target than its window, while other targets' attempts run", () => {
    const { scheduler, against } = arrange(1_000);

    for (const each of [...many(40, 'slow'), ...many(5, 'healthy')]) scheduler.accept(each);

    expect(against('slow')).toBe(32);
    expect(against('healthy')).toBe(5);
  });

  it('starts in the order of arrival, and starts the next delivery on a response, before its result is recorded', () => {
    const { scheduler, running } = arrange(1_000);
    const deliveries = many(34, 'a');
    for (const each of deliveries) scheduler.accept(each);

    scheduler.recordAnswer(running[0] as DeliveryTurn, 'success');

    expect(running.map((turn) => turn.delivery)).toEqual(deliveries.slice(0, running.length));
    expect(running.length).toBeGreaterThan(32);
    expect(scheduler.figures().held).toBe(34);
    scheduler.releaseSlot(running[0] as DeliveryTurn);
    expect(scheduler.figures().held).toBe(33);
  });

  it('halves the window of a target that asks for a lower rate', () => {
    const { scheduler, end, against } = arrange(1_000);
    for (const each of many(100, 'a')) scheduler.accept(each);

    end('a', 'throttled');
    for (let i = 0; i < 15; i += 1) end('a', 'failed');
    expect(against('a')).toBe(16);
    end('a', 'failed');

    expect(against('a')).toBe(16);
  });

  it("respects a target's concurrency limit, for accepted and claimed deliveries", () => {
    const { scheduler, end, against } = arrange(1_000);
    const arriving = Array.from({ length: 5 }, () => event('a', { concurrency: 2 }));

    expect(arriving.map((each) => scheduler.reserve(each))).toEqual(Array.from({ length: 5 }, () => 'run'));
    scheduler.enqueue(arriving.map(claimed));
    scheduler.setCeiling(1, 'b', 3);
    for (const each of [...many(10, 'a'), ...many(10, 'b')]) scheduler.accept(each);
    end('a');
    end('b');

    expect([against('a'), against('b'), scheduler.roomFor(1, 'b')]).toEqual([2, 3, -3]);
  });

  it("applies a change of a target's concurrency limit", () => {
    const { scheduler, end, against } = arrange(1_000);
    for (const each of many(40, 'a')) scheduler.accept(each);

    scheduler.setCeiling(1, 'a', 2);
    for (let i = 0; i < 31; i += 1) end('a');
    expect(against('a')).toBe(2);
    scheduler.setCeiling(1, 'a', null);
    end('a');
    end('a');

    expect(against('a')).toBeGreaterThan(2);
  });

  it('stores nothing for a target without a limit', () => {
    const { scheduler } = arrange();

    scheduler.setCeiling(1, 'a', null);

    expect(scheduler.figures().targets).toBe(0);
  });

  it('passes on that a delivery is a probe', () => {
    const { scheduler, running } = arrange();

    scheduler.accept(delivery('a'), true);

    expect(running[0]?.probe).toBe(true);
  });

  it('reserves half of the ceiling for first attempts', () => {
    const { scheduler, against } = arrange(4);

    for (const each of [...many(10, 'dead', 1), ...many(10, 'healthy')]) scheduler.accept(each);

    expect(against('dead')).toBe(2);
    expect(against('healthy')).toBe(2);
  });

  it('continues while retries wait for their half and a first attempt ends', () => {
    const { scheduler, end, against } = arrange(4);
    for (const each of [...many(3, 'dead', 1), ...many(2, 'healthy')]) scheduler.accept(each);

    end('healthy');

    expect(against('dead')).toBe(2);
    expect(against('healthy')).toBe(1);
  });

  it("starts a first attempt while a retry of the same target waits for the retries' half", () => {
    const { scheduler, running } = arrange(4);

    for (const each of [...many(3, 'a', 1), delivery('a')]) scheduler.accept(each);

    expect(running.map((turn) => turn.delivery.attempts)).toEqual([1, 1, 0]);
  });

  it('gives a free slot to a waiting target, even if the target that released it has more deliveries', () => {
    const { scheduler, end, against } = arrange(2);
    for (const each of [...many(50, 'busy'), delivery('other')]) scheduler.accept(each);

    end('busy');
    end('busy');

    expect(against('other')).toBe(1);
  });
});

describe('LocalScheduler: cost of a free slot', () => {
  it('skips all targets with only retries without reading them, while retries use their half', () => {
    const { scheduler, world, running, end, against } = arrange(8);
    for (let i = 0; i < 3_000; i += 1) scheduler.accept(delivery(`failing ${i}`, 1));
    for (const each of many(10, 'healthy')) scheduler.accept(each);
    expect([running.length, against('healthy')]).toEqual([8, 4]);

    end('healthy');

    expect(against('healthy')).toBe(4);
    expect(world.looks).toBeLessThan(10);
  });

  it('starts one retry for each retry that ends', () => {
    const { scheduler, world, running, end } = arrange(8);
    for (let i = 0; i < 3_000; i += 1) scheduler.accept(delivery(`failing ${i}`, 1));
    expect(running).toHaveLength(4);

    end('failing 0', 'failed');

    expect(running).toHaveLength(4);
    expect(running.at(-1)?.delivery.targetId).toBe('failing 4');
    expect(world.looks).toBeLessThan(10);
  });
});

describe('LocalScheduler: eviction and shutdown', () => {
  it("evicts one target's waiting deliveries, but no running ones and none of other targets", () => {
    const { scheduler, running } = arrange(3);
    const [a, b] = [many(5, 'a'), many(2, 'b')];
    for (const each of [...a, ...b]) scheduler.accept(each);

    expect(scheduler.evict(1, 'a')).toEqual(a.slice(3));
    expect(scheduler.evict(1, 'a')).toEqual([]);
    expect(scheduler.evict(1, 'unknown')).toEqual([]);

    expect(running).toHaveLength(3);
    expect(scheduler.figures()).toMatchObject({ running: 3, held: 5 });
  });

  it('close() returns the deliveries that have not started; nothing more starts or is admitted', () => {
    const { scheduler, running, end } = arrange(2);
    const reserved = event('a');
    scheduler.reserve(reserved);
    const deliveries = [...many(3, 'a'), ...many(3, 'b')];
    for (const each of deliveries) scheduler.accept(each);

    const waiting = scheduler.close();
    scheduler.enqueue([claimed(reserved)]);
    end('a');

    expect(waiting).toEqual(deliveries.slice(2));
    expect(running).toHaveLength(1);
    expect(scheduler.claimant()).toBeNull();
    expect(scheduler.room()).toBe(0);
  });
});

describe('LocalScheduler: uncertain claims', () => {
  const held = (targetId: string, claimedBy: string): ClaimedDelivery => ({ ...delivery(targetId), claimedBy });

  it('starts no waiting delivery, and all of them once the lease is confirmed', () => {
    const { scheduler, world, running, end } = arrange(2);
    for (const each of many(4, 'a')) scheduler.accept(each);
    world.inDoubt = true;

    end('a');
    scheduler.accept(delivery('b'));
    expect(running).toHaveLength(1);

    world.inDoubt = false;
    scheduler.resume();
    expect(running).toHaveLength(2);
    while (running.length > 0) end((running[0] as DeliveryTurn).delivery.targetId);
    expect(scheduler.figures()).toMatchObject({ running: 0, held: 0 });
  });

  it('drops the waiting deliveries of a worker id that was declared dead, and nothing else', () => {
    const { scheduler, running, end } = arrange(1);
    scheduler.accept(held('a', 'dead'));
    scheduler.accept(held('a', 'dead'));
    scheduler.accept(held('a', 'alive'));
    scheduler.accept(held('b', 'dead'));

    scheduler.dropClaim('dead');

    expect(scheduler.figures()).toMatchObject({ running: 1, held: 2 });
    end('a');
    expect(running.map((turn) => turn.delivery.claimedBy)).toEqual(['alive']);
    end('a');
    expect(scheduler.holds('dead')).toBe(false);
    expect(scheduler.figures()).toMatchObject({ running: 0, held: 0 });
  });

  it('drops deliveries that arrive under a dead worker id with the next heartbeat', () => {
    const { scheduler, world, running } = arrange();
    world.inDoubt = true;
    scheduler.accept(held('a', 'dead'));
    world.dead.add('dead');

    scheduler.resume();
    world.inDoubt = false;
    scheduler.resume();

    expect(running).toHaveLength(0);
    expect(scheduler.figures()).toMatchObject({ running: 0, held: 0 });
  });
});

describe('LocalScheduler: a tenant beside another one that uses all slots', () => {
  const of = (environmentId: number, targetId: string): ClaimedDelivery => ({ ...delivery(targetId), environmentId });

  it('gives the small tenant slots above the ceiling repeatedly, and the large one none', () => {
    const { scheduler, running, end, against } = arrange(8);
    for (let i = 0; i < 50; i += 1) scheduler.accept(of(1, `hanging ${i}`));
    expect(running).toHaveLength(8);

    for (let i = 0; i < 20; i += 1) {
      scheduler.accept(of(3, 'healthy'));
      expect(against('healthy')).toBe(1);
      end('healthy');
      expect(running).toHaveLength(8);
    }
    for (let i = 0; i < 50; i += 1) scheduler.accept(of(3, `as bad ${i}`));

    expect(running).toHaveLength(10);
    for (let i = 0; i < 3; i += 1) end(`hanging ${i}`);
    expect(running.filter(({ delivery: { environmentId } }) => environmentId === 3).length).toBeGreaterThanOrEqual(3);
  });

  it('gives the small tenant the next free slot, however many deliveries wait', () => {
    const { scheduler, running, end } = arrange(4);
    for (let i = 0; i < 50; i += 1) scheduler.accept(of(1, `hanging ${i}`));
    scheduler.accept(of(3, 'healthy'));

    end('hanging 0');

    expect(running.map((turn) => turn.delivery.targetId)).toContain('healthy');
  });

  it("reports the large tenant as crowding, keeps room to claim for others, and accepts their events beyond one tenant's limit", () => {
    const { scheduler } = arrange(4);
    for (let i = 0; i < 8_000; i += 1) scheduler.accept(of(1, `hanging ${i}`));

    expect(scheduler.crowdedEnvironments()).toEqual([1]);
    expect([scheduler.room(), scheduler.room(1), scheduler.room(3)]).toEqual([0, 0, 100]);
    expect(scheduler.reserve(event('hanging 9', { environmentId: 1 }))).toBe('leave');
    expect(scheduler.reserve(event('healthy', { environmentId: 3 }))).toBe('run');
  });

  it('reports a tenant that holds the maximum as crowding, even while slots are free', () => {
    const { scheduler, running } = arrange(1_024);
    for (let i = 0; i < 8_000; i += 1) scheduler.accept(of(1, `slow ${i % 4}`));

    expect(running).toHaveLength(128);
    expect(scheduler.crowdedEnvironments()).toEqual([1]);
    expect([scheduler.room(1), scheduler.room(3)]).toEqual([0, 100]);
  });

  it('lets a single tenant use every slot', () => {
    const { scheduler, running } = arrange(64);
    for (let i = 0; i < 100; i += 1) scheduler.accept(of(1, `target ${i}`));

    expect(running).toHaveLength(64);
  });
});

describe('LocalScheduler.pressure', () => {
  const delivered = (
    { scheduler, end }: Pick<ReturnType<typeof arrange>, 'scheduler' | 'end'>,
    count: number,
  ): void => {
    for (let i = 0; i < count; i += 1) {
      scheduler.accept(delivery('quick'));
      end('quick');
    }
  };

  it('counts deliveries that wait for a slot, until they get one', () => {
    const { scheduler, end } = arrange(4);
    delivered({ scheduler, end }, 100);
    for (const each of many(7, 'a')) scheduler.accept(each);
    expect(scheduler.pressure(1)).toMatchObject({ ready: 3 });

    end('a');
    expect(scheduler.pressure(1)).toMatchObject({ ready: 2 });

    end('a');
    end('a');
    expect(scheduler.pressure(1)).toBeNull();
  });

  it('does not count deliveries that wait for a receiver, or retries', () => {
    const { scheduler, end } = arrange(1_000);
    delivered({ scheduler, end }, 1_000);
    for (const each of [...many(100, 'never answers'), ...many(600, 'retried', 1)]) scheduler.accept(each);

    expect(scheduler.figures()).toMatchObject({ held: 700 });
    expect(scheduler.pressure(1)).toBeNull();
  });

  it('is null while all slots are used by receivers that do not respond', () => {
    const { scheduler } = arrange(4);

    for (const each of many(7, 'a')) scheduler.accept(each);

    expect(scheduler.pressure(1)).toBeNull();
  });

  it('does not count evicted deliveries', () => {
    const { scheduler, end } = arrange(4);
    delivered({ scheduler, end }, 100);
    for (const each of many(7, 'a')) scheduler.accept(each);
    expect(scheduler.pressure(1)).toMatchObject({ ready: 3 });

    scheduler.evict(1, 'a');

    expect(scheduler.pressure(1)).toBeNull();
  });
});
