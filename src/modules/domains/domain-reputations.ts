import { Injectable, Logger } from '@nestjs/common';
import {
  judgeReputation,
  rateOf,
  type ReputationCause,
  type ReputationThresholds,
  THRESHOLDS_DEFAULT,
} from '#engine/mail/domain-reputation.js';
import { Clock } from '#kernel/clock.js';
import { Every } from '#kernel/concurrency/every.js';
import { Database } from '#kernel/database/database.js';
import { invalid, noSuch } from '#kernel/errors.js';
import { type Id, showId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { SystemEvents } from '#modules/system-events/contract.js';
import { DomainMailCountsStore, type JudgedCounts, type WindowCounts } from './domain-mail-counts.store.js';
import type { DomainView } from './domain-view.js';
import type { DomainEntity } from './domains.entities.js';
import { DomainsMetrics } from './domains.metrics.js';
import { DomainsService } from './domains.service.js';
import { type DomainPlace, DomainsStore } from './domains.store.js';

export interface ReputationView {
  row: DomainEntity;
  thresholds: ReputationThresholds;
  /** Counts of the last 24 hours, then of the last seven days. */
  windows: WindowCounts[];
}

const REVIEW_PERIOD_MS = 300_000;
const DAY_HOURS = 24;
const WEEK_HOURS = 7 * DAY_HOURS;

/** Compares the bounce and complaint rates of domains with their thresholds, and pauses a domain that exceeds them. */
@Injectable()
export class DomainReputations {
  private readonly logger = new Logger('Domains');

  constructor(
    private readonly store: DomainsStore,
    private readonly counts: DomainMailCountsStore,
    private readonly domains: DomainsService,
    private readonly events: SystemEvents,
    private readonly metrics: DomainsMetrics,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Returns the counts and thresholds of a domain. Throws 404 if the domain does not exist. */
  async find({ environmentId }: Tenant, id: Id): Promise<ReputationView> {
    const row = await this.store.find(environmentId, id);
    if (row === null) throw noSuch('domain');
    const windows = await this.counts.windows(environmentId, id, [DAY_HOURS, WEEK_HOURS]);
    return { row, thresholds: row.thresholds ?? THRESHOLDS_DEFAULT, windows };
  }

  /**
   * Sets the thresholds, which apply from the next email on. Null restores the defaults. Throws 404 for an unknown
   * domain, and 422 for a webhook domain.
   */
  async setThresholds({ environmentId }: Tenant, id: Id, thresholds: ReputationThresholds | null): Promise<DomainView> {
    return this.changed({ environmentId, id }, ({ kind }) => {
      if (kind === 'webhook') throw invalid([{ path: 'thresholds', message: 'A webhook domain sends no mail.' }]);
      return { thresholds };
    });
  }

  /**
   * Resumes a domain if it is paused. From then on, only new mail counts toward the thresholds. Throws 404 for an
   * unknown domain.
   */
  async resume({ environmentId }: Tenant, id: Id): Promise<DomainView> {
    const now = this.clock.now();
    return this.changed({ environmentId, id }, ({ reputation }) =>
      reputation === 'paused'
        ? { reputation: 'healthy', reputationCause: null, reputationAt: now, countsSince: now }
        : {},
    );
  }

  /**
   * Updates the reputation of domains from their current counts. Does not resume paused domains: only an API call can.
   */
  async judge(places: readonly DomainPlace[]): Promise<void> {
    if (places.length === 0) return;
    for (const each of await this.counts.judged(places)) {
      const { reputation, cause } = judgeReputation(each, each.thresholds ?? THRESHOLDS_DEFAULT);
      if (reputation === each.reputation) continue;
      await this.database.unitOfWork(() =>
        this.database.transaction(async () => {
          const row = await this.store.findForUpdate(each.environmentId, each.id);
          // Another process has already changed the domain's reputation.
          if (row === null || row.reputation !== each.reputation) return;
          await this.store.update(row, { reputation, reputationCause: cause, reputationAt: this.clock.now() });
          if (reputation !== 'healthy' && cause !== null) await this.report(row, reputation, cause, each);
        }),
      );
    }
  }

  /** Checks domains at risk again, because the counts of the last 24 hours also change while no mail is sent. */
  @Every(REVIEW_PERIOD_MS, { name: 'Domain reputations', runsOn: 'worker' })
  async review(): Promise<void> {
    await this.judge(await this.store.atRisk());
  }

  /**
   * Stores a system event for the new reputation in the current transaction. Logs and counts the change after the
   * commit.
   */
  private async report(
    { environmentId, id, host, kind }: DomainEntity,
    reputation: 'at_risk' | 'paused',
    cause: ReputationCause,
    { sent, bounced, complained }: JudgedCounts,
  ): Promise<void> {
    const rate = rateOf(cause === 'bounce_rate' ? bounced : complained, sent) ?? 0;
    await this.events.note({
      environmentId,
      type: reputation === 'paused' ? 'domain.paused' : 'domain.at_risk',
      subject: id,
      details: { domain: showId('dom', id), host, kind, cause, rate, sent, bounced, complained },
    });
    this.database.afterCommit(() => {
      this.metrics.recordReputation(reputation, cause);
      const rates = `${bounced} bounces and ${complained} complaints among ${sent} recipients in 24 hours`;
      const change = reputation === 'paused' ? 'is paused' : 'is at risk of being paused';
      this.logger.warn(`The domain ${host} (${showId('dom', id)}) ${change}: ${rates}`);
    });
  }

  private async changed(
    { environmentId, id }: DomainPlace,
    change: (row: DomainEntity) => Partial<DomainEntity>,
  ): Promise<DomainView> {
    const row = await this.database.transaction(async () => {
      const before = await this.store.findForUpdate(environmentId, id);
      if (before === null) throw noSuch('domain');
      const columns = change(before);
      return Object.keys(columns).length === 0 ? before : this.store.update(before, columns);
    });
    return this.domains.view(row);
  }
}
