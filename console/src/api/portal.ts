import createClient from 'openapi-fetch';
import type { paths } from '../../../src/client/openapi';
import { answered, type Api, type Schemas, SERVICE } from './client';
import { Fault } from './fault';

/** The session of a portal, as returned by the service. */
export type OwnPortal = Schemas['OwnPortalItem'];
export type Permission = OwnPortal['permissions'][number];

const FORM = /^pt_[A-Za-z0-9_-]{43}$/;

/**
 * The portal's token. It is stored only in the memory of this page and in the session storage of its tab, and never in
 * the URL, the title, cookies or shared storage.
 */
let token: string | null = null;
const ended = new Set<() => void>();

/**
 * Reads the token from the URL fragment, and removes it from the URL before any other code can read it. If the page was
 * reloaded or revisited, reads the token from the session storage of the tab.
 */
export function takeToken(): void {
  const text = location.hash.slice(1);
  history.replaceState(history.state, '', location.pathname + location.search);
  const kept = FORM.test(text) ? text : keptToken();
  token = kept !== null && FORM.test(kept) ? kept : null;
  keepToken(token);
}

/**
 * Storage key of the token. It contains the path with the session's id, so that a tab cannot open a portal with the
 * token of another session.
 */
const place = (): string => `posthorn.portal ${location.pathname}`;

/**
 * Whether the token is stored in this tab. A frame does not store it, because the embedding page passes a token after
 * each load.
 */
const isKept = (): boolean => window.parent === window;

function keptToken(): string | null {
  try {
    return isKept() ? sessionStorage.getItem(place()) : null;
  } catch {
    return null;
  }
}

function keepToken(kept: string | null): void {
  if (!isKept()) return;
  try {
    if (kept === null) sessionStorage.removeItem(place());
    else sessionStorage.setItem(place(), kept);
  } catch {
    // Without session storage, a reload loses the token and ends the portal session.
  }
}

export function hasToken(): boolean {
  return token !== null;
}

/** Calls the listener when a response reports that the session has ended. Returns a function that unsubscribes. */
export function onEnded(listener: () => void): () => void {
  ended.add(listener);
  return () => void ended.delete(listener);
}

/** API client that uses the token of this page. */
export const portalApi: Api = createClient<paths>({
  baseUrl: SERVICE.replace(/\/$/, ''),
  fetch: (request) => asked(request, token, true),
});

/** Returns the session of this portal. Throws a `Fault` if the request fails. */
export function ownPortal(): Promise<OwnPortal> {
  return answered(portalApi.GET('/v1/portal'));
}

/**
 * Replaces the token and returns the new token's session. Returns null if the token is invalid or for another customer.
 */
export async function renew(next: string, application: string | null): Promise<OwnPortal | null> {
  if (!FORM.test(next)) return null;
  const candidate = createClient<paths>({
    baseUrl: SERVICE.replace(/\/$/, ''),
    fetch: (request) => asked(request, next, false),
  });
  const portal = await answered(candidate.GET('/v1/portal')).catch(() => null);
  if (portal === null || (application !== null && portal.application.id !== application)) return null;
  token = next;
  return portal;
}

let clockOffMs = 0;

/** Returns the current time according to the service, because the clock of this computer may be wrong. */
export function portalNowMs(): number {
  return Date.now() + clockOffMs;
}

async function asked(request: Request, bearer: string | null, isOwn: boolean): Promise<Response> {
  if (bearer !== null) request.headers.set('authorization', `Bearer ${bearer}`);
  try {
    // Omits cookies, so that a console session in this browser does not affect the portal.
    const response = await fetch(request, { credentials: 'omit', referrerPolicy: 'no-referrer' });
    const said = Date.parse(response.headers.get('date') ?? '');
    // Ignores a difference of up to two seconds, because the `Date` header has a resolution of one second.
    if (!Number.isNaN(said)) clockOffMs = Math.abs(said - Date.now()) > 2_000 ? said - Date.now() : 0;
    if (response.status === 401 && isOwn && bearer === token) {
      keepToken(null);
      for (const listener of ended) listener();
    }
    return response;
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw new Fault(0, 'unreachable', 'The service does not answer.', null, {}, null);
  }
}
