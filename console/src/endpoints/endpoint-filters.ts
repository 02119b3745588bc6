import { isRangeTime, rangeTime } from '../kit/time/range';

/** Filters of the endpoint list, as in the page's URL. */
export interface EndpointFilters {
  search?: string;
  status?: EndpointStatus;
  preset?: string;
}

export const ENDPOINT_STATUSES = ['active', 'paused', 'disabled'] as const;
export type EndpointStatus = (typeof ENDPOINT_STATUSES)[number];

/** Filters of the list of raw requests, as in the page's URL. */
export interface RequestFilters {
  status?: RequestStatus;
  method?: string;
  since?: string;
}

export const REQUEST_STATUSES = ['routed', 'quarantined', 'parked', 'ignored', 'duplicate', 'too_large'] as const;
export type RequestStatus = (typeof REQUEST_STATUSES)[number];

/** Reads the filters from the page's URL. Ignores invalid values, so that a mistyped URL still shows a list. */
export function readEndpointFilters(search: Readonly<Record<string, unknown>>): EndpointFilters {
  const status = ENDPOINT_STATUSES.find((each) => each === search['status']);
  return { ...text(search, 'search'), ...text(search, 'preset'), ...(status !== undefined && { status }) };
}

export function readRequestFilters(search: Readonly<Record<string, unknown>>): RequestFilters {
  const status = REQUEST_STATUSES.find((each) => each === search['status']);
  const { method, since } = search;
  return {
    ...(status !== undefined && { status }),
    ...(typeof method === 'string' && /^[A-Za-z-]{1,32}$/.test(method) && { method: method.toUpperCase() }),
    ...(isRangeTime(since) && { since }),
  };
}

/** Reads, from the page's URL, the id of the request with which settings are tested. */
export function readTried(search: Readonly<Record<string, unknown>>): { request?: string } {
  const { request } = search;
  return typeof request === 'string' && /^(req|evt)_[0-9A-Za-z]{26}$/.test(request) ? { request } : {};
}

/** Returns the filters for the API, with relative times resolved at `nowMs`. */
export function asRequestQuery({ since, ...rest }: RequestFilters, nowMs: number): RequestFilters {
  return since === undefined ? rest : { ...rest, since: rangeTime(since, nowMs) };
}

function text<Name extends string>(search: Readonly<Record<string, unknown>>, name: Name): { [K in Name]?: string } {
  const value = search[name];
  if ((typeof value !== 'string' && typeof value !== 'number') || String(value).trim() === '') return {};
  return { [name]: String(value).trim() } as { [K in Name]?: string };
}
