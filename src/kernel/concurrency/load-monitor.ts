import { performance } from 'node:perf_hooks';
import { Injectable } from '@nestjs/common';

/** Delivery rate and event loop utilization of this process. */
export interface LoadSample {
  /** Deliveries begun per second. */
  urgentPerSecond: number;
  /** Fraction of the time in which the event loop was busy: 1 if it was never idle. */
  utilization: number;
}

/**
 * Counts deliveries, so that background work can yield to them. Counting is cheap. Background work samples at its own
 * interval.
 */
@Injectable()
export class LoadMonitor {
  private begun = 0;

  /** Counts one started delivery. */
  recordDelivery(): void {
    this.begun += 1;
  }

  /** Returns a function that returns the load since its previous call. Each reader needs its own sampler. */
  sampler(): () => LoadSample {
    let [begun, atMs, load] = [this.begun, performance.now(), performance.eventLoopUtilization()];
    return () => {
      const [nowBegun, nowMs, nowLoad] = [this.begun, performance.now(), performance.eventLoopUtilization()];
      const { utilization } = performance.eventLoopUtilization(nowLoad, load);
      const urgentPerSecond = ((nowBegun - begun) * 1000) / Math.max(1, nowMs - atMs);
      [begun, atMs, load] = [nowBegun, nowMs, nowLoad];
      return { urgentPerSecond, utilization };
    };
  }
}
