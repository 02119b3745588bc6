import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../clock.js';
import { Database } from '../database/database.js';
import { Loop, type LoopDelay } from './loop.js';

const LOOK_MS = 1_000;
/** What was seen longer ago says nothing: two looks have failed, or take too long. */
const GOOD_MS = 3_000;
/** A look that takes longer has failed. */
const DEADLINE_MS = 4_000;
/** Rest of a loop that is woken when there is something to do: it looks by itself so often all the same. */
const ATTENDED_MS = 30_000;

/** Something that a loop does when it is there. */
export interface DueWork {
  /** A word, for `expect` and as a column. */
  name: string;
  /** An SQL expression: in how many milliseconds there is something to do, null for never; one step of an index. */
  inMs: string;
  wake: () => void;
}

/**
 * One look a second, in one statement, for all loops that would each ask PostgreSQL whether there is something to do: a process that
 * has nothing to do says so once a second, and not twenty times. What comes due before the next look is woken for at its time.
 *
 * It is a convenience, and nothing relies on it: while looks fail every loop polls by itself, as often as it would without.
 */
@Injectable()
export class DueWorkPoller implements OnApplicationShutdown {
  private readonly watches: DueWork[] = [];
  /** By name when its loop is woken, by the monotonic clock. */
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

  /** Wakes whoever waits for this, from the next look on. */
  register(dueWork: DueWork): void {
    this.watches.push(dueWork);
    this.loop.start();
  }

  /** How long a loop that has nothing to do rests: `ownMs` while nobody looks for it. */
  restMs(ownMs: number): number {
    return this.clock.monotonicMs() - this.seenMs < GOOD_MS ? Math.max(ownMs, ATTENDED_MS) : ownMs;
  }

  /** There will be something to do, as this process knows by itself. Nothing where nobody waits for it. */
  schedule(name: string, inMs: number): void {
    const watch = this.watches.find((each) => each.name === name);
    if (watch && inMs <= LOOK_MS) this.wakeIn(watch, inMs);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.loop.stop();
    for (const { timer } of this.alarms.values()) clearTimeout(timer);
    this.alarms.clear();
  }

  /** One turn of the loop. */
  async poll(): Promise<LoopDelay> {
    const watches = [...this.watches];
    const columns = watches.map(({ name, inMs }) => `(${inMs})::float8 as "${name}"`);
    // Watches are only added: so many of them are always the same text.
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

  /** Those that rest because they were attended must not go on resting. Once: from then on they poll. */
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
    // A timer may be a little early, and then nothing would be due yet.
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
