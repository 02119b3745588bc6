import { Injectable } from '@nestjs/common';
import type { Counter, Histogram } from 'prom-client';
import { Metrics } from '#kernel/metrics.js';
import type { DeliveryResult } from './contract.js';

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

/** Counts what the ledger commits. */
@Injectable()
export class LedgerMetrics {
  private readonly accepted: Counter;
  private readonly attempts: Counter<'outcome'>;
  private readonly duration: Histogram;
  private readonly lostClaims: Counter;

  constructor(metrics: Metrics) {
    this.accepted = metrics.counter('events_accepted_total', 'Events committed.');
    this.attempts = metrics.counter(
      'deliveries_total',
      'Recorded results of deliveries: delivered, retrying (another attempt is due), dlq (dead-lettered), failed.',
      ['outcome'],
    );
    this.duration = metrics.histogram('attempt_duration_seconds', 'Duration of delivery attempts.', SECONDS);
    this.lostClaims = metrics.counter('claims_lost_total', 'Results not written because another worker held the delivery.');
  }

  acceptedGroup(count: number): void {
    this.accepted.inc(count);
  }

  recordedGroup(results: readonly DeliveryResult[], held: ReadonlySet<string>): void {
    for (const result of results) {
      if (!held.has(`${result.eventId}/${result.ordinal}`)) {
        this.lostClaims.inc();
        continue;
      }
      this.attempts.inc({ outcome: result.status });
      if (result.attempt) this.duration.observe(result.attempt.durationMs / 1000);
    }
  }
}
