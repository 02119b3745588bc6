import { isRangeTime, rangeTime } from '../kit/time/range';

/** What the list of events shows, as its address says it. */
export interface EventFilters {
  /** One state, or several with commas: `dlq,failed`. */
  status?: string;
  direction?: Direction;
  /** How the last attempt of what is not delivered ended. */
  error?: ErrorClass;
  event_type?: string;
  destination?: string;
  application?: string;
  endpoint?: string;
  message_id?: string;
  /** Any id: of an event, a delivery, a message, a received request, or a `webhook-id`. */
  q?: string;
  /** A time, or how long back: `-1h` stays relative in a link that is kept. */
  since?: string;
  until?: string;
}

export const STATUSES = ['delivered', 'retrying', 'failed', 'dlq', 'quarantined', 'parked', 'ignored'] as const;
export type EventStatus = (typeof STATUSES)[number];

export const DIRECTIONS = ['outbound', 'inbound'] as const;
type Direction = (typeof DIRECTIONS)[number];

export const ERROR_CLASSES = [
  'timeout',
  'dns',
  'connection',
  'tls',
  'blocked',
  'protocol',
  'refused',
  'adapter',
  '3xx',
  '4xx',
  '5xx',
] as const;
type ErrorClass = (typeof ERROR_CLASSES)[number];

/** The ranges that are offered. */
export const RANGES = ['-15m', '-1h', '-6h', '-1d', '-7d', '-30d'] as const;

/** The filters as the API takes them: times are times, and states a list. */
export type EventQuery = Omit<EventFilters, 'status'> & { status?: EventStatus[] };

const TEXTS = ['event_type', 'destination', 'application', 'endpoint', 'message_id', 'q'] as const;

/** The filters of an address; what is none is left out, so that an address typed by hand shows something. */
export function readFilters(search: Readonly<Record<string, unknown>>): EventFilters {
  const filters: EventFilters = {};
  const statuses = readStatuses(search['status']);
  if (statuses.length > 0) filters.status = statuses.join(',');
  const direction = DIRECTIONS.find((each) => each === search['direction']);
  if (direction !== undefined) filters.direction = direction;
  const error = ERROR_CLASSES.find((each) => each === search['error']);
  if (error !== undefined) filters.error = error;
  for (const name of TEXTS) {
    const value = search[name];
    if ((typeof value === 'string' || typeof value === 'number') && String(value).trim() !== '')
      filters[name] = String(value).trim();
  }
  for (const name of ['since', 'until'] as const) {
    const value = search[name];
    if (isRangeTime(value)) filters[name] = value;
  }
  return filters;
}

/** The states that are asked for, in the order in which they are offered; none for all. */
export function statusesOf({ status }: Pick<EventFilters, 'status'>): EventStatus[] {
  return readStatuses(status);
}

function readStatuses(value: unknown): EventStatus[] {
  const said = Array.isArray(value) ? value.map(String) : typeof value === 'string' ? value.split(',') : [];
  return STATUSES.filter((each) => said.includes(each));
}

/** The filters as the API takes them at a moment: relative times become times. */
export function asQuery(filters: EventFilters, nowMs: number): EventQuery {
  const { since, until, status: _status, ...rest } = filters;
  const status = statusesOf(filters);
  return {
    ...(status.length > 0 && { status }),
    ...rest,
    ...(since !== undefined && { since: rangeTime(since, nowMs) }),
    ...(until !== undefined && { until: rangeTime(until, nowMs) }),
  };
}

/** The same with an end: what comes later does not belong to what one decided about. */
export function asFixedQuery(filters: EventFilters, nowMs: number): EventQuery {
  return { ...asQuery(filters, nowMs), until: rangeTime(filters.until ?? '-0m', nowMs) };
}

/** The filters that the stream of events has: it tells what happens now, whatever the range; states and errors are compared here. */
export function asStreamQuery({
  event_type,
  destination,
  application,
  endpoint,
  direction,
}: EventFilters): Record<string, string> {
  return Object.fromEntries(
    Object.entries({ event_type, destination, application, endpoint, direction }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    ),
  );
}

/** Whether anything new can belong to the list at all. */
export function canGrow({ until, message_id, q }: EventFilters): boolean {
  return until === undefined && message_id === undefined && q === undefined;
}

/** A change as far as the filters look at it. */
interface Change {
  kind: 'accepted' | 'attempt' | 'status';
  status: string;
  attempt: { status: number | null; error: string | null } | undefined;
}

/** Whether a change brings its event into the list. Without a state or an error only what is accepted is new there. */
export function isBroughtBy(filters: EventFilters, { kind, status, attempt }: Change): boolean {
  if (!canGrow(filters)) return false;
  const statuses = statusesOf(filters);
  if (statuses.length > 0 && !statuses.some((each) => each === status)) return false;
  if (filters.error !== undefined)
    return attempt !== undefined && status !== 'delivered' && errorClassOf(attempt) === filters.error;
  return statuses.length > 0 || kind === 'accepted';
}

/** How an attempt ended, in the words of the filter: `timeout`, `5xx`. */
export function errorClassOf({ status, error }: { status: number | null; error: string | null }): string {
  return error ?? `${Math.floor((status ?? 0) / 100)}xx`;
}
