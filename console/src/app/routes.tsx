import { QueryClient } from '@tanstack/react-query';
import { createRoute, createRouter, redirect } from '@tanstack/react-router';
import { Fault } from '../api/fault';
import { readApplicationFilters } from '../applications/application-filters';
import { readAuditFilters } from '../audit/audit-filters';
import { readDestinationFilters } from '../destinations/destination-figures';
import { readEndpointFilters, readRequestFilters, readTried } from '../endpoints/endpoint-filters';
import { readEventTypeFilters } from '../event-types/event-type-filters';
import { readSearch } from '../events/columns';
import { readJobFilters } from '../jobs/job-filters';
import { lazyPart } from '../kit/load/lazy-part';
import { readRange } from '../kit/plot/range';
import { readSend } from '../send/send-draft';
import { environment, root, signedIn } from './base-routes';
import { MAIL_ROUTES } from './mail-routes';
import { Missing, WrongScreen } from './Missing';
import { none, only } from './search';

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // Retries only failures that may be temporary: no response, a 5xx status, or status 429.
      retry: (count, error) =>
        count < 3 && error instanceof Fault && (error.status === 0 || error.status >= 500 || error.status === 429),
      retryDelay: (count, error) =>
        error instanceof Fault && error.retryAfterSeconds !== null
          ? error.retryAfterSeconds * 1000
          : Math.min(1000 * 2 ** count, 15_000),
    },
  },
});

/** Path of BASE_URL plus `/console`, without a trailing slash. */
export const BASE_PATH = new URL(document.baseURI).pathname.replace(/\/+$/, '');

const start = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: async () => {
    const {
      environments: [env = 'live'],
    } = await signedIn();
    redirect({ to: '/$env/overview', params: { env }, throw: true });
  },
});

const environmentStart = createRoute({
  getParentRoute: () => environment,
  path: '/',
  beforeLoad: ({ params }) => {
    redirect({ to: '/$env/overview', params, throw: true });
  },
});

const overview = createRoute({
  getParentRoute: () => environment,
  path: 'overview',
  validateSearch: only(readRange),
  component: lazyPart(() => import('../overview/OverviewScreen').then(({ OverviewScreen }) => OverviewScreen)),
});
const events = createRoute({
  getParentRoute: () => environment,
  path: 'events',
  validateSearch: only(readSearch),
  component: lazyPart(() => import('../events/EventsScreen').then(({ EventsScreen }) => EventsScreen)),
});
const event = createRoute({
  getParentRoute: () => environment,
  path: 'events/$id',
  validateSearch: none,
  component: lazyPart(() => import('../events/EventScreen').then(({ EventScreen }) => EventScreen)),
});
const sendEvent = createRoute({
  getParentRoute: () => environment,
  path: 'send',
  validateSearch: only(readSend),
  component: lazyPart(() => import('../send/SendScreen').then(({ SendScreen }) => SendScreen)),
});
const destinations = createRoute({
  getParentRoute: () => environment,
  path: 'destinations',
  validateSearch: only(readDestinationFilters),
  component: lazyPart(() =>
    import('../destinations/DestinationsScreen').then(({ DestinationsScreen }) => DestinationsScreen),
  ),
});
const destination = createRoute({
  getParentRoute: () => environment,
  path: 'destinations/$id',
  validateSearch: only(readRange),
  component: lazyPart(() =>
    import('../destinations/DestinationScreen').then(({ DestinationScreen }) => DestinationScreen),
  ),
});
const destinationEdit = createRoute({
  getParentRoute: () => environment,
  path: 'destinations/$id/edit',
  validateSearch: none,
  component: lazyPart(() => import('../destinations/EditDestination').then(({ EditDestination }) => EditDestination)),
});
const jobs = createRoute({
  getParentRoute: () => environment,
  path: 'jobs',
  validateSearch: only(readJobFilters),
  component: lazyPart(() => import('../jobs/JobsScreen').then(({ JobsScreen }) => JobsScreen)),
});
const job = createRoute({
  getParentRoute: () => environment,
  path: 'jobs/$id',
  validateSearch: none,
  component: lazyPart(() => import('../jobs/JobScreen').then(({ JobScreen }) => JobScreen)),
});
const endpoints = createRoute({
  getParentRoute: () => environment,
  path: 'endpoints',
  validateSearch: only(readEndpointFilters),
  component: lazyPart(() => import('../endpoints/EndpointsScreen').then(({ EndpointsScreen }) => EndpointsScreen)),
});
const endpoint = createRoute({
  getParentRoute: () => environment,
  path: 'endpoints/$id',
  component: lazyPart(() => import('../endpoints/EndpointLayout').then(({ EndpointLayout }) => EndpointLayout)),
});
const endpointTabs = [
  createRoute({
    getParentRoute: () => endpoint,
    path: '/',
    validateSearch: none,
    component: lazyPart(() => import('../endpoints/SetupTab').then(({ SetupTab }) => SetupTab)),
  }),
  createRoute({
    getParentRoute: () => endpoint,
    path: 'requests',
    validateSearch: only(readRequestFilters),
    component: lazyPart(() => import('../endpoints/RequestsTab').then(({ RequestsTab }) => RequestsTab)),
  }),
  createRoute({
    getParentRoute: () => endpoint,
    path: 'requests/$request',
    validateSearch: none,
    component: lazyPart(() => import('../endpoints/RequestScreen').then(({ RequestScreen }) => RequestScreen)),
  }),
  createRoute({
    getParentRoute: () => endpoint,
    path: 'routes',
    validateSearch: only(readTried),
    component: lazyPart(() => import('../endpoints/RoutesTab').then(({ RoutesTab }) => RoutesTab)),
  }),
  createRoute({
    getParentRoute: () => endpoint,
    path: 'transform',
    validateSearch: only(readTried),
    component: lazyPart(() => import('../endpoints/TransformTab').then(({ TransformTab }) => TransformTab)),
  }),
  createRoute({
    getParentRoute: () => endpoint,
    path: 'answers',
    validateSearch: only(readTried),
    component: lazyPart(() => import('../endpoints/AnswersTab').then(({ AnswersTab }) => AnswersTab)),
  }),
  createRoute({
    getParentRoute: () => endpoint,
    path: 'replay',
    validateSearch: none,
    component: lazyPart(() => import('../endpoints/ReplayTab').then(({ ReplayTab }) => ReplayTab)),
  }),
  createRoute({
    getParentRoute: () => endpoint,
    path: 'settings',
    validateSearch: none,
    component: lazyPart(() => import('../endpoints/SettingsTab').then(({ SettingsTab }) => SettingsTab)),
  }),
] as const;
const applications = createRoute({
  getParentRoute: () => environment,
  path: 'applications',
  validateSearch: only(readApplicationFilters),
  component: lazyPart(() =>
    import('../applications/ApplicationsScreen').then(({ ApplicationsScreen }) => ApplicationsScreen),
  ),
});
const application = createRoute({
  getParentRoute: () => environment,
  path: 'applications/$id',
  component: lazyPart(() =>
    import('../applications/ApplicationLayout').then(({ ApplicationLayout }) => ApplicationLayout),
  ),
});
const applicationTabs = [
  createRoute({
    getParentRoute: () => application,
    path: '/',
    validateSearch: only(readRange),
    component: lazyPart(() => import('../applications/FiguresTab').then(({ FiguresTab }) => FiguresTab)),
  }),
  createRoute({
    getParentRoute: () => application,
    path: 'endpoints',
    validateSearch: none,
    component: lazyPart(() => import('../applications/OwnEndpointsTab').then(({ OwnEndpointsTab }) => OwnEndpointsTab)),
  }),
  createRoute({
    getParentRoute: () => application,
    path: 'endpoints/$endpoint',
    validateSearch: none,
    component: lazyPart(() =>
      import('../applications/OwnEndpointScreen').then(({ OwnEndpointScreen }) => OwnEndpointScreen),
    ),
  }),
  createRoute({
    getParentRoute: () => application,
    path: 'endpoints/$endpoint/edit',
    validateSearch: none,
    component: lazyPart(() => import('../applications/EditOwnEndpoint').then(({ EditOwnEndpoint }) => EditOwnEndpoint)),
  }),
  createRoute({
    getParentRoute: () => application,
    path: 'messages',
    validateSearch: none,
    component: lazyPart(() => import('../applications/MessagesTab').then(({ MessagesTab }) => MessagesTab)),
  }),
  createRoute({
    getParentRoute: () => application,
    path: 'portal',
    validateSearch: none,
    component: lazyPart(() => import('../applications/PortalTab').then(({ PortalTab }) => PortalTab)),
  }),
  createRoute({
    getParentRoute: () => application,
    path: 'repair',
    validateSearch: none,
    component: lazyPart(() => import('../applications/RepairTab').then(({ RepairTab }) => RepairTab)),
  }),
  createRoute({
    getParentRoute: () => application,
    path: 'settings',
    validateSearch: none,
    component: lazyPart(() => import('../applications/SettingsTab').then(({ SettingsTab }) => SettingsTab)),
  }),
] as const;
const eventTypes = createRoute({
  getParentRoute: () => environment,
  path: 'event-types',
  validateSearch: only(readEventTypeFilters),
  component: lazyPart(() => import('../event-types/EventTypesScreen').then(({ EventTypesScreen }) => EventTypesScreen)),
});
const eventType = createRoute({
  getParentRoute: () => environment,
  path: 'event-types/$name',
  validateSearch: none,
  component: lazyPart(() => import('../event-types/EventTypeScreen').then(({ EventTypeScreen }) => EventTypeScreen)),
});
const keys = createRoute({
  getParentRoute: () => environment,
  path: 'keys',
  validateSearch: none,
  component: lazyPart(() => import('../keys/KeysScreen').then(({ KeysScreen }) => KeysScreen)),
});
const domains = createRoute({
  getParentRoute: () => environment,
  path: 'domains',
  validateSearch: none,
  component: lazyPart(() => import('../domains/DomainsScreen').then(({ DomainsScreen }) => DomainsScreen)),
});
const domain = createRoute({
  getParentRoute: () => environment,
  path: 'domains/$id',
  validateSearch: none,
  component: lazyPart(() => import('../domains/DomainScreen').then(({ DomainScreen }) => DomainScreen)),
});

const pull = createRoute({
  getParentRoute: () => environment,
  path: 'pull',
  validateSearch: none,
  component: lazyPart(() => import('../pull/PullScreen').then(({ PullScreen }) => PullScreen)),
});
const secrets = createRoute({
  getParentRoute: () => environment,
  path: 'secrets',
  validateSearch: none,
  component: lazyPart(() => import('../secrets/SecretsScreen').then(({ SecretsScreen }) => SecretsScreen)),
});
const members = createRoute({
  getParentRoute: () => environment,
  path: 'members',
  validateSearch: none,
  component: lazyPart(() => import('../members/MembersScreen').then(({ MembersScreen }) => MembersScreen)),
});
const sessions = createRoute({
  getParentRoute: () => environment,
  path: 'sessions',
  validateSearch: none,
  component: lazyPart(() => import('../sessions/SessionsScreen').then(({ SessionsScreen }) => SessionsScreen)),
});
const audit = createRoute({
  getParentRoute: () => environment,
  path: 'audit',
  validateSearch: only(readAuditFilters),
  component: lazyPart(() => import('../audit/AuditScreen').then(({ AuditScreen }) => AuditScreen)),
});
const organization = createRoute({
  getParentRoute: () => environment,
  path: 'organization',
  validateSearch: none,
  component: lazyPart(() =>
    import('../organization/OrganizationScreen').then(({ OrganizationScreen }) => OrganizationScreen),
  ),
});

export const router = createRouter({
  routeTree: root.addChildren([
    start,
    environment.addChildren([
      environmentStart,
      overview,
      events,
      event,
      sendEvent,
      destinations,
      destination,
      destinationEdit,
      endpoints,
      endpoint.addChildren(endpointTabs),
      applications,
      application.addChildren(applicationTabs),
      eventTypes,
      eventType,
      ...MAIL_ROUTES,
      domains,
      domain,
      pull,
      jobs,
      job,
      secrets,
      keys,
      members,
      sessions,
      audit,
      organization,
    ]),
  ]),
  basepath: BASE_PATH,
  defaultPreload: 'intent',
  scrollRestoration: false,
  defaultErrorComponent: WrongScreen,
  defaultNotFoundComponent: Missing,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
