import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { lowestIdAt } from '#kernel/ids.js';
import { ReceivedEvents } from '#modules/events/received.contract.js';

const WINDOW_MS = 500;
const COUNTED_MAX = 10_000;
/** Below this many events a second nobody is in the replay's way. */
const LIVE_MIN = 50;
/** A process that is less busy than this has room for both. */
const BUSY_MIN = 0.7;
/** Beside live events on a busy machine: so many a second, and a tenth of theirs. */
const RATE_MIN = 200;
const RATE_SHARE = 0.1;

/** Tells a replay how long to rest, so that live events keep most of the machine. */
@Injectable()
export class LiveLoad {
  private last: EventLoopUtilization = performance.eventLoopUtilization();

  constructor(
    private readonly received: ReceivedEvents,
    private readonly clock: Clock,
  ) {}

  /** Milliseconds to rest after so many deliveries were enqueued; 0 while there is room. */
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

/** The rest that `livePerSecond` asks for on a busy machine. */
export function restMs(enqueued: number, livePerSecond: number): number {
  return livePerSecond < LIVE_MIN ? 0 : (enqueued * 1000) / (RATE_MIN + RATE_SHARE * livePerSecond);
}
