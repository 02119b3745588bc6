import { Injectable } from '@nestjs/common';
import { Metrics } from '#kernel/observability/metrics.js';
import { type ReportSource, ReportsStore } from './reports.store.js';

/** Metrics of delivery and complaint reports, over all environments. */
@Injectable()
export class FeedbackMetrics {
  private readonly takenTotal;
  private readonly settledTotal;

  constructor(metrics: Metrics, store: ReportsStore) {
    this.takenTotal = metrics.counter(
      'mail_reports_taken_total',
      'Reports about mail that arrived: kept, repeated, or full if too many of the same kind were waiting.',
      ['source', 'outcome'],
    );
    this.settledTotal = metrics.counter(
      'mail_reports_settled_total',
      'Reports about mail that this process examined: recorded, unmatched, untrusted or ignored.',
      ['source', 'state'],
    );
    metrics.gauge(
      'mail_reports_overdue_seconds',
      'Seconds by which the oldest due report about mail is overdue.',
      [],
      async (gauge) => {
        gauge.set(await store.overdueSeconds());
      },
    );
  }

  taken(source: ReportSource, outcome: string): void {
    this.takenTotal.inc({ source, outcome });
  }

  settled(source: ReportSource, state: string): void {
    this.settledTotal.inc({ source, state });
  }
}
