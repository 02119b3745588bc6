import { Injectable } from '@nestjs/common';
import type { Counter, Histogram } from 'prom-client';
import { Metrics } from '#kernel/observability/metrics.js';

const SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 1.5, 2];

/** Reason why a wait ended: there was capacity, the time limit was reached, or the client disconnected. */
export type End = 'room' | 'overdue' | 'gone';

@Injectable()
export class AcceptPaceMetrics {
  private readonly waits: Counter<'end'>;
  private readonly seconds: Histogram;
  private readonly crowded: Counter;

  constructor(private readonly metrics: Metrics) {
    this.waits = metrics.counter(
      'accept_pace_waits_total',
      'Requests that waited before they were accepted: until there was capacity (room), until the time limit (overdue), or until their client disconnected (gone).',
      ['end'],
    );
    this.seconds = metrics.histogram(
      'accept_pace_wait_seconds',
      'Time that requests waited before they were accepted.',
      SECONDS,
    );
    this.crowded = metrics.counter(
      'accept_pace_crowded_total',
      'Requests that were accepted without a wait because too many others were waiting.',
    );
  }

  watch(count: () => number): void {
    this.metrics.gauge('accept_pace_waiting', 'Requests that are waiting before they are accepted.', [], (gauge) =>
      gauge.set(count()),
    );
  }

  waited(seconds: number, end: End): void {
    this.waits.inc({ end });
    this.seconds.observe(seconds);
  }

  crowdedOut(): void {
    this.crowded.inc();
  }
}
