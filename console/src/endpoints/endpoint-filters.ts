import { isRangeTime, rangeTime } from '../kit/time/range';

/** Which endpoints the list shows, as its address says it. */
export interface EndpointFilters {
  search?: string;
  status?: EndpointStatus;
  preset?: string;
}

export const ENDPOINT_STATUSES = ['active', 'paused', 'disabled'] as const;
export type EndpointStatus = (typeof ENDPOINT_STATUSES)[number];

/** Which raw requests are shown, as the address says it. */
export interface RequestFilters {
  status?: RequestStatus;
  method?: string;
  since?: string;
}

export const REQUEST_STATUSES = ['routed', 'quarantined', 'parked', 'ignored', 'duplicate'] as const;
export type RequestStatus = (typeof REQUEST_STATUSES)[number];

/** What is no filter is left out, so that an address typed by hand shows something. */
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

/** The raw request that settings are tried on, where an address names one. */
export function readTried(search: Readonly<Record<string, unknown>>): { request?: string } {
  const { request } = search;
  return typeof request === 'string' && /^(req|evt)_[0-9A-Za-z]{26}$/.test(request) ? { request } : {};
}

/** The filters as the API takes them at a moment: relative times become times. */
export function asRequestQuery({ since, ...rest }: RequestFilters, nowMs: number): RequestFilters {
  return since === undefined ? rest : { ...rest, since: rangeTime(since, nowMs) };
}

function text<Name extends string>(search: Readonly<Record<string, unknown>>, name: Name): { [K in Name]?: string } {
  const value = search[name];
  if ((typeof value !== 'string' && typeof value !== 'number') || String(value).trim() === '') return {};
  return { [name]: String(value).trim() } as { [K in Name]?: string };
}
