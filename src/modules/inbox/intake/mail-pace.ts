import { Injectable } from '@nestjs/common';
import { backgroundRate } from '#engine/background-rate.js';
import { Clock } from '#kernel/clock.js';
import { LoadMonitor, type LoadSample } from '#kernel/concurrency/load-monitor.js';
import { MailGate } from './mail-gate.js';

const LOOK_EVERY_MS = 100;
/** Maximum age of a load sample. An older sample does not describe the current load. */
const STALE_MS = 1_000;
/**
 * Maximum number of messages that may pass without a current load sample. It is low, because the actual load may be
 * high.
 */
const UNKNOWN_MAX = 8;
/**
 * Minimum rate of mail as a fraction of the delivery rate. It is low, because accepting and reading one message cost as
 * much as four or five deliveries. Accepting and reading have the same minimum, so that the backlog of unread mail does
 * not grow.
 */
const FLOOR_PART = 0.005;
const FLOOR_MIN = 4;
/**
 * Maximum time that a client waits to send a message. After this time, the client gets a temporary error and retries.
 */
const TURN_MS_MAX = 30_000;

/**
 * Limits accepting and reading mail while deliveries use nearly all of the process's time. A delay loses no mail:
 * clients keep messages that are not accepted yet, and accepted messages are stored.
 */
@Injectable()
export class MailPace {
  private readonly taking: MailGate;
  private readonly reading: MailGate;
  private readonly traffic: () => LoadSample;
  private seenMs: number;
  /** True if the last load sample is too old. The current load is unknown until the next sample. */
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

  /** Resolves to true when one more message may be accepted, or to false on a timeout. */
  turn(): Promise<boolean> {
    this.look();
    return this.taking.enter(TURN_MS_MAX);
  }

  taken(bytes: number): void {
    this.taking.weigh(bytes);
  }

  readable(max: number): number {
    this.look();
    return this.reading.take(max);
  }

  /**
   * Reports the messages that were read, with their sizes in bytes. `allowed` is the result of `readable`. Messages
   * that were allowed but not read do not count toward the rate.
   */
  read(allowed: number, sizes: readonly number[]): void {
    this.reading.giveBack(allowed - sizes.length);
    for (const bytes of sizes) this.reading.weigh(bytes);
  }

  /** True while mail is rate limited. Group commits then linger longer, so that they disturb deliveries less. */
  get isPaced(): boolean {
    return this.taking.pace !== Infinity || this.reading.pace !== Infinity;
  }

  /** True if, according to the latest load sample, deliveries leave enough capacity for mail. */
  get isRoomy(): boolean {
    return !this.isPaced && !this.isUnknown;
  }

  /** Returns the limits in messages per second. Infinity means that there is no limit. */
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
   * Updates the rates after a period without load samples. Does not check the minimum interval, because the timer may
   * fire slightly early and possibly no other call follows.
   */
  private endSilence(): void {
    if (this.isUnknown) this.update(Math.max(1, this.clock.monotonicMs() - this.seenMs));
  }

  /** Lets a few messages pass while no load sample is recent. The next sample determines whether more may pass. */
  private wonder(): void {
    this.isUnknown = true;
    for (const gate of [this.taking, this.reading]) gate.openFor(UNKNOWN_MAX);
    clearTimeout(this.looking);
    this.looking = setTimeout(() => this.endSilence(), LOOK_EVERY_MS).unref();
  }
}

/**
 * Returns the rate at which messages passed the gate. If the gate has a limit, returns the limit, because messages then
 * pass in bursts, which distort the measured rate.
 */
function tookOf({ pace }: MailGate, tookPerSecond: number): number {
  return pace === Infinity ? tookPerSecond : pace;
}
