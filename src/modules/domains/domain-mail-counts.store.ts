import { Injectable } from '@nestjs/common';
import type { MailCounts, Reputation, ReputationThresholds } from '#engine/mail/domain-reputation.js';
import { Database, type Statement } from '#kernel/database/database.js';
import { intArray, textArray, uuidArray } from '#kernel/database/pg-array.js';
import type { Id } from '#kernel/ids.js';
import type { DomainPlace } from './domains.store.js';

/** Mail counts to add to the domain with the name `host`. */
export interface HostCounts extends MailCounts {
  environmentId: number;
  host: string;
}

/** Current reputation of a domain, and the mail counts from which its new reputation is determined. */
export interface JudgedCounts extends DomainPlace, MailCounts {
  reputation: Reputation;
  thresholds: ReputationThresholds | null;
}

export interface WindowCounts extends MailCounts {
  hours: number;
}

/** Rows are locked in the order of the primary key, so that two processes cannot deadlock. */
const ADD: Statement = {
  name: 'domain_mail_counts.add',
  // Uses the indexes domains_host_idx and domain_mail_counts_pkey.
  text: `
    insert into domain_mail_counts as c (environment_id, domain_id, start, sent, delivered, bounced, complained)
    select d.environment_id, d.id, greatest(date_trunc('hour', now(), 'UTC'), d.counts_since), i.sent, i.delivered,
      i.bounced, i.complained
    from unnest($1::int[], $2::text[], $3::int[], $4::int[], $5::int[], $6::int[])
      as i(environment_id, host, sent, delivered, bounced, complained)
    join domains d on d.environment_id = i.environment_id and d.host = i.host
    order by d.environment_id, d.id
    on conflict (environment_id, domain_id, start) do update set sent = c.sent + excluded.sent,
      delivered = c.delivered + excluded.delivered, bounced = c.bounced + excluded.bounced,
      complained = c.complained + excluded.complained
    returning c.environment_id as "environmentId", c.domain_id as id`,
};

const JUDGED: Statement = {
  name: 'domain_mail_counts.judged',
  // Uses the indexes domains_pkey and domain_mail_counts_pkey.
  text: `
    select d.environment_id as "environmentId", d.id, d.reputation, d.thresholds,
      coalesce(sum(c.sent), 0)::float8 as sent, coalesce(sum(c.delivered), 0)::float8 as delivered,
      coalesce(sum(c.bounced), 0)::float8 as bounced, coalesce(sum(c.complained), 0)::float8 as complained
    from unnest($1::int[], $2::uuid[]) as i(environment_id, id)
    join domains d on d.environment_id = i.environment_id and d.id = i.id and d.reputation <> 'paused'
    left join domain_mail_counts c on c.environment_id = d.environment_id and c.domain_id = d.id
      and c.start > now() - interval '24 hours' and c.start >= coalesce(d.counts_since, '-infinity')
    group by d.environment_id, d.id`,
};

const WINDOWS: Statement = {
  name: 'domain_mail_counts.windows',
  // Uses the index domain_mail_counts_pkey.
  text: `
    select w.hours, coalesce(sum(c.sent), 0)::float8 as sent, coalesce(sum(c.delivered), 0)::float8 as delivered,
      coalesce(sum(c.bounced), 0)::float8 as bounced, coalesce(sum(c.complained), 0)::float8 as complained
    from unnest($3::int[]) as w(hours)
    left join domain_mail_counts c on c.environment_id = $1::int and c.domain_id = $2::uuid
      and c.start > now() - w.hours * interval '1 hour'
    group by w.hours order by w.hours`,
};

const FORGET: Statement = {
  name: 'domain_mail_counts.forget',
  // Uses the index domain_mail_counts_start_idx.
  text: `delete from domain_mail_counts where start < now() - interval '8 days'`,
};

@Injectable()
export class DomainMailCountsStore {
  constructor(private readonly database: Database) {}

  /** Adds counts to the current hour. Returns the changed domains. Ignores hosts that belong to no environment. */
  add(counts: readonly HostCounts[]): Promise<DomainPlace[]> {
    return this.database.query<DomainPlace>(ADD, [
      intArray(counts.map(({ environmentId }) => environmentId)),
      textArray(counts.map(({ host }) => host)),
      intArray(counts.map(({ sent }) => sent)),
      intArray(counts.map(({ delivered }) => delivered)),
      intArray(counts.map(({ bounced }) => bounced)),
      intArray(counts.map(({ complained }) => complained)),
    ]);
  }

  /**
   * Returns the counts that determine the reputation of domains: those of the last 24 hours, but not from before the
   * domain was last resumed. Omits paused domains.
   */
  judged(domains: readonly DomainPlace[]): Promise<JudgedCounts[]> {
    return this.database.query<JudgedCounts>(JUDGED, [
      intArray(domains.map(({ environmentId }) => environmentId)),
      uuidArray(domains.map(({ id }) => id)),
    ]);
  }

  /** Returns the counts of time windows that end now. `hours` contains the lengths of the windows, shortest first. */
  windows(environmentId: number, domainId: Id, hours: readonly number[]): Promise<WindowCounts[]> {
    return this.database.query<WindowCounts>(WINDOWS, [environmentId, domainId, intArray(hours)]);
  }

  async forget(): Promise<void> {
    await this.database.query(FORGET);
  }
}
