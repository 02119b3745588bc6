import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import { uuidArray } from '#kernel/database/pg-array.js';
import type { Id } from '#kernel/ids.js';
import { type Released, type SetAsideRange } from './set-aside.contract.js';

/** Uses the index events_set_aside_idx, and requests_pkey of one partition for each row. */
const SET_ASIDE = `
  select e.id, e.erased_at is not null as "isErased"
  from events e join requests r on r.environment_id = e.environment_id and r.id = e.id and r.expires_on = e.expires_on
  where e.environment_id = $1 and e.target_id = $2 and e.disposition = $3 and e.id >= $4 and e.id < $5
    and r.replay_of is null and r.released_at is null`;

const PAGE: Statement = { name: 'set_aside_page', text: `${SET_ASIDE} order by e.id limit $6` };

/** Counts the rows of SET_ASIDE. The limit bounds the cost of a large range. */
const COUNT: Statement = {
  name: 'set_aside_count',
  text: `
    select count(*)::int as scanned, count(*) filter (where "isErased")::int as excluded from (${SET_ASIDE}
      limit $6) counted`,
};

/** Keeps the first release time. Uses the primary keys of events, requests, due_deliveries and deliveries. */
const NOTE: Statement = {
  name: 'set_aside_note',
  text: `
    with made as (
      select environment_id, id, expires_on from events
      where environment_id = $1 and id = $3 and (disposition is null or disposition = 'ignored')
    ), noted as (
      update requests r set released_at = now()
      where r.environment_id = $1 and r.id = any ($2::uuid[]) and r.released_at is null and (select true from made)
        and (select e.disposition from events e where e.environment_id = $1 and e.id = r.id
          and e.expires_on = r.expires_on) in ('quarantined', 'parked')
    )
    select (select count(*)::int from due_deliveries d where d.environment_id = $1 and d.event_id = m.id)
           + (select count(*)::int from deliveries d where d.environment_id = $1 and d.event_id = m.id
             and d.expires_on = m.expires_on) as deliveries
    from made m`,
};

/** Reads quarantined and parked requests, and records their releases. Repeats of a request are not returned separately. */
@Injectable()
export class SetAsideStore {
  constructor(private readonly database: Database) {}

  /** Lists requests that are still quarantined or parked, oldest first, and whether their bodies were erased. */
  page(range: SetAsideRange, limit: number): Promise<{ id: Id; isErased: boolean }[]> {
    return this.database.readPrepared(PAGE, [...valuesOf(range), limit]);
  }

  /** Counts requests of the range. `excluded` is the number of erased requests. */
  async count(range: SetAsideRange, max: number): Promise<{ scanned: number; excluded: number }> {
    const [row] = await this.database.readPrepared<{ scanned: number; excluded: number }>(COUNT, [
      ...valuesOf(range),
      max,
    ]);
    return row ?? { scanned: 0, excluded: 0 };
  }

  /** Marks requests as released by the event `madeId`, unless this event was itself quarantined or parked. */
  async note(environmentId: number, requestIds: readonly Id[], madeId: Id): Promise<Released> {
    const [row] = await this.database.queryPrepared<{ deliveries: number }>(
      NOTE,
      [environmentId, uuidArray(requestIds), madeId],
      this.database.isAccompanied() ? 'within' : null,
    );
    return { isReleased: row !== undefined, deliveries: row?.deliveries ?? 0 };
  }
}

function valuesOf({ environmentId, endpointId, status, fromId, beforeId }: SetAsideRange): unknown[] {
  return [environmentId, endpointId, status, fromId, beforeId];
}
