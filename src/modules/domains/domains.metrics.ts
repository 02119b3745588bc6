import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Metrics } from '#kernel/observability/metrics.js';
import type { CheckOutcome } from './domain-checks.js';
import { DomainsStore } from './domains.store.js';

@Injectable()
export class DomainsMetrics {
  private readonly checks: Counter<'outcome'>;

  constructor(metrics: Metrics, store: DomainsStore) {
    this.checks = metrics.counter('domain_checks_total', 'Domains that this process checked automatically.', [
      'outcome',
    ]);
    metrics.gauge(
      'domain_checks_overdue_seconds',
      'Seconds by which the oldest due domain check is overdue.',
      [],
      async (gauge) => {
        gauge.set(await store.overdueSeconds());
      },
    );
  }

  checked(outcome: CheckOutcome | 'error'): void {
    this.checks.inc({ outcome });
  }
}
