import { Injectable } from '@nestjs/common';
import { storableJson, storableText } from '#engine/storable.js';
import type { AuditEntry } from '#kernel/audit.js';
import type { Columns } from '#kernel/database/column-names.js';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import type { AuditLogEntity } from './audit.entities.js';

/** Organization id of entries that belong to no organization. */
export const NOBODY: Id = '00000000-0000-0000-0000-000000000000';

export type AuditRow = Columns<Omit<AuditLogEntity, 'organizationId' | 'onDay'>>;

export interface AuditReach {
  organizationId: Id;
  environmentId: number;
  seesBoth: boolean;
}

/** Filters of a query. A null field matches all entries. */
export interface AuditFilter {
  actor: string | null;
  action: string | null;
  resource: string | null;
  since: Date | null;
  until: Date | null;
}

const COLUMNS =
  'id, at, environment_id, actor_kind, actor_id, actor_name, actor_source, actor_session, action, resource_type, resource_id, ip, user_agent, request_id, before, after';

/**
 * Inserts an entry with the current name of the API key and its `source`, which shows whether an agent uses the key.
 * Uses api_keys_pkey and members_pkey.
 */
const INSERT: Statement = {
  name: 'audit.insert',
  text: `
    insert into audit_log (organization_id, id, on_day, at, environment_id, actor_kind, actor_id, actor_name,
      actor_source,
      action, resource_type, resource_id, ip, user_agent, request_id, before, after, actor_session)
    values ($1::uuid, $2::uuid, (now() at time zone 'utc')::date, now(), $3::int, $4, $5,
      case $4 when 'key' then (select name from api_keys where environment_id = $3 and id = $6::uuid)
              when 'member' then (select email from members where organization_id = $1 and id = $6::uuid) end,
      case $4 when 'key' then (select source from api_keys where environment_id = $3 and id = $6::uuid) end,
      $7, $8, $9, $10, $11, $12, $13::jsonb, $14::jsonb, $15)`,
};

const FILTERED = `
  organization_id = $1::uuid and (environment_id = $2::int or ($3::bool and environment_id is null))
  and ($4::text is null or actor_id = $4) and ($5::text is null or action = $5) and ($6::text is null or resource_id = $6 or resource_type = $6)
  and ($7::timestamptz is null or at >= $7) and ($8::timestamptz is null or at < $8)
  and ($7::timestamptz is null or on_day >= ($7 at time zone 'utc')::date) and ($8::timestamptz is null or on_day <= ($8 at time zone 'utc')::date)`;

const PAGE: Statement = {
  name: 'audit.page',
  // Reads audit_log_pkey backwards, or uses audit_log_actor_id_idx or audit_log_resource_id_idx.
  text: `select ${COLUMNS} from audit_log where ${FILTERED} and ($9::uuid is null or id < $9) order by id desc limit $10::int`,
};

const AFTER: Statement = {
  name: 'audit.after',
  // Uses the index audit_log_pkey.
  text: `select ${COLUMNS} from audit_log where ${FILTERED} and ($9::uuid is null or id > $9) order by id limit $10::int`,
};

const MONTHS: Statement = {
  name: 'audit.months',
  text: `
    select to_char(month, 'YYYY-MM-DD') as first_day, to_char(month + interval '1 month', 'YYYY-MM-DD') as next_day,
      'audit_log_' || to_char(month, 'YYYYMM') as name
    from generate_series(date_trunc('month', now() at time zone 'utc') - interval '1 month', date_trunc('month',
      now() at time zone 'utc') + interval '2 months', interval '1 month') month
    where to_regclass('audit_log_' || to_char(month, 'YYYYMM')) is null`,
};

const EXPIRED: Statement = {
  name: 'audit.expired',
  text: `
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'audit_log'::regclass and c.relname ~ '^audit_log_[0-9]{6}$'
      and to_date(right(c.relname, 6), 'YYYYMM') + interval '1 month' < (now() at time zone 'utc') -
        make_interval(days => $1::int)`,
};

const LOCK: Statement = {
  name: 'audit.lock_partitions',
  text: `select pg_advisory_xact_lock(hashtext('posthorn audit partitions'))`,
};

@Injectable()
export class AuditStore {
  constructor(private readonly database: Database) {}

  async insert(
    id: Id,
    { organizationId, environmentId, actor, action, resourceType, resourceId, origin, before, after }: AuditEntry,
    actorUuid: Id | null,
  ): Promise<void> {
    await this.database.query(INSERT, [
      organizationId ?? NOBODY,
      id,
      environmentId,
      actor.kind,
      text(actor.id),
      actorUuid,
      action,
      resourceType,
      text(resourceId),
      origin?.ip ?? null,
      text(origin?.userAgent?.slice(0, 200)),
      origin?.requestId ?? null,
      json(before),
      json(after),
      actor.session ?? null,
    ]);
  }

  /** Returns entries before `before`, newest first. */
  page(reach: AuditReach, filter: AuditFilter, before: Id | null, rowsMax: number): Promise<AuditRow[]> {
    return this.database.query(PAGE, [...valuesOf(reach, filter), before, rowsMax]);
  }

  /** Returns entries after `after`, oldest first. */
  after(reach: AuditReach, filter: AuditFilter, after: Id | null, rowsMax: number): Promise<AuditRow[]> {
    return this.database.query(AFTER, [...valuesOf(reach, filter), after, rowsMax]);
  }

  /** Creates the partitions of the current and the adjacent months. Several processes can call it at once. */
  async ensurePartitions(): Promise<void> {
    await this.database.unitOfWork(() =>
      this.database.transaction(async () => {
        await this.database.query(LOCK);
        for (const { first_day, next_day, name } of await this.database.query<{
          first_day: string;
          next_day: string;
          name: string;
        }>(MONTHS)) {
          const manager = this.database.manager();
          await manager.query(
            `create table ${name} partition of audit_log for values from ('${first_day}') to ('${next_day}')`,
          );
          // Row triggers are inherited from the parent table; this statement trigger is not.
          await manager.query(
            `create trigger ${name}_no_truncate before truncate on ${name} for each statement execute function audit_log_is_append_only()`,
          );
        }
      }),
    );
  }

  /** Drops the partitions whose last day is older than the retention and returns their names. */
  async dropExpired(retentionDays: number): Promise<string[]> {
    const expired = await this.database.query<{ name: string }>(EXPIRED, [retentionDays]);
    for (const { name } of expired) await this.database.manager().query(`drop table if exists ${name}`);
    return expired.map(({ name }) => name);
  }
}

function valuesOf(
  { organizationId, environmentId, seesBoth }: AuditReach,
  { actor, action, resource, since, until }: AuditFilter,
): unknown[] {
  return [organizationId, environmentId, seesBoth, actor, action, resource, since, until];
}

function text(given: string | null | undefined): string | null {
  return given == null ? null : storableText(given);
}

function json(fields: Readonly<Record<string, unknown>> | null): string | null {
  return fields === null ? null : JSON.stringify(storableJson(fields));
}
