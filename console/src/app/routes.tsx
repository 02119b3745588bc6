import { QueryClient } from '@tanstack/react-query';
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, notFound, redirect } from '@tanstack/react-router';
import { type Environment, type OwnSession, ownSession, signInAddress } from '../api/client';
import { readSearch } from '../events/columns';
import { readApplicationFilters, readRange as readApplicationRange } from '../applications/application-filters';
import { readEventTypeFilters } from '../event-types/event-type-filters';
import { readEndpointFilters, readRequestFilters, readTried } from '../endpoints/endpoint-filters';
import { readEmailFilters, readMessageFilters, readSuppressionFilters } from '../mail/mail-filters';
import { readAuditFilters } from '../audit/audit-filters';
import { readDestinationFilters, readFigures } from '../destinations/destination-figures';
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
  getParentRoute: () => environment, path: 'events', validateSearch: readSearch, component: lazyRouteComponent(() => import('../events/EventsScreen'), 'EventsScreen'),
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
const endpoints = createRoute({
  getParentRoute: () => environment, path: 'endpoints', validateSearch: readEndpointFilters, component: lazyRouteComponent(() => import('../endpoints/EndpointsScreen'), 'EndpointsScreen'),
});
const endpoint = createRoute({
  getParentRoute: () => environment, path: 'endpoints/$id', component: lazyRouteComponent(() => import('../endpoints/EndpointLayout'), 'EndpointLayout'),
});
const endpointTabs = [
  createRoute({ getParentRoute: () => endpoint, path: '/', component: lazyRouteComponent(() => import('../endpoints/SetupTab'), 'SetupTab') }),
  createRoute({ getParentRoute: () => endpoint, path: 'requests', validateSearch: readRequestFilters, component: lazyRouteComponent(() => import('../endpoints/RequestsTab'), 'RequestsTab') }),
  createRoute({ getParentRoute: () => endpoint, path: 'requests/$request', component: lazyRouteComponent(() => import('../endpoints/RequestScreen'), 'RequestScreen') }),
  createRoute({ getParentRoute: () => endpoint, path: 'routes', validateSearch: readTried, component: lazyRouteComponent(() => import('../endpoints/RoutesTab'), 'RoutesTab') }),
  createRoute({ getParentRoute: () => endpoint, path: 'transform', validateSearch: readTried, component: lazyRouteComponent(() => import('../endpoints/TransformTab'), 'TransformTab') }),
  createRoute({ getParentRoute: () => endpoint, path: 'answers', validateSearch: readTried, component: lazyRouteComponent(() => import('../endpoints/AnswersTab'), 'AnswersTab') }),
  createRoute({ getParentRoute: () => endpoint, path: 'replay', component: lazyRouteComponent(() => import('../endpoints/ReplayTab'), 'ReplayTab') }),
  createRoute({ getParentRoute: () => endpoint, path: 'settings', component: lazyRouteComponent(() => import('../endpoints/SettingsTab'), 'SettingsTab') }),
] as const;
const applications = createRoute({
  getParentRoute: () => environment, path: 'applications', validateSearch: readApplicationFilters, component: lazyRouteComponent(() => import('../applications/ApplicationsScreen'), 'ApplicationsScreen'),
});
const application = createRoute({
  getParentRoute: () => environment, path: 'applications/$id', component: lazyRouteComponent(() => import('../applications/ApplicationLayout'), 'ApplicationLayout'),
});
const applicationTabs = [
  createRoute({ getParentRoute: () => application, path: '/', validateSearch: readApplicationRange, component: lazyRouteComponent(() => import('../applications/FiguresTab'), 'FiguresTab') }),
  createRoute({ getParentRoute: () => application, path: 'endpoints', component: lazyRouteComponent(() => import('../applications/OwnEndpointsTab'), 'OwnEndpointsTab') }),
  createRoute({ getParentRoute: () => application, path: 'endpoints/$endpoint', component: lazyRouteComponent(() => import('../applications/OwnEndpointScreen'), 'OwnEndpointScreen') }),
  createRoute({ getParentRoute: () => application, path: 'messages', component: lazyRouteComponent(() => import('../applications/MessagesTab'), 'MessagesTab') }),
  createRoute({ getParentRoute: () => application, path: 'repair', component: lazyRouteComponent(() => import('../applications/RepairTab'), 'RepairTab') }),
] as const;
const eventTypes = createRoute({
  getParentRoute: () => environment, path: 'event-types', validateSearch: readEventTypeFilters, component: lazyRouteComponent(() => import('../event-types/EventTypesScreen'), 'EventTypesScreen'),
});
const eventType = createRoute({
  getParentRoute: () => environment, path: 'event-types/$name', component: lazyRouteComponent(() => import('../event-types/EventTypeScreen'), 'EventTypeScreen'),
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
  getParentRoute: () => environment, path: 'inbox/$alias', validateSearch: readMessageFilters, component: lazyRouteComponent(() => import('../mail/AliasScreen'), 'AliasScreen'),
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

const pull = createRoute({
  getParentRoute: () => environment, path: 'pull', component: lazyRouteComponent(() => import('../pull/PullScreen'), 'PullScreen'),
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
  routeTree: root.addChildren([start, environment.addChildren([environmentStart, overview, events, event, destinations, destination, endpoints, endpoint.addChildren(endpointTabs), applications, application.addChildren(applicationTabs), eventTypes, eventType, emails, email, inbox, alias, receivedMessage, suppressions, domains, domain, pull, jobs, job, secrets, keys, members, sessions, audit, organization])]),
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
