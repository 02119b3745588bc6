import createClient, { type Client } from 'openapi-fetch';
import type { components, paths } from '../../../src/client/openapi';
import { noteCall, shownBody } from './calls';
import { answerTo, CONSOLE_HEADER, ENVIRONMENT_HEADER } from './early-answers';
import { Fault, faultOf } from './fault';
import { noteAnswer, noteSilence } from './reachability';

/** Types of the API's schemas, by name. */
export type Schemas = components['schemas'];
/** An event as returned by the list endpoint. */
export type EventItem = Schemas['EventPage']['data'][number];
/** Environment of the organization to which an API call refers. */
export type Environment = 'live' | 'test';
export type Api = Client<paths>;

/** URL of the service. Includes the path of BASE_URL, and ends with a slash. */
export const SERVICE = new URL('..', document.baseURI).href;

const clients = new Map<Environment, Api>();

/**
 * Returns the API client for one environment. It sends a custom header, which pages of other sites cannot send. The
 * header protects requests with the session cookie against CSRF.
 */
export function apiOf(environment: Environment): Api {
  const known = clients.get(environment);
  if (known !== undefined) return known;
  const made = createClient<paths>({
    baseUrl: SERVICE.replace(/\/$/, ''),
    headers: headersOf(environment),
    fetch: recorded,
  });
  clients.set(environment, made);
  return made;
}

/** Returns the body of a successful response. Throws a `Fault` for any other response. */
export async function answered<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await call;
  if (!response.ok) throw faultOf(response, error);
  return data as T;
}

/** Returns the payload of an event, byte for byte. */
export function payloadOf(
  environment: Environment,
  eventId: string,
  signal?: AbortSignal,
): Promise<{ bytes: Uint8Array<ArrayBuffer>; contentType: string }> {
  return bytesOf(environment, `v1/events/${encodeURIComponent(eventId)}/payload`, signal);
}

/** Returns the response body of an API path ("v1/emails/…/raw"), byte for byte. */
export async function bytesOf(
  environment: Environment,
  path: string,
  signal?: AbortSignal,
): Promise<{ bytes: Uint8Array<ArrayBuffer>; contentType: string }> {
  const response = await recorded(
    new Request(SERVICE + path, { headers: headersOf(environment), ...(signal && { signal }) }),
  );
  if (!response.ok) throw faultOf(response, await response.json().catch(() => null));
  return {
    bytes: new Uint8Array(await response.arrayBuffer()),
    contentType: response.headers.get('content-type') ?? '',
  };
}

/** Session of the signed-in user. */
export interface OwnSession {
  id: string;
  name: string;
  organization: { id: string; name: string; slug: string };
  scope: 'read' | 'write' | 'admin';
  environments: Environment[];
}

/** Returns the session of this browser, or null if no user is signed in. */
export async function ownSession(): Promise<OwnSession | null> {
  const response = await watched(new Request(`${SERVICE}v1/session`, { headers: CONSOLE_HEADER }));
  if (response.status === 401) return null;
  if (!response.ok) throw faultOf(response, await response.json().catch(() => null));
  return (await response.json()) as OwnSession;
}

/** Ends the session of this browser. */
export async function signOut(): Promise<void> {
  const response = await watched(new Request(`${SERVICE}v1/session`, { method: 'DELETE', headers: CONSOLE_HEADER }));
  if (!response.ok && response.status !== 401) throw faultOf(response, await response.json().catch(() => null));
}

/**
 * Returns whether the service still serves the version of this page. Compares the names of the script files, which
 * differ between versions. Returns `unknown` if the service does not respond.
 */
export async function deployment(): Promise<'same' | 'other' | 'unknown'> {
  const own = ownScripts();
  const page = await fetch(document.baseURI, { cache: 'no-cache', credentials: 'same-origin' }).then(
    (response) => (response.ok ? response.text() : null),
    () => null,
  );
  if (page === null) return 'unknown';
  return own.every((name) => page.includes(name)) ? 'same' : 'other';
}

/** Returns the names of the script files of this page. */
export function ownScripts(): string[] {
  return [...document.querySelectorAll<HTMLScriptElement>('script[type=module][src]')].flatMap(
    ({ src }) => src.split('/').at(-1) ?? [],
  );
}

/** Returns the URL of the sign-in page. After signing in, the user returns to the page `here`. */
export function signInAddress(here: string): string {
  return `${SERVICE}signin?return_to=${encodeURIComponent(here)}`;
}

let clockOffMs = 0;

/** Returns the current time according to the service, because the clock of this computer may be wrong. */
export function serviceNowMs(): number {
  return Date.now() + clockOffMs;
}

function headersOf(environment: Environment): Record<string, string> {
  return { ...CONSOLE_HEADER, [ENVIRONMENT_HEADER]: environment };
}

/** Request option that keeps an API call out of the page's list of calls, for example a call of the command menu. */
export const UNLISTED = { fetch: watched };

/** Sends a request of a screen, and records it for the list of the page's API calls. */
async function recorded(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const call = {
    method: request.method,
    path: `/${pathname.slice(new URL(SERVICE).pathname.length)}${search}`,
    body: await shownBody(request),
    page: location.pathname,
  };
  try {
    const response = await watched(request);
    noteCall({ ...call, status: response.status });
    return response;
  } catch (error) {
    if (!request.signal.aborted) noteCall({ ...call, status: null });
    throw error;
  }
}

async function watched(request: Request): Promise<Response> {
  try {
    const { response, atMs } = await answerTo(request);
    const said = Date.parse(response.headers.get('date') ?? '');
    // Ignores a difference of up to two seconds, because the `Date` header has a resolution of one second.
    if (!Number.isNaN(said)) clockOffMs = Math.abs(said - atMs) > 2_000 ? said - atMs : 0;
    noteAnswer(response.status, response.headers.has('x-request-id'));
    return response;
  } catch (error) {
    if (request.signal.aborted) throw error;
    noteSilence();
    throw new Fault(0, 'unreachable', 'The service does not answer.', null, {}, null);
  }
}
