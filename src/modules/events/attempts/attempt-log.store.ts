import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import type { AttemptEntity, DeliveryEntity, EventEntity } from '#modules/ledger/ledger.entities.js';
import type { AttemptRow, LoggedAttempt } from '../attempts.contract.js';

/** Position in the list of attempts, directly after the attempt with this event id, ordinal and number. */
export interface AttemptPosition {
  eventId: Id;
  ordinal: number;
  number: number;
}

/** Range of attempts, from an event id to a position. Both limits bound the number of rows that a query reads. */
export interface AttemptRange {
  environmentId: number;
  targetId: Id;
  before: AttemptPosition;
  fromId: Id;
  status: 'delivered' | 'failed' | null;
  eventType: string | null;
}

/** Finds the lowest event id of a page. Reads only the index events_target_id_idx. */
const FLOOR: Statement = {
  name: 'attempts_floor',
  text: `
    select id from events where environment_id = $1 and target_id = $2 and id <= $3 and id >= $4
    order by id desc offset $5 - 1 limit 1`,
};

/**
 * Uses the indexes events_target_id_idx for the events, attempts_pkey for the attempts of each event, and
 * due_deliveries_pkey or deliveries_pkey for its delivery.
 */
const PAGE: Statement = {
  name: 'attempts_of_target',
  text: `
    select p.*, d.target_id as "targetId", coalesce(d.replayed, false) as replayed, d.next_attempt_at as "nextAttemptAt"
    from (
      select e.id as "eventId", e.expires_on, e.message_id as "messageId", e.event_type as "eventType",
             a.ordinal, a.number, a.status, a.error, a.duration_ms as "durationMs", a.started_at as "startedAt",
               a.response_excerpt as excerpt
      from events e cross join lateral (
        select * from attempts a
        where a.environment_id = $1 and a.event_id = e.id and a.expires_on = e.expires_on
          and (e.id < $3 or (a.ordinal, a.number) < ($5::smallint, $6::smallint))
          and ($7::text is null or (coalesce(a.status, 0) between 200 and 299) = ($7 = 'delivered'))
        order by a.ordinal desc, a.number desc limit $9
      ) a
      where e.environment_id = $1 and e.target_id = $2 and e.id <= $3 and e.id >= $4 and ($8::text is null
        or e.event_type = $8)
      order by e.id desc, a.ordinal desc, a.number desc limit $9
    ) p left join lateral (
      select o.target_id, o.replayed, case when o.claimed_by is null and o.attempts = p.number then o.due_at
        end as next_attempt_at
      from due_deliveries o where o.environment_id = $1 and o.event_id = p."eventId" and o.ordinal = p.ordinal
      union all
      select s.target_id, s.replayed, null from deliveries s
      where s.environment_id = $1 and s.event_id = p."eventId" and s.ordinal = p.ordinal and s.expires_on = p.expires_on
      limit 1
    ) d on true
    order by p."eventId" desc, p.ordinal desc, p.number desc`,
};

/** Uses the index attempts_pkey. */
const FIRST: Statement = {
  name: 'attempt_log_first',
  text: `
    select number, status, error, duration_ms as "durationMs", started_at as "startedAt", response_excerpt as excerpt
    from attempts where environment_id = $1 and event_id = $2 order by ordinal, number limit 1`,
};

type StoredAttempt = Pick<AttemptEntity, 'number' | 'status' | 'error' | 'durationMs' | 'startedAt'> & {
  excerpt: AttemptEntity['responseExcerpt'];
};

type Logged = Pick<AttemptEntity, 'eventId' | 'ordinal'> &
  Pick<EventEntity, 'messageId' | 'eventType'> &
  Pick<DeliveryEntity, 'targetId' | 'replayed'> & { nextAttemptAt: Date | null };

/** Reads attempts of one target. The cost does not depend on the attempts of other targets. */
@Injectable()
export class AttemptLogStore {
  constructor(private readonly database: Database) {}

  /** Returns the lowest id among the newest `events` events in the range. Null if the range has fewer events. */
  async floor({ environmentId, targetId, before, fromId }: AttemptRange, events: number): Promise<Id | null> {
    const [row] = await this.database.readPrepared<{ id: Id }>(FLOOR, [
      environmentId,
      targetId,
      before.eventId,
      fromId,
      events,
    ]);
    return row?.id ?? null;
  }

  page(
    { environmentId, targetId, before, fromId, status, eventType }: AttemptRange,
    limit: number,
  ): Promise<LoggedAttempt[]> {
    return this.database.readPrepared<StoredAttempt & Logged>(PAGE, [
      environmentId,
      targetId,
      before.eventId,
      fromId,
      before.ordinal,
      before.number,
      status,
      eventType,
      limit,
    ]);
  }

  async first({ environmentId }: Tenant, eventId: Id): Promise<AttemptRow | null> {
    const [row] = await this.database.query<StoredAttempt>(FIRST, [environmentId, eventId]);
    return row ?? null;
  }
}
