import { Injectable } from '@nestjs/common';
import { In, IsNull, LessThan, Or, Raw } from 'typeorm';
import { Database, type Statement } from '#kernel/database/database.js';
import { GroupedReads } from '#kernel/database/grouped-reads.js';
import { intArray, textArray, uuidArray } from '#kernel/database/pg-array.js';
import { TenantRepository, type TenantWhere } from '#kernel/database/tenant-repository.js';
import type { Id } from '#kernel/ids.js';
import { SuppressionEntity } from './email.entities.js';

export type SuppressionOrigin = (typeof SUPPRESSION_ORIGINS)[number];

export const SUPPRESSION_ORIGINS = ['bounce', 'complaint', 'manual', 'unsubscribe'] as const;

export type SuppressionRow = Pick<
  SuppressionEntity,
  'id' | 'email' | 'origin' | 'sourceId' | 'createdAt' | 'expiresAt'
>;

/** An address to suppress. `key` is its lookup key. */
export interface NewAddress extends Pick<SuppressionRow, 'id' | 'email'> {
  key: string;
}

/** The reason for which to suppress addresses. */
export interface NewReason extends Pick<SuppressionRow, 'origin' | 'sourceId'> {
  environmentId: number;
  /** Duration of the suppression in days. Null for a permanent suppression. */
  forDays: number | null;
}

export interface SuppressionFilter {
  beforeId: Id | null;
  origin: SuppressionOrigin | null;
}

/** Maximum number of lookups that share one statement. Each lookup contains up to fifty addresses. */
const ASKED_MAX = 64;

const COLUMNS = `id, email, origin, source_id as "sourceId", created_at as "createdAt", expires_at as "expiresAt"`;
/** SQL condition: the suppression has not expired. An expired one has no effect, even before it is deleted. */
export const HOLDS = '(expires_at is null or expires_at > now())';

/**
 * Adds suppressions, or replaces weaker ones: a complaint replaces every other reason, and an unsubscription replaces
 * a bounce or a manual suppression. Any reason replaces an expired suppression. Adds nothing for a removed
 * organization, whose addresses were erased. Locks the rows in the order of the addresses, so that concurrent
 * statements cannot deadlock. Uses suppressions_address_idx, environments_pkey and organizations_pkey.
 */
const ADD: Statement = {
  name: 'suppressions_add',
  text: `
    insert into suppressions as s (environment_id, id, address, email, origin, source_id, created_at, expires_at)
    select e.id, i.id, i.address, i.email, $5::text, $6::uuid, now(), now() + $7::int * interval '1 day'
    from environments e join organizations o on o.id = e.organization_id
    cross join unnest($2::uuid[], $3::text[], $4::text[]) as i(id, address, email)
    where e.id = $1::int and o.removed_at is null
    order by i.address
    on conflict (environment_id, address) do update set origin = excluded.origin, source_id = excluded.source_id,
      expires_at = excluded.expires_at,
        id = case when s.expires_at <= now() then excluded.id else s.id end, email = case when s.expires_at <= now()
          then excluded.email else s.email end,
        created_at = case when s.expires_at <= now() then excluded.created_at else s.created_at end
      where s.expires_at <= now() or coalesce(array_position(array['unsubscribe', 'complaint'], excluded.origin), 0)
        > coalesce(array_position(array['unsubscribe', 'complaint'], s.origin), 0)
    returning ${COLUMNS}`,
};

/** Uses the index suppressions_address_idx. */
const AMONG: Statement = {
  name: 'suppressions_among',
  text: `
    select i.place, s.address from unnest($1::int[], $2::int[], $3::text[]) as i(place, environment_id, address)
    join suppressions s on s.environment_id = i.environment_id and s.address = i.address and ${HOLDS}`,
};

/** Uses the index suppressions_expires_at_idx. */
const FORGET: Statement = { name: 'suppressions_forget', text: 'delete from suppressions where expires_at <= now()' };

interface Asked {
  environmentId: number;
  keys: readonly string[];
}

@Injectable()
export class SuppressionsStore {
  private readonly amongReads = new GroupedReads<Asked, ReadonlySet<string>>(
    (asked) => this.amongEach(asked),
    ASKED_MAX,
  );

  private readonly rows: TenantRepository<SuppressionEntity>;

  constructor(private readonly database: Database) {
    this.rows = new TenantRepository(database, SuppressionEntity);
  }

  /**
   * Adds or replaces a suppression in the caller's transaction. Returns null if the address already has a suppression
   * that this one must not replace.
   */
  async add(reason: NewReason, address: NewAddress): Promise<SuppressionRow | null> {
    const [row] = await this.addAll(reason, [address]);
    return row ?? null;
  }

  /** Does the same for several addresses with different keys. Returns only the added and replaced suppressions. */
  addAll(
    { environmentId, origin, sourceId, forDays }: NewReason,
    addresses: readonly NewAddress[],
  ): Promise<SuppressionRow[]> {
    return this.database.query<SuppressionRow>(ADD, [
      environmentId,
      uuidArray(addresses.map(({ id }) => id)),
      textArray(addresses.map(({ key }) => key)),
      textArray(addresses.map(({ email }) => email)),
      origin,
      sourceId,
      forDays,
    ]);
  }

  among(environmentId: number, keys: readonly string[]): Promise<ReadonlySet<string>> {
    return this.amongReads.get({ environmentId, keys });
  }

  private async amongEach(asked: readonly Asked[]): Promise<ReadonlySet<string>[]> {
    const single = asked.flatMap(({ environmentId, keys }, place) =>
      keys.map((key) => ({ place, environmentId, key })),
    );
    const rows = await this.database.queryPrepared<{ place: number; address: string }>(AMONG, [
      intArray(single.map(({ place }) => place)),
      intArray(single.map(({ environmentId }) => environmentId)),
      textArray(single.map(({ key }) => key)),
    ]);
    const found = asked.map(() => new Set<string>());
    for (const { place, address } of rows) found[place]?.add(address);
    return found;
  }

  /**
   * Returns a page of suppressions, newest first. Reads the index suppressions_pkey in descending order, and filters by
   * origin during the scan.
   */
  page(environmentId: number, { beforeId, origin }: SuppressionFilter, limit: number): Promise<SuppressionRow[]> {
    const where: TenantWhere<SuppressionEntity> = { environmentId, ...inForce() };
    if (beforeId !== null) where.id = LessThan(beforeId);
    if (origin !== null) where.origin = origin;
    return this.rows.find({ where, order: { id: 'DESC' }, take: limit });
  }

  /** Returns a suppression, or null. Uses the index suppressions_pkey or suppressions_address_idx. */
  find(environmentId: number, by: { id: Id } | { key: string }): Promise<SuppressionRow | null> {
    const key = 'id' in by ? { id: by.id } : { address: by.key };
    return this.rows.findOne({ environmentId, ...key, ...inForce() });
  }

  /** Returns the suppressions of several addresses by their keys. Uses the index suppressions_address_idx. */
  async findAll(environmentId: number, keys: readonly string[]): Promise<ReadonlyMap<string, SuppressionRow>> {
    const rows = await this.rows.find({ where: { environmentId, address: In([...keys]), ...inForce() } });
    return new Map(rows.map((row) => [row.address, row]));
  }

  async forget(): Promise<void> {
    await this.database.query(FORGET, []);
  }

  /** Deletes a suppression. Returns false if it does not exist. Uses the index suppressions_pkey. */
  async remove(environmentId: number, id: Id): Promise<boolean> {
    return (await this.rows.delete({ environmentId, id })) > 0;
  }
}

/** Returns a TypeORM condition equivalent to the SQL condition `HOLDS`: the suppression has not expired. */
function inForce(): Pick<TenantWhere<SuppressionEntity>, 'expiresAt'> {
  return {
    expiresAt: Or(
      IsNull(),
      Raw((expiresAt) => `${expiresAt} > now()`),
    ),
  };
}
