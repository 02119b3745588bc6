import type pg from 'pg';
import type { DataSource, Logger, QueryRunner } from 'typeorm';
import { dataSource } from '../../src/bootstrap/data-source.js';
import type { Clock } from '../../src/kernel/clock.js';
import type { Config } from '../../src/kernel/config/config.js';
import type { Vault } from '../../src/kernel/crypto/vault.js';
import { Database } from '../../src/kernel/database/database.js';
import type { Notifications } from '../../src/kernel/database/notifications.js';
import { ApplicationEndpointsStore } from '../../src/modules/applications/application-endpoints.store.js';
import { ApplicationsStore } from '../../src/modules/applications/applications.store.js';
import { KeysStore } from '../../src/modules/auth/keys/keys.store.js';
import { MembersStore } from '../../src/modules/auth/members/members.store.js';
import { SessionsStore } from '../../src/modules/auth/sessions/sessions.store.js';
import { DestinationsStore } from '../../src/modules/destinations/destinations.store.js';
import { DomainKeysStore } from '../../src/modules/domains/domain-keys.store.js';
import { DomainsStore } from '../../src/modules/domains/domains.store.js';
import { SuppressionsStore } from '../../src/modules/email/suppressions.store.js';
import { ConfigurationsStore } from '../../src/modules/endpoints/configurations.store.js';
import { EndpointsStore } from '../../src/modules/endpoints/endpoints.store.js';
import { EventTypesStore } from '../../src/modules/event-types/event-types.store.js';
import { AliasesStore } from '../../src/modules/inbox/aliases/aliases.store.js';
import { SecretsStore } from '../../src/modules/secrets/secrets.store.js';
import type { SystemEvents } from '../../src/modules/system-events/contract.js';
import { TemplatesStore } from '../../src/modules/templates/templates.store.js';
import { TopicSubscriptionsStore } from '../../src/modules/topics/topic-subscriptions.store.js';
import { TopicsStore } from '../../src/modules/topics/topics.store.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { explain, type Recorded, recorder } from './plans.js';
import { filesBelow, textOf } from './source-tree.js';

/** Number of rows of each table, spread over the environments and organizations. */
const ROWS = 20_000;
const ENVIRONMENTS = 40;
const ENVIRONMENT = 7;
/**
 * Number of the tested row. Row n belongs to environment n modulo `ENVIRONMENTS`, so this row belongs to the tested
 * environment.
 */
const ROW = ENVIRONMENT + ENVIRONMENTS * 100;
const idOf = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const ID = idOf(ROW);
const ORGANIZATION = idOf(ENVIRONMENT);
/** Id of the environment's topic that has subscriptions. */
const TOPIC = idOf(ENVIRONMENT);
/** Maximum number of pages that a look-up by key or a list of fifty rows may touch. */
const PAGES_MAX = 250;
/** Maximum number of pages for counting an environment's rows: one per row, and the index. */
const COUNTED_PAGES_MAX = ROWS / ENVIRONMENTS + 20;

const TABLES: Record<string, string> = {
  destinations: `select env, id, 'Name', 'https', null, '{}', null, '{}', null, null, 1000, 'valid', 'active', null, 1, ''::bytea, null, null, now(), now(), null from made`,
  secrets: `select env, id, 'name' || i, null, ''::bytea, 1, now(), now() from made`,
  templates: `select env, id, 'Name', 'alias' || i, 1, 1, now(), now(), now() from made`,
  template_versions: `select env, id, 1, null, '{}', null, 'html', null, '[]', now() from made`,
  event_types: `select env, 'type.' || i, id, 1, null, null, null, null, 0, false, false, now(), now() from made`,
  domains: `select env, id, i || '.example', 'webhook', 'verified', 'token', false, true, true, true, '{}', 0, null, 0, null, now(), null, 1, now(), now(), null from made`,
  domain_dkim_keys: `select env, id, 'phr1', 'rsa-2048', 'key', ''::bytea, 'signing', 0, now(), null from made`,
  endpoints: `select env, id, 'Name', null, 'path/' || i, null, 'none', null, null, null, null, null, null, 'active', 1, now(), now() from made`,
  routes: `select env, id, id, id, null, 0 from made`,
  applications: `select env, id, 'uid' || i, 'Name', '{}', now(), now() from made`,
  application_endpoints: `select env, id, id, id, null, '', '{}', '{}', null, '{}', 'active', null, now(), now() from made`,
  aliases: `select env, id, 'platform', null, 'local', i || '@mail.example', '{}', '{}', null, 1, now(), now(), null, '{}' from made`,
  api_keys: `select env, id, 'Name', 'admin', 'api', 'prefix', sha256(i::text::bytea), now() from made`,
  suppressions: `select env, id, i || '@example.com', i || '@example.com', 'manual', null, now() from made`,
  topics: `select env, id, 'key' || i, 'Name', null, 'opt_in', now(), now() from made`,
  topic_subscriptions: `select env, ('00000000-0000-4000-8000-' || lpad(env::text, 12, '0'))::uuid, i || '@example.com', id, i || '@example.com', 'opt_out', 'api', null, now(), now() from made`,
  members: `select organization, id, i || '@example.com', 'Name', 'admin', now(), null, null from made`,
  sessions: `select organization, id, sha256(i::text::bytea), id, null, null, 'code', '', '', now(), now() - interval '1 hour', now() + interval '1 day', null from made`,
};

const FILL = [
  `insert into organizations select ('00000000-0000-4000-8000-' || lpad(e::text, 12, '0'))::uuid, 'slug' || e, 'Name', now() from generate_series(0, ${ENVIRONMENTS - 1}) e`,
  `insert into environments (id, organization_id, mode, secret)
   select e, ('00000000-0000-4000-8000-' || lpad(e::text, 12, '0'))::uuid, 'live', '' from generate_series(0, ${ENVIRONMENTS - 1}) e`,
  `create table made as
   select i, i % ${ENVIRONMENTS} as env, ('00000000-0000-4000-8000-' || lpad((i % ${ENVIRONMENTS})::text, 12, '0'))::uuid as organization,
          ('00000000-0000-4000-8000-' || lpad(i::text, 12, '0'))::uuid as id from generate_series(0, ${ROWS - 1}) i`,
  ...Object.entries(TABLES).map(([table, rows]) => `insert into ${table} ${rows}`),
  `analyze ${Object.keys(TABLES).join(', ')}`,
];

let testDatabase: TestDatabase;
let source: DataSource;
let database: Database;
let runner: QueryRunner;
let client: pg.PoolClient;
let recorded: Recorded[] = [];

/** Logger that records the statements that repositories and query builders run. */
const recording: Partial<Logger> = {
  logQuery: (text, values) => {
    recorded.push({ pool: 'ordinary', statement: { name: '', text }, values: (values as unknown[] | undefined) ?? [] });
  },
};

beforeAll(async () => {
  testDatabase = await createDatabase('migrated');
  source = await dataSource(testDatabase.url, 2).initialize();
  for (const statement of FILL) await source.query(statement);
  database = new Database(source, { databaseUrl: testDatabase.url } as Config);
  source.logger = { ...source.logger, ...recording };
  runner = source.createQueryRunner();
  client = (await runner.connect()) as pg.PoolClient;
});

afterAll(async () => {
  await runner?.release();
  await database?.close();
  await testDatabase?.drop();
});

const notifications = { announce: () => Promise.resolve() } as unknown as Notifications;
const clock = { now: () => new Date(0) } as Clock;
const vault = { seal: () => Buffer.alloc(0), open: () => Buffer.alloc(0) } as unknown as Vault;
const destinations = (): DestinationsStore =>
  new DestinationsStore(database, notifications, clock, {} as SystemEvents, vault);
const applications = (): ApplicationsStore => new ApplicationsStore(database, notifications, clock);
const customerEndpoints = (): ApplicationEndpointsStore =>
  new ApplicationEndpointsStore(database, applications(), clock);
const endpoints = (): EndpointsStore => new EndpointsStore(database, notifications, clock);
const configurations = (): ConfigurationsStore => new ConfigurationsStore(database, notifications);
const types = (): EventTypesStore => new EventTypesStore(database, notifications);
const secrets = (): SecretsStore => new SecretsStore(database, notifications, clock);
const templates = (): TemplatesStore => new TemplatesStore(database);
const domains = (): DomainsStore => new DomainsStore(database, notifications, clock);
const domainKeys = (): DomainKeysStore => new DomainKeysStore(database);
const aliases = (): AliasesStore => new AliasesStore(database, notifications, clock);
const keys = (): KeysStore => new KeysStore(database);
const members = (): MembersStore => new MembersStore(database);
const sessions = (): SessionsStore => new SessionsStore(database);
const topics = (): TopicsStore => new TopicsStore(database, clock);
const subscriptions = (): TopicSubscriptionsStore => new TopicSubscriptionsStore(database);
const suppressions = (): SuppressionsStore => new SuppressionsStore(database);

/** A query with its title, the expected index (or several allowed indexes), and the page limit. */
type Query = [title: string, run: () => Promise<unknown>, index: string | string[], pagesMax?: number];

const QUERIES: Query[] = [
  [
    'a destination',
    () => destinations().find(ENVIRONMENT, ID, 'listed'),
    ['destinations_pkey', 'destinations_listed_idx'],
  ],
  ['destinations by id', () => destinations().findAll(ENVIRONMENT, [ID]), 'destinations_pkey'],
  ['destinations, a page', () => destinations().page(ENVIRONMENT, { beforeId: ID }, 51), 'destinations_listed_idx'],
  ['destinations by name', () => destinations().page(ENVIRONMENT, { search: 'other' }, 51), 'destinations_name_idx'],
  ['a change of a destination', () => destinations().update(ENVIRONMENT, ID, { name: 'B' }), 'destinations_pkey'],
  ['an endpoint', () => endpoints().find(ENVIRONMENT, ID), 'endpoints_pkey'],
  ['an endpoint, locked', () => endpoints().findForUpdate(ENVIRONMENT, ID), 'endpoints_pkey'],
  ['the configuration of an endpoint', () => configurations().find(ENVIRONMENT, ID), 'endpoints_pkey'],
  ['endpoints, a page', () => endpoints().page(ENVIRONMENT, { beforeId: ID }, 51), 'endpoints_pkey'],
  // The count reads every endpoint of the environment, at one page per endpoint until autovacuum has run.
  ['the number of endpoints', () => endpoints().count(ENVIRONMENT), 'endpoints_pkey', COUNTED_PAGES_MAX],
  ['endpoints on a domain', () => endpoints().onDomain(ENVIRONMENT, ID, 5), 'endpoints_domain_id_idx'],
  ['routes of endpoints', () => endpoints().routes(ENVIRONMENT, [ID]), 'routes_endpoint_id_idx'],
  ['routes in their order', () => configurations().routes(ENVIRONMENT, ID), 'routes_endpoint_id_idx'],
  ['routes to a destination', () => endpoints().routesTo(ENVIRONMENT, ID, 5), 'routes_destination_id_idx'],
  ['removal of routes', () => endpoints().replaceRoutes(ENVIRONMENT, ID, []), 'routes_endpoint_id_idx'],
  ['removal of an endpoint', () => endpoints().remove(ENVIRONMENT, ID), 'endpoints_pkey'],
  ['an application', () => applications().find(ENVIRONMENT, ID), 'applications_pkey'],
  ['an application by its uid', () => applications().findByUid(ENVIRONMENT, `uid${ROW}`), 'applications_uid_idx'],
  ['an application, locked', () => applications().hold(ENVIRONMENT, ID, 'together'), 'applications_pkey'],
  ['applications, a page', () => applications().page(ENVIRONMENT, { beforeId: ID }, 51), 'applications_pkey'],
  ['applications by name', () => applications().page(ENVIRONMENT, { search: 'other' }, 51), 'applications_name_idx'],
  ['an endpoint of an application', () => customerEndpoints().find(ENVIRONMENT, ID), 'application_endpoints_pkey'],
  [
    'the number of endpoints of an application',
    () => customerEndpoints().count(ENVIRONMENT, ID),
    'application_endpoints_application_id_idx',
  ],
  [
    'endpoints with a registered destination',
    () => customerEndpoints().registered(ENVIRONMENT, ID),
    'application_endpoints_application_id_idx',
  ],
  [
    'endpoints of an application, a page',
    () => customerEndpoints().page(ENVIRONMENT, ID, undefined, 51),
    'application_endpoints_application_id_idx',
  ],
  ['removal of an application', () => applications().remove(ENVIRONMENT, ID), 'applications_pkey'],
  ['an event type', () => types().find(ENVIRONMENT, `type.${ROW}`), 'event_types_pkey'],
  ['removal of an event type', () => types().remove(ENVIRONMENT, `type.${ROW}`), 'event_types_pkey'],
  ['a secret', () => secrets().find(ENVIRONMENT, ID), 'secrets_pkey'],
  ['secrets, a page', () => secrets().page(ENVIRONMENT, ID, 51), 'secrets_pkey'],
  [
    'removal of a secret',
    () => secrets().remove({ environmentId: ENVIRONMENT, id: ID, name: `name${ROW}` }),
    'secrets_pkey',
  ],
  ['a template', () => templates().find(ENVIRONMENT, { id: ID }), 'templates_pkey'],
  ['a template by its alias', () => templates().find(ENVIRONMENT, { alias: `alias${ROW}` }), 'templates_alias_idx'],
  ['a template, locked', () => templates().findForUpdate(ENVIRONMENT, { id: ID }), 'templates_pkey'],
  ['templates, a page', () => templates().page(ENVIRONMENT, ID, 51), 'templates_pkey'],
  ['a version of a template', () => templates().version(ENVIRONMENT, ID, 1), 'template_versions_pkey'],
  ['versions of a template', () => templates().versions(ENVIRONMENT, ID, 5, 51), 'template_versions_pkey'],
  ['removal of a template', () => templates().remove(ENVIRONMENT, ID), 'templates_pkey'],
  ['a domain', () => domains().find(ENVIRONMENT, ID), 'domains_pkey'],
  ['the DKIM keys of a domain', () => domainKeys().ofDomains(ENVIRONMENT, [ID]), 'domain_dkim_keys_pkey'],
  ['domains, a page', () => domains().page(ENVIRONMENT, ID, 51), 'domains_pkey'],
  ['an alias', () => aliases().find(ENVIRONMENT, ID), 'aliases_pkey'],
  [
    'an alias by its address',
    () => aliases().findAt(ENVIRONMENT, `${ROW}@mail.example`),
    ['aliases_address_idx', 'aliases_host_idx'],
  ],
  ['aliases, a page', () => aliases().page(ENVIRONMENT, ID, 51), 'aliases_pkey'],
  ['aliases on a domain', () => aliases().onDomain(ENVIRONMENT, ID, 5), 'aliases_domain_id_idx'],
  // Counting reads every alias of the environment.
  [
    'the number of aliases',
    () => aliases().count(ENVIRONMENT),
    ['aliases_address_idx', 'aliases_domain_id_idx'],
    COUNTED_PAGES_MAX,
  ],
  ['removal of an alias', () => aliases().remove(ENVIRONMENT, ID), 'aliases_pkey'],
  ['a key', () => keys().find(ENVIRONMENT, ID), 'api_keys_pkey'],
  ['keys, a page', () => keys().page(ENVIRONMENT, ID, 51), 'api_keys_pkey'],
  ['the end of a key', () => keys().expire(ENVIRONMENT, ID, new Date()), 'api_keys_pkey'],
  ['a suppression', () => suppressions().find(ENVIRONMENT, { id: ID }), 'suppressions_pkey'],
  [
    'a suppression by its address',
    () => suppressions().find(ENVIRONMENT, { key: `${ROW}@example.com` }),
    'suppressions_address_idx',
  ],
  [
    'suppressions by their addresses',
    () => suppressions().findAll(ENVIRONMENT, [`${ROW}@example.com`]),
    'suppressions_address_idx',
  ],
  [
    'suppressions, the first page',
    () => suppressions().page(ENVIRONMENT, { beforeId: null, origin: null }, 51),
    'suppressions_pkey',
  ],
  [
    'suppressions, a page',
    () => suppressions().page(ENVIRONMENT, { beforeId: ID, origin: 'manual' }, 51),
    'suppressions_pkey',
  ],
  ['removal of a suppression', () => suppressions().remove(ENVIRONMENT, ID), 'suppressions_pkey'],
  ['a topic', () => topics().find(ENVIRONMENT, { id: ID }), 'topics_pkey'],
  ['a topic by its key', () => topics().find(ENVIRONMENT, { key: `key${ROW}` }), 'topics_key_idx'],
  ['topics, a page', () => topics().page(ENVIRONMENT, ID, 51), 'topics_pkey'],
  ['a change of a topic', () => topics().update(ENVIRONMENT, ID, { name: 'B' }), 'topics_pkey'],
  ['removal of a topic', () => topics().remove(ENVIRONMENT, ID), 'topics_pkey'],
  [
    'the subscription of an address',
    () => subscriptions().find(ENVIRONMENT, TOPIC, `${ROW}@example.com`),
    'topic_subscriptions_pkey',
  ],
  [
    'subscriptions, a page',
    () => subscriptions().page(ENVIRONMENT, TOPIC, { beforeId: ID, subscription: null }, 51),
    'topic_subscriptions_id_idx',
  ],
  [
    'removal of a subscription',
    () => subscriptions().remove(ENVIRONMENT, TOPIC, `${ROW}@example.com`),
    'topic_subscriptions_pkey',
  ],
  ['a member', () => members().find(ORGANIZATION, ID), 'members_pkey'],
  ['a member by the address', () => members().findByEmail(ORGANIZATION, `${ROW}@example.com`), 'members_email_idx'],
  ['members, a page', () => members().page(ORGANIZATION, ID, 51), 'members_pkey'],
  ['a sign-in', () => members().signedIn(ORGANIZATION, ID), 'members_pkey'],
  ['removal of a member', () => members().remove(ORGANIZATION, ID), 'members_pkey'],
  ['a use of a session', () => sessions().touch(ORGANIZATION, ID), 'sessions_pkey'],
];

/** Returns the statements that TypeORM makes for a query of a store. Rolls the query back. */
async function statementsOf(run: () => Promise<unknown>): Promise<Recorded[]> {
  recorded = [];
  const rolledBack = new Error('rolled back');
  await database
    .unitOfWork(() =>
      database.transaction(async () => {
        await run();
        throw rolledBack;
      }),
    )
    .catch((error: unknown) => {
      if (error !== rolledBack) throw error;
    });
  return recorded.filter(({ statement: { text } }) => /^(select|update|delete)/i.test(text));
}

describe('configuration, through repositories', () => {
  it.each(QUERIES)(
    '%s: the tenant first, its index, no scan, a bounded number of pages',
    async (_title, run, index, pagesMax = PAGES_MAX) => {
      const statements = await statementsOf(run);

      expect(statements).not.toEqual([]);
      for (const statement of statements) {
        expect(statement.statement.text).toMatch(/ WHERE \W*(\w+"?\.)?"?(environment_id|organization_id)"? = \$\d/);
        const plan = await explain(client, statement);
        expect([index].flat()).toEqual(expect.arrayContaining([plan.indexes[0]]));
        expect(plan.scanned).toEqual([]);
        expect(plan.pages).toBeLessThan(pagesMax);
      }
    },
  );
});

describe('templates, through SQL', () => {
  it.each<[title: string, run: (store: TemplatesStore) => Promise<unknown>, indexes: string[], pagesMax: number]>([
    ['the template of an email', (store) => store.published(ENVIRONMENT, { id: ID }), ['templates_pkey'], PAGES_MAX],
    [
      'the template of an email by its alias',
      (store) => store.published(ENVIRONMENT, { alias: `alias${ROW}` }),
      ['templates_alias_idx'],
      PAGES_MAX,
    ],
    [
      'the number of templates',
      (store) => store.occupancy(ENVIRONMENT, 'other', ID),
      ['templates_alias_idx'],
      COUNTED_PAGES_MAX,
    ],
    [
      'removal of old versions',
      (store) => store.prune(ENVIRONMENT, ID, 0),
      ['template_versions_pkey', 'templates_pkey'],
      PAGES_MAX,
    ],
  ])('%s: its indexes, no scan, a bounded number of pages', async (_title, run, indexes, pagesMax) => {
    const { database: recordingDatabase, recorded: statements } = recorder();

    await run(new TemplatesStore(recordingDatabase));

    expect(statements).toHaveLength(1);
    for (const mode of ['generic', 'custom'] as const) {
      const plan = await explain(client, statements[0] as Recorded, mode);
      expect({ indexes: plan.indexes, scanned: plan.scanned }).toEqual({ indexes, scanned: [] });
      expect(plan.pages).toBeLessThan(pagesMax);
    }
  });
});

describe('repositories', () => {
  /** Files that read tables without a tenant, for example the table of organizations, or partitions. */
  const WITHOUT_TENANT = [
    'src/kernel/database/database.ts',
    'src/kernel/database/tenant-repository.ts',
    'src/modules/audit/audit.store.ts',
    'src/modules/auth/organizations/own-organization.store.ts',
    'src/modules/ledger/partitions.store.ts',
  ];

  it('are reached only through TenantRepository, which requires the tenant', () => {
    const direct = filesBelow('src').filter((file) => /\bmanager\(\)|\bgetRepository\(/.test(textOf(file)));

    expect(direct.filter((file) => !file.startsWith('src/extension/')).sort()).toEqual(WITHOUT_TENANT);
  });
});
