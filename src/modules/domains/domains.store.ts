import { Injectable } from '@nestjs/common';
import { LessThan } from 'typeorm';
import { Clock } from '#kernel/clock.js';
import { Database, type Statement } from '#kernel/database/database.js';
import { Notifications } from '#kernel/database/notifications.js';
import { TenantRepository, type TenantWhere } from '#kernel/database/tenant-repository.js';
import type { Id } from '#kernel/ids.js';
import { DomainEntity } from './domains.entities.js';

export type DomainPlace = Pick<DomainEntity, 'environmentId' | 'id'>;

export interface DomainOccupancy {
  count: number;
  /** Id of the environment's domain that already has this host. Null if there is none. */
  takenBy: Id | null;
}

export type DomainColumns = Partial<
  Omit<DomainEntity, 'environmentId' | 'id' | 'host' | 'token' | 'createdAt' | 'updatedAt'>
>;

const LOCK: Statement = {
  name: 'domains.lock',
  text: `select pg_advisory_xact_lock(hashtext('posthorn domains'), $1::int)`,
};

const LOCK_HOST: Statement = {
  name: 'domains.lock_host',
  text: `select pg_advisory_xact_lock(hashtext('posthorn domain owners'), hashtext($1))`,
};

const OCCUPANCY: Statement = {
  name: 'domains.occupancy',
  // Uses the index domains_host_idx.
  text: `
    select count(*)::int as count, (array_agg(id) filter (where host = $2))[1] as "takenBy"
    from domains where environment_id = $1::int`,
};

const OWNED_ELSEWHERE: Statement = {
  name: 'domains.owned_elsewhere',
  // Uses the index domains_owner_idx.
  text: 'select id from domains where host = $1 and is_owner and (environment_id, id) <> ($2::int, $3::uuid)',
};

/**
 * Claims a domain for a check. Claims nothing if the domain is already claimed, or was checked within the given number
 * of seconds.
 */
const CLAIM_ONE: Statement = {
  name: 'domains.claim_one',
  // Uses the index domains_pkey.
  text: `
    update domains set claimed_until = now() + $3::float8 * interval '1 second'
    where environment_id = $1::int and id = $2::uuid
      and (claimed_until is null or claimed_until < now())
      and (checked_at is null or checked_at <= now() - $4::float8 * interval '1 second')
    returning id`,
};

/**
 * Claims a few domains of each environment whose check is due, so that unresponsive name servers of one environment do
 * not delay others. If two processes select the same domain, only the first one claims it.
 */
const CLAIM_DUE: Statement = {
  name: 'domains.claim_due',
  // Uses the index domains_next_check_at_idx, then domains_pkey.
  text: `
    with due as (
      select environment_id, id, next_check_at from domains
      where next_check_at <= now() and (claimed_until is null or claimed_until < now())
      order by next_check_at limit 5000
    ), turn as (
      select environment_id, id from (
        select *, row_number() over (partition by environment_id order by next_check_at) as place from due
      ) d where place <= $3::int order by place, next_check_at limit $2::int
    )
    update domains d set claimed_until = now() + $1::float8 * interval '1 second'
    from turn where d.environment_id = turn.environment_id and d.id = turn.id and (d.claimed_until is null
      or d.claimed_until < now())
    returning d.environment_id as "environmentId", d.id`,
};

/** Milliseconds until any domain is due for a check. Skips domains being checked. Uses domains_next_check_at_idx. */
export const CHECK_IN_MS = `
  select extract(epoch from next_check_at - now()) * 1000 from domains where claimed_until is null
    or claimed_until < now() order by next_check_at limit 1`;

const RELEASE: Statement = {
  name: 'domains.release',
  // Uses the index domains_pkey.
  text: `
    update domains set claimed_until = null, next_check_at = now() + $3::float8 * interval '1 millisecond'
    where environment_id = $1::int and id = $2::uuid`,
};

const OVERDUE: Statement = {
  name: 'domains.overdue',
  // Uses the index domains_next_check_at_idx.
  text: `select coalesce(extract(epoch from now() - min(next_check_at)), 0)::float8 as seconds from domains where next_check_at <= now()`,
};

const AT_RISK: Statement = {
  name: 'domains.at_risk',
  // Uses the index domains_reputation_idx.
  text: `
    select environment_id as "environmentId", id from domains
    where reputation <> 'healthy' and reputation = 'at_risk' order by environment_id, id limit 1000`,
};

const PAUSED: Statement = {
  name: 'domains.paused',
  // Uses the index domains_reputation_idx.
  text: `
    select environment_id as "environmentId", host from domains
    where reputation <> 'healthy' and reputation = 'paused'`,
};

/** Columns that determine how mail is sent from a domain (see `SendingDomains`). */
const SENDING_COLUMNS = ['isOwner', 'isSending', 'isReturnPathSeen', 'dkimSigner', 'version', 'reputation'] as const;

/** Stores domains. Notifies all nodes of changes to hosts that accept requests, paused domains and sending domains. */
@Injectable()
export class DomainsStore {
  private readonly rows: TenantRepository<DomainEntity>;

  constructor(
    private readonly database: Database,
    private readonly notifications: Notifications,
    private readonly clock: Clock,
  ) {
    this.rows = new TenantRepository(database, DomainEntity);
  }

  /** Prevents other transactions from adding a domain to the environment until this transaction ends. */
  async lock(environmentId: number): Promise<void> {
    await this.database.query(LOCK, [environmentId]);
  }

  /** Prevents other transactions from becoming the owner of the host until this transaction ends. */
  async lockHost(host: string): Promise<void> {
    await this.database.query(LOCK_HOST, [host]);
  }

  async occupancy(environmentId: number, host: string): Promise<DomainOccupancy> {
    const [row] = await this.database.query<DomainOccupancy>(OCCUPANCY, [environmentId, host]);
    return row ?? { count: 0, takenBy: null };
  }

  /** Returns whether another domain, in this or another environment, owns the host. */
  async isOwnedElsewhere({
    host,
    environmentId,
    id,
  }: Pick<DomainEntity, 'host' | 'environmentId' | 'id'>): Promise<boolean> {
    return (await this.database.query(OWNED_ELSEWHERE, [host, environmentId, id])).length > 0;
  }

  /** Returns a domain, or null if it does not exist. Uses the index domains_pkey. */
  find(environmentId: number, id: Id): Promise<DomainEntity | null> {
    return this.rows.findOne({ environmentId, id });
  }

  /** Returns a domain and locks its row until the transaction ends, so that it stays unchanged. Uses domains_pkey. */
  findForUpdate(environmentId: number, id: Id): Promise<DomainEntity | null> {
    return this.rows.findForUpdate({ environmentId, id });
  }

  /** Returns a page of domains, newest first. Reads the index domains_pkey backwards. */
  page(environmentId: number, beforeId: Id | undefined, rowsMax: number): Promise<DomainEntity[]> {
    const where: TenantWhere<DomainEntity> = { environmentId };
    if (beforeId !== undefined) where.id = LessThan(beforeId);
    return this.rows.find({ where, order: { id: 'DESC' }, take: rowsMax });
  }

  async insert(row: DomainEntity): Promise<void> {
    await this.rows.insert(row);
  }

  /** Updates the domain's row in the caller's transaction, and returns the new row. */
  async update(row: DomainEntity, changes: DomainColumns): Promise<DomainEntity> {
    const { environmentId, id } = row;
    const columns = { ...changes, updatedAt: this.clock.now() };
    await this.rows.update({ environmentId, id }, columns);
    const after = { ...row, ...columns };
    if (row.kind === 'webhook' && isServing(after) !== isServing(row)) await this.announce('custom_host', row);
    if ((after.reputation === 'paused') !== (row.reputation === 'paused')) await this.announce('paused_domain', row);
    if (SENDING_COLUMNS.some((name) => after[name] !== row[name])) await this.announceSending(row);
    return after;
  }

  /** Deletes a domain. Uses the index domains_pkey. */
  async remove(row: DomainEntity): Promise<void> {
    await this.rows.delete({ environmentId: row.environmentId, id: row.id });
    if (row.kind === 'webhook') await this.announce('custom_host', row);
    if (row.reputation === 'paused') await this.announce('paused_domain', row);
    if (row.isSending) await this.announceSending(row);
  }

  /** Claims a domain for a check. Returns false if it is already claimed, or was checked within `restSeconds`. */
  async claim({ environmentId, id }: DomainPlace, claimSeconds: number, restSeconds: number): Promise<boolean> {
    return (await this.database.query(CLAIM_ONE, [environmentId, id, claimSeconds, restSeconds])).length > 0;
  }

  claimDue(claimSeconds: number, max: number, ofOneMax: number): Promise<DomainPlace[]> {
    return this.database.query<DomainPlace>(CLAIM_DUE, [claimSeconds, max, ofOneMax]);
  }

  async release({ environmentId, id }: DomainPlace, nextInMs: number): Promise<void> {
    await this.database.query(RELEASE, [environmentId, id, nextInMs]);
  }

  async overdueSeconds(): Promise<number> {
    const [row] = await this.database.query<{ seconds: number }>(OVERDUE);
    return row?.seconds ?? 0;
  }

  /** Returns domains whose reputation is `at_risk`, across all environments. */
  atRisk(): Promise<DomainPlace[]> {
    return this.database.query<DomainPlace>(AT_RISK);
  }

  /** Returns the paused domains of all environments. */
  paused(): Promise<Pick<DomainEntity, 'environmentId' | 'host'>[]> {
    return this.database.query<Pick<DomainEntity, 'environmentId' | 'host'>>(PAUSED);
  }

  private announce(topic: 'custom_host' | 'paused_domain', { environmentId, id }: DomainPlace): Promise<void> {
    return this.notifications.announce(topic, `${environmentId}:${id}`);
  }

  private announceSending({ environmentId, host }: Pick<DomainEntity, 'environmentId' | 'host'>): Promise<void> {
    return this.notifications.announce('sending_domain', `${environmentId}:${host}`);
  }
}

function isServing({ isOwner, isReceiving }: Pick<DomainEntity, 'isOwner' | 'isReceiving'>): boolean {
  return isOwner && isReceiving;
}
