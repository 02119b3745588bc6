import type { Disposition } from '#engine/inbound/disposition.js';
import { ATTEMPT_ERRORS } from '#engine/outcome.js';
import type { Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import type { Direction } from '#modules/ledger/claims.contract.js';
import { COLUMNS, type DeliveryStatus, type EventStatus, LAST_ATTEMPT, STATUS } from './event-rows.js';

/** Reasons for a missing response, and classes of response statuses. */
export const ERROR_CLASSES = [...ATTEMPT_ERRORS, '3xx', '4xx', '5xx'] as const;
export type ErrorClass = (typeof ERROR_CLASSES)[number];

/** Result of an attempt: an error, a class of response statuses, or one response status such as `503`. */
export type AttemptResult = ErrorClass | `${number}`;

/** Filter of an event list. The ids limit the time range, because an event's id contains the time of its creation. */
export interface EventFilter {
  beforeId: Id;
  fromId: Id;
  status?: EventStatus;
  /** Several states. If set, `status` is not used. */
  statuses?: readonly EventStatus[];
  direction?: Direction;
  /**
   * Result of the last attempt. If it is set, the filter must also name the statuses that are possible with this
   * result.
   */
  error?: AttemptResult;
  eventType?: string;
  /** Target of the events: an application's endpoint that has its own URL. */
  targetId?: Id;
  /** Endpoint that received the events, or to which they were fanned out. */
  endpointId?: Id;
  /** Message that the events belong to. If it is set, the range of ids covers only the ids of this message. */
  messageId?: Id;
  /** Destination or ad-hoc URL. If a status is also given, the delivery to it must have that status. */
  destinationId?: Id;
  applicationId?: Id;
  /** Delivery id that the provider sent with a received event. Not allowed together with an application. */
  dedupeId?: string;
}

export const UNDELIVERED = ['retrying', 'dlq', 'failed'] as const;
/** States of events that are not delivered anywhere. */
export const DISPOSITIONS = ['quarantined', 'parked', 'ignored'] as const;

type Conditions = Omit<EventFilter, 'beforeId' | 'fromId'>;

/**
 * SQL for each status: the smallest set of rows that contains all events with this status, newest first. Uses
 * due_deliveries_pkey for `retrying`, deliveries_pkey for `delivered`, and deliveries_status_idx for the others. With a
 * filter by target, uses deliveries_target_id_idx.
 */
const SOURCES: Record<DeliveryStatus, string> = {
  retrying: 'due_deliveries d where true',
  delivered: `deliveries d where d.status = 'delivered'`,
  dlq: `deliveries d where d.status = 'dlq'`,
  failed: `deliveries d where d.status = 'failed'`,
};

/** Returns the prepared statement for a list. Each combination of filters is a separate statement with its own name. */
export function listStatement(filter: Conditions): Statement {
  return { name: `events_list_${nameOf(filter)}`, text: `${TYPES} ${listText(filter)}` };
}

export function countStatement(filter: Conditions): Statement {
  return {
    name: `events_count_${nameOf(filter)}`,
    text: `select count(*)::int as count from (${TYPES} ${listText(filter)}) counted`,
  };
}

/** Casts each parameter, so that PostgreSQL can determine its type even in a statement that does not use it. */
const TYPES =
  'with unused as (select $5::text, $6::uuid, $7::uuid, $8::uuid, $9::uuid, $10::text, $11::text, $12::text[], $13::text)';

function nameOf(filter: Conditions): string {
  const {
    status,
    statuses,
    eventType,
    targetId,
    endpointId,
    messageId,
    destinationId,
    applicationId,
    direction,
    error,
    dedupeId,
  } = filter;
  const isAimed = targetId !== undefined || endpointId !== undefined;
  const kinds = [
    eventType,
    isAimed || undefined,
    endpointId,
    messageId,
    destinationId,
    applicationId,
    direction,
    error,
    dedupeId,
  ];
  const rare = isUndelivered(filter) ? 'some' : 'mixed';
  const several = statuses && (statuses.includes('delivered') ? 'many' : rare);
  return `${status ?? several ?? 'any'}_${kinds.map((kind) => (kind === undefined ? 0 : 1)).join('')}`;
}

function listText(filter: Conditions): string {
  const {
    status,
    statuses,
    eventType,
    targetId,
    endpointId,
    messageId,
    destinationId,
    applicationId,
    direction,
    error,
    dedupeId,
  } = filter;
  const isAimed = targetId !== undefined || endpointId !== undefined;
  const own = [
    eventType === undefined ? '' : 'and e.event_type = $5',
    applicationId === undefined ? '' : OF_APPLICATION,
    direction === undefined ? '' : 'and e.direction = $10',
    error === undefined ? '' : ENDED_SO,
  ].join(' ');
  const conditions = `${isAimed ? 'and e.target_id = $6' : ''} ${own}`;
  const state = statuses ? 'several' : status;
  if (dedupeId !== undefined) {
    const ofMessage = messageId === undefined ? '' : 'and (e.id = $7 or e.message_id = $7)';
    const routed = destinationId === undefined ? '' : isUndelivered(filter) ? routedIn(state) : ROUTED;
    return fromReceived(`${conditions} ${ofMessage} ${routed}`, state);
  }
  if (messageId !== undefined)
    return fromEvents(
      `and (e.id = $7 or e.message_id = $7) ${conditions} ${destinationId === undefined ? '' : ROUTED}`,
      state,
    );
  const isOfDelivery = isUndelivered(filter);
  if (destinationId !== undefined) {
    if (!isOfDelivery) return fromRouted(conditions, state);
    return statuses
      ? fromSome(conditions, 'and d.target_id = $8', null)
      : fromDeliveries(status as DeliveryStatus, conditions, 'and d.target_id = $8');
  }
  if (applicationId !== undefined && !isAimed && !isOfDelivery)
    return fromMessages(conditions, state, eventType === undefined ? '' : 'and m.event_type = $5');
  if (isDisposition(status)) return fromDispositions(status, conditions);
  const isCommon = statuses
    ? statuses.includes('delivered')
    : status === undefined || (status === 'delivered' && (eventType !== undefined || isAimed));
  if (isCommon) return fromEvents(conditions, state);
  const aim = endpointId === undefined ? 'and d.target_id = $6 and d.endpoint_id is null' : 'and d.endpoint_id = $6';
  // Filters delivery rows by target: a filter on the event's target would make the planner choose a worse index.
  if (!statuses) return fromDeliveries(status as DeliveryStatus, own, isAimed ? aim : '');
  return fromSome(own, isAimed ? aim : '', isAimed ? 'and e.target_id = $6' : '');
}

/**
 * Returns whether the filter selects only undelivered statuses. If it also selected `delivered`, too many rows of
 * `deliveries` would be scanned.
 */
function isUndelivered({ status, statuses }: Conditions): boolean {
  const all = statuses ?? (status === undefined ? [] : [status]);
  return all.length > 0 && all.every((each) => UNDELIVERED.some((status) => status === each));
}

export function isDisposition(status: EventStatus | undefined): status is Disposition {
  return DISPOSITIONS.some((each) => each === status);
}

/**
 * SQL condition: the event's message was sent to the application `$9`. Uses messages_pkey in a scalar subquery, because
 * the planner may turn an `exists` into a hash of all messages.
 */
const OF_APPLICATION = `
  and (select m.application_id from messages m
       where m.environment_id = e.environment_id and m.id = e.message_id and m.expires_on = e.expires_on) = $9`;

/**
 * SQL condition: the event was sent to the destination `$8`, or has a delivery to it that meets the conditions. Looks up
 * the deliveries of each event with due_deliveries_pkey (`due`) and deliveries_pkey (`ended`).
 */
function routedIf({ due, ended }: { due: string; ended: string }): string {
  return `
  and (e.target_id = $8 or (
    select true from due_deliveries o where o.environment_id = e.environment_id and o.event_id = e.id
      and o.target_id = $8 ${due} limit 1
  ) or (
    select true from deliveries s
    where s.environment_id = e.environment_id and s.event_id = e.id and s.expires_on = e.expires_on
      and s.target_id = $8 ${ended} limit 1
  ))`;
}

const ROUTED = routedIf({ due: '', ended: '' });

/**
 * SQL condition: the event has a delivery to the destination `$8` in the given state. Supports only undelivered states.
 * Ignores superseded deliveries.
 */
function routedIn(state: State): string {
  const isIn = (status: string): string =>
    state === 'several' ? `${status} = any ($12)` : `${status} = '${state ?? ''}'`;
  return routedIf({
    due: `and not o.superseded and ${isIn("'retrying'")}`,
    ended: `and not s.superseded and ${isIn('s.status')}`,
  });
}

const ENDED_SO = `and (select $11 in (coalesce(t.error, t.status / 100 || 'xx'), t.status::text) from (${LAST_ATTEMPT}) t)`;

/** Status filter of a statement: one status, `several` (passed as parameter `$12`), or undefined for any status. */
type State = EventStatus | 'several' | undefined;

function inStatus(state: State): string {
  if (state === undefined) return '';
  return state === 'several' ? `and ${STATUS} = any ($12)` : `and ${STATUS} = '${state}'`;
}

/** Selects events with a disposition, such as `quarantined`. Uses the index events_disposition_idx. */
function fromDispositions(disposition: Disposition, conditions: string): string {
  return `
    select ${COLUMNS}, e.disposition as status from events e
    where e.environment_id = $1 and e.disposition = '${disposition}' and ${STATUS} = e.disposition and e.id < $2
      and e.id >= $3 ${conditions}
    order by e.id desc limit $4`;
}

/**
 * Selects events. Uses events_event_type_idx for a filter by type, events_target_id_idx for a filter by target,
 * otherwise events_pkey.
 */
function fromEvents(conditions: string, status?: State): string {
  return `
    select ${COLUMNS}, ${STATUS} as status from events e
    where e.environment_id = $1 and e.id < $2 and e.id >= $3 ${conditions} ${inStatus(status)} order by e.id desc
      limit $4`;
}

/** Selects events by delivery status. An event appears once, for the last of its deliveries with that status. */
function fromDeliveries(status: DeliveryStatus, conditions: string, aimed: string): string {
  return eventsOf(
    `${SOURCES[status]}
    and d.environment_id = $1 and d.event_id < $2 and d.event_id >= $3 and not d.superseded ${aimed}`,
    conditions,
    status,
  );
}

/**
 * Selects events by several states. Unselected states cost nothing, because the state is checked before rows are read.
 */
function fromSome(conditions: string, aimed: string, ofEndpoint: string | null): string {
  const range = (of: string, id: string): string => `${of}.environment_id = $1 and ${id} < $2 and ${id} >= $3`;
  const asked = (status: EventStatus): string => `'${status}' = any ($12)`;
  const deliveries = UNDELIVERED.map(
    (status) =>
      `select d.event_id, d.expires_on from ${SOURCES[status]} and ${asked(status)} and ${range('d', 'd.event_id')} and not d.superseded ${aimed}`,
  );
  const aside =
    ofEndpoint === null
      ? []
      : DISPOSITIONS.map(
          (status) =>
            `select e.id, e.expires_on from events e where e.disposition = '${status}' and ${asked(status)} and ${range('e', 'e.id')} ${ofEndpoint}`,
        );
  return eventsOf(`(${[...deliveries, ...aside].join(' union all ')}) d`, conditions, 'several');
}

/** Selects events without duplicates, newest first. Uses the index events_pkey of one partition. */
function eventsOf(rows: string, conditions: string, status: State): string {
  return `
    select e.* from (
      select distinct on (d.event_id) d.event_id, d.expires_on from ${rows}
      order by d.event_id desc
    ) c cross join lateral (
      select ${COLUMNS}, ${STATUS} as status from events e
      where e.environment_id = $1 and e.id = c.event_id
        and e.expires_on = c.expires_on ${conditions} ${inStatus(status)}
      offset 0
    ) e
    order by c.event_id desc limit $4`;
}

/**
 * SQL condition: the request has the provider's delivery id `parameter`. Uses the index requests_dedupe_id_idx. It
 * contains a hash of the id and the environment, because ids can be too long for an index. It contains no duplicates,
 * because they have no event. The `+ 0` prevents the planner from reading all requests of an environment by primary
 * key.
 */
const withDedupeId = (parameter: string): string => `
  hashtextextended(dedupe_id, environment_id) = hashtextextended(${parameter}, $1::int) and dedupe_id = ${parameter}
  and environment_id + 0 = $1::int and duplicate_of is null`;

/** Selects received events whose request has the provider's delivery id. Reads the events with events_pkey. */
function fromReceived(conditions: string, status: State): string {
  const rows = `(
      select r.id as event_id, r.expires_on from requests r
      where ${withDedupeId('$13')} and r.id < $2 and r.id >= $3
    ) d`;
  return eventsOf(rows, conditions, status);
}

/**
 * Selects events that were sent directly to a destination or that an endpoint routed to it. Uses the indexes
 * events_target_id_idx for direct events, deliveries_routed_idx for finished deliveries and due_deliveries_pkey for
 * open ones. Scans open deliveries only within the page's range and scan limit.
 */
function fromRouted(conditions: string, status: State): string {
  const range = (id: string): string => `and ${id} < $2 and ${id} >= $3`;
  const settled = `(
      select e.id as event_id, e.expires_on from events e where e.environment_id = $1 and e.target_id = $8 ${range('e.id')}
      union all
      select s.event_id, s.expires_on from deliveries s
      where s.environment_id = $1 and s.target_id = $8 and s.endpoint_id is not null ${range('s.event_id')}
    ) d`;
  const open = `due_deliveries d
      where d.environment_id = $1 and d.target_id = $8 and d.endpoint_id is not null and d.event_id < $2
        and d.event_id >= coalesce((select id from settled order by id desc offset $4::int - 1 limit 1), $3)`;
  return `, settled as materialized (${eventsOf(settled, conditions, status)}), open as materialized (${eventsOf(open, conditions, status)})
    select * from settled union select * from open order by id desc limit $4`;
}

/**
 * Selects the events of an application's messages. Uses the indexes messages_application_id_idx for the messages, and
 * events_pkey for the events of each message, whose ids follow the message's id. Skips messages of another event type:
 * all events of a message have the message's type.
 */
function fromMessages(conditions: string, status: State, ofType: string): string {
  return `
    select e.* from (
      select m.id, m.expires_on, greatest(m.fanout, 1) as events from messages m
      where m.environment_id = $1 and m.application_id = $9 and m.id < $2 and m.id >= $3 ${ofType} order by m.id desc
    ) c cross join lateral (
      select n.id from events n where n.environment_id = $1 and n.expires_on = c.expires_on and n.id >= c.id
        order by n.id limit c.events
    ) n cross join lateral (
      select ${COLUMNS}, ${STATUS} as status from events e
      where e.environment_id = $1 and e.id = n.id and e.expires_on = c.expires_on and e.message_id = c.id
        and e.id < $2 ${conditions.replace(OF_APPLICATION, '')} ${inStatus(status)}
      offset 0
    ) e
    order by c.id desc, n.id desc limit $4`;
}

/** Maximum number of rows that one page may scan, including rows that do not match the filters. */
export const WINDOW_ROWS = 10_000;

/**
 * Reduced limit on the rows that one page may scan, for lists that read more per row: the event's last attempt, its
 * application, or several indexes.
 */
export const NARROW_WINDOW_ROWS = 3_000;

export function windowRows(filter: Conditions): number {
  const { error, statuses, applicationId, dedupeId } = filter;
  const isNarrow =
    error !== undefined ||
    dedupeId !== undefined ||
    (statuses !== undefined && !statuses.includes('delivered')) ||
    (applicationId !== undefined && isUndelivered(filter));
  return isNarrow ? NARROW_WINDOW_ROWS : WINDOW_ROWS;
}

/**
 * Returns the statement that finds the oldest id that one page may scan, so that the page reads a limited number of
 * rows from each index. Returns null if no limit is needed, because the index contains only matching events.
 *
 * Without the limit, every filter would need its own index, which would slow down accepting and delivering events.
 */
export function windowStatement(filter: Conditions): Statement | null {
  const leads = leadsOf(filter);
  if (leads.length === 0) return null;
  return {
    name: `events_window_${nameOf(filter)}`,
    text: `
      with unused as (select $5::text, $6::uuid, $7::uuid, $8::text[], $9::text)
      select id from (${leads.map((lead) => `(${lead})`).join(' union all ')}) ends order by id desc limit 1`,
  };
}

const endOf = (rows: string, id: string, condition = ''): string => `
  select ${id} as id from ${rows} where environment_id = $1::int and ${id} < $2::uuid and ${id} >= $3::uuid ${condition}
  order by ${id} desc offset $4::int limit 1`;

/** Finds the oldest open delivery that a page may scan. Reads only the index due_deliveries_pkey. */
const OPEN_END = endOf('due_deliveries', 'event_id');

/**
 * Finds the oldest message that a page may scan. Each event of a message counts as one scanned row. Uses the index
 * messages_application_id_idx.
 */
const MESSAGES_END = `
  select id from (
    select id, sum(greatest(fanout, 1)) over (order by id desc rows unbounded preceding) as events from messages
    where environment_id = $1::int and application_id = $7 and id < $2::uuid and id >= $3::uuid
  ) m where events > $4::int order by id desc limit 1`;

/** Finds the oldest request with the provider's delivery id that a page may scan. Uses requests_dedupe_id_idx. */
const DEDUPE_END = `
  select id from requests where ${withDedupeId('$9')} and id < $2::uuid and id >= $3::uuid
  order by id desc offset $4::int limit 1`;

function leadsOf(filter: Conditions): string[] {
  const {
    status,
    statuses,
    eventType,
    targetId,
    endpointId,
    messageId,
    destinationId,
    applicationId,
    direction,
    error,
    dedupeId,
  } = filter;
  const isGiven = (...given: unknown[]): boolean => given.some((each) => each !== undefined);
  const isAimed = isGiven(targetId, endpointId);
  const isOfDelivery = isUndelivered(filter);
  if (dedupeId !== undefined) return [DEDUPE_END];
  if (messageId !== undefined) return [];
  const asked = statuses ?? (status === undefined ? [] : [status]);
  if (destinationId !== undefined && !isOfDelivery) {
    const isSearched = isAimed || isGiven(eventType, status, statuses, direction, error, applicationId);
    const settled = [
      endOf('events', 'id', 'and target_id = $6'),
      endOf('deliveries', 'event_id', 'and target_id = $6 and endpoint_id is not null'),
    ];
    return isSearched ? [OPEN_END, ...settled] : [OPEN_END];
  }
  if (applicationId !== undefined && !isAimed && !isOfDelivery)
    return isGiven(eventType, status, statuses) ? [MESSAGES_END] : [];
  const byType = isGiven(eventType) ? [endOf('events', 'id', 'and event_type = $5')] : [];
  const byTarget = isAimed ? [endOf('events', 'id', 'and target_id = $6')] : [];
  if (asked.length === 0 || asked.includes('delivered')) {
    const isSearched =
      asked.length > 0 || isGiven(direction, applicationId) || (byType.length > 0 && byTarget.length > 0);
    if (!isSearched) return [];
    if (byType.length + byTarget.length > 0) return [...byType, ...byTarget];
    return [asked.length === 1 ? endOf('deliveries', 'event_id') : endOf('events', 'id')];
  }
  const isSearched = isGiven(eventType, applicationId, direction, error, statuses);
  const leadOf = (each: EventStatus, gate: string): string[] => {
    if (each === 'retrying')
      return isSearched || isAimed || isGiven(destinationId) ? [endOf('due_deliveries', 'event_id', gate)] : [];
    if (isDisposition(each))
      return isSearched
        ? [endOf('events', 'id', `and disposition = '${each}' ${isAimed ? 'and target_id = $6' : ''} ${gate}`)]
        : [];
    // Deliveries that are no longer open have an index by target, but none by endpoint.
    const ofTarget = isGiven(targetId, destinationId) ? 'and target_id = $6' : '';
    return isSearched || isGiven(endpointId)
      ? [endOf('deliveries', 'event_id', `and status = '${each}' and not superseded ${ofTarget} ${gate}`)]
      : [];
  };
  if (status !== undefined) return leadOf(status, '');
  const gated = isOfDelivery ? UNDELIVERED : [...UNDELIVERED, ...DISPOSITIONS];
  return gated.flatMap((each) => leadOf(each, `and '${each}' = any ($8)`));
}
