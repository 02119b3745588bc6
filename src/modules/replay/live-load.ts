import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { lowestIdAt } from '#kernel/ids.js';
import { ReceivedStore } from '#modules/events/received.store.js';

const WINDOW_MS = 500;
const COUNTED_MAX = 10_000;
/** Rate of accepted live events per second below which a replay is not slowed down. */
const LIVE_MIN = 50;
/** Event loop utilization below which a process has capacity for both live events and a replay. */
const BUSY_MIN = 0.7;
/** Rate of a replay on a busy machine: `RATE_MIN` events per second, plus `RATE_SHARE` of the rate of live events. */
const RATE_MIN = 200;
const RATE_SHARE = 0.1;

@Injectable()
export class LiveLoad {
  private last: EventLoopUtilization = performance.eventLoopUtilization();

  constructor(
    private readonly received: ReceivedStore,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns how long a replay must pause after it has enqueued `enqueued` deliveries. 0 if there is enough capacity.
   */
  async restMs(environmentId: number, enqueued: number): Promise<number> {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, this.last);
    this.last = now;
    if (utilization < BUSY_MIN) return 0;
    const accepted = await this.received.acceptedSince(
      environmentId,
      lowestIdAt(this.clock.nowMs() - WINDOW_MS),
      COUNTED_MAX,
    );
    return restMs(enqueued, (accepted * 1000) / WINDOW_MS);
  }
}

/** Returns how long a replay must pause after it has enqueued `enqueued` deliveries on a busy machine. */
export function restMs(enqueued: number, livePerSecond: number): number {
  return livePerSecond < LIVE_MIN ? 0 : (enqueued * 1000) / (RATE_MIN + RATE_SHARE * livePerSecond);
}
