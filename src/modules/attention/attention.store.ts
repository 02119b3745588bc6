import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import { lowestIdAt } from '#kernel/ids.js';
import type { NamedTarget } from '#modules/names/resource-names.store.js';

/** Maximum number of problems listed per type. One more row is read to detect that there are more. */
export const SHOWN_MAX = 25;
const ROWS_MAX = SHOWN_MAX + 1;
/** Maximum number of events with failed verification to read, newest first. */
const QUARANTINED_MAX = 2_000;
/**
 * Maximum number of due deliveries to read, across all environments. The oldest are read first, so that the longest
 * wait is always found.
 */
const DUE_MAX = 1_000;
const DOMAINS_MAX = 1_000;
const JOBS_MAX = 500;

export interface TroubledTarget extends NamedTarget {
  since: Date;
  reason: string | null;
  count: number;
}

export interface TroubledEndpoint {
  id: Id;
  name: string;
  since: Date;
  count: number;
}

/** Deliveries that have been due for over a minute and that no worker has claimed. */
export interface Overdue {
  since: Date;
  count: number;
}

export interface LostDomain {
  id: Id;
  host: string;
  state: string;
  since: Date;
}

/** A domain whose bounce or complaint rate reached a limit. */
export interface SuspectDomain {
  id: Id;
  host: string;
  cause: string | null;
  since: Date;
}

export interface FailedJob {
  id: Id;
  kind: string;
  error: string | null;
  since: Date;
}

/**
 * Selects disabled destinations. Uses destinations_disabled_at_idx. Rows disabled by the previous release have no
 * disabled_at.
 */
const DISABLED: Statement = {
  name: 'attention_disabled',
  text: `
    select id, name, owner_id as "ownerId", coalesce(disabled_at, updated_at) as since, disabled_reason as reason,
      1 as count
    from destinations where environment_id = $1 and status = 'disabled' order by disabled_at limit $2`,
};

/** Selects disabled endpoints. Uses application_endpoints_disabled_idx. `since` is the time of the last change. */
const DISABLED_SUBSCRIPTIONS: Statement = {
  name: 'attention_disabled_subscriptions',
  text: `
    select id, '' as name, application_id as "ownerId", updated_at as since, disabled_reason as reason,
      1 as count
    from application_endpoints where environment_id = $1 and status = 'disabled' and destination_id <> id
      order by updated_at limit $2`,
};

/** Selects circuits that are not closed, except those of ad-hoc URLs. Uses circuits_shut_idx and destinations_pkey. */
const OPEN_CIRCUITS: Statement = {
  name: 'attention_open_circuits',
  text: `
    select d.id, d.name, d.owner_id as "ownerId", coalesce(c.opened_at, c.changed_at) as since, null as reason,
      c.consecutive_failures as count
    from circuits c join destinations d on d.environment_id = c.environment_id and d.id = c.target_id
      and d.status = 'active'
    where c.environment_id = $1 and c.state <> 'closed' order by coalesce(c.opened_at, c.changed_at) limit $2`,
};

/**
 * Selects the targets with a dead letter in this or the previous hour, and counts the dead letters of the last day
 * (rollups_failing_idx, destinations_pkey). First checks by rollups_pkey whether the whole environment has any in the
 * two hours. If not, the other indexes are not read.
 */
const DEAD_LETTERS: Statement = {
  name: 'attention_dead_letters',
  text: `
    with any_of_late as (
      select 1 from rollups where environment_id = $1 and key_id = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
        and resolution = '1h'
        and start >= date_trunc('hour', now(), 'UTC') - interval '1 hour' and dlq > 0 limit 1
    ), growing as (
      select key_id, sum(dlq) as dlq, min(start) as since from rollups
      where environment_id = $1 and resolution = '1h' and start >= date_trunc('hour', now(),
        'UTC') - interval '23 hours' and is_failing and dlq > 0
        and exists (select from any_of_late)
      group by key_id having max(start) >= date_trunc('hour', now(), 'UTC') - interval '1 hour'
    )
    select d.id, d.name, d.owner_id as "ownerId", g.since, null as reason, g.dlq::float8 as count
    from growing g join destinations d on d.environment_id = $1 and d.id = g.key_id order by g.dlq desc, d.id desc
      limit $2`,
};

/**
 * Selects inbound endpoints with failed verifications. Uses events_disposition_idx, newest first up to a limit, and
 * endpoints_pkey for each endpoint. Omits mail aliases.
 */
const UNVERIFIED: Statement = {
  name: 'attention_unverified',
  text: `
    with late as (
      select id, target_id from events where environment_id = $1 and disposition = 'quarantined' and id >= $3
        order by id desc limit $4
    ), received as (
      select target_id, count(*)::int as count, (array_agg(id order by id))[1] as first_id from late group by target_id
    )
    select e.id, e.name, r.count, r.first_id as "firstId"
    from received r join endpoints e on e.environment_id = $1 and e.id = r.target_id order by r.count desc, e.id desc
      limit $2`,
};

/** Reads the oldest due deliveries that no worker has claimed, across environments. Uses due_deliveries_due_at_idx. */
const OVERDUE: Statement = {
  name: 'attention_overdue',
  text: `
    select min(due_at) as since, count(*)::int as count from (
      select environment_id, due_at from due_deliveries where claimed_by is null and not parked order by due_at limit $2
    ) oldest where environment_id = $1 and due_at < now() - interval '1 minute' having count(*) > 0`,
};

/**
 * Selects domains that were verified before, but whose required records are missing or wrong now. Uses domains_pkey to
 * read an environment's domains, up to a limit.
 */
const LOST_DOMAINS: Statement = {
  name: 'attention_lost_domains',
  text: `
    select id, host, state, coalesce(missing_seen_at - missing_seconds * interval '1 second', updated_at) as since
    from (select * from domains where environment_id = $1 order by id desc limit $3) d
    where kind <> 'webhook' and verified_at is not null and (state = 'failed' or missing_seen_at is not null)
    order by since limit $2`,
};

/** Uses the index domains_reputation_idx. */
const SUSPECT_DOMAINS: Statement = {
  name: 'attention_suspect_domains',
  text: `
    select id, host, reputation_cause as cause, coalesce(reputation_at, updated_at) as since from domains
    where environment_id = $1 and reputation <> 'healthy' and reputation = $3 order by since limit $2`,
};

/** Selects failed replay jobs, newest first. Uses the index replay_jobs_pkey. */
const FAILED_JOBS: Statement = {
  name: 'attention_failed_jobs',
  text: `
    select id, kind, error, finished_at as since
    from (select * from replay_jobs where environment_id = $1 order by id desc limit $3) j
    where state = 'failed' and finished_at > now() - interval '7 days' order by finished_at desc limit $2`,
};

/** Reads current problems with a few statements. The cost of each statement is bounded for any amount of data. */
@Injectable()
export class AttentionStore {
  constructor(private readonly database: Database) {}

  disabled(environmentId: number): Promise<TroubledTarget[]> {
    return this.database.readPrepared(DISABLED, [environmentId, ROWS_MAX]);
  }

  disabledSubscriptions(environmentId: number): Promise<TroubledTarget[]> {
    return this.database.readPrepared(DISABLED_SUBSCRIPTIONS, [environmentId, ROWS_MAX]);
  }

  openCircuits(environmentId: number): Promise<TroubledTarget[]> {
    return this.database.readPrepared(OPEN_CIRCUITS, [environmentId, ROWS_MAX]);
  }

  deadLetters(environmentId: number): Promise<TroubledTarget[]> {
    return this.database.readPrepared(DEAD_LETTERS, [environmentId, ROWS_MAX]);
  }

  /** Returns endpoints with failed verifications since a time. `firstId` is the id of the oldest event read. */
  unverified(environmentId: number, sinceMs: number): Promise<(Omit<TroubledEndpoint, 'since'> & { firstId: Id })[]> {
    return this.database.readPrepared(UNVERIFIED, [environmentId, ROWS_MAX, lowestIdAt(sinceMs), QUARANTINED_MAX]);
  }

  async overdue(environmentId: number): Promise<Overdue | null> {
    const [row] = await this.database.readPrepared<Overdue>(OVERDUE, [environmentId, DUE_MAX]);
    return row ?? null;
  }

  lostDomains(environmentId: number): Promise<LostDomain[]> {
    return this.database.readPrepared(LOST_DOMAINS, [environmentId, ROWS_MAX, DOMAINS_MAX]);
  }

  domainsOf(environmentId: number, reputation: 'at_risk' | 'paused'): Promise<SuspectDomain[]> {
    return this.database.readPrepared(SUSPECT_DOMAINS, [environmentId, ROWS_MAX, reputation]);
  }

  failedJobs(environmentId: number): Promise<FailedJob[]> {
    return this.database.readPrepared(FAILED_JOBS, [environmentId, ROWS_MAX, JOBS_MAX]);
  }
}
