import { performance } from 'node:perf_hooks';
import { Injectable } from '@nestjs/common';

/** How much this process had to do that comes first, and how busy it was. */
export interface LoadSample {
  /** Deliveries begun per second. */
  urgentPerSecond: number;
  /** Part of the time in which its main loop had something to do: 1 where it never rested. */
  utilization: number;
}

/** Deliveries are counted here, for work that lets them pass. Counting costs nothing; who yields looks when he likes. */
@Injectable()
export class LoadMonitor {
  private begun = 0;

  /** One more delivery begins. */
  recordDelivery(): void {
    this.begun += 1;
  }

  /** What happened since the view began, each time it is asked. A view of one's own for everybody who looks. */
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
