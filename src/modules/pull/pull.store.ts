import { Injectable } from '@nestjs/common';
import { headersPlace, openNamed } from '#kernel/crypto/sealed-headers.js';
import { Vault } from '#kernel/crypto/vault.js';
import { EPOCH } from '#kernel/database/cluster-epochs.js';
import { Database, type Statement } from '#kernel/database/database.js';
import { intArray, smallintArray, uuidArray } from '#kernel/database/pg-array.js';
import { NEXT_TRANSACTION, TRANSACTION_HORIZON } from '#kernel/database/transaction-horizon.js';
import type { EventEntity } from '#modules/ledger/ledger.entities.js';
import type { Feed } from './feeds.js';
import { ORIGIN, type Position, type PullPosition, type Standing } from './place.js';
import type { PullItemEntity } from './pull.entities.js';

export interface ItemRow
  extends
    Pick<PullItemEntity, 'eventId' | 'replayed'>,
    Pick<
      EventEntity,
      'direction' | 'url' | 'eventType' | 'method' | 'path' | 'query' | 'payload' | 'body' | 'messageId' | 'erasedAt'
    > {
  position: Position;
  headers: Record<string, string> | null;
  /** Time at which the item became available to pull. */
  settledAt: Date | null;
}

export interface PullLook {
  items: ItemRow[];
  /** Position up to which the read has scanned. `items` contains all new items of the feed up to this position. */
  through: Position;
  epoch: number;
  /** True if the feed has no items after `through`. */
  isEnd: boolean;
}

/** Maximum number of rows scanned per read. Only a few items of a busy destination may belong to the endpoint. */
const ROWS_MAX = 5_000;
/** Maximum payload bytes of one page. A first item that is larger than this is returned alone. */
const PAGE_BYTES_MAX = 4 * 1024 * 1024;

/**
 * SQL condition: the item's transaction is older than every running transaction of this database. Other items are
 * hidden, because a running transaction may still commit items that precede them. A consumer that has read up to a
 * position has therefore seen every item before it.
 */
const IS_SETTLED = `(p.epoch, p.xid) < (${EPOCH}, ${TRANSACTION_HORIZON})`;

const KEY = 'epoch, xid, event_id, ordinal';

/**
 * Reads one page of items. Reads every daily partition in the order of pull_items_pkey, and merges the results. No
 * partition can be skipped, because a replayed item is in the partition of its event. Reads events_pkey, messages_pkey
 * (fan-outs), deliveries_pkey (time of availability) and the payloads only for the rows of the page.
 */
const LOOK: Statement = {
  name: 'pull_look',
  text: `
    with passed as materialized (
      select *, row_number() over (order by ${KEY})::int as n from (
        select p.epoch, p.xid, p.event_id, p.ordinal, p.expires_on, p.endpoint_id, p.replayed from pull_items p
        where p.environment_id = $1 and p.target_id = $2 and (p.epoch, p.xid, p.event_id, p.ordinal) > ($3, $4, $5,
          $6) and ${IS_SETTLED}
        order by p.epoch, p.xid, p.event_id, p.ordinal limit $7
      ) ahead
    ), own as (
      select * from passed where $8::uuid is null or endpoint_id = $8 order by n limit $9
    ), page as (
      select o.n, concat_ws('.', o.epoch, o.xid, o.event_id, o.ordinal) as position, o.event_id as "eventId",
        o.replayed, e.direction, e.url,
             e.event_type as "eventType", coalesce(e.headers, m.headers) as headers, e.method, e.path, e.query, coalesce(e.payload,
               m.payload) as payload, e.body,
             e.message_id as "messageId", coalesce(e.erased_at, m.erased_at) as "erasedAt", d.settled_at as "settledAt",
             row_number() over (order by o.n) as rank, sum(coalesce(e.payload_bytes, 0)) over (order by o.n) as bytes
      from own o
      left join events e on e.environment_id = $1 and e.id = o.event_id and e.expires_on = o.expires_on
      left join messages m on m.environment_id = $1 and m.id = e.message_id and m.expires_on = o.expires_on
      left join deliveries d on d.environment_id = $1 and d.event_id = o.event_id and d.ordinal = o.ordinal
        and d.expires_on = o.expires_on
    )
    select ${EPOCH} as epoch, l.n as passed, l.last, page.*
    from (select) one left join (select n, concat_ws('.', ${KEY}) as last from passed order by n desc limit 1) l on true
    left join page on page.bytes <= ${PAGE_BYTES_MAX} or page.rank = 1
    order by page.n`,
};

/** Returns the indexes of the positions after which there are new items. One statement checks many positions. */
const PEEK: Statement = {
  name: 'pull_peek',
  text: `
    select (k.n - 1)::int as index
    from unnest($1::int[], $2::uuid[], $3::int[], $4::bigint[], $5::uuid[], $6::smallint[]) with ordinality
      as k(environment_id, target_id, epoch, xid, event_id, ordinal, n)
    cross join lateral (
      select from pull_items p
      where p.environment_id = k.environment_id and p.target_id = k.target_id
        and (p.epoch, p.xid, p.event_id, p.ordinal) > (k.epoch, k.xid, k.event_id, k.ordinal) and ${IS_SETTLED}
      limit 1
    ) found`,
};

/** Uses the index pull_positions_pkey. */
const COMMITTED: Statement = {
  name: 'pull_committed',
  text: `
    select concat_ws('.', ${KEY}) as position from pull_positions
    where environment_id = $1 and key_id = $2 and target_id = $3`,
};

/**
 * SQL that compares a consumer's position with the current transaction of this database (`Standing`).
 *
 * `ahead`: the position is in the future, because the database was restored to an earlier state. The consumer would
 * miss all events until the database reaches this position again.
 */
const GIVEN = `
  select p.*, case when (p.epoch, p.xid) >= (${EPOCH}, ${NEXT_TRANSACTION}) then 'ahead' when given_in <> ${EPOCH}
    then 'before' else 'current' end as standing
  from (select $1::int as epoch, $2::bigint as xid, $3::uuid as event_id, $4::smallint as ordinal,
    $5::int as given_in) p`;

const STANDING: Statement = { name: 'pull_standing', text: `select standing from (${GIVEN}) given` };

/** Moves a committed position forward, never back. Ignores a position that another database issued. */
const COMMIT: Statement = {
  name: 'pull_commit',
  text: `
    with given as (${GIVEN}
    ), before as (
      select ${KEY} from pull_positions where environment_id = $6 and key_id = $7 and target_id = $8
    ), moved as (
      insert into pull_positions as known (environment_id, key_id, target_id, ${KEY}, committed_at)
      select $6::int, $7::uuid, $8::uuid, ${KEY}, now() from given
      where standing = 'current' and not exists (select from before where (${KEY}) >= ($1, $2, $3, $4))
      on conflict (environment_id, key_id, target_id) do update
        set epoch = excluded.epoch, xid = excluded.xid, event_id = excluded.event_id, ordinal = excluded.ordinal,
          committed_at = now()
        where (known.epoch, known.xid, known.event_id, known.ordinal) < (excluded.epoch, excluded.xid,
          excluded.event_id, excluded.ordinal)
    )
    select (select standing from given) as standing, concat_ws('.', ${KEY}) as through
    from (select ${KEY} from given union all select ${KEY} from before) known
    order by epoch desc, xid desc, event_id desc, ordinal desc limit 1`,
};

@Injectable()
export class PullStore {
  constructor(
    private readonly database: Database,
    private readonly vault: Vault,
  ) {}

  /**
   * Returns the items after `from`: at most `limit` items and about 4 MB of payload, but at least one item if any
   * exists.
   */
  async look(feed: Feed, from: Position, limit: number): Promise<PullLook> {
    const rowsMax = feed.endpointId === null ? limit : ROWS_MAX;
    const { environmentId, targetId, endpointId } = feed;
    type Row = Omit<ItemRow, 'position' | 'headers'> & {
      headers: EventEntity['headers'];
      epoch: number;
      passed: number | null;
      last: Position;
      position: Position | null;
    };
    const rows = await this.database.readPrepared<Row>(LOOK, [
      environmentId,
      targetId,
      ...from.split('.'),
      rowsMax,
      endpointId,
      limit,
    ]);
    const [first] = rows;
    const { epoch = 0, passed = null, last = from } = first ?? {};
    if (passed === null) return { items: [], through: from, epoch, isEnd: true };
    // Skips an item whose event no longer exists because its retention has just ended.
    const stored = rows.filter(
      (row): row is Row & { position: Position } => row.position !== null && row.direction !== null,
    );
    const items = stored.map((row) => ({
      ...row,
      headers: row.headers && openNamed(this.vault, headersPlace({ environmentId, ...row }), row.headers),
    }));
    return {
      items,
      through: rows.at(-1)?.position ?? last,
      epoch,
      isEnd: first?.position === null && passed < rowsMax,
    };
  }

  /** Returns the indexes of the `spots` whose feed has new items after the position. */
  async peek(spots: readonly { feed: Feed; position: Position }[]): Promise<number[]> {
    const keys = spots.map(({ position }) => position.split('.'));
    const column = (n: number): string[] => keys.map((key) => key[n] as string);
    const rows = await this.database.readPrepared<{ index: number }>(PEEK, [
      intArray(spots.map(({ feed }) => feed.environmentId)),
      uuidArray(spots.map(({ feed }) => feed.targetId)),
      intArray(column(0).map(Number)),
      `{${column(1).join(',')}}`,
      uuidArray(column(2)),
      smallintArray(column(3).map(Number)),
    ]);
    return rows.map(({ index }) => index);
  }

  /** Returns the committed position, or the start of the feed if nothing was committed. */
  async committed({ environmentId, keyId, targetId }: Feed): Promise<Position> {
    const [row] = await this.database.query<{ position: Position }>(COMMITTED, [environmentId, keyId, targetId]);
    return row?.position ?? ORIGIN;
  }

  async standing({ position, epoch }: PullPosition): Promise<Standing> {
    const [row] = await this.database.query<{ standing: Standing }>(STANDING, [...position.split('.'), epoch]);
    return row?.standing ?? 'before';
  }

  /**
   * Commits a position and returns the committed position. Commits nothing for a position of another database. In this
   * case, only `standing` of the result is meaningful.
   */
  async commit(
    { environmentId, keyId, targetId }: Feed,
    { position, epoch }: PullPosition,
  ): Promise<{ standing: Standing; through: Position }> {
    type Row = { standing: Standing; through: Position };
    const [row] = await this.database.query<Row>(COMMIT, [
      ...position.split('.'),
      epoch,
      environmentId,
      keyId,
      targetId,
    ]);
    return row ?? { standing: 'before', through: position };
  }
}
