import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Metrics } from '#kernel/observability/metrics.js';
import type { CheckOutcome } from './domain-checks.js';
import { DomainsStore } from './domains.store.js';

/** What operators watch of domains. */
@Injectable()
export class DomainsMetrics {
  private readonly checks: Counter<'outcome'>;

  constructor(metrics: Metrics, store: DomainsStore) {
    this.checks = metrics.counter('domain_checks_total', 'Domains that this process looked at by itself.', ['outcome']);
    metrics.gauge(
      'domain_checks_overdue_seconds',
      'How long the check of a domain waits that has been due the longest.',
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
