import { Injectable } from '@nestjs/common';
import type { Counter, Histogram } from 'prom-client';
import { Database } from '#kernel/database/database.js';
import { Metrics } from '#kernel/observability/metrics.js';
import { Readiness } from '#kernel/observability/readiness.js';
import { DueStore } from './due.store.js';
import type { DeliveryResult } from './record.contract.js';

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

@Injectable()
export class LedgerMetrics {
  private readonly accepted: Counter;
  private readonly attempts: Counter<'outcome'>;
  private readonly duration: Histogram;
  private readonly lostClaims: Counter;
  private readonly sharedResults: Counter;
  private readonly expiredOpen: Counter;

  constructor(metrics: Metrics) {
    this.accepted = metrics.counter('events_accepted_total', 'Events committed.');
    this.attempts = metrics.counter(
      'deliveries_total',
      'Recorded results of deliveries: delivered, retrying (another attempt is due), dlq (dead-lettered), failed. Excludes canceled deliveries.',
      ['outcome'],
    );
    this.duration = metrics.histogram('attempt_duration_seconds', 'Duration of delivery attempts.', SECONDS);
    this.expiredOpen = metrics.counter(
      'deliveries_expired_total',
      'Deliveries that ended because their retention ended.',
    );
    this.sharedResults = metrics.counter(
      'results_shared_total',
      'Results that were written by the commit of a group of accepts.',
    );
    this.lostClaims = metrics.counter(
      'claims_lost_total',
      'Results that were not written because another worker had claimed the delivery.',
    );
  }

  /** Counts deliveries that were still open when their retention ended. */
  expired(count: number): void {
    this.expiredOpen.inc(count);
    this.attempts.inc({ outcome: 'failed' }, count);
  }

  acceptedGroup(count: number): void {
    this.accepted.inc(count);
  }

  /**
   * Counts delivery results that were written in the commit of accepted events. `recordedGroup` counts them as well.
   */
  sharedGroup(count: number): void {
    this.sharedResults.inc(count);
  }

  /**
   * Counts a group of recorded delivery results. `held` contains, for each result, whether its claim was still valid.
   * Ignores canceled deliveries, because most of them end without a worker and thus without a result.
   */
  recordedGroup(results: readonly DeliveryResult[], held: readonly boolean[]): void {
    const counts: Partial<Record<DeliveryResult['status'], number>> = {};
    let lost = 0;
    for (const [i, { status, reason, attempt }] of results.entries()) {
      if (held[i] !== true) {
        lost += 1;
        continue;
      }
      if (reason === 'cancelled') continue;
      counts[status] = (counts[status] ?? 0) + 1;
      if (attempt) this.duration.observe(attempt.durationMs / 1000);
    }
    if (lost > 0) this.lostClaims.inc(lost);
    for (const [outcome, count] of Object.entries(counts)) this.attempts.inc({ outcome }, count);
  }
}

/** Gauges that query storage at each scrape. */
@Injectable()
export class StorageGauges {
  constructor(metrics: Metrics, database: Database, due: DueStore, readiness: Readiness) {
    readiness.register('storage', async () => {
      const { oldestDueAgeMs } = await due.backlog();
      return { ready: true, oldest_due_age_ms: Math.round(oldestDueAgeMs) };
    });
    metrics.gauges(
      () => due.backlog(),
      [
        {
          name: 'oldest_due_age_seconds',
          help: 'Age of the oldest due delivery that no live worker has claimed.',
          of: ({ oldestDueAgeMs }) => oldestDueAgeMs / 1000,
        },
        {
          name: 'deliveries_open_estimate',
          help: 'Open deliveries, as estimated by PostgreSQL.',
          of: ({ openEstimate }) => openEstimate,
        },
      ],
    );
    metrics.gauge(
      'oldest_transaction_age_seconds',
      'Age of the oldest transaction; a long one slows every claim.',
      [],
      async (gauge) => {
        gauge.set(await due.oldestTransactionAgeSeconds());
      },
    );
    metrics.gauge(
      'database_connections',
      'Connections of this process by pool and state.',
      ['pool', 'state'],
      (gauge) => {
        for (const { pool, total, idle, waiting } of database.poolFigures()) {
          gauge.set({ pool, state: 'busy' }, total - idle);
          gauge.set({ pool, state: 'idle' }, idle);
          gauge.set({ pool, state: 'awaited' }, waiting);
        }
      },
    );
  }
}
