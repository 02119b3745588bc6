import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Loop, type LoopDelay } from '#kernel/concurrency/loop.js';
import { Metrics } from '#kernel/observability/metrics.js';
import type { Feed } from './feeds.js';
import type { Position } from './place.js';
import { PullStore } from './pull.store.js';

interface Waiter {
  feed: Feed;
  position: Position;
  end(arrived: boolean): void;
}

const POLL_MS = 100;
/**
 * Pause after a poll, as a multiple of the poll's duration. Polling thus uses a connection at most a third of the time.
 */
const REST_FACTOR = 2;
export const WAITERS_MAX = 1_000;
/** Maximum number of waiting requests per environment, so that other environments have capacity left. */
export const WAITERS_PER_ENVIRONMENT_MAX = 250;

/**
 * Lets pull requests wait without a database connection each. One statement polls for all of them, ten times a second.
 */
@Injectable()
export class Waiters implements OnModuleDestroy {
  private readonly waiting = new Set<Waiter>();
  private readonly loop: Loop;
  private isClosed = false;

  constructor(
    private readonly store: PullStore,
    private readonly clock: Clock,
    metrics: Metrics,
  ) {
    this.loop = new Loop(
      'PullWaiters',
      () => this.turn(),
      () => clock.nowMs(),
    );
    metrics.gauge('pull_waiters', 'Pull requests that are waiting for items.', [], (gauge) =>
      gauge.set(this.waiting.size),
    );
  }

  /**
   * Waits for items in the feed after the position. Resolves to true once there are any. Resolves to false after
   * `waitMs`, when the client disconnects, when this process shuts down, or immediately if too many requests wait.
   * Keeps waiting while storage is unavailable.
   */
  wait(feed: Feed, position: Position, waitMs: number, gone: AbortSignal): Promise<boolean> {
    if (waitMs <= 0 || this.isClosed || gone.aborted || this.isFull(feed)) return Promise.resolve(false);
    return new Promise((resolve) => {
      const leave = (): void => waiter.end(false);
      const timer = setTimeout(leave, waitMs);
      gone.addEventListener('abort', leave);
      const waiter: Waiter = {
        feed,
        position,
        end: (arrived) => {
          clearTimeout(timer);
          gone.removeEventListener('abort', leave);
          this.waiting.delete(waiter);
          resolve(arrived);
        },
      };
      this.waiting.add(waiter);
      this.loop.start();
    });
  }

  /** Ends all waits before the drain, because the drain waits until open requests end. */
  async onModuleDestroy(): Promise<void> {
    this.isClosed = true;
    for (const waiter of this.waiting) waiter.end(false);
    await this.loop.stop();
  }

  private isFull({ environmentId }: Feed): boolean {
    if (this.waiting.size >= WAITERS_MAX) return true;
    const own = [...this.waiting].filter(({ feed }) => feed.environmentId === environmentId);
    return own.length >= WAITERS_PER_ENVIRONMENT_MAX;
  }

  private async turn(): Promise<LoopDelay> {
    const asked = [...this.waiting];
    if (asked.length === 0) {
      void this.loop.stop();
      return { restMs: 0 };
    }
    const startedMs = this.clock.nowMs();
    for (const index of await this.store.peek(asked)) asked[index]?.end(true);
    return { restMs: Math.max(POLL_MS, REST_FACTOR * (this.clock.nowMs() - startedMs)) };
  }
}
