import type { Seeded } from '../random.js';
import type { FaultKind } from './fault.js';
import { Fleet, type FleetKind } from './fleet.js';
import { overlapping } from './kinds.js';
import { missingMessages, Round } from './round.js';
import { complaintsOf, type Verdict } from './verdict.js';

export interface RunOptions {
  kinds: readonly FaultKind[];
  fleets: readonly FleetKind[];
  dice: Seeded;
  seed: number;
  minutes: number;
  /** Minimum and maximum number of faults in a round. If a fleet has fewer kinds, its rounds have fewer faults. */
  atOnceMin: number;
  atOnceMax: number;
  /** Whether each fault is as short as in CI, which allows more faults. */
  isShort: boolean;
}

/** A finished round. If there is no verdict, `error` contains the reason. */
export interface Done {
  number: number;
  atMinute: number;
  ofMinutes: number;
  fleet: FleetKind;
  names: string[];
  verdict: Verdict | null;
  error: string | null;
}

export interface Results {
  seed: number;
  startedAt: string;
  minutes: number;
  faults: number;
  isClean: boolean;
  rounds: readonly Done[];
  /**
   * Messages to misbehaving receivers that did not arrive although the receivers worked again, for each set of
   * processes under test.
   */
  missing: readonly { fleet: FleetKind; messageIds: string[] }[];
}

const ROUNDS_PER_FLEET = 12;
const TIME_LIMITS = { acceptMs: 120_000, settleMs: 120_000 };
const MISSING_MS_MAX = 240_000;
const MINUTE_MS = 60_000;

/** Runs rounds of faults on one set of processes after the other (fleet), until the time is over. */
export class Run {
  private readonly startedAt = new Date();
  private readonly startMs = performance.now();
  private readonly rounds: Done[] = [];
  private readonly missing: Results['missing'][number][] = [];
  private fleet: Fleet | null = null;

  constructor(private readonly options: RunOptions) {}

  /** Calls `tell` with each finished round. */
  async run(tell: (done: Done) => void): Promise<void> {
    const { dice, fleets } = this.options;
    let turns: FleetKind[] = [];
    while (this.minute() < this.options.minutes) {
      if (turns.length === 0) turns = dice.shuffled(fleets);
      await this.runFleet(turns.pop() as FleetKind, tell);
    }
  }

  results(): Results {
    const { seed } = this.options;
    const wrong = this.rounds.some(({ verdict }) => verdict === null || complaintsOf(verdict).length > 0);
    const faults = this.rounds.reduce((sum, { names }) => sum + names.length, 0);
    const isClean = faults > 0 && !wrong && this.missing.length === 0;
    return {
      seed,
      startedAt: this.startedAt.toISOString(),
      minutes: this.minute(),
      faults,
      isClean,
      rounds: this.rounds,
      missing: this.missing,
    };
  }

  async stop(): Promise<void> {
    await this.fleet?.close();
    this.fleet = null;
  }

  private async runFleet(kind: FleetKind, tell: (done: Done) => void): Promise<void> {
    const { kinds, dice, seed, minutes, atOnceMin, atOnceMax, isShort } = this.options;
    this.fleet = await Fleet.open(kind, seed + this.rounds.length);
    let isGood = true;
    for (let i = 0; i < ROUNDS_PER_FLEET && isGood && this.minute() < minutes; i += 1) {
      const chosen = overlapping(kinds, kind, dice, atOnceMax, atOnceMin);
      const names = chosen.map(({ name }) => name);
      const done: Done = {
        number: this.rounds.length + 1,
        atMinute: 0,
        ofMinutes: minutes,
        fleet: kind,
        names,
        verdict: null,
        error: null,
      };
      try {
        done.verdict = (await new Round(this.fleet, chosen, dice, isShort, TIME_LIMITS).run()).verdict;
      } catch (error) {
        done.error = error instanceof Error ? error.message : String(error);
      }
      done.atMinute = this.minute();
      // A fleet that a fault has broken cannot be used for the next round.
      isGood =
        done.verdict !== null &&
        done.verdict.wrongs.length === 0 &&
        done.verdict.backSeconds !== null &&
        !chosen.some(({ usesUp }) => usesUp);
      this.rounds.push(done);
      tell(done);
    }
    const messageIds = await missingMessages(this.fleet, MISSING_MS_MAX);
    if (messageIds.length > 0) this.missing.push({ fleet: kind, messageIds });
    await this.stop();
  }

  private minute(): number {
    return (performance.now() - this.startMs) / MINUTE_MS;
  }
}
