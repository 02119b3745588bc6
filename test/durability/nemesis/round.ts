import { setTimeout as sleep } from 'node:timers/promises';
import type { Load } from '../load.js';
import { eventually } from '../processes.js';
import type { Seeded } from '../random.js';
import { DESTINATIONS } from '../scene.js';
import type { FaultKind, Inflicted } from './fault.js';
import type { Fleet } from './fleet.js';
import { judge, type RoundEvidence, type Verdict } from './verdict.js';

const CONCURRENCY = 8;
const PAUSE_MS = 25;
/**
 * Numbers of messages that must be accepted: `BEFORE` the first fault, and `AFTER` the last one, for all destinations
 * together.
 */
const BEFORE = 100;
const AFTER = 5 * DESTINATIONS;
/** Maximum time between the beginnings of the faults of a round. */
const SPREAD_MS_MAX = 3_000;

/** Timeouts of a round on a quiet machine, for steps that should take seconds. */
export interface TimeLimits {
  acceptMs: number;
  settleMs: number;
}

export interface RoundResult {
  evidence: RoundEvidence;
  verdict: Verdict;
}

/** Injects faults under load, waits until the service has recovered, and checks the guarantees. */
export class Round {
  private startedAtMs = 0;

  constructor(
    private readonly fleet: Fleet,
    private readonly kinds: readonly FaultKind[],
    private readonly dice: Seeded,
    private readonly isShort: boolean,
    private readonly timeLimits: TimeLimits,
  ) {}

  async run(): Promise<RoundResult> {
    const { fleet, kinds } = this;
    this.startedAtMs = Date.now();
    const earlier = new Set(fleet.arrivals.map(({ id }) => id));
    // Requests that arrived after the end of the previous round. They are duplicates, because all messages of the
    // previous round had arrived before its end.
    const strays = await fleet.collect();
    const crashed = fleet.scene.crashes().length;
    const load = fleet.load(CONCURRENCY, PAUSE_MS);
    fleet.bursts = [];
    load.start();
    fleet.mail?.start();
    try {
      await this.accepted(load, BEFORE);
      const faults = await this.inflicted();
      await this.everybodyUp();
      await this.accepted(load, AFTER);
      await Promise.all([
        ...[load, ...fleet.bursts].map((one) => this.stopped(one)),
        fleet.mail?.stop(this.timeLimits.acceptMs * this.pace()),
      ]);
      await fleet.settled(this.timeLimits.settleMs * this.pace());
      const mail = (await fleet.mail?.verdict(this.timeLimits.settleMs, this.pace())) ?? null;
      const arrivals = [...strays, ...(await fleet.collect())].filter(({ destination }) => destination < DESTINATIONS);
      const evidence: RoundEvidence = {
        faults,
        arrivals,
        earlier,
        sent: [load, ...fleet.bursts].flatMap(({ sent }) => sent),
        failedTries: [load, ...fleet.bursts].flatMap(({ failedTries }) => failedTries),
        refusals: [load, ...fleet.bursts].flatMap(({ refusals }) => refusals),
        destinations: DESTINATIONS,
        nodes: fleet.apis.map(({ url }) => url),
        crashes: fleet.scene.crashes().slice(crashed),
        isSeamless: kinds.every((kind) => kind.isSeamless),
        pace: this.pace(),
        mail,
      };
      return { evidence, verdict: judge(evidence) };
    } finally {
      for (const one of [load, ...fleet.bursts]) one.abandon();
    }
  }

  /**
   * Injects all faults of the round, and waits until all have ended, even if one fails. A fault that outlasted the
   * round could affect the next round.
   */
  private async inflicted(): Promise<Inflicted[]> {
    const ends = await Promise.allSettled(this.kinds.map((kind) => this.inflict(kind)));
    return ends.map((end) => {
      if (end.status === 'rejected') throw end.reason;
      return end.value;
    });
  }

  private async inflict(kind: FaultKind): ReturnType<FaultKind['inflict']> {
    const [ci, min, max] = kind.seconds;
    if (this.kinds.length > 1) await sleep(this.dice.between(0, SPREAD_MS_MAX));
    return kind.inflict(this.fleet, this.dice, (this.isShort ? ci : this.dice.between(min, max)) * 1_000);
  }

  private async accepted(load: Load, more: number): Promise<void> {
    await Promise.race([
      load.reached(load.accepted + more),
      load.ended(),
      sleep(this.timeLimits.acceptMs * this.pace(), undefined, { ref: false }),
    ]);
  }

  /** Stops the load. Messages in flight are accepted, or abandoned at the timeout. */
  private async stopped(load: Load): Promise<void> {
    const late = setTimeout(() => load.abandon(), this.timeLimits.acceptMs * this.pace());
    await load.stop();
    clearTimeout(late);
  }

  private async everybodyUp(): Promise<void> {
    await eventually(() => this.fleet.members.every(({ isUp }) => isUp), this.timeLimits.acceptMs * this.pace());
  }

  /** Returns how many times slower than a quiet machine this machine has been since the round began. */
  private pace(): number {
    return this.fleet.scene.pace.since(this.startedAtMs);
  }
}

/** Waits for the messages to misbehaving receivers. Returns the ids of those that did not arrive in time. */
export async function missingMessages(fleet: Fleet, withinMs: number): Promise<string[]> {
  const missing = (): string[] => {
    const arrived = new Set(fleet.arrivals.filter(({ status }) => status === 200).map(({ id }) => id));
    return fleet.delayedLoads.flatMap(({ sent }) => sent.flatMap(({ ids }) => ids.filter((id) => !arrived.has(id))));
  };
  await eventually(
    async () => {
      await fleet.hurry();
      await fleet.collect();
      return missing().length === 0;
    },
    withinMs * fleet.scene.pace.now(),
    1_000,
  );
  const left = missing();
  return left.length === 0 ? [] : fleet.waiting(left);
}
