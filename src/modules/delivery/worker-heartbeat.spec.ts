import { Clock } from '#kernel/clock.js';
import type { DatabaseTime } from '#kernel/database/database-time.js';
import { type Id, Ids } from '#kernel/ids.js';
import type { WorkerRegistry } from '#modules/ledger/worker-registry.contract.js';
import { WorkerHeartbeat } from './worker-heartbeat.js';

class FakeClock extends Clock {
  ms = 1_000_000_000_000;
  now(): Date {
    return new Date(this.ms);
  }
  nowMs(): number {
    return this.ms;
  }
  random(): number {
    return 0;
  }
}

class Table implements WorkerRegistry {
  readonly dead = new Set<Id>();
  readonly left: Id[] = [];
  beats: Id[] = [];
  reaps = 0;
  isAway = false;

  async beat({ ids }: { ids: readonly Id[] }): Promise<ReadonlySet<Id>> {
    if (this.isAway) throw new Error('storage is away');
    this.beats.push(...ids);
    return new Set(ids.filter((id) => !this.dead.has(id)));
  }
  async reap(): Promise<number> {
    this.reaps += 1;
    return 0;
  }
  async remove(id: Id): Promise<void> {
    this.left.push(id);
  }
}

function arrange(holds: (id: Id) => boolean = () => false) {
  const clock = new FakeClock();
  const table = new Table();
  const time = { agreed: true };
  const world = { dropped: [] as Id[], resumed: 0 };
  const worker = new WorkerHeartbeat(table, clock, new Ids(clock), { isAgreed: () => time.agreed } as DatabaseTime);
  Object.assign(worker, {
    claimHolder: { holds, dropClaim: (id: Id) => world.dropped.push(id), resume: () => (world.resumed += 1) },
  });
  const turn = async (): Promise<void> => {
    clock.ms += 2_000;
    table.beats = [];
    await (worker as unknown as { turn(): Promise<unknown> }).turn().catch(() => undefined);
  };
  const turns = async (seconds: number): Promise<void> => {
    for (let i = 0; i < seconds / 2; i += 1) await turn();
  };
  return { worker, table, turn, turns, clock, time, world };
}

describe('WorkerHeartbeat', () => {
  it('claims nothing before it is registered', async () => {
    const { worker, turn } = arrange();
    expect(worker.claimant()).toBeNull();

    await turn();

    expect(worker.claimant()).not.toBeNull();
  });

  it('takes a new worker id after it was declared dead, so that the fencing token rejects old results', async () => {
    const { worker, table, turn } = arrange();
    await turn();
    const before = worker.claimant() as Id;

    table.dead.add(before);
    await turn();

    expect(worker.claimant()).not.toBe(before);
    expect(table.beats.at(-1)).toBe(worker.claimant());
  });

  it('takes a new worker id every 30 seconds, and keeps the old one alive while deliveries are held under it', async () => {
    let held: Id | null = null;
    const { worker, table, turn, turns } = arrange((id) => id === held);
    await turn();
    held = worker.claimant();

    await turns(120);

    expect(worker.claimant()).not.toBe(held);
    expect(table.beats).toContain(held);
    expect(table.left).not.toContain(held);
  });

  it('unregisters an old worker id when nothing is held under it, which frees claims that this worker does not know', async () => {
    const { worker, table, turn, turns } = arrange();
    await turn();
    const first = worker.claimant() as Id;

    await turns(54);
    expect(table.left).not.toContain(first);
    await turns(10);

    expect(table.left).toContain(first);
    expect(table.beats).not.toContain(first);
  });

  it('replaces a suspect worker id at the next heartbeat and unregisters it seconds later, so that others find claims whose response was lost', async () => {
    const held = new Set<Id>();
    const { worker, table, turn, turns } = arrange((id) => held.has(id));
    await turn();
    const first = worker.claimant() as Id;
    held.add(first);

    await expect(
      worker.trackClaim(first, Promise.reject(new Error('Connection terminated unexpectedly'))),
    ).rejects.toThrow('Connection');
    await turn();

    const second = worker.claimant();
    expect(second).not.toBe(first);
    expect(worker.mayStart(first)).toBe(true);
    await turns(6);
    // The replaced worker id stays registered, because an attempt under that id is still in flight.
    expect(table.left).toEqual([]);
    held.clear();
    await turn();
    expect(table.left).toEqual([first]);
    expect([worker.isOwnClaim(first), worker.mayStart(first), worker.claimant()]).toEqual([false, false, second]);
  });

  it('does not suspect a claim that PostgreSQL itself rejected', async () => {
    const { worker, turn } = arrange();
    await turn();
    const name = worker.claimant() as Id;

    await expect(
      worker.trackClaim(name, Promise.reject(Object.assign(new Error('deadlock detected'), { code: '40P01' }))),
    ).rejects.toThrow('deadlock');
    await turn();

    expect(worker.claimant()).toBe(name);
  });

  it('declares no worker dead until its own renewals have been steady for ten seconds', async () => {
    const { table, turns } = arrange();
    await turns(8);
    expect(table.reaps).toBe(0);
    await turns(6);
    const reaps = table.reaps;
    expect(reaps).toBeGreaterThan(0);

    table.isAway = true;
    await turns(20);
    table.isAway = false;
    await turns(8);

    expect(table.reaps).toBe(reaps);
    await turns(6);
    expect(table.reaps).toBeGreaterThan(reaps);
  });

  it('unregisters every worker id at shutdown', async () => {
    const { worker, table, turns } = arrange(() => true);
    await turns(70);
    const names = [...new Set(table.beats)];
    expect(names.length).toBeGreaterThan(1);

    await worker.stop();

    expect(new Set(table.left)).toEqual(new Set(names));
    expect(worker.claimant()).toBeNull();
  });

  it('neither claims nor starts anything after its lease expired by its own clock, until the worker id is confirmed alive', async () => {
    const { worker, clock, turn } = arrange();
    await turn();
    const name = worker.claimant() as Id;
    expect(worker.mayStart(name)).toBe(true);

    clock.ms += 10_000;
    expect(worker.claimant()).toBeNull();
    expect(worker.mayStart(name)).toBe(false);

    await turn();
    expect(worker.claimant()).toBe(name);
    expect(worker.mayStart(name)).toBe(true);
  });

  it('counts the lease from the request, not from the response', async () => {
    const { worker, table, clock, turn } = arrange();
    await turn();
    const beat = table.beat.bind(table);
    table.beat = async (named) => {
      clock.ms += 9_000;
      return beat(named);
    };

    await turn();
    clock.ms += 1_000;

    expect(worker.claimant()).toBeNull();
  });

  it('drops deliveries under a worker id that was declared dead, and does not reap right after it was suspended', async () => {
    const { worker, table, clock, turn, turns, world } = arrange();
    await turns(14);
    const [name, reaps] = [worker.claimant() as Id, table.reaps];
    expect(reaps).toBeGreaterThan(0);

    clock.ms += 60_000;
    table.dead.add(name);
    await turn();

    expect(world.dropped).toEqual([name]);
    expect(worker.mayStart(name)).toBe(false);
    expect(worker.claimant()).not.toBeNull();
    expect(table.reaps).toBe(reaps);
  });

  it("neither claims nor reaps while its clock differs from PostgreSQL's, but stays alive", async () => {
    const { worker, table, turns, time } = arrange();
    await turns(14);
    const reaps = table.reaps;
    time.agreed = false;

    await turns(20);
    expect(worker.claimant()).toBeNull();
    expect(table.reaps).toBe(reaps);
    expect(table.beats.length).toBeGreaterThan(0);

    time.agreed = true;
    await turns(2);
    expect(worker.claimant()).not.toBeNull();
  });
});
