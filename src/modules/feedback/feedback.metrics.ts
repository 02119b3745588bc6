import { Injectable } from '@nestjs/common';
import { Metrics } from '#kernel/observability/metrics.js';
import { type ReportSource, ReportsStore } from './reports.store.js';

/** What operators watch of reports, over all environments. */
@Injectable()
export class FeedbackMetrics {
  private readonly takenTotal;
  private readonly settledTotal;

  constructor(metrics: Metrics, store: ReportsStore) {
    this.takenTotal = metrics.counter(
      'mail_reports_taken_total',
      'Reports about mail that came in: kept, repeated, or full when there were too many of the same.',
      ['source', 'outcome'],
    );
    this.settledTotal = metrics.counter(
      'mail_reports_settled_total',
      'Reports about mail that this process looked at: recorded, unmatched, untrusted or ignored.',
      ['source', 'state'],
    );
    metrics.gauge(
      'mail_reports_overdue_seconds',
      'How long the report about mail waits that has been due the longest.',
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
