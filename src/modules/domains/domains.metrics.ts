import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import type { ReputationCause } from '#engine/mail/domain-reputation.js';
import { Metrics } from '#kernel/observability/metrics.js';
import type { CheckOutcome } from './domain-checks.js';
import { DomainsStore } from './domains.store.js';
import { PausedDomains } from './paused-domains.js';

@Injectable()
export class DomainsMetrics {
  private readonly checks: Counter<'outcome'>;
  private readonly reputations: Counter<'reputation' | 'cause'>;

  constructor(metrics: Metrics, store: DomainsStore, paused: PausedDomains) {
    this.checks = metrics.counter('domain_checks_total', 'Domains that this process checked automatically.', [
      'outcome',
    ]);
    this.reputations = metrics.counter(
      'domain_reputation_changes_total',
      'Domains that became at risk of being paused, or that were paused, by the rate that caused it.',
      ['reputation', 'cause'],
    );
    metrics.gauge('domains_paused', 'Domains whose mail is paused.', [], (gauge) => gauge.set(paused.count));
    metrics.gauge(
      'domain_checks_overdue_seconds',
      'Seconds by which the oldest due domain check is overdue.',
      [],
      async (gauge) => {
        gauge.set(await store.overdueSeconds());
      },
    );
  }

  recordReputation(reputation: 'at_risk' | 'paused', cause: ReputationCause): void {
    this.reputations.inc({ reputation, cause });
  }

  checked(outcome: CheckOutcome | 'error'): void {
    this.checks.inc({ outcome });
  }
}
