import { isRangeTime, rangeTime } from '../kit/time/range';

/** Filters of the event list, as in the page's URL. */
export interface EventFilters {
  /** One state, or several separated by commas: `dlq,failed`. */
  status?: string;
  direction?: Direction;
  /** Result of the last attempt of an undelivered event. */
  error?: ErrorClass;
  /** Exact status of the last response. */
  response_status?: number;
  /** The provider's id of its delivery, for received events. */
  dedupe_id?: string;
  event_type?: string;
  destination?: string;
  application?: string;
  endpoint?: string;
  message_id?: string;
  /** Any id: of an event, a delivery, a message, a received request, or a `webhook-id`. */
  q?: string;
  /** Start of the time range: an absolute time, or a time relative to now, such as `-1h`. */
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

/** Time ranges that the user can select. Each of them ends now. */
export const RANGES = ['-15m', '-1h', '-6h', '-1d', '-7d', '-30d'] as const;

/** Filters in the API's format, with absolute times and a list of states. */
export type EventQuery = Omit<EventFilters, 'status'> & { status?: EventStatus[] };

const TEXTS = ['event_type', 'destination', 'application', 'endpoint', 'message_id', 'dedupe_id', 'q'] as const;

/** Reads the filters from the page's URL. Ignores invalid values, so that a mistyped URL still shows a list. */
export function readFilters(search: Readonly<Record<string, unknown>>): EventFilters {
  const filters: EventFilters = {};
  const statuses = readStatuses(search['status']);
  if (statuses.length > 0) filters.status = statuses.join(',');
  const direction = DIRECTIONS.find((each) => each === search['direction']);
  if (direction !== undefined) filters.direction = direction;
  const error = ERROR_CLASSES.find((each) => each === search['error']);
  if (error !== undefined) filters.error = error;
  const code = Number(search['response_status'] ?? NaN);
  if (isResponseStatus(code)) filters.response_status = code;
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

/** Returns whether the API can filter by this response status. */
function isResponseStatus(code: number): boolean {
  return Number.isInteger(code) && code >= 200 && code <= 599;
}

/**
 * Returns the filters for a typed response status: one status such as `503`, or a class such as `5xx`. A status clears
 * the error filter, and a class clears the status, because no attempt matches both. Returns null for other text.
 */
export function responseChanges(
  typed: string,
): { error: ErrorClass | undefined; response_status: number | undefined } | null {
  const text = typed.trim().toLowerCase();
  if (text === '') return { error: undefined, response_status: undefined };
  const error = ERROR_CLASSES.find((each) => each.endsWith('xx') && each === text);
  if (error !== undefined) return { error, response_status: undefined };
  const code = /^\d{3}$/.test(text) ? Number(text) : NaN;
  return isResponseStatus(code) ? { error: undefined, response_status: code } : null;
}

/** Returns the selected states in display order. An empty list means all states. */
export function statusesOf({ status }: Pick<EventFilters, 'status'>): EventStatus[] {
  return readStatuses(status);
}

function readStatuses(value: unknown): EventStatus[] {
  const said = Array.isArray(value) ? value.map(String) : typeof value === 'string' ? value.split(',') : [];
  return STATUSES.filter((each) => said.includes(each));
}

/** Returns the filters for the API, with relative times resolved at `nowMs`. */
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

/** Returns the filters for the API with an end time, so that an action on the matching events excludes later events. */
export function asFixedQuery(filters: EventFilters, nowMs: number): EventQuery {
  return { ...asQuery(filters, nowMs), until: rangeTime(filters.until ?? '-0m', nowMs) };
}

/**
 * Returns the filters for the event stream. Omits the time range, because the stream sends only current changes. Omits
 * state and error, because the console itself filters by them.
 */
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

/** Returns whether new events can match the filters. */
export function canGrow({ until, message_id, dedupe_id, q }: EventFilters): boolean {
  return [until, message_id, dedupe_id, q].every((each) => each === undefined);
}

/** The properties of a change that the filters check. */
interface Change {
  kind: 'accepted' | 'attempt' | 'status';
  status: string;
  attempt: { status: number | null; error: string | null } | undefined;
}

/**
 * Returns whether a change can add its event to the list. Without a state or error filter, only a new event can be
 * added.
 */
export function isBroughtBy(filters: EventFilters, { kind, status, attempt }: Change): boolean {
  if (!canGrow(filters)) return false;
  const statuses = statusesOf(filters);
  if (statuses.length > 0 && !statuses.some((each) => each === status)) return false;
  if (filters.response_status !== undefined) return attempt?.status === filters.response_status;
  if (filters.error !== undefined)
    return attempt !== undefined && status !== 'delivered' && errorClassOf(attempt) === filters.error;
  return statuses.length > 0 || kind === 'accepted';
}

/** Returns the result of an attempt as a value of the error filter, such as `timeout` or `5xx`. */
export function errorClassOf({ status, error }: { status: number | null; error: string | null }): string {
  return error ?? `${Math.floor((status ?? 0) / 100)}xx`;
}
