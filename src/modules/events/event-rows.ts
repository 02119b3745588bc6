import type { Disposition } from '#engine/inbound/disposition.js';
import type { Id } from '#kernel/ids.js';
import type { Direction } from '#modules/ledger/claims.contract.js';

export type DeliveryStatus = 'delivered' | 'failed' | 'retrying' | 'dlq';
export type EventStatus = DeliveryStatus | Disposition;

const DELIVERY_STATUSES = ['delivered', 'failed', 'retrying', 'dlq'] as const satisfies readonly DeliveryStatus[];
export const EVENT_STATUSES = [
  ...DELIVERY_STATUSES,
  'quarantined',
  'parked',
  'ignored',
] as const satisfies readonly EventStatus[];

/** An event without its payload. Its status is derived from its deliveries. */
export interface EventRow {
  id: Id;
  expiresOn: string;
  /** Message of the fan-out that the event belongs to; null for other events. */
  messageId: Id | null;
  /**
   * Id of the target: a destination, an ad-hoc URL, or the endpoint that received the event or to which it was fanned
   * out.
   */
  targetId: Id;
  /** The ad-hoc URL, or the path of the endpoint that received the event. */
  url: string | null;
  direction: Direction;
  eventType: string;
  status: EventStatus;
}

/**
 * SQL expression: the status of an event, derived from its deliveries. Because the status is not stored, a delivery
 * that ends does not write to the event. Uses due_deliveries_pkey and deliveries_pkey in scalar subqueries, because the
 * planner may turn an `exists` into a hash of all open deliveries.
 */
export const STATUS = `
  coalesce(nullif(e.disposition, 'ignored'), (
    select 'retrying' from due_deliveries o
    where o.environment_id = e.environment_id and o.event_id = e.id and not o.superseded limit 1
  ), (
    select case when bool_or(s.status = 'dlq') then 'dlq' when bool_or(s.status = 'failed') then 'failed' else 'delivered' end
    from deliveries s
    where s.environment_id = e.environment_id and s.event_id = e.id and s.expires_on = e.expires_on and not s.superseded
    having count(*) > 0
  ), e.disposition, 'failed')`;

export const COLUMNS = `
  e.id, e.expires_on::text as "expiresOn", e.message_id as "messageId", e.target_id as "targetId", e.url, e.direction, e.event_type as "eventType"`;

/**
 * SQL: the last attempt of the delivery that determines the status of the event `e`. If several deliveries have this
 * status, the latest of them is used.
 */
export const LAST_ATTEMPT = `
  select a.status, a.error, a.started_at from (
    select o.ordinal, 0 as place from due_deliveries o
    where o.environment_id = e.environment_id and o.event_id = e.id and not o.superseded
    union all
    select s.ordinal, case s.status when 'dlq' then 1 when 'failed' then 2 else 3 end from deliveries s
    where s.environment_id = e.environment_id and s.event_id = e.id and s.expires_on = e.expires_on and not s.superseded
  ) d left join lateral (
    select l.status, l.error, l.started_at from attempts l
    where l.environment_id = e.environment_id and l.event_id = e.id and l.expires_on = e.expires_on
      and l.ordinal = d.ordinal
    order by l.number desc limit 1
  ) a on true
  order by d.place, a.started_at desc nulls last limit 1`;
