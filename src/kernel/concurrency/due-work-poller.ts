import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../clock.js';
import { Database } from '../database/database.js';
import { Loop, type LoopDelay } from './loop.js';

const LOOK_MS = 1_000;
/** Age above which the last poll result is outdated: two polls have failed, or polls take too long. */
const GOOD_MS = 3_000;
/** Time limit of a poll. A poll that takes longer is treated as failed. */
const DEADLINE_MS = 4_000;
/** Poll interval of an idle background loop while this poller works. */
const ATTENDED_MS = 30_000;

export interface DueWork {
  /** Name of the work: the argument of `schedule`, and the name of its column in the polling statement. */
  name: string;
  /**
   * SQL expression: milliseconds until work is due, or null for never. For speed, it must read only one index entry.
   */
  inMs: string;
  wake: () => void;
}

/**
 * Polls PostgreSQL for the due work of all background loops, in one statement per second. Without it, each loop would
 * poll by itself, and an idle process would send twenty queries per second. Wakes a loop on time if its work is due
 * before the next poll.
 *
 * This is only an optimization. While polls fail, every loop polls by itself at its normal interval.
 */
@Injectable()
export class DueWorkPoller implements OnApplicationShutdown {
  private readonly watches: DueWork[] = [];
  /** Timers by name of the work. `atMs` is a time of the monotonic clock. */
  private readonly alarms = new Map<string, { atMs: number; timer: NodeJS.Timeout }>();
  private readonly loop: Loop;
  private seenMs = -Infinity;
  private isFailing = false;

  constructor(
    @Inject(Database) private readonly database: Pick<Database, 'queryPrepared'>,
    @Inject(Clock) private readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>,
  ) {
    this.loop = new Loop(
      'Lookout',
      () => this.poll(),
      () => this.clock.nowMs(),
    );
  }

  register(dueWork: DueWork): void {
    this.watches.push(dueWork);
    this.loop.start();
  }

  /** Returns how long an idle loop rests: `ownMs`, but at least 30 seconds while this poller succeeds. */
  restMs(ownMs: number): number {
    return this.clock.monotonicMs() - this.seenMs < GOOD_MS ? Math.max(ownMs, ATTENDED_MS) : ownMs;
  }

  /** Wakes the loop of the work `name` after `inMs`, if the next poll is later. Ignores unregistered work. */
  schedule(name: string, inMs: number): void {
    const watch = this.watches.find((each) => each.name === name);
    if (watch && inMs <= LOOK_MS) this.wakeIn(watch, inMs);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.loop.stop();
    for (const { timer } of this.alarms.values()) clearTimeout(timer);
    this.alarms.clear();
  }

  async poll(): Promise<LoopDelay> {
    const watches = [...this.watches];
    const columns = watches.map(({ name, inMs }) => `(${inMs})::float8 as "${name}"`);
    // Work is added but never removed, so the number of entries identifies the SQL text of the prepared statement.
    const statement = {
      name: `lookout_${watches.length}`,
      text: `select ${columns.join(', ')}`,
      deadlineMs: DEADLINE_MS,
    };
    try {
      const [seen] = await this.database.queryPrepared<Record<string, number | null>>(statement, []);
      this.seenMs = this.clock.monotonicMs();
      this.isFailing = false;
      for (const watch of watches) {
        const inMs = seen?.[watch.name] ?? null;
        if (inMs !== null && inMs <= LOOK_MS) this.wakeIn(watch, inMs);
      }
    } catch (error) {
      this.failed();
      throw error;
    }
    return { restMs: LOOK_MS };
  }

  /**
   * Wakes every loop once after a failed poll, because loops rest longer than their own interval while polls succeed.
   */
  private failed(): void {
    if (this.isFailing) return;
    this.isFailing = true;
    this.seenMs = -Infinity;
    for (const { wake } of this.watches) wake();
  }

  private wakeIn(dueWork: DueWork, inMs: number): void {
    if (inMs <= 0) return dueWork.wake();
    const atMs = this.clock.monotonicMs() + inMs;
    const alarm = this.alarms.get(dueWork.name);
    if (alarm && alarm.atMs <= atMs) return;
    clearTimeout(alarm?.timer);
    // Adds 1 ms, because a timer may fire slightly early, before the work is due.
    const timer = setTimeout(
      () => {
        this.alarms.delete(dueWork.name);
        dueWork.wake();
      },
      Math.ceil(inMs) + 1,
    );
    this.alarms.set(dueWork.name, { atMs, timer });
  }
}
