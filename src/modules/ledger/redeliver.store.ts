import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import { dateArray, uuidArray } from '#kernel/database/pg-array.js';
import { type Id, lowestIdAt } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { isDropped } from './dropped.contract.js';
import type { DeliveryEntity } from './ledger.entities.js';
import { isOpenEvent } from './open-key.js';
import type {
  Addressee,
  Redelivered,
  Redelivery,
  SendableRow,
  StoredEvent,
  Whereabouts,
} from './redelivery.contract.js';

export const DEAD_LETTERS_STEP = 1_000;
const DAY_MS = 86_400_000;

/**
 * SQL that creates a delivery for each picked event and target. The numbers of new deliveries follow the numbers of the
 * event's existing deliveries. Existing deliveries to the same target become superseded, and no longer affect the
 * event's status. A superseded delivery that is still open ends immediately, or after its attempt in flight.
 */
const renew = (picked: string): string => `
  with picked as (${picked}), settled as (
    update deliveries d set superseded = true from picked p
    where d.environment_id = p.environment_id and d.event_id = p.event_id and d.target_id = p.target_id
      and d.expires_on = p.expires_on and not d.superseded
    returning 1
  ), attempted as (
    update due_deliveries d set superseded = true from picked p
    where ${isOpenEvent('p')} and d.target_id = p.target_id
      and d.claimed_by is not null and not d.superseded
    returning 1
  ), waiting as (
    delete from due_deliveries d using picked p
    where ${isOpenEvent('p')} and d.target_id = p.target_id
      and d.claimed_by is null
    returning d.*
  ), ended as (
    insert into deliveries (environment_id, event_id, ordinal, expires_on, target_id, endpoint_id, status, reason,
      attempts,
                            replayed, superseded, settled_at)
    select environment_id, event_id, ordinal, expires_on, target_id, endpoint_id, 'failed', 'superseded', attempts,
      replayed,
           true, now()
    from waiting returning 1
  ), numbered as (
    select p.*, row_number() over (partition by p.environment_id, p.event_id order by p.target_id) + greatest(
      (select coalesce(max(ordinal), -1) from deliveries d
       where d.environment_id = p.environment_id and d.event_id = p.event_id and d.expires_on = p.expires_on),
      (select coalesce(max(ordinal), -1) from due_deliveries d
       where d.environment_id = p.environment_id and d.event_id = p.event_id)
    ) as ordinal from picked p
  ), made as (
    insert into due_deliveries (environment_id, event_id, ordinal, expires_on, target_id, endpoint_id, due_at,
      claimed_by,
                                parked, attempts, attempts_used, first_attempt_at, replayed, superseded)
    select environment_id, event_id, ordinal, expires_on, target_id, endpoint_id,
           now() + position * interval '1 microsecond', null, false, 0, 0, null, true, false
    from numbered returning 1
  )
  select count(*)::int as count from made`;

export interface Sendable
  extends Addressee, Pick<DeliveryEntity, 'eventId' | 'expiresOn' | 'targetId' | 'endpointId' | 'ordinal'> {
  /**
   * Endpoint of an application to which the event was sent, or null. Always null for a received event, because its
   * `endpointId` is the endpoint that received it.
   */
  applicationEndpointId: Id | null;
}

/**
 * A dead letter. `isDropped` is true if a transform dropped the event, but an older version of Posthorn replayed it
 * nevertheless.
 */
export type DeadLetter = Sendable & { isDropped: boolean };

/** Position of the last dead letter of the previous page. */
export type Behind = Pick<Sendable, 'eventId' | 'ordinal'>;

const SENDABLE = `
  d.event_id as "eventId", d.expires_on::text as "expiresOn", d.target_id as "targetId", d.endpoint_id as "endpointId", d.ordinal,
  case when e.direction = 'outbound' then d.endpoint_id end as "applicationEndpointId",
  e.direction = 'outbound' and e.url is not null as "isAdHoc"`;

/** Uses the index events_pkey of one partition. */
const ADMIT: Statement = {
  name: 'redeliver_admit',
  text: `update events set disposition = null where environment_id = $1 and id = $2 and expires_on = $3::date and disposition = 'quarantined'`,
};

/** Finds all targets of the event. Uses the indexes events_pkey, due_deliveries_pkey and deliveries_pkey. */
const OF_EVENT: Statement = {
  name: 'redeliver_of_event',
  text: `
    select ${SENDABLE}
    from events e cross join lateral (
      select o.event_id, o.expires_on, o.target_id, o.endpoint_id, 0 as ordinal from due_deliveries o
      where o.environment_id = e.environment_id and o.event_id = e.id and not o.superseded
      union
      select s.event_id, s.expires_on, s.target_id, s.endpoint_id, 0 from deliveries s
      where s.environment_id = e.environment_id and s.event_id = e.id and s.expires_on = e.expires_on
        and not s.superseded
    ) d
    where e.environment_id = $1 and e.id = $2 and not ${isDropped('e')}`,
};

/**
 * Finds the targets of all deliveries of the events, or only of undelivered ones. Uses events_pkey, messages_pkey,
 * due_deliveries_pkey and deliveries_pkey for each event.
 */
const OF_EVENTS: Statement = {
  name: 'redeliver_of_events',
  text: `
    select ${SENDABLE}, e.erased_at is not null or m.erased_at is not null or ${isDropped('e')} as "isGone"
    from unnest($2::uuid[], $3::date[]) with ordinality as p(id, expires_on, position)
    join events e on e.environment_id = $1 and e.id = p.id and e.expires_on = p.expires_on
    left join messages m on m.environment_id = e.environment_id and m.id = e.message_id and m.expires_on = e.expires_on
    cross join lateral (
      select o.event_id, o.expires_on, o.target_id, o.endpoint_id, 0 as ordinal from due_deliveries o
      where not $4::boolean and o.environment_id = e.environment_id and o.event_id = e.id and not o.superseded
      union
      select s.event_id, s.expires_on, s.target_id, s.endpoint_id, 0 from deliveries s
      where s.environment_id = e.environment_id and s.event_id = e.id and s.expires_on = e.expires_on
        and not s.superseded
        and (not $4::boolean or s.status in ('dlq', 'failed') and ($5::boolean or s.reason is distinct
          from 'cancelled'))
    ) d
    where $6::uuid is null or d.target_id = $6
    order by p.position`,
};

/** Creates deliveries. Their due times have the same order as the input. */
const TO: Statement = {
  name: 'redeliver_to',
  text: renew(`
    select $1::int as environment_id, event_id, expires_on, target_id, endpoint_id, position::int
    from unnest($2::uuid[], $3::date[], $4::uuid[], $5::uuid[]) with ordinality as p(event_id, expires_on, target_id,
      endpoint_id, position)`),
};

/**
 * Takes a lock, so that the replays of an environment run one after the other. Two concurrent replays of an event would
 * give two deliveries the same number. Also makes the planner use index lookups for the rest of the transaction, whose
 * statements read only a few keys of large tables.
 */
const LOCK: Statement = {
  name: 'redeliver_lock',
  text: `
    select pg_advisory_xact_lock(hashtextextended($1, 0)), set_config('enable_seqscan', 'off', true),
           set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
           set_config('enable_bitmapscan', 'off', true)`,
};

/** Selects dead letters in steps, oldest first. Uses deliveries_status_idx, and events_pkey once per row. */
const DEAD_LETTERS: Statement = {
  name: 'redeliver_dead_letters',
  text: `
    select ${SENDABLE}, ${isDropped('e')} as "isDropped"
    from (
      select environment_id, event_id, expires_on, target_id, endpoint_id, ordinal from deliveries
      where environment_id = $1 and status = 'dlq' and not superseded and event_id >= $2 and (event_id > $2
        or ordinal > $3)
        and ($4::uuid is null or target_id = $4) and ($5::uuid is null or endpoint_id = $5)
      order by event_id, ordinal limit ${DEAD_LETTERS_STEP} for update
    ) d left join events e on e.environment_id = d.environment_id and e.id = d.event_id and e.expires_on = d.expires_on
    order by d.event_id, d.ordinal`,
};

@Injectable()
export class RedeliverStore {
  constructor(private readonly database: Database) {}

  transaction<T>(work: () => Promise<T>): Promise<T> {
    return this.database.transaction(work);
  }

  /** Returns all targets of an event. Uses the caller's transaction. */
  async ofEvent(tenant: Tenant, eventId: Id): Promise<Sendable[]> {
    await this.standInLine(tenant.environmentId);
    return this.database.query<Sendable>(OF_EVENT, [tenant.environmentId, eventId]);
  }

  /** Returns the targets of the events, in the order of the events. Uses the caller's transaction. */
  async whereabouts(
    environmentId: number,
    events: readonly StoredEvent[],
    { isUndelivered, includesCancelled, targetId }: Whereabouts,
  ): Promise<SendableRow[]> {
    await this.standInLine(environmentId);
    const days = dateArray(events.map(({ expiresOn }) => Date.parse(expiresOn) / DAY_MS));
    return this.database.query(OF_EVENTS, [
      environmentId,
      uuidArray(events.map(({ id }) => id)),
      days,
      isUndelivered,
      includesCancelled,
      targetId,
    ]);
  }

  /** Returns at most `DEAD_LETTERS_STEP` dead letters. Uses the caller's transaction. */
  async deadLetters(
    tenant: Tenant,
    { sinceMs = 0, targetId, endpointId }: Redelivery,
    behind: Behind | null,
  ): Promise<DeadLetter[]> {
    await this.standInLine(tenant.environmentId);
    const { eventId, ordinal } = behind ?? { eventId: lowestIdAt(sinceMs), ordinal: -1 };
    return this.database.query<DeadLetter>(DEAD_LETTERS, [
      tenant.environmentId,
      eventId,
      ordinal,
      targetId ?? null,
      endpointId ?? null,
    ]);
  }

  /**
   * Clears an event's disposition, such as `quarantined`, so that its deliveries determine its status. Uses the
   * caller's transaction.
   */
  async admit(environmentId: number, { id, expiresOn }: StoredEvent): Promise<void> {
    await this.database.query(ADMIT, [environmentId, id, expiresOn]);
  }

  /** Creates deliveries in the caller's transaction. Returns their number. */
  async to(environmentId: number, picked: readonly Redelivered[]): Promise<number> {
    await this.standInLine(environmentId);
    const [row] = await this.database.query<{ count: number }>(TO, [
      environmentId,
      uuidArray(picked.map(({ eventId }) => eventId)),
      dateArray(picked.map(({ expiresOn }) => Date.parse(expiresOn) / DAY_MS)),
      uuidArray(picked.map(({ targetId }) => targetId)),
      uuidArray(picked.map(({ endpointId }) => endpointId)),
    ]);
    return row?.count ?? 0;
  }

  afterCommit(work: () => void): void {
    this.database.afterCommit(work);
  }

  /** Blocks other replays of the environment until the caller's transaction ends. */
  async standInLine(environmentId: number): Promise<void> {
    await this.database.query(LOCK, [`redeliver ${environmentId}`]);
  }
}
