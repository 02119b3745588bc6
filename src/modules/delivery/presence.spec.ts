import type { Presence } from '#modules/ledger/accept.contract.js';
import { Clock } from '#kernel/clock.js';
import { Ids, type Id } from '#kernel/ids.js';
import { WorkerPresence } from './presence.js';

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

/** The table of workers, and what was asked of it. */
class Table implements Presence {
  readonly dead = new Set<Id>();
  readonly left: Id[] = [];
  beats: Id[] = [];
  reaps = 0;
  isAway = false;

  async beat({ id }: { id: Id }): Promise<boolean> {
    if (this.isAway) throw new Error('storage is away');
    this.beats.push(id);
    return !this.dead.has(id);
  }
  async reap(): Promise<number> {
    this.reaps += 1;
    return 0;
  }
  async leave(id: Id): Promise<void> {
    this.left.push(id);
  }
}

/** A worker whose turns the test takes itself: two seconds each. */
function arrange(holds: (id: Id) => boolean = () => false) {
  const clock = new FakeClock();
  const table = new Table();
  const worker = new WorkerPresence(table, clock, new Ids(clock));
  Object.assign(worker, { holds });
  const turn = async (): Promise<void> => {
    clock.ms += 2_000;
    table.beats = [];
    await (worker as unknown as { turn(): Promise<unknown> }).turn().catch(() => undefined);
  };
  const turns = async (seconds: number): Promise<void> => {
    for (let i = 0; i < seconds / 2; i += 1) await turn();
  };
  return { worker, table, turn, turns };
}

describe('WorkerPresence', () => {
  it('claims nothing before it is registered', async () => {
    const { worker, turn } = arrange();
    expect(worker.claimant()).toBeNull();

    await turn();

    expect(worker.claimant()).not.toBeNull();
  });

  it('takes a new name once it was declared dead, so that old results meet a fence', async () => {
    const { worker, table, turn } = arrange();
    await turn();
    const before = worker.claimant() as Id;

    table.dead.add(before);
    await turn();

    expect(worker.claimant()).not.toBe(before);
    expect(table.beats.at(-1)).toBe(worker.claimant());
  });

  it('takes a new name every half minute and keeps the old one alive while something is held under it', async () => {
    let held: Id | null = null;
    const { worker, table, turn, turns } = arrange((id) => id === held);
    await turn();
    held = worker.claimant();

    await turns(120);

    expect(worker.claimant()).not.toBe(held);
    expect(table.beats).toContain(held);
    expect(table.left).not.toContain(held);
  });

  it('lets an old name go when nothing is held under it, which frees what nobody here has heard of', async () => {
    const { worker, table, turn, turns } = arrange();
    await turn();
    const first = worker.claimant() as Id;

    await turns(54);
    expect(table.left).not.toContain(first);
    await turns(10);

    expect(table.left).toContain(first);
    expect(table.beats).not.toContain(first);
  });

  it('declares nobody dead until ten seconds after its own renewals have become steady again', async () => {
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

  it('gives back every name when it leaves', async () => {
    const { worker, table, turns } = arrange(() => true);
    await turns(70);
    const names = [...new Set(table.beats)];
    expect(names.length).toBeGreaterThan(1);

    await worker.leave();

    expect(new Set(table.left)).toEqual(new Set(names));
    expect(worker.claimant()).toBeNull();
  });
});
