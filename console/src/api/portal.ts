import createClient from 'openapi-fetch';
import type { paths } from '../../../src/client/openapi';
import { answered, type Api, type Schemas, SERVICE } from './client';
import { Fault } from './fault';

/** The session of a portal, as the service tells it. */
export type OwnPortal = Schemas['OwnPortalItem'];
export type Permission = OwnPortal['permissions'][number];
/** Where a portal's own application is in the API. */
export interface Mine {
  app: string;
}

const FORM = /^pt_[A-Za-z0-9_-]{43}$/;

/** In the memory of this page, and in the session storage of its tab: not in its address, its title, a cookie or a store that others share. */
let token: string | null = null;
const ended = new Set<() => void>();

/**
 * Reads the token behind `#` once, and takes it out of the address before anything else can see it. Without one, the page was reloaded or
 * returned to: the tab still has the token of this session.
 */
export function takeToken(): void {
  const text = location.hash.slice(1);
  history.replaceState(history.state, '', location.pathname + location.search);
  const kept = FORM.test(text) ? text : keptToken();
  token = kept !== null && FORM.test(kept) ? kept : null;
  keepToken(token);
}

/** The place of this session's token. Its id is in the path, so that one tab never opens a portal with the token of another. */
const place = (): string => `posthorn.portal ${location.pathname}`;

/** In a frame nothing is kept: the page around it brings a token after each load. */
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
    // A browser that keeps nothing closes the portal at a reload.
  }
}

export function hasToken(): boolean {
  return token !== null;
}

/** Calls back when an answer says that the session has ended; answers with what ends that. */
export function onEnded(listener: () => void): () => void {
  ended.add(listener);
  return () => void ended.delete(listener);
}

/** The API as the token of this page reaches it. */
export const portalApi: Api = createClient<paths>({
  baseUrl: SERVICE.replace(/\/$/, ''),
  fetch: (request) => asked(request, token, true),
});

/** Who this page is for. Throws a `Fault`. */
export function ownPortal(): Promise<OwnPortal> {
  return answered(portalApi.GET('/v1/portal'));
}

/** Goes on with another token, where it is of the same application; null for one that is not, or that is none. */
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

/** The time as the service has it: the clock of this computer may be wrong. */
export function portalNowMs(): number {
  return Date.now() + clockOffMs;
}

async function asked(request: Request, bearer: string | null, isOwn: boolean): Promise<Response> {
  if (bearer !== null) request.headers.set('authorization', `Bearer ${bearer}`);
  try {
    // No cookie: who is signed in to the console in this browser is nobody here.
    const response = await fetch(request, { credentials: 'omit', referrerPolicy: 'no-referrer' });
    const said = Date.parse(response.headers.get('date') ?? '');
    // To the second: less is the way there and back.
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
