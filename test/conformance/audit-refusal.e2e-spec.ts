import { createHash, randomUUID } from 'node:crypto';
import { deliver } from '../api/mailing.js';
import { authorizePath, browserOf, CALLBACK, codeFor, decide, pkce } from '../api/oauth.js';
import { expectStatus, openSql, type Sql } from '../api/scene.js';
import { asPage, cookieOf } from '../api/sessions.js';
import { fieldOf, PlainBrowser } from '../api/signing-in.js';
import { freePort } from '../durability/processes.js';
import { run } from '../support/program.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { type ApiAnswer, type PosthornServer, startServer } from '../support/server.js';
import { WITHOUT_ENTRY } from './audit-witness.js';
import { type OpenApi, routesOf } from './openapi-document.js';

/** A call that would have an effect. Its path is a path of the OpenAPI document, with values for the parameters. */
interface WriteCall {
  url: string;
  body?: unknown;
  headers?: Record<string, string>;
}

const OPERATOR = { authorization: 'Bearer the-key-of-the-operator-in-this-suite' };
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Tables that the test ignores, because they change without a call or only record a heartbeat. */
const PASSED_BY = [
  'audit_log',
  'seen_clock',
  'workers',
  'cluster_epochs',
  'data_keys',
  'dkim_keys',
  'sign_in_codes',
  'target_permits',
  'rollups',
  'rollup_parts',
  // A background job sends the system events of the arranged failures, up to a minute after the failures.
  'system_signals',
  'system_tellings',
];
/** Columns that the test ignores: the time of the last use, and the lease of a DNS check. */
const COLUMNS_PASSED_BY = ['last_used_at', 'last_seen_at', 'claimed_until'];

/**
 * Retry settings: the second attempt is due at a random time within a week (full jitter), so that it does not run
 * during the test.
 */
const ONE_ATTEMPT_NOW = { max_attempts: 2, schedule: [0, 604_800] };

let server: PosthornServer;
let receiver: Receiver;
let sql: Sql;
let smtpPort: number;
let calls: Map<string, WriteCall>;
/** A signed-in user, and an OAuth client that requests access. */
let visitor: { cookie: string; clientId: string };

beforeAll(async () => {
  smtpPort = await freePort();
  [server, receiver] = await Promise.all([
    startServer({ OPERATOR_KEY: OPERATOR.authorization.slice('Bearer '.length), SMTP_PORT: String(smtpPort) }),
    startReceiver(({ path }) => ({ status: path === '/broken' ? 500 : 200 })),
  ]);
  sql = openSql(server);
  calls = await arrange();
});

afterAll(async () => {
  await sql?.close();
  await receiver?.close();
  await server?.stop();
});

async function make(url: string, body?: unknown, headers: Record<string, string> = {}): Promise<ApiAnswer['json']> {
  const answer = await server.api('POST', url, body, headers);
  if (answer.status >= 300) throw new Error(`POST ${url}: ${answer.status} ${answer.text}`);
  return answer.json;
}

async function until(url: string, isWanted: (json: ApiAnswer['json']) => boolean): Promise<void> {
  for (let tries = 0; tries < 600 && !isWanted((await server.api('GET', url)).json); tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 50));
  expect(isWanted((await server.api('GET', url)).json)).toBe(true);
}

/**
 * Creates one resource of each type, and returns a call of every write route. Calls that remove a resource come last.
 */
async function arrange(): Promise<Map<string, WriteCall>> {
  const pull = (await make('/v1/destinations', { name: 'Pull', type: 'pull' })).id as string;
  const https = (await make('/v1/destinations', { name: 'A target', type: 'https', url: `${receiver.url}/ok` }))
    .id as string;
  const gone = (await make('/v1/destinations', { name: 'Unused', type: 'pull' })).id as string;
  const slow = (
    await make('/v1/destinations', {
      name: 'Slow',
      type: 'https',
      url: `${receiver.url}/ok`,
      retry: ONE_ATTEMPT_NOW,
    })
  ).id as string;
  const other = (
    await make('/v1/destinations', {
      name: 'Slow too',
      type: 'https',
      url: `${receiver.url}/ok`,
      retry: ONE_ATTEMPT_NOW,
    })
  ).id as string;
  const dead = (
    await make('/v1/destinations', {
      name: 'Dead',
      type: 'https',
      url: `${receiver.url}/ok`,
      retry: { max_attempts: 1, schedule: [0] },
    })
  ).id as string;
  for (const id of [slow, other, dead])
    expectStatus(await server.api('PATCH', `/v1/destinations/${id}`, { url: `${receiver.url}/broken` }), 200);
  const sends = { event_type: 'invoice.paid', payload: { a: 1 } };
  const sent = (await make('/v1/send', { ...sends, destination: https })).message_id as string;
  const waiting = (await make('/v1/send', { ...sends, destination: slow })).message_id as string;
  const cancelled = (await make('/v1/send', { ...sends, destination: slow })).message_id as string;
  const lost = (await make('/v1/send', { ...sends, destination: dead })).message_id as string;
  const erased = (await make('/v1/send', { ...sends, destination: https })).message_id as string;

  const endpoint = await make('/v1/endpoints', { slug: 'watched', preset: 'github', destinations: [pull] });
  const [route] = endpoint.routes as { id: string }[];
  const goneEndpoint = (await make('/v1/endpoints', { path: 'unused' })).id as string;
  await fetch(endpoint.url as string, { method: 'POST', body: '{"a":1}' });
  const request = (await server.api('GET', `/v1/endpoints/${endpoint.id}/requests`)).json.data[0].id as string;
  expectStatus(
    await server.api('PUT', `/v1/endpoints/${endpoint.id}/secret`, { secret: 'the-secret-of-the-provider' }),
    204,
  );

  await make('/v1/app', { uid: 'watched', name: 'Watched' });
  const own = (await make('/v1/app/watched/endpoints', { url: `${receiver.url}/app` })).id as string;
  const registered = (await make('/v1/app/watched/endpoints', { destination: other })).id as string;
  const goneSubscriber = (await make('/v1/app/watched/endpoints', { destination: slow })).id as string;
  const message = (await make('/v1/app/watched/event', sends)).message_id as string;
  await make('/v1/app', { uid: 'unused', name: 'Unused' });
  await make('/v1/app/unused/endpoints', { destination: slow });
  await make('/v1/app/unused/event', sends);
  const portal = '/v1/app/watched/portal';
  await make(portal);
  const link = (await server.api('GET', portal)).json.data[0].id as string;
  await make(portal);

  const key = (await make('/v1/keys', { name: 'Rotated', scope: 'read' })).id as string;
  const goneKey = (await make('/v1/keys', { name: 'Revoked', scope: 'read' })).id as string;
  const member = (await make('/v1/members', { email: 'grace@customer.example', role: 'read' })).id as string;
  await make('/v1/members', { email: 'ada@customer.example', role: 'admin' });
  await new PlainBrowser(server).post('/signin/key', { key: server.apiKey });
  const session = (await server.api('GET', '/v1/sessions')).json.data[0].id as string;
  const page = asPage(await cookieOf(server), null);
  const org = (
    await make('/v1/orgs', { slug: 'unused', name: 'Unused', admin: { email: 'ada@unused.example' } }, OPERATOR)
  ).id as string;
  const clientId = (await make('/oauth/register', { client_name: 'An assistant', redirect_uris: [CALLBACK] }))
    .client_id as string;
  const { verifier, challenge } = pkce();
  const code = await codeFor(await browserOf(server), clientId, challenge);
  const exchange = new URLSearchParams({
    grant_type: 'authorization_code',
    client_id: clientId,
    redirect_uri: CALLBACK,
    code,
    code_verifier: verifier,
  }).toString();
  const token = (await make('/oauth/token', exchange, FORM)).access_token as string;
  visitor = { cookie: (await browserOf(server)).cookie, clientId };

  const domain = (
    await make('/v1/domains', { domain: 'mail.customer.example', kind: 'email', acknowledge_mx_conflict: true })
  ).id as string;
  const secret = (await make('/v1/secrets', { name: 'TOKEN', value: 'tok_1' })).id as string;
  await make('/v1/event-types', { name: 'plain' });
  const template = (await make('/v1/templates', { name: 'Watched', text: 'a' })).id as string;
  await server.api('PATCH', `/v1/templates/${template}`, { text: 'b' });
  const email = {
    from: 'shop@simulator.localhost',
    to: 'delivered@simulator.localhost',
    subject: 'Hello',
    text: 'Hello',
    scheduled_at: 'in 1 hour',
  };
  const [scheduled, withdrawn] = [
    (await make('/v1/emails', email)).id as string,
    (await make('/v1/emails', email)).id as string,
  ];
  // The first cancellation in an environment creates the environment's destination for emails.
  const ended = (await make('/v1/emails', email)).id as string;
  await server.api('POST', `/v1/emails/${ended}/cancel`);
  await make('/v1/suppressions', { email: 'never@customer.example' });
  for (const key of ['watched', 'gone']) await make('/v1/topics', { name: key, key, default_subscription: 'opt_in' });
  await server.api('PUT', '/v1/topics/watched/subscriptions/left@customer.example', { subscription: 'opt_out' });
  const ownKeys = (
    await make('/v1/domains', { domain: 'own.customer.example', kind: 'email-send', dkim: { mode: 'domain' } })
  ).id as string;
  await sql.rows(
    `update domains set reputation = 'paused', reputation_cause = 'bounce_rate', reputation_at = now() where host = 'own.customer.example'`,
  );
  const { id: alias, address } = (await make('/v1/aliases', {
    kind: 'platform',
    localPart: 'watched',
    destinationIds: [pull],
  })) as { id: string; address: string };
  // A message without a From header is quarantined.
  await deliver(smtpPort, address, 'To: you@in.example\r\nSubject: No sender\r\n\r\nHello\r\n');
  // A call that stops a completed job changes no data.
  const job = (
    await make('/v1/replays', { action: 'recover', filter: { destination: gone, since: '2026-01-01T00:00:00Z' } })
  ).id as string;

  await until(`/v1/events/${sent}`, (json) => json.status === 'delivered');
  await until(`/v1/events/${erased}`, (json) => json.status === 'delivered');
  await until(`/v1/events/${lost}`, (json) => json.status === 'dlq');
  for (const id of [waiting, cancelled]) await until(`/v1/events/${id}`, (json) => json.attempts.length === 1);
  await until(`/v1/app/watched/endpoints/${registered}/attempts`, (json) => json.data.length > 0);
  await until(`/v1/replays/${job}`, (json) => json.state === 'completed');

  const quarantined = `/v1/aliases/${alias}/messages?state=quarantined`;
  await until(quarantined, (json) => json.data.length === 1);
  const unsigned = (await server.api('GET', quarantined)).json.data[0].id as string;

  // The first check of a domain, due one minute after its creation, would change the domain's row during the calls.
  await sql.rows(`update domains set next_check_at = now() + interval '1 day'`);

  const since = '2026-01-01T00:00:00Z';
  return new Map<string, WriteCall>(
    Object.entries({
      'PATCH /v1/org': { url: '/v1/org', body: { name: 'Renamed' } },
      'POST /v1/signing-secret/rotate': { url: '/v1/signing-secret/rotate', body: {} },
      'POST /v1/keys': { url: '/v1/keys', body: { name: 'Made', scope: 'read' } },
      'POST /v1/keys/{id}/rotate': { url: `/v1/keys/${key}/rotate`, body: {} },
      'POST /v1/members': { url: '/v1/members', body: { email: 'made@customer.example', role: 'read' } },
      'PATCH /v1/members/{id}': { url: `/v1/members/${member}`, body: { role: 'write' } },
      'POST /v1/orgs': {
        url: '/v1/orgs',
        body: { slug: 'made', name: 'Made', admin: { email: 'ada@made.example' } },
        headers: OPERATOR,
      },
      'POST /v1/destinations': {
        url: '/v1/destinations',
        body: { name: 'Made', type: 'https', url: `${receiver.url}/made` },
      },
      'PATCH /v1/destinations/{id}': {
        url: `/v1/destinations/${https}`,
        body: { name: '\\u0000', url: `${receiver.url}/elsewhere` },
      },
      'POST /v1/destinations/{id}/validate': { url: `/v1/destinations/${https}/validate` },
      'POST /v1/destinations/{id}/secret/rotate': { url: `/v1/destinations/${https}/secret/rotate`, body: {} },
      'POST /v1/destinations/{id}/test': { url: `/v1/destinations/${https}/test` },
      'POST /v1/destinations/{id}/recover': { url: `/v1/destinations/${dead}/recover`, body: { since, status: 'dlq' } },
      'POST /v1/events/{id}/sign': { url: `/v1/events/${sent}/sign` },
      'POST /v1/events/{id}/replay': { url: `/v1/events/${sent}/replay` },
      'POST /v1/events/{id}/cancel': { url: `/v1/events/${cancelled}/cancel` },
      'POST /v1/destinations/{id}/cancel': {
        url: `/v1/destinations/${slow}/cancel`,
        body: { event_type: 'invoice.paid' },
      },
      'POST /v1/dlq/redrive': { url: '/v1/dlq/redrive', body: { endpoint: dead } },
      'POST /v1/replays': { url: '/v1/replays', body: { action: 'recover', filter: { destination: https, since } } },
      'POST /v1/replays/{id}/stop': { url: `/v1/replays/${job}/stop` },
      'POST /v1/endpoints': { url: '/v1/endpoints', body: { slug: 'made' } },
      'PATCH /v1/endpoints/{id}': { url: `/v1/endpoints/${endpoint.id}`, body: { name: 'Renamed' } },
      'PUT /v1/endpoints/{id}/secret': {
        url: `/v1/endpoints/${endpoint.id}/secret`,
        body: { secret: 'another-secret-of-the-provider' },
      },
      'POST /v1/endpoints/{id}/routes': { url: `/v1/endpoints/${endpoint.id}/routes`, body: { destination: https } },
      'PATCH /v1/endpoints/{id}/routes/{routeId}': {
        url: `/v1/endpoints/${endpoint.id}/routes/${route?.id}`,
        body: { filter: { path: '$.a', op: 'exists' } },
      },
      'POST /v1/endpoints/{id}/test': { url: `/v1/endpoints/${endpoint.id}/test` },
      'POST /v1/endpoints/{id}/requests/{requestId}/replay': {
        url: `/v1/endpoints/${endpoint.id}/requests/${request}/replay`,
      },
      'POST /v1/endpoints/{id}/requests/replay': {
        url: `/v1/endpoints/${endpoint.id}/requests/replay`,
        body: { status: 'quarantined', since },
      },
      'POST /v1/endpoints/{id}/replay': {
        url: `/v1/endpoints/${endpoint.id}/replay`,
        body: { since, destinations: [pull] },
      },
      'POST /v1/app': { url: '/v1/app', body: { uid: 'made', name: 'Made' } },
      'PATCH /v1/app/{app}': { url: '/v1/app/watched', body: { name: 'Renamed' } },
      'POST /v1/app/{app}/endpoints': { url: '/v1/app/watched/endpoints', body: { url: `${receiver.url}/made` } },
      'PATCH /v1/app/{app}/endpoints/{endpoint}': {
        url: `/v1/app/watched/endpoints/${own}`,
        body: { description: 'Changed' },
      },
      'POST /v1/app/{app}/endpoints/{endpoint}/secret/rotate': {
        url: `/v1/app/watched/endpoints/${own}/secret/rotate`,
        body: {},
      },
      'POST /v1/app/{app}/endpoints/{endpoint}/test': { url: `/v1/app/watched/endpoints/${own}/test` },
      'POST /v1/app/{app}/endpoints/{endpoint}/recover': {
        url: `/v1/app/watched/endpoints/${own}/recover`,
        body: { since },
      },
      'POST /v1/app/{app}/messages/{message}/endpoints/{endpoint}/resend': {
        url: `/v1/app/watched/messages/${message}/endpoints/${own}/resend`,
      },
      'POST /v1/app/{app}/endpoints/{endpoint}/cancel': { url: `/v1/app/watched/endpoints/${registered}/cancel` },
      'POST /v1/app/{app}/recover': { url: '/v1/app/watched/recover', body: { since, status: 'failed' } },
      'POST /v1/app/{app}/replay': { url: '/v1/app/unused/replay', body: { since } },
      'POST /v1/app/{app}/portal': { url: portal },
      'POST /v1/app/{app}/portal/preview': { url: `${portal}/preview` },
      'POST /v1/domains': { url: '/v1/domains', body: { domain: 'hooks.customer.example', kind: 'webhook' } },
      'PATCH /v1/domains/{id}': { url: `/v1/domains/${domain}`, body: { kind: 'email-send' } },
      'POST /v1/domains/{id}/verify': { url: `/v1/domains/${domain}/verify` },
      'POST /v1/domains/{id}/dkim/rotate': { url: `/v1/domains/${ownKeys}/dkim/rotate`, body: {} },
      'POST /v1/domains/{id}/resume': { url: `/v1/domains/${ownKeys}/resume` },
      'POST /v1/secrets': { url: '/v1/secrets', body: { name: 'MADE', value: 'tok_2' } },
      'PUT /v1/secrets/{id}': { url: `/v1/secrets/${secret}`, body: { value: 'tok_3' } },
      'POST /v1/event-types': { url: '/v1/event-types', body: { name: 'made' } },
      'POST /v1/event-types/import/openapi': {
        url: '/v1/event-types/import/openapi',
        body: { spec: { openapi: '3.1.0', webhooks: { imported: { post: { summary: 'Imported' } } } } },
      },
      'PATCH /v1/event-types/{name}': { url: '/v1/event-types/plain', body: { description: 'Changed' } },
      'POST /v1/templates': { url: '/v1/templates', body: { name: 'Made' } },
      'PATCH /v1/templates/{id}': { url: `/v1/templates/${template}`, body: { subject: 'Changed' } },
      'POST /v1/templates/{id}/publish': { url: `/v1/templates/${template}/publish` },
      'POST /v1/templates/{id}/duplicate': { url: `/v1/templates/${template}/duplicate` },
      'POST /v1/templates/{id}/restore': { url: `/v1/templates/${template}/restore`, body: { version: 1 } },
      'POST /v1/topics': { url: '/v1/topics', body: { name: 'Made', default_subscription: 'opt_in' } },
      'PATCH /v1/topics/{id}': { url: '/v1/topics/watched', body: { name: 'Changed' } },
      'PUT /v1/topics/{id}/subscriptions/{address}': {
        url: '/v1/topics/watched/subscriptions/made@customer.example',
        body: { subscription: 'opt_out' },
      },
      'POST /v1/suppressions': { url: '/v1/suppressions', body: { email: 'made@customer.example' } },
      'POST /v1/suppressions/batch/add': {
        url: '/v1/suppressions/batch/add',
        body: { emails: ['first@customer.example', 'second@customer.example'] },
      },
      'POST /v1/aliases': { url: '/v1/aliases', body: { kind: 'platform', localPart: 'made', destinationIds: [pull] } },
      'PATCH /v1/aliases/{alias}': { url: `/v1/aliases/${alias}`, body: { maxSizeBytes: 1_000_000 } },
      'POST /v1/aliases/{alias}/messages/{messageId}/links': {
        url: `/v1/aliases/${alias}/messages/${unsigned}/links`,
        body: {},
      },
      'POST /v1/aliases/{alias}/messages/{messageId}/release': {
        url: `/v1/aliases/${alias}/messages/${unsigned}/release`,
      },
      'POST /v1/aliases/{alias}/replay': { url: `/v1/aliases/${alias}/replay`, body: { dry_run: true } },
      'PATCH /v1/emails/{id}': { url: `/v1/emails/${scheduled}`, body: { scheduled_at: 'in 2 hours' } },
      'POST /v1/emails/{id}/cancel': { url: `/v1/emails/${withdrawn}/cancel` },
      'DELETE /v1/emails/{id}': { url: `/v1/emails/${scheduled}` },
      'DELETE /v1/events/{id}/payload': { url: `/v1/events/${erased}/payload` },
      'DELETE /v1/aliases/{alias}': { url: `/v1/aliases/${alias}` },
      'DELETE /v1/templates/{id}': { url: `/v1/templates/${template}` },
      'DELETE /v1/topics/{id}/subscriptions/{address}': {
        url: '/v1/topics/watched/subscriptions/left@customer.example',
      },
      'DELETE /v1/topics/{id}': { url: '/v1/topics/gone' },
      'DELETE /v1/suppressions/{id}': { url: '/v1/suppressions/never@customer.example' },
      'DELETE /v1/event-types/{name}': { url: '/v1/event-types/plain' },
      'DELETE /v1/secrets/{id}': { url: `/v1/secrets/${secret}` },
      'DELETE /v1/domains/{id}': { url: `/v1/domains/${domain}` },
      'DELETE /v1/app/{app}/portal/{id}': { url: `${portal}/${link}` },
      'DELETE /v1/app/{app}/portal': { url: portal },
      'DELETE /v1/app/{app}/endpoints/{endpoint}': { url: `/v1/app/watched/endpoints/${goneSubscriber}` },
      'POST /v1/app/{app}/erase': { url: '/v1/app/watched/erase' },
      'DELETE /v1/app/{app}': { url: '/v1/app/unused' },
      'DELETE /v1/endpoints/{id}/routes/{routeId}': { url: `/v1/endpoints/${endpoint.id}/routes/${route?.id}` },
      'DELETE /v1/endpoints/{id}': { url: `/v1/endpoints/${goneEndpoint}` },
      'DELETE /v1/destinations/{id}': { url: `/v1/destinations/${gone}` },
      'POST /oauth/revoke': { url: '/oauth/revoke', body: new URLSearchParams({ token }).toString(), headers: FORM },
      'DELETE /v1/sessions/{id}': { url: `/v1/sessions/${session}` },
      'DELETE /v1/session': { url: '/v1/session', headers: page },
      'DELETE /v1/members/{id}': { url: `/v1/members/${member}` },
      'DELETE /v1/keys/{id}': { url: `/v1/keys/${goneKey}` },
      'DELETE /v1/orgs/{id}': { url: `/v1/orgs/${org}`, headers: OPERATOR },
    }),
  );
}

/** Checksum of a table without rows. */
const NO_ROWS = createHash('md5').digest('hex');

/** Returns a checksum of the rows of every table. Skips empty partitions, because there are a thousand of them. */
async function checksums(): Promise<Record<string, string>> {
  const tables = await sql.rows<{ name: string; parts: string[] }>(
    `select c.relname as name, array(
       select part::text from (select c.oid::regclass union select relid from pg_partition_tree(c.oid) where isleaf) p(part)
       where pg_relation_size(part) > 0
     ) as parts
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> all ($1) order by 1`,
    [PASSED_BY],
  );
  const rowsOf = (part: string): string => `select (to_jsonb(t) - $1::text[])::text as r from ${part} t`;
  const statements = tables
    .filter(({ parts }) => parts.length > 0)
    .map(
      ({ name, parts }) =>
        `select '${name}' as name, md5(coalesce(string_agg(r, chr(10) order by r), '')) as sum from (${parts.map(rowsOf).join(' union all ')}) x`,
    );
  const sums = await sql.rows<{ name: string; sum: string }>(statements.join(' union all '), [COLUMNS_PASSED_BY]);
  return Object.fromEntries([
    ...tables.map(({ name }) => [name, NO_ROWS]),
    ...sums.map(({ name, sum }) => [name, sum]),
  ]);
}

/** Returns the checksums once they have stopped changing. */
async function settled(): Promise<Record<string, string>> {
  let last = await checksums();
  for (let same = 0, tries = 0; same < 2 && tries < 200; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    const next = await checksums();
    same = JSON.stringify(next) === JSON.stringify(last) ? same + 1 : 0;
    last = next;
  }
  return last;
}

const namesThatDiffer = (a: Record<string, string>, b: Record<string, string>): string[] =>
  Object.keys(a).filter((name) => a[name] !== b[name]);

describe('while the audit log rejects every entry', () => {
  beforeAll(async () => {
    await sql.rows(`
      create function refused_by_the_test() returns trigger language plpgsql as $$ begin raise exception 'refused by the test'; end $$`);
    await sql.rows(
      'create trigger refused_by_the_test before insert on audit_log for each row execute function refused_by_the_test()',
    );
  });

  afterAll(async () => {
    await sql.rows('drop trigger refused_by_the_test on audit_log');
  });

  it('there is a call of every audited write route of the document', async () => {
    const document = (await server.api('GET', '/openapi.json')).json as OpenApi;
    const audited = routesOf(document)
      .map(({ method, path }) => ({ method, name: `${method} ${path}` }))
      .filter(({ method, name }) => !READS.has(method) && !(name in WITHOUT_ENTRY))
      .map(({ name }) => name);

    expect([...calls.keys()].sort()).toEqual(audited.sort());
  });

  it('no write route has an effect, with or without an Idempotency-Key', async () => {
    const faults: string[] = [];
    for (const [name, { url, body, headers }] of calls) {
      const [method = ''] = name.split(' ');
      const keys: Record<string, string>[] = method === 'POST' ? [{}, { 'idempotency-key': randomUUID() }] : [{}];
      for (const key of keys) {
        const before = await settled();
        const answer = await server.api(method, url, body, { ...headers, ...key });
        const changed = namesThatDiffer(before, await settled());
        if (answer.status < 500 || changed.length > 0)
          faults.push(
            `${name} ${JSON.stringify(Object.keys(key))}: ${answer.status} ${answer.text.slice(0, 200)} changed ${changed.join()}`,
          );
      }
    }

    expect(faults).toEqual([]);
  }, 300_000);

  it('no sign-in, sign-out, OAuth grant or operator command has an effect', async () => {
    const person = new PlainBrowser(server);
    person.cookie = visitor.cookie;
    const acts: [string, () => Promise<unknown>][] = [
      ['sign-in', () => new PlainBrowser(server).post('/signin/key', { key: server.apiKey })],
      ['consent', () => decide(person, authorizePath(visitor.clientId, pkce().challenge))],
      [
        'sign-out',
        async () => person.post('/signout', { csrf_token: fieldOf((await person.get('/signin')).text, 'csrf_token') }),
      ],
      [
        'posthorn orgs create',
        () =>
          run('orgs', server.env, [
            'create',
            '--slug',
            'by-command',
            '--name',
            'By command',
            '--admin-email',
            'ada@command.example',
          ]),
      ],
    ];

    const outcomes: unknown[] = [];
    for (const [name, act] of acts) {
      const before = await settled();
      const answer = (await act()) as { status?: number; code?: number };
      outcomes.push([name, answer.status ?? `code ${answer.code}`, namesThatDiffer(before, await settled())]);
    }

    expect(outcomes).toEqual([
      ['sign-in', 500, []],
      ['consent', 500, []],
      ['sign-out', 500, []],
      ['posthorn orgs create', 'code 1', []],
    ]);
  });
});

describe('when the audit log accepts entries again', () => {
  /**
   * Routes whose calls in this test change no stored data, such as a domain check within five seconds of the last one.
   */
  const ONLY_ENTRIES = new Set([
    'POST /v1/domains/{id}/dkim/rotate',
    'POST /v1/domains/{id}/verify',
    'POST /v1/destinations/{id}/validate',
    'POST /v1/events/{id}/sign',
    'POST /v1/aliases/{alias}/messages/{messageId}/links',
    'POST /v1/aliases/{alias}/replay',
    'POST /v1/replays/{id}/stop',
  ]);

  it('the very same calls succeed, and each has an effect and one entry', async () => {
    const faults: string[] = [];
    for (const [name, { url, body, headers }] of calls) {
      const [method = ''] = name.split(' ');
      // The API refuses a replay of an endpoint while another one is running.
      await until('/v1/replays', (json) =>
        json.data.every((job: { finished_at: unknown }) => job.finished_at !== null),
      );
      const before = await settled();
      const answer = await server.api(method, url, body, headers);
      const entries = await sql.rows('select 1 from audit_log where request_id = $1', [
        answer.headers.get('x-request-id'),
      ]);
      const changed = namesThatDiffer(before, await checksums());
      if (answer.status >= 300 || entries.length !== 1 || (changed.length === 0 && !ONLY_ENTRIES.has(name))) {
        faults.push(
          `${name}: ${answer.status} ${answer.text.slice(0, 200)}, ${entries.length} entries, changed ${changed.join()}`,
        );
      }
    }

    expect(faults).toEqual([]);
  }, 300_000);
});
