import { performance } from 'node:perf_hooks';
import { Injectable } from '@nestjs/common';

export interface LoadSample {
  /** Deliveries started per second. */
  urgentPerSecond: number;
  /** Busy fraction of the event loop: 1 if it was never idle. */
  utilization: number;
}

/** Measures the delivery load, so that background work can yield to deliveries. */
@Injectable()
export class LoadMonitor {
  private begun = 0;

  recordDelivery(): void {
    this.begun += 1;
  }

  /** Returns a function that samples the load since its previous call. Each reader needs its own function. */
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
