import { Injectable } from '@nestjs/common';
import { backgroundRate } from '#engine/background-rate.js';
import { Clock } from '#kernel/clock.js';
import { LoadMonitor, type LoadSample } from '#kernel/concurrency/load-monitor.js';
import { MailGate } from './mail-gate.js';

const LOOK_EVERY_MS = 100;
/** What looked longer ago than this says nothing of now. */
const STALE_MS = 1_000;
/**
 * So many go on before anything is known again, which is a look later: a flood that begins beside deliveries finds the
 * door ajar.
 */
const UNKNOWN_MAX = 8;
/**
 * However crowded the process is, this part of the deliveries that it makes is taken of messages, and as many are read,
 * so that what waits for being read does not grow. The two cost what four or five deliveries do.
 */
const FLOOR_PART = 0.005;
const FLOOR_MIN = 4;
/** Senders wait so long for their turn, and come again then. */
const TURN_MS_MAX = 30_000;

/**
 * How fast mail is taken and read in this process: as fast as it comes, unless there are deliveries and the process has
 * hardly time for them. Mail can wait: senders keep it, and what was taken stands in the table.
 */
@Injectable()
export class MailPace {
  private readonly taking: MailGate;
  private readonly reading: MailGate;
  private readonly traffic: () => LoadSample;
  private seenMs: number;
  /** Nothing looked for a while: until the next look nothing is known of now. */
  private isUnknown = false;
  private looking: NodeJS.Timeout | undefined;
  private seen = { taken: 0, read: 0 };

  constructor(
    load: LoadMonitor,
    private readonly clock: Clock,
  ) {
    const nowMs = (): number => clock.monotonicMs();
    this.taking = new MailGate(nowMs);
    this.reading = new MailGate(nowMs);
    this.traffic = load.sampler();
    this.seenMs = nowMs();
  }

  /** Resolves when one more message may come in; false when that took too long. */
  turn(): Promise<boolean> {
    this.look();
    return this.taking.enter(TURN_MS_MAX);
  }

  /** One that had its turn came in, with so many bytes. */
  taken(bytes: number): void {
    this.taking.weigh(bytes);
  }

  /** How many of so many may be read now. */
  readable(max: number): number {
    this.look();
    return this.reading.take(max);
  }

  /** Of those that might have been read so many were there, with so many bytes each. */
  read(allowed: number, sizes: readonly number[]): void {
    this.reading.giveBack(allowed - sizes.length);
    for (const bytes of sizes) this.reading.weigh(bytes);
  }

  /**
   * Whether anything has to wait: then what is written waits for company, which costs deliveries fewer commits beside
   * their own.
   */
  get isPaced(): boolean {
    return this.taking.pace !== Infinity || this.reading.pace !== Infinity;
  }

  /** Whether mail has the room of this process for itself, as far as is known. */
  get isRoomy(): boolean {
    return !this.isPaced && !this.isUnknown;
  }

  /** Messages per second that may be taken and read at the moment; Infinity where nothing has to wait. */
  figures(): { taken: number; read: number } {
    return { taken: this.taking.pace, read: this.reading.pace };
  }

  private look(): void {
    const passedMs = this.clock.monotonicMs() - this.seenMs;
    if (passedMs >= LOOK_EVERY_MS) this.update(passedMs);
  }

  private update(passedMs: number): void {
    const traffic = this.traffic();
    const [taken, read] = [this.taking.passed, this.reading.passed];
    const per = (count: number): number => (count * 1000) / passedMs;
    this.seenMs += passedMs;
    if (passedMs >= STALE_MS) {
      this.wonder();
    } else {
      const floor = Math.max(FLOOR_MIN, traffic.urgentPerSecond * FLOOR_PART);
      const took = (gate: MailGate, count: number): number => (this.isUnknown ? 0 : tookOf(gate, per(count)));
      this.taking.pace = backgroundRate(
        this.taking.pace,
        { ...traffic, tookPerSecond: took(this.taking, taken - this.seen.taken) },
        floor,
      );
      this.reading.pace = backgroundRate(
        this.reading.pace,
        { ...traffic, tookPerSecond: took(this.reading, read - this.seen.read) },
        floor,
      );
      this.isUnknown = false;
    }
    this.seen = { taken, read };
  }

  /**
   * A Node.js timer can fire before the monotonic clock shows its whole delay. The update must not be skipped then: no
   * other call may follow.
   */
  private endSilence(): void {
    if (this.isUnknown) this.update(Math.max(1, this.clock.monotonicMs() - this.seenMs));
  }

  /** Some go on, and all the others when the next look finds room for them. */
  private wonder(): void {
    this.isUnknown = true;
    for (const gate of [this.taking, this.reading]) gate.openFor(UNKNOWN_MAX);
    clearTimeout(this.looking);
    this.looking = setTimeout(() => this.endSilence(), LOOK_EVERY_MS).unref();
  }
}

/** What a gate lets through in bursts is no measure: between two of them it is nothing. */
function tookOf({ pace }: MailGate, tookPerSecond: number): number {
  return pace === Infinity ? tookPerSecond : pace;
}
