import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { as, createKey, expectRateLimitHeaders, expectRefusal } from './answers.js';
import { openSql, type Sql } from './scene.js';
import { asPage, cookieOf, signedInMember } from './sessions.js';

type Scope = 'read' | 'write' | 'admin';

/** Required scope of each route. Every route must be listed here. */
const ROUTES: Readonly<Record<string, Scope>> = {
  'POST /v1/send': 'write',
  'POST /v1/emails': 'write',
  'POST /v1/emails/batch': 'write',
  'GET /v1/emails': 'read',
  'GET /v1/emails/simulator': 'read',
  'GET /v1/emails/{id}': 'read',
  'GET /v1/emails/{id}/raw': 'read',
  'GET /v1/emails/{id}/content': 'read',
  'GET /v1/emails/{id}/attachments': 'read',
  'GET /v1/emails/{id}/attachments/{attachment}': 'read',
  'GET /v1/emails/{id}/view': 'read',
  'GET /v1/emails/{id}/replies': 'read',
  'PATCH /v1/emails/{id}': 'write',
  'DELETE /v1/emails/{id}': 'write',
  'POST /v1/emails/{id}/cancel': 'write',
  'GET /v1/suppressions': 'read',
  'POST /v1/suppressions': 'write',
  'POST /v1/suppressions/batch/add': 'write',
  'GET /v1/suppressions/{id}': 'read',
  'DELETE /v1/suppressions/{id}': 'write',
  'GET /v1/topics': 'read',
  'POST /v1/topics': 'write',
  'GET /v1/topics/{id}': 'read',
  'PATCH /v1/topics/{id}': 'write',
  'DELETE /v1/topics/{id}': 'write',
  'GET /v1/topics/{id}/subscriptions': 'read',
  'GET /v1/topics/{id}/subscriptions/{address}': 'read',
  'PUT /v1/topics/{id}/subscriptions/{address}': 'write',
  'DELETE /v1/topics/{id}/subscriptions/{address}': 'write',
  'GET /v1/reports': 'admin',
  'GET /v1/reports/{id}': 'admin',
  'GET /v1/reports/{id}/raw': 'admin',
  'GET /v1/aliases': 'read',
  'POST /v1/aliases': 'write',
  'GET /v1/aliases/{alias}': 'read',
  'PATCH /v1/aliases/{alias}': 'write',
  'DELETE /v1/aliases/{alias}': 'write',
  'GET /v1/aliases/{alias}/messages': 'read',
  'GET /v1/aliases/{alias}/messages/{messageId}': 'read',
  'GET /v1/aliases/{alias}/messages/{messageId}/raw': 'read',
  'GET /v1/aliases/{alias}/messages/{messageId}/attachments/{index}': 'read',
  'GET /v1/aliases/{alias}/messages/{messageId}/view': 'read',
  'POST /v1/aliases/{alias}/messages/{messageId}/links': 'write',
  'POST /v1/aliases/{alias}/messages/{messageId}/release': 'write',
  'POST /v1/aliases/{alias}/replay': 'write',
  'POST /mcp': 'read',
  'GET /v1/events': 'read',
  'GET /v1/events/count': 'read',
  'GET /v1/events/stream': 'read',
  'GET /v1/events/{id}': 'read',
  'GET /v1/events/{id}/payload': 'read',
  'POST /v1/events/{id}/replay': 'write',
  'POST /v1/events/{id}/sign': 'write',
  'POST /v1/events/{id}/cancel': 'write',
  'DELETE /v1/events/{id}/payload': 'write',
  'POST /v1/destinations/{id}/recover': 'write',
  'POST /v1/destinations/{id}/cancel': 'write',
  'POST /v1/app/{app}/event': 'write',
  'GET /v1/app': 'read',
  'POST /v1/app': 'write',
  'GET /v1/app/{app}': 'read',
  'PATCH /v1/app/{app}': 'write',
  'DELETE /v1/app/{app}': 'write',
  'GET /v1/app/{app}/messages': 'read',
  'POST /v1/app/{app}/recover': 'write',
  'POST /v1/app/{app}/replay': 'write',
  'POST /v1/app/{app}/erase': 'write',
  'GET /v1/app/{app}/messages/{message}': 'read',
  'POST /v1/app/{app}/messages/{message}/endpoints/{endpoint}/resend': 'write',
  'GET /v1/app/{app}/events': 'read',
  'GET /v1/app/{app}/events/{event}': 'read',
  'GET /v1/app/{app}/portal': 'read',
  'POST /v1/app/{app}/portal': 'write',
  'DELETE /v1/app/{app}/portal': 'write',
  'POST /v1/app/{app}/portal/preview': 'read',
  'GET /v1/app/{app}/portal/{id}': 'read',
  'DELETE /v1/app/{app}/portal/{id}': 'write',
  'GET /v1/portal': 'read',
  'POST /v1/app/{app}/endpoints/check': 'write',
  'GET /v1/app/{app}/endpoints': 'read',
  'POST /v1/app/{app}/endpoints': 'write',
  'GET /v1/app/{app}/endpoints/{endpoint}': 'read',
  'PATCH /v1/app/{app}/endpoints/{endpoint}': 'write',
  'DELETE /v1/app/{app}/endpoints/{endpoint}': 'write',
  'GET /v1/app/{app}/endpoints/{endpoint}/secret': 'write',
  'POST /v1/app/{app}/endpoints/{endpoint}/secret/rotate': 'write',
  'GET /v1/app/{app}/endpoints/{endpoint}/attempts': 'read',
  'GET /v1/app/{app}/endpoints/{endpoint}/stats': 'read',
  'POST /v1/app/{app}/endpoints/{endpoint}/test': 'write',
  'POST /v1/app/{app}/endpoints/{endpoint}/recover': 'write',
  'POST /v1/app/{app}/endpoints/{endpoint}/cancel': 'write',
  'POST /v1/dlq/redrive': 'write',
  'POST /v1/replays': 'write',
  'GET /v1/events/{id}/exchanges': 'read',
  'GET /v1/destinations': 'read',
  'POST /v1/destinations': 'write',
  'POST /v1/destinations/check': 'write',
  'GET /v1/destinations/{id}': 'read',
  'PATCH /v1/destinations/{id}': 'write',
  'DELETE /v1/destinations/{id}': 'write',
  'POST /v1/destinations/{id}/validate': 'write',
  'POST /v1/destinations/{id}/test': 'write',
  'GET /v1/destinations/{id}/secret': 'write',
  'POST /v1/destinations/{id}/secret/rotate': 'write',
  'GET /v1/secrets': 'read',
  'POST /v1/secrets': 'write',
  'GET /v1/secrets/{id}': 'read',
  'PUT /v1/secrets/{id}': 'write',
  'DELETE /v1/secrets/{id}': 'write',
  'GET /v1/templates': 'read',
  'POST /v1/templates': 'write',
  'GET /v1/templates/{id}': 'read',
  'PATCH /v1/templates/{id}': 'write',
  'DELETE /v1/templates/{id}': 'write',
  'POST /v1/templates/{id}/publish': 'write',
  'POST /v1/templates/{id}/duplicate': 'write',
  'POST /v1/templates/{id}/render': 'read',
  'POST /v1/templates/{id}/restore': 'write',
  'GET /v1/templates/{id}/versions': 'read',
  'GET /v1/templates/{id}/versions/{version}': 'read',
  'GET /v1/endpoints': 'read',
  'POST /v1/endpoints': 'write',
  'GET /v1/endpoints/{id}': 'read',
  'PATCH /v1/endpoints/{id}': 'write',
  'DELETE /v1/endpoints/{id}': 'write',
  'PUT /v1/endpoints/{id}/secret': 'write',
  'GET /v1/endpoints/{id}/routes': 'read',
  'POST /v1/endpoints/{id}/routes': 'write',
  'PATCH /v1/endpoints/{id}/routes/{routeId}': 'write',
  'DELETE /v1/endpoints/{id}/routes/{routeId}': 'write',
  'GET /v1/endpoints/{id}/requests': 'read',
  'GET /v1/endpoints/{id}/requests/{requestId}': 'read',
  'POST /v1/endpoints/{id}/requests/{requestId}/replay': 'write',
  'POST /v1/endpoints/{id}/requests/replay': 'write',
  'POST /v1/endpoints/{id}/test': 'write',
  'POST /v1/endpoints/{id}/trial': 'write',
  'GET /v1/presets': 'read',
  'POST /v1/endpoints/{id}/replay': 'write',
  'GET /v1/ingest-domains': 'read',
  'GET /v1/domains': 'read',
  'POST /v1/domains': 'admin',
  'GET /v1/domains/{id}': 'read',
  'PATCH /v1/domains/{id}': 'admin',
  'DELETE /v1/domains/{id}': 'admin',
  'POST /v1/domains/{id}/verify': 'admin',
  'POST /v1/domains/{id}/dkim/rotate': 'admin',
  'GET /v1/domains/{id}/reputation': 'read',
  'POST /v1/domains/{id}/resume': 'admin',
  'GET /v1/replays': 'read',
  'GET /v1/replays/{id}': 'read',
  'POST /v1/replays/{id}/stop': 'write',
  'GET /v1/pull': 'read',
  'GET /v1/pull/{endpoint}': 'read',
  'POST /v1/pull/{endpoint}/ack': 'write',
  'GET /v1/metrics': 'read',
  'GET /v1/metrics/applications': 'read',
  'GET /v1/metrics/overview': 'read',
  'GET /v1/metrics/targets': 'read',
  'GET /v1/attention': 'read',
  'GET /v1/names': 'read',
  'GET /v1/system-events': 'read',
  'GET /v1/event-types': 'read',
  'POST /v1/event-types': 'write',
  'POST /v1/event-types/import/openapi': 'write',
  'GET /v1/event-types/{name}': 'read',
  'PATCH /v1/event-types/{name}': 'write',
  'DELETE /v1/event-types/{name}': 'write',
  'GET /v1/event-types/{name}/versions': 'read',
  'GET /v1/event-types/{name}/subscribers': 'read',
  'GET /v1/org': 'read',
  'PATCH /v1/org': 'admin',
  'GET /v1/signing-secret': 'write',
  'POST /v1/signing-secret/rotate': 'write',
  'GET /v1/keys': 'admin',
  'POST /v1/keys': 'admin',
  'GET /v1/keys/{id}': 'admin',
  'DELETE /v1/keys/{id}': 'admin',
  'POST /v1/keys/{id}/rotate': 'admin',
  'GET /v1/members': 'admin',
  'POST /v1/members': 'admin',
  'GET /v1/members/{id}': 'admin',
  'PATCH /v1/members/{id}': 'admin',
  'DELETE /v1/members/{id}': 'admin',
  'GET /v1/session': 'read',
  'DELETE /v1/session': 'read',
  'GET /v1/sessions': 'admin',
  'DELETE /v1/sessions/{id}': 'admin',
  'GET /v1/audit': 'admin',
  'GET /v1/audit/export': 'admin',
};
/** Routes that accept only API keys and no session. Agents have their own keys. */
const KEYS_ALONE = ['POST /mcp'];
/** Routes for the operator only. No key of an organization is authorized, whatever its scope. */
const OPERATORS = [
  'DELETE /v1/orgs/{id}',
  'GET /v1/operator/audit',
  'GET /v1/orgs',
  'GET /v1/orgs/{id}',
  'POST /v1/orgs',
];

const UNKNOWN = '01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';
const PREFIXES: Readonly<Record<string, string>> = {
  keys: 'ek',
  events: 'evt',
  secrets: 'sec',
  endpoints: 'ep',
  app: 'ep',
  replays: 'rpj',
  domains: 'dom',
  members: 'mbr',
  sessions: 'ses',
  orgs: 'org',
  templates: 'tpl',
};
const PUBLIC = [
  'GET /.well-known/oauth-authorization-server',
  'GET /.well-known/oauth-protected-resource',
  'GET /.well-known/oauth-protected-resource/mcp',
  'GET /health/live',
  'GET /health/ready',
  'GET /oauth/authorize',
  'GET /v1/email-attachments',
  'GET /v1/mail-files',
  'GET /v1/mail-views',
  'POST /oauth/device',
  'POST /oauth/register',
  'POST /oauth/revoke',
  'POST /oauth/token',
  'POST /v1/providers/ses/notifications',
];
const SCOPES: readonly Scope[] = ['read', 'write', 'admin'];
const ROWS = Object.entries(ROUTES).map(([route, scope]): [string, Scope] => [route, scope]);

describe('scopes', () => {
  let server: PosthornServer;
  let keys: Record<Scope, string>;
  let members: Record<Scope, string>;
  let opened: Record<Scope, string>;
  let sql: Sql;

  beforeAll(async () => {
    server = await sharedServer();
    const made = await Promise.all(
      SCOPES.map(async (scope) => [scope, (await createKey(server, { scope })).key] as const),
    );
    keys = Object.fromEntries(made) as Record<Scope, string>;
    sql = openSql(server);
    members = Object.fromEntries(
      await Promise.all(
        SCOPES.map(async (scope) => [scope, (await signedInMember(server, sql, scope)).cookie] as const),
      ),
    ) as Record<Scope, string>;
    opened = Object.fromEntries(
      await Promise.all(SCOPES.map(async (scope) => [scope, await cookieOf(server, keys[scope])] as const)),
    ) as Record<Scope, string>;
  });

  afterAll(async () => {
    await sql.close();
    await server.stop();
  });

  /** Makes a call that changes nothing, whether or not it is authorized. */
  function knock(route: string, headers: Record<string, string>): Promise<ApiAnswer> {
    const [method = '', template = ''] = route.split(' ');
    const prefix = PREFIXES[template.split('/')[2] ?? ''] ?? 'dst';
    const path = template
      .replace('{app}', `app_${UNKNOWN}`)
      .replace('{routeId}', `rte_${UNKNOWN}`)
      .replace('{requestId}', `req_${UNKNOWN}`)
      .replace('{message}', `msg_${UNKNOWN}`)
      .replace('{version}', '1')
      .replace(/\{(id|endpoint)\}/, `${prefix}_${UNKNOWN}`)
      .replace(/\/stream$/, '/stream?follow=false')
      .replace(/\/names$/, `/names?id=dst_${UNKNOWN}`)
      .replace(/\/metrics$/, `/metrics?key=dst_${UNKNOWN}`);
    return server.api(method, path, method === 'GET' || method === 'DELETE' ? undefined : {}, headers);
  }

  it('every route of /openapi.json is in the table above, and no other', async () => {
    type Paths = Record<string, Record<string, { security?: object[] }>>;
    const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as { paths: Paths };

    const operations = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { security }]) => ({
        route: `${method.toUpperCase()} ${path}`,
        isPublic: security?.length === 0,
        isOperators: security?.some((scheme) => 'operatorKey' in scheme) === true,
      })),
    );

    expect(
      operations
        .filter(({ isPublic, isOperators }) => !isPublic && !isOperators)
        .map(({ route }) => route)
        .sort(),
    ).toEqual(Object.keys(ROUTES).sort());
    expect(
      operations
        .filter(({ isOperators }) => isOperators)
        .map(({ route }) => route)
        .sort(),
    ).toEqual(OPERATORS);
    expect(
      operations
        .filter(({ isPublic }) => isPublic)
        .map(({ route }) => route)
        .sort(),
    ).toEqual(PUBLIC);
  });

  it.each(ROWS)('401: %s without a key', async (route) => {
    const answer = await knock(route, { authorization: '' });

    expectRefusal(answer, 401);
    expectRateLimitHeaders(answer.headers);
  });

  it.each(ROWS)('%s accepts scope %s and higher, and returns 403 for lower ones', async (route, needed) => {
    for (const scope of SCOPES) {
      const answer = await knock(route, as(keys[scope]));

      if (SCOPES.indexOf(scope) < SCOPES.indexOf(needed)) {
        expectRefusal(answer, 403);
        expect(answer.json.error.details).toEqual({ required: needed, scope });
        expectRateLimitHeaders(answer.headers);
      } else {
        // A 404 or 422 shows that the call was authorized. (MCP returns 400 for an invalid message.)
        expect([200, 201, 202, 404, 422, ...(route === 'POST /mcp' ? [400] : [])]).toContain(answer.status);
      }
    }
  });

  it.each(ROWS.filter(([route]) => !route.endsWith(' /v1/session')))(
    '%s returns the same for a session of role %s as for a key of that scope',
    async (route) => {
      for (const scope of SCOPES) {
        const [byKey, ...bySession] = [
          await knock(route, as(keys[scope])),
          await knock(route, asPage(members[scope])),
          await knock(route, asPage(opened[scope])),
        ];
        if (KEYS_ALONE.includes(route)) {
          for (const answer of bySession) expectRefusal(answer, 401);
          continue;
        }
        for (const { status, json } of bySession) {
          expect([status, json?.error?.type]).toEqual([byKey.status, byKey.json?.error?.type]);
          if (status === 403) expect(json.error.details).toEqual(byKey.json.error.details);
        }
        for (const cookie of [members[scope], opened[scope]]) {
          const [bare, nowhere] = [
            await knock(route, { authorization: '', cookie }),
            await knock(route, asPage(cookie, null)),
          ];
          expectRefusal(bare, 401);
          expectRefusal(nowhere, 400);
        }
      }
    },
  );

  it.each(['GET /v1/session', 'DELETE /v1/session'])(
    '%s needs a session and no environment; 404 for a key',
    async (route) => {
      for (const scope of SCOPES) expectRefusal(await knock(route, as(keys[scope])), 404);
      const { cookie } = await signedInMember(server, sql, 'read');
      expect((await knock(route, asPage(cookie, null))).status).toBe(route.startsWith('GET') ? 200 : 204);
    },
  );

  it.each(OPERATORS)('401: %s for every scope, and without a key', async (route) => {
    for (const headers of [{ authorization: '' }, asPage(members.admin), ...SCOPES.map((scope) => as(keys[scope]))])
      expectRefusal(await knock(route, headers), 401);
  });

  it('403: HEAD needs the scope of GET', async () => {
    const answer = await server.api('HEAD', '/v1/keys', undefined, as(keys.read));

    expect(answer.status).toBe(403);
  });

  it('a rejected call changes nothing', async () => {
    const before = await server.api('GET', '/v1/org');

    const refused = await Promise.all([
      server.api('PATCH', '/v1/org', { name: 'Taken over' }, as(keys.write)),
      server.api('POST', '/v1/keys', { name: 'Mine', scope: 'admin' }, as(keys.write)),
      server.api('POST', '/v1/destinations', { name: 'Mine', type: 'pull' }, as(keys.read)),
    ]);

    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403]);
    expect((await server.api('GET', '/v1/org')).json).toEqual(before.json);
    expect((await server.api('GET', '/v1/destinations')).json.data).toEqual([]);
    expect((await server.api('GET', '/v1/keys')).json.data.map(({ name }: { name: string }) => name)).not.toContain(
      'Mine',
    );
  });
});
