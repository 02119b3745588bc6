import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { mayEnter, PACE_MS_MAX } from '#engine/pressure.js';
import { Clock } from '#kernel/clock.js';
import { ApiError } from '#kernel/errors.js';
import type { Caller } from './accept.contract.js';
import { AcceptPaceMetrics, type End } from './accept-pace.metrics.js';
import { DeliveryHandoff } from './delivery-handoff.js';

export interface Coming {
  environmentId: number;
  deliveries: number;
  bytes: number;
  /** Client that waits for the response. If null, the request is accepted without a wait. */
  caller: Caller | null;
}

interface Waiting extends Coming {
  caller: Caller;
  sinceMs: number;
  go: (how: End) => void;
}

/** Waiting requests of one environment, in order of arrival. */
interface Line {
  waiting: Waiting[];
  /** Number of deliveries of requests that have finished waiting but are not committed yet. */
  underWay: number;
}

/**
 * Limits of the number and total bytes of waiting requests. Beyond either limit, requests are accepted without a wait.
 */
const WAITING_MAX = 4_000;
const WAITING_BYTES_MAX = 64 * 1024 * 1024;
const TICK_MS = 10;

/**
 * Backpressure on accepting. A request waits up to two seconds while its environment has more ready deliveries than
 * this process can send. A waiting request is not stored yet, so it uses only the memory of its body.
 *
 * Requests of an environment are accepted in order of arrival. Deliveries that wait for a receiver do not count.
 * Deliveries of other environments do not count either, even within the same organization.
 */
@Injectable()
export class AcceptPace implements BeforeApplicationShutdown {
  private readonly lines = new Map<number, Line>();
  private count = 0;
  private bytes = 0;
  private isOver = false;
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly handoff: DeliveryHandoff,
    private readonly clock: Clock,
    private readonly metrics: AcceptPaceMetrics,
  ) {
    metrics.watch(() => this.count);
  }

  /** Calls `accept` as soon as there is capacity. If the client disconnects first, accepts nothing and throws 400. */
  enter(coming: Coming, accept: () => Promise<void>): Promise<void> {
    const { caller } = coming;
    if (caller === null || this.isOver) return accept();
    const pressure = this.handoff.pressure(coming.environmentId);
    if (pressure === null) return accept();
    const line = this.lines.get(coming.environmentId) ?? { waiting: [], underWay: 0 };
    if (line.waiting.length === 0 && mayEnter(pressure, line.underWay, 0)) return accept();
    if (this.count >= WAITING_MAX || this.bytes + coming.bytes > WAITING_BYTES_MAX) {
      this.metrics.crowdedOut();
      return accept();
    }
    this.lines.set(coming.environmentId, line);
    return this.enterLater(line, { ...coming, caller }, accept);
  }

  /** Ends all waits at shutdown, so that the waiting requests are accepted before the process stops. */
  beforeApplicationShutdown(): void {
    this.isOver = true;
    for (const line of this.lines.values()) for (const each of line.waiting.splice(0)) this.end(line, each, 'room');
  }

  private async enterLater(
    line: Line,
    coming: Coming & { caller: Caller },
    accept: () => Promise<void>,
  ): Promise<void> {
    const end = await this.wait(line, coming);
    if (end === 'gone')
      throw new ApiError('bad_request', 'The client disconnected before there was capacity. Nothing was accepted.');
    try {
      await accept();
    } finally {
      line.underWay -= coming.deliveries;
    }
  }

  private wait(line: Line, coming: Coming & { caller: Caller }): Promise<End> {
    return new Promise((go) => {
      line.waiting.push({ ...coming, sinceMs: this.clock.monotonicMs(), go });
      this.count += 1;
      this.bytes += coming.bytes;
      this.timer ??= setTimeout(() => this.tick(), TICK_MS);
    });
  }

  private tick(): void {
    this.timer = null;
    for (const [environmentId, line] of this.lines) {
      this.endGone(line);
      this.move(line, environmentId);
      if (line.waiting.length === 0 && line.underWay === 0) this.lines.delete(environmentId);
    }
    if (this.lines.size > 0) this.timer = setTimeout(() => this.tick(), TICK_MS);
  }

  private endGone(line: Line): void {
    const gone = line.waiting.filter(({ caller }) => caller.isGone());
    if (gone.length === 0) return;
    line.waiting = line.waiting.filter((each) => !gone.includes(each));
    for (const each of gone) this.end(line, each, 'gone');
  }

  private move(line: Line, environmentId: number): void {
    const nowMs = this.clock.monotonicMs();
    const pressure = this.handoff.pressure(environmentId);
    let [count, underWay] = [0, line.underWay];
    for (const { sinceMs, deliveries } of line.waiting) {
      if (pressure !== null && !mayEnter(pressure, underWay, nowMs - sinceMs)) break;
      underWay += deliveries;
      count += 1;
    }
    for (const each of line.waiting.splice(0, count))
      this.end(line, each, nowMs - each.sinceMs >= PACE_MS_MAX ? 'overdue' : 'room');
  }

  private end(line: Line, { bytes, deliveries, sinceMs, go }: Waiting, how: End): void {
    if (how !== 'gone') line.underWay += deliveries;
    this.count -= 1;
    this.bytes -= bytes;
    this.metrics.waited((this.clock.monotonicMs() - sinceMs) / 1000, how);
    go(how);
  }
}
