import { Injectable } from '@nestjs/common';
import { EPOCH } from '#kernel/database/cluster-epochs.js';
import { Database, type Statement } from '#kernel/database/database.js';
import { TRANSACTION_HORIZON } from '#kernel/database/transaction-horizon.js';
import type { Id } from '#kernel/ids.js';

/**
 * Maximum number of items that are counted after a position. For an endpoint, at most `SCANNED_MAX` rows are read to
 * find its items.
 */
export const COUNTED_MAX = 1_000;
const SCANNED_MAX = 5_000;

/** Row after which a page of the list starts: the row of a destination, or of one of its endpoints. */
export interface ListPlace {
  targetId: Id;
  keyId: Id;
}

export interface PositionRow extends ListPlace {
  name: string;
  status: 'active' | 'disabled';
  /** Event up to which the consumer has committed; null if it has never committed. */
  committedThrough: Id | null;
  committedAt: Date | null;
  /** Number of items after the committed position, at most `COUNTED_MAX`. */
  waiting: number;
  isCapped: boolean;
  oldest: Id | null;
}

const NIL = '00000000-0000-0000-0000-000000000000';

/**
 * Selects pull destinations and the endpoints that are pulled from them, with their positions and the number of waiting
 * items.
 *
 * Uses destinations_listed_idx for destinations, pull_positions_pkey for their positions, and
 * pull_positions_target_id_idx for the positions of endpoints. Reads at most one row more than a page from each of
 * these indexes. Counts the items up to the maximum with pull_items_pkey.
 */
const LIST: Statement = {
  name: 'pull_positions_list',
  text: `
    with listed as materialized (
      select id, name, status from destinations
      where environment_id = $1 and owner_id is null and type = any($2::text[]) and id <= $3
      order by id desc limit $5::int + 1
    ), readers as materialized (
      select d.id as target_id, d.name, d.status, r.* from listed d cross join lateral (
        select d.id as key_id, p.epoch, p.xid, p.event_id, p.ordinal, p.committed_at from (select) one
        left join pull_positions p on p.environment_id = $1 and p.key_id = d.id and p.target_id = d.id
        where d.id < $3 or $4::uuid is null
        union all (
          select p.key_id, p.epoch, p.xid, p.event_id, p.ordinal, p.committed_at from pull_positions p
          where p.environment_id = $1 and p.target_id = d.id and p.key_id <> d.id and (d.id < $3 or $4::uuid is null
            or $4 = d.id or p.key_id < $4)
          order by p.key_id desc limit $5)
      ) r
      order by d.id desc, r.key_id <> d.id, r.key_id desc limit $5
    )
    select r.target_id as "targetId", r.key_id as "keyId", r.name, r.status, r.event_id as "committedThrough",
      r.committed_at as "committedAt",
           w.scanned > case when r.key_id = r.target_id then ${COUNTED_MAX} else ${SCANNED_MAX} end
             or w.waiting > ${COUNTED_MAX} as "isCapped",
           least(w.waiting, ${COUNTED_MAX}) as waiting, w.oldest
    from readers r cross join lateral (
      select count(*)::int as scanned, (count(*) filter (where is_own))::int as waiting, (array_agg(event_id
        order by n) filter (where is_own))[1] as oldest
      from (
        select i.event_id, r.key_id = r.target_id or i.endpoint_id = r.key_id as is_own, row_number() over () as n
          from (
          select p.event_id, p.endpoint_id from pull_items p
          where p.environment_id = $1 and p.target_id = r.target_id
            and (p.epoch, p.xid, p.event_id, p.ordinal) > (coalesce(r.epoch, 0), coalesce(r.xid, 0),
              coalesce(r.event_id, '${NIL}'), coalesce(r.ordinal, 0::smallint))
            and (p.epoch, p.xid) < (${EPOCH}, ${TRANSACTION_HORIZON})
          order by p.epoch, p.xid, p.event_id, p.ordinal
          limit case when r.key_id = r.target_id then ${COUNTED_MAX} else ${SCANNED_MAX} end + 1
        ) i
      ) items
    ) w
    order by r.target_id desc, r.key_id <> r.target_id, r.key_id desc`,
};

/** Id at which the first page starts. It is greater than every id, because the list is in descending order. */
const LAST: Id = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

@Injectable()
export class PositionsStore {
  constructor(private readonly database: Database) {}

  /** Lists destinations, newest first, each followed by the endpoints that are pulled from it. */
  list(
    environmentId: number,
    types: readonly string[],
    after: ListPlace | null,
    limit: number,
  ): Promise<PositionRow[]> {
    return this.database.readPrepared(LIST, [
      environmentId,
      [...types],
      after?.targetId ?? LAST,
      after?.keyId ?? null,
      limit,
    ]);
  }
}
