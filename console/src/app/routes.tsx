import { QueryClient } from '@tanstack/react-query';
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, notFound, redirect } from '@tanstack/react-router';
import { type Environment, type OwnSession, ownSession, signInAddress } from '../api/client';
import { readAuditFilters } from '../audit/audit-filters';
import { readDestinationFilters, readFigures } from '../destinations/destination-figures';
import { readFilters } from '../events/event-filters';
import { Fault } from '../api/fault';
import { readJobFilters } from '../jobs/job-filters';
import { readRange } from '../overview/overview-range';
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
    redirect({ to: '/$env/overview', params: { env }, throw: true });
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
    redirect({ to: '/$env/overview', params, throw: true });
  },
});

const overview = createRoute({
  getParentRoute: () => environment, path: 'overview', validateSearch: readRange, component: lazyRouteComponent(() => import('../overview/OverviewScreen'), 'OverviewScreen'),
});
const events = createRoute({
  getParentRoute: () => environment, path: 'events', validateSearch: readFilters, component: lazyRouteComponent(() => import('../events/EventsScreen'), 'EventsScreen'),
});
const event = createRoute({
  getParentRoute: () => environment, path: 'events/$id', component: lazyRouteComponent(() => import('../events/EventScreen'), 'EventScreen'),
});
const destinations = createRoute({
  getParentRoute: () => environment, path: 'destinations', validateSearch: readDestinationFilters, component: lazyRouteComponent(() => import('../destinations/DestinationsScreen'), 'DestinationsScreen'),
});
const destination = createRoute({
  getParentRoute: () => environment, path: 'destinations/$id', validateSearch: readFigures, component: lazyRouteComponent(() => import('../destinations/DestinationScreen'), 'DestinationScreen'),
});
const jobs = createRoute({
  getParentRoute: () => environment, path: 'jobs', validateSearch: readJobFilters, component: lazyRouteComponent(() => import('../jobs/JobsScreen'), 'JobsScreen'),
});
const job = createRoute({
  getParentRoute: () => environment, path: 'jobs/$id', component: lazyRouteComponent(() => import('../jobs/JobScreen'), 'JobScreen'),
});
const keys = createRoute({
  getParentRoute: () => environment, path: 'keys', component: lazyRouteComponent(() => import('../keys/KeysScreen'), 'KeysScreen'),
});
const secrets = createRoute({
  getParentRoute: () => environment, path: 'secrets', component: lazyRouteComponent(() => import('../secrets/SecretsScreen'), 'SecretsScreen'),
});
const members = createRoute({
  getParentRoute: () => environment, path: 'members', component: lazyRouteComponent(() => import('../members/MembersScreen'), 'MembersScreen'),
});
const sessions = createRoute({
  getParentRoute: () => environment, path: 'sessions', component: lazyRouteComponent(() => import('../sessions/SessionsScreen'), 'SessionsScreen'),
});
const audit = createRoute({
  getParentRoute: () => environment, path: 'audit', validateSearch: readAuditFilters, component: lazyRouteComponent(() => import('../audit/AuditScreen'), 'AuditScreen'),
});
const organization = createRoute({
  getParentRoute: () => environment, path: 'organization', component: lazyRouteComponent(() => import('../organization/OrganizationScreen'), 'OrganizationScreen'),
});

export const router = createRouter({
  routeTree: root.addChildren([start, environment.addChildren([environmentStart, overview, events, event, destinations, destination, jobs, job, secrets, keys, members, sessions, audit, organization])]),
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
