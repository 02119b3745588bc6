import { Injectable } from '@nestjs/common';
import { EPOCH } from '#kernel/database/cluster-epochs.js';
import { Database, type Statement } from '#kernel/database/database.js';
import { intArray } from '#kernel/database/pg-array.js';
import { NEXT_TRANSACTION, TRANSACTION_HORIZON } from '#kernel/database/transaction-horizon.js';
import { type Id, lowestIdAt } from '#kernel/ids.js';
import { type DeliveryStatus, type EventRow, STATUS } from '../event-rows.js';
import { type ChangeKey, FRONT, type StreamPosition } from './stream-position.js';

/** A change, with the event's state at the time of the read. */
export interface ChangeRow extends EventRow, ChangeKey {
  environmentId: number;
  xid: bigint;
  applicationId: Id | null;
  /**
   * Time of the erasure. An erasure updates the event's row, so the `accepted` change of a recent event is sent again.
   */
  erasedAt: Date | null;
  deliveryTargetId: Id | null;
  /** Status of the delivery. Set only if the change is the end of a delivery. */
  deliveryStatus: DeliveryStatus | null;
  reason: string | null;
  /** Status of the response. Set only if the change is an attempt. */
  httpStatus: number | null;
  error: string | null;
  durationMs: number | null;
  startedAt: Date | null;
  nextAttemptAt: Date | null;
}

export interface Changes {
  rows: ChangeRow[];
  /**
   * Start position of the read. Its `atMs` is copied to the position of each row, so that a stream that resumes there
   * searches as far back as this read.
   */
  from: StreamPosition;
  /** Position up to which all changes were read. */
  through: StreamPosition;
  /** False if there may be more changes after `through`. */
  isEnd: boolean;
  /**
   * True if the requested position belongs to another database, or to changes that were lost when the database was
   * restored.
   */
  isOther: boolean;
}

/**
 * A read also searches this much time before its start position, because a row is committed some time after its id was
 * created.
 */
const LOOK_BACK_MS = 90_000;

/**
 * SQL expression: difference between the row's transaction id and the first requested one. It is computed modulo 2^32,
 * because a row contains only the lower 32 bits of the id.
 */
const distance = (row: string): string =>
  `((${row}.xmin::text::bigint - $2::bigint) % 4294967296 + 4294967296) % 4294967296`;

const BOUNDS = (until: string): string => `
  select ${EPOCH} as epoch, ${until} as upto, ${NEXT_TRANSACTION} as next, floor(extract(epoch
    from now()) * 1000)::float8 as at`;

const NOW: Statement = {
  name: 'stream_now',
  deadlineMs: 30_000,
  text: `select epoch, upto::text, at from (${BOUNDS(TRANSACTION_HORIZON)}) bounds`,
};

const NEXT: Statement = {
  name: 'stream_next',
  deadlineMs: 30_000,
  text: `select epoch, upto::text, at from (${BOUNDS(NEXT_TRANSACTION)}) bounds`,
};

const branch = (columns: string, table: string, environment: string, since: string): string => `
  select ${columns}, $2::bigint + ${distance('t')} as xid from ${table} t
  where ${environment} = any($1::int[]) and ${since} and (select upto > $2::bigint from bounds)`;

/**
 * Reads the rows that a given transaction and all later ones have inserted, up to the transaction horizon. Uses the
 * indexes events_pkey, attempts_started_at_idx and deliveries_settled_at_idx, beginning at the given time.
 *
 * The `+ 0` prevents the planner from reading all attempts of an environment by primary key, which it otherwise does
 * while a partition is small or the time is unknown.
 */
const READ: Statement = {
  name: 'stream_read',
  deadlineMs: 30_000,
  text: `
    with bounds as materialized (${BOUNDS(`coalesce($5::bigint, ${TRANSACTION_HORIZON})`)}
    ), changed as materialized (
      select * from (
        ${branch(
          `t.environment_id, t.id as event_id, t.expires_on, 1 as kind, 0::smallint as ordinal, 0::smallint as number,
          null::smallint as http_status, null::text as error, null::int as duration_ms, null::timestamptz as started_at`,
          'events',
          't.environment_id',
          't.id >= $3::uuid',
        )}
        union all
        ${branch(`t.environment_id, t.event_id, t.expires_on, 2, t.ordinal, t.number, t.status, t.error, t.duration_ms, t.started_at`, 'attempts', 't.environment_id + 0', 't.started_at >= $4::timestamptz')}
        union all
        ${branch(`t.environment_id, t.event_id, t.expires_on, 3, t.ordinal, 0::smallint, null, null, null, null`, 'deliveries', 't.environment_id + 0', 't.settled_at >= $4::timestamptz')}
      ) c
      where c.xid < (select upto from bounds)
        and (c.xid, c.kind, c.event_id, c.ordinal, c.number) > ($2::bigint, $7::int, $8::uuid, $9::smallint,
          $10::smallint)
      order by c.xid, c.kind, c.event_id, c.ordinal, c.number limit $6
    )
    select b.epoch, b.upto::text, b.next::text, b.at, c.environment_id as "environmentId", c.xid::text, c.kind,
      c.ordinal, c.number, c.http_status as "httpStatus", c.error,
           c.duration_ms as "durationMs", c.started_at as "startedAt", e.id, e.id as "eventId",
             e.expires_on::text as "expiresOn",
           e.message_id as "messageId", e.target_id as "targetId", e.url, e.direction, e.event_type as "eventType",
             m.application_id as "applicationId",
           coalesce(e.erased_at, m.erased_at) as "erasedAt",
           case when c.kind <> 1 then coalesce(d.target_id, o.target_id) end as "deliveryTargetId",
             d.status as "deliveryStatus", d.reason,
           case when o.claimed_by is null then o.due_at end as "nextAttemptAt",
           case when c.kind is not null then ${STATUS} end as status
    from bounds b left join changed c on true
    left join events e on e.environment_id = c.environment_id and e.id = c.event_id and e.expires_on = c.expires_on
    left join messages m on m.environment_id = e.environment_id and m.id = e.message_id and m.expires_on = e.expires_on
    left join deliveries d on c.kind <> 1 and d.environment_id = c.environment_id and d.event_id = c.event_id
      and d.ordinal = c.ordinal and d.expires_on = c.expires_on
    left join due_deliveries o on c.kind = 2 and o.environment_id = c.environment_id and o.event_id = c.event_id
      and o.ordinal = c.ordinal
    order by c.xid, c.kind, c.event_id, c.ordinal, c.number`,
};

type Row = Omit<ChangeRow, 'xid'> & { epoch: number; upto: string; next: string; at: number; xid: string | null };

@Injectable()
export class StreamStore {
  constructor(private readonly database: Database) {}

  /** Returns the current position of the database, before any later change. */
  now(): Promise<StreamPosition> {
    return this.place(NOW);
  }

  /** Returns a position after every change visible so far. Transactions before this position may still be running. */
  next(): Promise<StreamPosition> {
    return this.place(NEXT);
  }

  /** Reads changes after `from`, in order, up to `until` if given. All transactions before `until` must have ended. */
  async read(
    environmentIds: readonly number[],
    from: StreamPosition,
    until: StreamPosition | null,
    limit: number,
  ): Promise<Changes> {
    const rows = await this.rows(environmentIds, from, until, limit);
    const [first] = rows;
    const upto = BigInt(first.upto);
    const through: StreamPosition =
      upto > from.xid
        ? { epoch: first.epoch, xid: upto, atMs: first.at, key: FRONT }
        : { ...from, epoch: first.epoch, atMs: first.at };
    if (first.epoch !== from.epoch || BigInt(first.next) < from.xid)
      return { rows: [], from, through, isEnd: true, isOther: true };
    const found = rows
      .filter((row): row is Row & { xid: string } => row.xid !== null)
      .map((row) => ({ ...row, xid: BigInt(row.xid) }));
    const last = found.at(-1);
    if (last !== undefined && found.length >= limit) {
      const { kind, eventId, ordinal, number } = last;
      return {
        rows: present(found),
        from,
        through: { epoch: from.epoch, xid: last.xid, atMs: from.atMs, key: { kind, eventId, ordinal, number } },
        isEnd: false,
        isOther: false,
      };
    }
    return { rows: present(found), from, through, isEnd: true, isOther: false };
  }

  private async place(statement: Statement): Promise<StreamPosition> {
    const [row] = (await this.database.readPrepared<Pick<Row, 'epoch' | 'upto' | 'at'>>(statement, [])) as [Row];
    return { epoch: row.epoch, xid: BigInt(row.upto), atMs: row.at, key: FRONT };
  }

  private async rows(
    environmentIds: readonly number[],
    from: StreamPosition,
    until: StreamPosition | null,
    limit: number,
  ): Promise<[Row, ...Row[]]> {
    const sinceMs = Math.max(from.atMs - LOOK_BACK_MS, 0);
    const { kind, eventId, ordinal, number } = from.key;
    const rows = await this.database.readPrepared<Row>(READ, [
      intArray(environmentIds),
      String(from.xid),
      lowestIdAt(sinceMs),
      new Date(sinceMs),
      until === null ? null : String(until.xid),
      limit,
      kind,
      eventId,
      ordinal,
      number,
    ]);
    return rows as [Row, ...Row[]];
  }
}

export function placeOf(
  { xid, kind, eventId, ordinal, number }: ChangeRow,
  { from: { epoch, atMs } }: Changes,
): StreamPosition {
  return { epoch, xid, atMs, key: { kind, eventId, ordinal, number } };
}

/** Returns the rows whose events still exist. An event is missing if its retention has just ended. */
const present = (rows: readonly ChangeRow[]): ChangeRow[] => rows.filter(({ id }) => id !== null);
