import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import { uuidArray } from '#kernel/database/pg-array.js';
import type { Id } from '#kernel/ids.js';
import { TRANSFORM_FAILED } from '#modules/ledger/dropped.contract.js';
import { type Released, type SetAsideRange } from './set-aside.contract.js';

/**
 * Maximum number of events that one page scans. Most of these events may not match, because they are already released
 * or parked for another reason.
 */
const SCANNED_MAX = 10_000;

/** SQL conditions by status. The first three use the index events_set_aside_idx, the last one events_dropped_idx. */
const EVENTS: Readonly<Record<SetAsideRange['status'], string>> = {
  quarantined: `e.disposition = 'quarantined'`,
  parked: `e.disposition = 'parked'`,
  transform_failed: `e.disposition = 'parked'`,
  dropped: 'e.dropped',
};

const events = (status: SetAsideRange['status']): string => `
  select e.id, e.expires_on, e.erased_at is not null as "isErased" from events e
  where e.environment_id = $1 and e.target_id = $2 and ${EVENTS[status]} and e.id >= $3 and e.id < $4`;

/**
 * Selects the requests of `events` that were not yet processed again and routed. Uses requests_pkey of one partition
 * per row.
 */
const requestsOf = (events: string, status: SetAsideRange['status']): string => `
  select e.id, e."isErased" from ${events} e
  join requests r on r.environment_id = $1 and r.id = e.id and r.expires_on = e.expires_on
  where r.replay_of is null and r.released_at is null${
    // Includes erased requests. Their notes were erased, too, so it is unknown whether the transform failed.
    status === 'transform_failed' ? ` and (e."isErased" or starts_with(r.note, '${TRANSFORM_FAILED}'))` : ''
  }`;

/** Selects a page. If the scan limit is reached, the last row is the last scanned event, with null in `isErased`. */
const page = (status: SetAsideRange['status']): Statement => ({
  name: `set_aside_page_${status}`,
  text: `
    with scanned as (${events(status)} order by e.id limit $6),
      found as (${requestsOf('scanned', status)} order by e.id limit $5)
    select id, "isErased" from (
      table found union all (select id, null from scanned order by id offset $6::int - 1)) page
    order by "isErased" is null, id`,
});

/** Counts requests. The limit bounds the cost of a large range. */
const count = (status: SetAsideRange['status']): Statement => ({
  name: `set_aside_count_${status}`,
  text: `
    select count(*)::int as scanned, count(*) filter (where "isErased")::int as excluded from (
      ${requestsOf(`(${events(status)})`, status)} limit $5) counted`,
});

const PAGE = statements(page);
const COUNT = statements(count);

/**
 * Marks requests as released, which means processed again and routed. Keeps the first release time. A dropped request
 * that is dropped again does not count as released. Uses the primary keys of events, requests, due_deliveries and
 * deliveries.
 */
const NOTE: Statement = {
  name: 'set_aside_note',
  text: `
    with first as (
      select id, expires_on, disposition, dropped is true as dropped from events
      where environment_id = $1 and id = any ($2::uuid[])
    ), made as (
      select environment_id, id, expires_on from events
      where environment_id = $1 and id = $3 and (disposition is null or disposition = 'ignored')
        and not (dropped is true and exists (select from first where first.dropped))
    ), noted as (
      update requests r set released_at = now() from first
      where r.environment_id = $1 and r.id = first.id and r.expires_on = first.expires_on and r.released_at is null
        and (first.disposition in ('quarantined', 'parked') or first.dropped) and (select true from made)
    )
    select (select count(*)::int from due_deliveries d where d.environment_id = $1 and d.event_id = m.id)
           + (select count(*)::int from deliveries d where d.environment_id = $1 and d.event_id = m.id
             and d.expires_on = m.expires_on) as deliveries
    from made m`,
};

/**
 * Reads requests that were not routed. Marks them as released once they are processed again and routed. Omits
 * duplicates.
 */
@Injectable()
export class SetAsideStore {
  constructor(private readonly database: Database) {}

  /**
   * Lists requests that were not released yet (processed again and routed), oldest first, and whether they were erased.
   * Scans at most `scannedMax` events. `scannedTo` is the last scanned event, or null if the range has no more events.
   */
  async page(
    range: SetAsideRange,
    limit: number,
    scannedMax = SCANNED_MAX,
  ): Promise<{ requests: { id: Id; isErased: boolean }[]; scannedTo: Id | null }> {
    type Row = { id: Id; isErased: boolean | null };
    const rows = await this.database.readPrepared<Row>(PAGE[range.status], [...valuesOf(range), limit, scannedMax]);
    return {
      requests: rows.flatMap(({ id, isErased }) => (isErased === null ? [] : { id, isErased })),
      scannedTo: rows.find(({ isErased }) => isErased === null)?.id ?? null,
    };
  }

  /** Counts requests of the range. `excluded` is the number of erased requests. */
  async count(range: SetAsideRange, max: number): Promise<{ scanned: number; excluded: number }> {
    const [row] = await this.database.readPrepared<{ scanned: number; excluded: number }>(COUNT[range.status], [
      ...valuesOf(range),
      max,
    ]);
    return row ?? { scanned: 0, excluded: 0 };
  }

  /**
   * Marks requests as released, because they were processed again as the event `madeId`. Does nothing if the event
   * `madeId` was not routed either.
   */
  async note(environmentId: number, requestIds: readonly Id[], madeId: Id): Promise<Released> {
    const [row] = await this.database.queryPrepared<{ deliveries: number }>(
      NOTE,
      [environmentId, uuidArray(requestIds), madeId],
      this.database.isAccompanied() ? 'within' : null,
    );
    return { isReleased: row !== undefined, deliveries: row?.deliveries ?? 0 };
  }
}

function valuesOf({ environmentId, endpointId, fromId, beforeId }: SetAsideRange): unknown[] {
  return [environmentId, endpointId, fromId, beforeId];
}

function statements(
  make: (status: SetAsideRange['status']) => Statement,
): Readonly<Record<SetAsideRange['status'], Statement>> {
  return {
    quarantined: make('quarantined'),
    parked: make('parked'),
    transform_failed: make('transform_failed'),
    dropped: make('dropped'),
  };
}
