import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import { dateArray, uuidArray } from '#kernel/database/pg-array.js';
import { NEXT_TRANSACTION } from '#kernel/database/transaction-horizon.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import type { EventRow } from './event-rows.js';

const DAY_MS = 86_400_000;

/** A delivery that consumers pull. */
export interface PulledDelivery {
  eventId: Id;
  ordinal: number;
  targetId: Id;
  /** Feed in which a consumer acknowledged the event: the destination or an endpoint. Null if no consumer did. */
  feedId: Id | null;
  /** Time at which the feed's position last moved. The event was acknowledged at this time or earlier. */
  committedAt: Date | null;
}

/**
 * Finds the rows of deliveries in pull_items, and for each row the first feed whose position has passed it. Omits
 * deliveries without such a row, and those that a replay replaced or that were restored from a dump.
 *
 * No index finds a row of pull_items by its event. The row is found by its transaction, which also inserted the
 * delivery: `xmin` of the delivery contains the lower half of the transaction's id (ADR 23). Uses the indexes
 * deliveries_pkey, pull_items_pkey and pull_positions_target_id_idx.
 */
const PULLED: Statement = {
  name: 'events_pulled',
  text: `
    select d.event_id as "eventId", d.ordinal, d.target_id as "targetId", q.key_id as "feedId", q.committed_at as "committedAt"
    from (select id, expires_on from unnest($2::uuid[], $3::date[]) as p(id, expires_on)) e
    join deliveries d on d.environment_id = $1 and d.event_id = e.id and d.expires_on = e.expires_on
      and d.status = 'delivered' and d.attempts = 0 and not d.superseded
    cross join lateral (
      select p.epoch, p.xid, p.event_id, p.ordinal, p.endpoint_id from cluster_epochs c
      cross join (select ${NEXT_TRANSACTION} / 4294967296 - back as half from generate_series(0, 1) back) h
      join pull_items p on p.environment_id = $1 and p.target_id = d.target_id and p.epoch = c.epoch
        and p.xid = h.half * 4294967296 + d.xmin::text::bigint and p.event_id = d.event_id and p.ordinal = d.ordinal
        and p.expires_on = d.expires_on
      limit 1
    ) i
    left join lateral (
      select q.key_id, q.committed_at from pull_positions q
      where q.environment_id = $1 and q.target_id = d.target_id and q.key_id in (d.target_id, i.endpoint_id)
        and (q.epoch, q.xid, q.event_id, q.ordinal) >= (i.epoch, i.xid, i.event_id, i.ordinal)
      order by q.committed_at limit 1
    ) q on true
    order by d.event_id, d.ordinal`,
};

/** Reads whether consumers have acknowledged the events that they pull. */
@Injectable()
export class PulledStore {
  constructor(private readonly database: Database) {}

  /** Returns the pull deliveries of the given events, and whether consumers acknowledged them. */
  find(
    { environmentId }: Pick<Tenant, 'environmentId'>,
    events: readonly Pick<EventRow, 'id' | 'expiresOn'>[],
  ): Promise<PulledDelivery[]> {
    return this.database.readPrepared(PULLED, [
      environmentId,
      uuidArray(events.map(({ id }) => id)),
      dateArray(events.map(({ expiresOn }) => Date.parse(expiresOn) / DAY_MS)),
    ]);
  }
}
