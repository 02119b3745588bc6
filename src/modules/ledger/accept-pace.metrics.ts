import { Injectable } from '@nestjs/common';
import type { Counter, Histogram } from 'prom-client';
import { Metrics } from '#kernel/observability/metrics.js';

const SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 1.5, 2];

/** How a wait ended: there was room, it had lasted long enough, or the one who asked had gone. */
export type End = 'room' | 'overdue' | 'gone';

/** Counts what waited before it was accepted. */
@Injectable()
export class AcceptPaceMetrics {
  private readonly waits: Counter<'end'>;
  private readonly seconds: Histogram;
  private readonly crowded: Counter;

  constructor(private readonly metrics: Metrics) {
    this.waits = metrics.counter(
      'accept_pace_waits_total',
      'Requests that waited before they were accepted: until there was room, until they had waited long enough (overdue), or until their client had gone.',
      ['end'],
    );
    this.seconds = metrics.histogram(
      'accept_pace_wait_seconds',
      'How long requests waited before they were accepted.',
      SECONDS,
    );
    this.crowded = metrics.counter(
      'accept_pace_crowded_total',
      'Requests that would have waited and were accepted at once, since too many waited.',
    );
  }

  /** `count`: how many wait now. */
  watch(count: () => number): void {
    this.metrics.gauge('accept_pace_waiting', 'Requests that wait before they are accepted.', [], (gauge) =>
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
