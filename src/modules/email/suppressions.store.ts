import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import { GroupedReads } from '#kernel/database/grouped-reads.js';
import { intArray, textArray } from '#kernel/database/pg-array.js';
import type { Id } from '#kernel/ids.js';

/** Why an address is not sent to. */
export type SuppressionOrigin = (typeof SUPPRESSION_ORIGINS)[number];

export const SUPPRESSION_ORIGINS = ['bounce', 'complaint', 'manual'] as const;

/** An address that is not sent to. */
export interface SuppressionRow {
  id: Id;
  /** The address as it came; what identifies it is its key. */
  email: string;
  origin: SuppressionOrigin;
  /** The email that it came of; null when somebody added it. */
  sourceId: Id | null;
  createdAt: Date;
  /** From then on it is sent to again; null for never. */
  expiresAt: Date | null;
}

/** A new one; `key` is what identifies the address. */
export interface NewSuppression extends Omit<SuppressionRow, 'createdAt' | 'expiresAt'> {
  environmentId: number;
  key: string;
  /** How long it holds; null for ever. */
  forDays: number | null;
}

/** Which ones a list shows. */
export interface SuppressionFilter {
  beforeId: Id | null;
  origin: SuppressionOrigin | null;
}

/** Questions that one statement answers: fifty addresses each, at most. */
const ASKED_MAX = 64;

const COLUMNS = `id, email, origin, source_id as "sourceId", created_at as "createdAt", expires_at as "expiresAt"`;
/** SQL: true while a suppression is in force. An expired one has no effect until it is deleted. */
export const HOLDS = '(expires_at is null or expires_at > now())';

/** suppressions_address_idx. The first reason stays, but a complaint is more than a bounce, and one that has expired gives way to any. */
const ADD: Statement = {
  name: 'suppressions_add',
  text: `
    insert into suppressions as s (environment_id, id, address, email, origin, source_id, created_at, expires_at)
      values ($1, $2, $3, $4, $5, $6, now(), now() + $7::int * interval '1 day')
    on conflict (environment_id, address) do update set origin = excluded.origin, source_id = excluded.source_id, expires_at = excluded.expires_at,
        id = case when s.expires_at <= now() then excluded.id else s.id end, email = case when s.expires_at <= now() then excluded.email else s.email end,
        created_at = case when s.expires_at <= now() then excluded.created_at else s.created_at end
      where s.expires_at <= now() or (excluded.origin = 'complaint' and s.origin <> 'complaint')
    returning ${COLUMNS}`,
};

/** suppressions_address_idx. */
const AMONG: Statement = {
  name: 'suppressions_among',
  text: `
    select i.place, s.address from unnest($1::int[], $2::int[], $3::text[]) as i(place, environment_id, address)
    join suppressions s on s.environment_id = i.environment_id and s.address = i.address and ${HOLDS}`,
};

/** suppressions_pkey, backwards; the origin is applied on the way. */
const PAGE: Statement = {
  name: 'suppressions_page',
  text: `
    select ${COLUMNS} from suppressions
    where environment_id = $1 and ($2::uuid is null or id < $2) and ($3::text is null or origin = $3) and ${HOLDS} order by id desc limit $4`,
};

/** suppressions_pkey, or suppressions_address_idx. */
const FIND: Statement = {
  name: 'suppressions_find',
  text: `select ${COLUMNS} from suppressions where environment_id = $1 and id = $2 and ${HOLDS}`,
};
const FIND_ADDRESS: Statement = {
  name: 'suppressions_find_address',
  text: `select ${COLUMNS} from suppressions where environment_id = $1 and address = $2 and ${HOLDS}`,
};
const REMOVE: Statement = {
  name: 'suppressions_remove',
  text: 'delete from suppressions where environment_id = $1 and id = $2 returning 1 as removed',
};

/** suppressions_expires_at_idx. */
const FORGET: Statement = { name: 'suppressions_forget', text: 'delete from suppressions where expires_at <= now()' };

/** Which of some addresses are on the list of an environment. */
interface Asked {
  environmentId: number;
  keys: readonly string[];
}

/** Statements on addresses that are not sent to. */
@Injectable()
export class SuppressionsStore {
  private readonly amongReads = new GroupedReads<Asked, ReadonlySet<string>>(
    (asked) => this.amongEach(asked),
    ASKED_MAX,
  );

  constructor(private readonly database: Database) {}

  /** Inside the caller's transaction. Null when the address was there before. */
  async add({
    environmentId,
    id,
    key,
    email,
    origin,
    sourceId,
    forDays,
  }: NewSuppression): Promise<SuppressionRow | null> {
    const [row] = await this.database.query<SuppressionRow>(ADD, [
      environmentId,
      id,
      key,
      email,
      origin,
      sourceId,
      forDays,
    ]);
    return row?.id === id ? row : null;
  }

  /** Those of `keys` that are on the list. */
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

  /** Newest first. */
  page(environmentId: number, { beforeId, origin }: SuppressionFilter, limit: number): Promise<SuppressionRow[]> {
    return this.database.readPrepared(PAGE, [environmentId, beforeId, origin, limit]);
  }

  async find(environmentId: number, by: { id: Id } | { key: string }): Promise<SuppressionRow | null> {
    const rows =
      'id' in by
        ? this.database.query<SuppressionRow>(FIND, [environmentId, by.id])
        : this.database.query<SuppressionRow>(FIND_ADDRESS, [environmentId, by.key]);
    return (await rows)[0] ?? null;
  }

  /** Deletes those that have expired. */
  async forget(): Promise<void> {
    await this.database.query(FORGET, []);
  }

  /** False when there is none. */
  async remove(environmentId: number, id: Id): Promise<boolean> {
    return (await this.database.query(REMOVE, [environmentId, id])).length > 0;
  }
}
