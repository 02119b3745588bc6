import { QueryClient } from '@tanstack/react-query';
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, notFound, redirect } from '@tanstack/react-router';
import { type Environment, type OwnSession, ownSession, signInAddress } from '../api/client';
import { readFilters } from '../events/event-filters';
import { readEmailFilters, readSuppressionFilters } from '../mail/mail-filters';
import { Fault } from '../api/fault';
import { Missing, Wrong } from './Missing';
import { Shell } from './Shell';

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // What was refused is refused again; 429 says how long to wait.
      retry: (count, error) => count < 3 && error instanceof Fault && (error.status === 0 || error.status >= 500 || error.status === 429),
      retryDelay: (count, error) => (error instanceof Fault && error.retryAfterSeconds !== null ? error.retryAfterSeconds * 1000 : Math.min(1000 * 2 ** count, 15_000)),
    },
  },
});

/** The path of BASE_URL and `/console`, without a trailing slash. */
export const BASE_PATH = new URL(document.baseURI).pathname.replace(/\/+$/, '');

/** Asked once: every call tells when it has ended. */
let asked: Promise<OwnSession> | null = null;

async function signedIn(): Promise<OwnSession> {
  asked ??= ownSession().then((session) => {
    if (session !== null) return session;
    location.assign(signInAddress(location.pathname + location.search));
    // The page is about to go.
    return new Promise<never>(() => undefined);
  });
  asked.catch(() => void (asked = null));
  return asked;
}

const root = createRootRoute({ notFoundComponent: Missing, errorComponent: Wrong });

const start = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: async () => {
    const { environments: [env = 'live'] } = await signedIn();
    redirect({ to: '/$env/events', params: { env }, throw: true });
  },
});

const environment = createRoute({
  getParentRoute: () => root,
  path: '/$env',
  params: {
    parse: ({ env }): { env: Environment } => ({ env: env as Environment }),
    stringify: ({ env }) => ({ env }),
  },
  beforeLoad: async ({ params: { env } }) => {
    const session = await signedIn();
    if (!session.environments.includes(env)) notFound({ throw: true });
    return { session };
  },
  component: Shell,
});

const environmentStart = createRoute({
  getParentRoute: () => environment,
  path: '/',
  beforeLoad: ({ params }) => {
    redirect({ to: '/$env/events', params, throw: true });
  },
});

const events = createRoute({
  getParentRoute: () => environment, path: 'events', validateSearch: readFilters, component: lazyRouteComponent(() => import('../events/EventsScreen'), 'EventsScreen'),
});
const event = createRoute({
  getParentRoute: () => environment, path: 'events/$id', component: lazyRouteComponent(() => import('../events/EventScreen'), 'EventScreen'),
});
const destinations = createRoute({
  getParentRoute: () => environment, path: 'destinations', component: lazyRouteComponent(() => import('../destinations/DestinationsScreen'), 'DestinationsScreen'),
});
const destination = createRoute({
  getParentRoute: () => environment, path: 'destinations/$id', component: lazyRouteComponent(() => import('../destinations/DestinationScreen'), 'DestinationScreen'),
});
const keys = createRoute({
  getParentRoute: () => environment, path: 'keys', component: lazyRouteComponent(() => import('../keys/KeysScreen'), 'KeysScreen'),
});
const emails = createRoute({
  getParentRoute: () => environment, path: 'emails', validateSearch: readEmailFilters, component: lazyRouteComponent(() => import('../mail/EmailsScreen'), 'EmailsScreen'),
});
const email = createRoute({
  getParentRoute: () => environment, path: 'emails/$id', component: lazyRouteComponent(() => import('../mail/EmailScreen'), 'EmailScreen'),
});
const inbox = createRoute({
  getParentRoute: () => environment, path: 'inbox', component: lazyRouteComponent(() => import('../mail/InboxScreen'), 'InboxScreen'),
});
const alias = createRoute({
  getParentRoute: () => environment, path: 'inbox/$alias', component: lazyRouteComponent(() => import('../mail/AliasScreen'), 'AliasScreen'),
});
const receivedMessage = createRoute({
  getParentRoute: () => environment, path: 'inbox/$alias/$id', component: lazyRouteComponent(() => import('../mail/MessageScreen'), 'MessageScreen'),
});
const suppressions = createRoute({
  getParentRoute: () => environment, path: 'suppressions', validateSearch: readSuppressionFilters, component: lazyRouteComponent(() => import('../mail/SuppressionsScreen'), 'SuppressionsScreen'),
});
const domains = createRoute({
  getParentRoute: () => environment, path: 'domains', component: lazyRouteComponent(() => import('../domains/DomainsScreen'), 'DomainsScreen'),
});
const domain = createRoute({
  getParentRoute: () => environment, path: 'domains/$id', component: lazyRouteComponent(() => import('../domains/DomainScreen'), 'DomainScreen'),
});

export const router = createRouter({
  routeTree: root.addChildren([start, environment.addChildren([environmentStart, events, event, destinations, destination, emails, email, inbox, alias, receivedMessage, suppressions, domains, domain, keys])]),
  basepath: BASE_PATH,
  defaultPreload: 'intent',
  scrollRestoration: false,
  defaultErrorComponent: Wrong,
  defaultNotFoundComponent: Missing,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
