import { masked } from './mask-body';

/**
 * An API call that a page of the console made. Calls that differ only in their time and result are recorded as one
 * call.
 */
export interface Call {
  method: string;
  /** Path below the service's URL, with the query: `/v1/keys?limit=100`. */
  path: string;
  /** Status of the last response, or null if there was none. */
  status: number | null;
  /** JSON body of the request without secret values, or null. */
  body: string | null;
  /** Path of the console's page that made the call. */
  page: string;
}

const KEPT_MAX = 20;

let kept: readonly Call[] = [];
const listeners = new Set<() => void>();

/** Returns the latest calls, newest first. */
export function calls(): readonly Call[] {
  return kept;
}

/** Calls the listener after each call. Returns a function that unsubscribes. */
export function onCalls(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Records a call. A call that is repeated, for example by polling, moves to the top. */
export function noteCall(call: Call): void {
  const isSame = (other: Call): boolean =>
    other.method === call.method && other.path === call.path && other.body === call.body && other.page === call.page;
  kept = [call, ...kept.filter((other) => !isSame(other))].slice(0, KEPT_MAX);
  for (const listener of listeners) listener();
}

/** Returns the JSON body of a request for display, or null. Does not consume the request. */
export async function shownBody(request: Request): Promise<string | null> {
  if (request.headers.get('content-type')?.startsWith('application/json') !== true) return null;
  return masked(await request.clone().text());
}
