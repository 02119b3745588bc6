import { type PosthornServer, startServer } from '../support/server.js';
import { connectAgent } from './agent.js';
import { as, createKey, expectRefusal, REQUEST_ID, TIMESTAMP } from './answers.js';
import { browserOf, CALLBACK, codeFor, form, pkce, registered } from './oauth.js';
import { until } from './polling.js';
import { expectStatus, openSql, type Sql } from './scene.js';
import { asPage, signedInMember } from './sessions.js';
import { PlainBrowser } from './signing-in.js';

interface Entry {
  id: string;
  at: string;
  actor: { kind: string; id: string | null; name: string | null; source: string | null; session: string | null };
  action: string;
  resource_type: string | null;
  resource_id: string | null;
  ip: string | null;
  user_agent: string | null;
  request_id: string | null;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
}

describe('the audit log', () => {
  let server: PosthornServer;
  let sql: Sql;

  beforeAll(async () => {
    server = await startServer({ TRUST_PROXY: '127.0.0.0/8' });
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
  });

  async function entries(query: Record<string, string> = {}, key = server.apiKey): Promise<Entry[]> {
    return expectStatus(
      await server.api(
        'GET',
        `/v1/audit?${new URLSearchParams({ limit: '100', ...query }).toString()}`,
        undefined,
        as(key),
      ),
      200,
    ).json.data;
  }

  it('an entry shows the actor, the client address, and the values before and after', async () => {
    const { id, key } = await createKey(server, { name: 'Deployer', scope: 'admin' });
    const headers = { ...as(key), 'user-agent': 'deployer/1.0', 'x-forwarded-for': '203.0.113.7' };
    const pull = expectStatus(
      await server.api('POST', '/v1/destinations', { name: 'First', type: 'pull' }, headers),
      201,
    );
    expectStatus(await server.api('PATCH', `/v1/destinations/${pull.json.id}`, { name: 'Second' }, headers), 200);
    expectStatus(await server.api('DELETE', `/v1/destinations/${pull.json.id}`, undefined, headers), 204);

    const [removed, changed, made, ...older] = await entries({ actor: id });

    expect(older).toEqual([]);
    expect(made).toMatchObject({
      actor: { kind: 'key', id, name: 'Deployer', source: 'api' },
      action: 'POST /v1/destinations',
      resource_type: 'destinations',
      resource_id: pull.json.id,
      ip: '203.0.113.7',
      user_agent: 'deployer/1.0',
      request_id: pull.headers.get('x-request-id'),
      before: null,
      after: { id: pull.json.id, name: 'First' },
    });
    expect([made?.at, made?.request_id]).toEqual([expect.stringMatching(TIMESTAMP), expect.stringMatching(REQUEST_ID)]);
    expect(changed).toMatchObject({
      action: 'PATCH /v1/destinations/:id',
      before: { name: 'First' },
      after: { name: 'Second' },
    });
    expect(Object.keys(changed?.before ?? {})).not.toContain('type');
    expect(removed).toMatchObject({ action: 'DELETE /v1/destinations/:id', before: { name: 'Second' }, after: null });
  });

  it.each([
    ['the six characters \\u0000', '\\u0000'],
    ['seven characters', '\\\\u0000'],
    ['the six characters \\ud800', '\\ud800'],
  ])('200: a name of %s is changed, and the entry shows it unchanged', async (_, name) => {
    const { id, key } = await createKey(server, { scope: 'write' });
    const pull = (await server.api('POST', '/v1/destinations', { name: 'Plain', type: 'pull' })).json.id as string;

    const changed = expectStatus(await server.api('PATCH', `/v1/destinations/${pull}`, { name }, as(key)), 200);

    expect(changed.json.name).toBe(name);
    expect(await entries({ actor: id })).toMatchObject([
      { action: 'PATCH /v1/destinations/:id', before: { name: 'Plain' }, after: { name } },
    ]);
  });

  it('201: the entry shows a field name of the six characters \\u0000 unchanged', async () => {
    const { id, key } = await createKey(server, { scope: 'write' });

    expectStatus(
      await server.api('POST', '/v1/app', { name: 'A customer', metadata: { '\\u0000': '\\ud800' } }, as(key)),
      201,
    );

    expect(await entries({ actor: id })).toMatchObject([{ after: { metadata: { '\\u0000': '\\ud800' } } }]);
  });

  it('503: without the partition of the month nothing is changed, but the call creates the partition; 200 for the next call', async () => {
    const pull = (await server.api('POST', '/v1/destinations', { name: 'First', type: 'pull' })).json.id as string;
    await sql.rows(
      `do $$ begin execute 'alter table audit_log detach partition audit_log_' || to_char(now() at time zone 'utc', 'YYYYMM'); execute 'drop table audit_log_' || to_char(now() at time zone 'utc', 'YYYYMM'); end $$`,
    );

    const refused = await server.api('PATCH', `/v1/destinations/${pull}`, { name: 'Second' });
    const kept = await server.api('GET', `/v1/destinations/${pull}`);
    const again = await server.api('PATCH', `/v1/destinations/${pull}`, { name: 'Second' });

    expect([refused.status, kept.json.name, again.status]).toEqual([503, 'First', 200]);
  });

  it('contains no secret, neither one that was sent nor one that was returned', async () => {
    const { key } = await createKey(server, { scope: 'write' });
    const { json: secret } = await server.api('POST', '/v1/secrets', { name: 'TOKEN', value: 'hunter2-hunter2' });
    await server.api('PUT', `/v1/secrets/${secret.id}`, { value: 'hunter3-hunter3' });
    const rotated = await server.api('POST', '/v1/signing-secret/rotate', { grace_seconds: 0 });
    const endpoint = await server.api('POST', '/v1/endpoints', { slug: 'audited' });
    await server.api('PUT', `/v1/endpoints/${endpoint.json.id}/secret`, { secret: 'hunter4-hunter4' });
    const { json: again } = await server.api(
      'POST',
      `/v1/keys/${(await createKey(server, { scope: 'read' })).id}/rotate`,
      {},
    );

    const [{ log } = { log: '' }] = await sql.rows<{ log: string }>(
      'select string_agg(audit_log::text, chr(10)) as log from audit_log',
    );

    expect(log).toContain('PUT /v1/endpoints/:id/secret');
    expect(log).toContain('[secret]');
    for (const text of [key, 'hunter2', 'hunter3', 'hunter4', rotated.json.secret, again.key, server.apiKey])
      expect(log).not.toContain(text);
  });

  it('copies no content of messages, so that erased content is gone', async () => {
    const { id, key } = await createKey(server, { scope: 'write' });
    const pull = (await server.api('POST', '/v1/destinations', { name: 'Held', type: 'pull' })).json.id as string;
    const endpoint = (await server.api('POST', '/v1/endpoints', { slug: 'held', destinations: [pull] })).json;
    const received = (await (await fetch(endpoint.url, { method: 'POST', body: 'a-private-text' })).json()) as {
      id: string;
    };
    expectStatus(
      await server.api('POST', `/v1/endpoints/${endpoint.id}/requests/req_${received.id.slice(4)}/replay`, {}, as(key)),
      202,
    );
    expectStatus(await server.api('DELETE', `/v1/events/${received.id}/payload`, undefined, as(key)), 204);

    const noted = await entries({ actor: id });

    expect(noted.map(({ action }) => action)).toEqual([
      'DELETE /v1/events/:id/payload',
      'POST /v1/endpoints/:id/requests/:requestId/replay',
    ]);
    expect(noted[0]).toMatchObject({ resource_type: 'events', resource_id: received.id, before: null, after: null });
    expect(JSON.stringify(noted)).not.toContain('private');
  });

  it('shows the result of a rotation and of a creation', async () => {
    const old = await createKey(server, { scope: 'read', name: 'Rotated' });
    const { json: next } = await server.api('POST', `/v1/keys/${old.id}/rotate`, { grace_seconds: 60 });
    const app = (await server.api('POST', '/v1/app', { name: 'Audited' })).json.id as string;
    const { json: made } = await server.api('POST', '/v1/event-types', { name: 'audited.made' });

    expect((await entries({ resource: old.id }))[0]).toMatchObject({
      action: 'POST /v1/keys/:id/rotate',
      before: { expires_at: null },
      after: { made: next.id },
    });
    expect((await entries({ resource: app }))[0]).toMatchObject({ after: { name: 'Audited' } });
    expect((await entries({ action: 'POST /v1/event-types' }))[0]).toMatchObject({ after: { name: made.name } });
  });

  it('names the changed object by its id, even if the caller used its uid', async () => {
    const { id, key } = await createKey(server, { scope: 'write' });
    const app = (await server.api('POST', '/v1/app', { uid: 'named', name: 'Named' }, as(key))).json.id as string;
    const pull = (await server.api('POST', '/v1/destinations', { name: 'Named', type: 'pull' })).json.id as string;
    const endpoint = (await server.api('POST', '/v1/app/named/endpoints', { destination: pull, uid: 'own' }, as(key)))
      .json.id as string;
    const type = (await server.api('POST', '/v1/event-types', { name: 'named.made' }, as(key))).json.name as string;
    const suppression = (await server.api('POST', '/v1/suppressions', { email: 'named@customer.example' }, as(key)))
      .json.id as string;
    expectStatus(await server.api('PATCH', '/v1/app/named', { name: 'Renamed' }, as(key)), 200);
    expectStatus(await server.api('PATCH', '/v1/app/named/endpoints/own', { description: 'Changed' }, as(key)), 200);
    expectStatus(await server.api('DELETE', '/v1/suppressions/named@customer.example', undefined, as(key)), 204);

    expect(
      (await entries({ actor: id }))
        .reverse()
        .map(({ action, resource_type, resource_id }) => [action, resource_type, resource_id]),
    ).toEqual([
      ['POST /v1/app', 'app', app],
      ['POST /v1/app/:app/endpoints', 'endpoints', endpoint],
      ['POST /v1/event-types', 'event-types', type],
      ['POST /v1/suppressions', 'suppressions', suppression],
      ['PATCH /v1/app/:app', 'app', app],
      ['PATCH /v1/app/:app/endpoints/:endpoint', 'endpoints', endpoint],
      ['DELETE /v1/suppressions/:id', 'suppressions', suppression],
    ]);
    expect((await entries({ resource: endpoint })).map(({ action }) => action)).toEqual([
      'PATCH /v1/app/:app/endpoints/:endpoint',
      'POST /v1/app/:app/endpoints',
    ]);
  });

  it('the removal of a route appears as a change of its endpoint; a call that found an existing object has an empty difference', async () => {
    const { id, key } = await createKey(server, { scope: 'write' });
    const pull = (await server.api('POST', '/v1/destinations', { name: 'Routed', type: 'pull' })).json.id as string;
    const endpoint = (await server.api('POST', '/v1/endpoints', { slug: 'routed', destinations: [pull] })).json;
    expectStatus(
      await server.api('DELETE', `/v1/endpoints/${endpoint.id}/routes/${endpoint.routes[0].id}`, undefined, as(key)),
      204,
    );
    await server.api('POST', '/v1/app', { uid: 'there', name: 'There' });
    expectStatus(await server.api('POST', '/v1/app?get_if_exists=true', { uid: 'there' }, as(key)), 200);

    const [there, removed] = await entries({ actor: id });

    expect(removed).toMatchObject({
      resource_type: 'routes',
      resource_id: endpoint.routes[0].id,
      before: { routes: endpoint.routes },
      after: { routes: [] },
    });
    expect(removed?.after).not.toHaveProperty('slug');
    expect(there).toMatchObject({ action: 'POST /v1/app', before: {}, after: {} });
  });

  it('shows the owner of an ended session, and which portals were closed', async () => {
    const { id: member, email, cookie } = await signedInMember(server, sql, 'admin');
    const session = (await server.api('GET', '/v1/sessions')).json.data.find(
      (each: { member: string }) => each.member === member,
    ).id as string;
    const app = (await server.api('POST', '/v1/app', { name: 'With portals' })).json.id as string;
    const portals = [
      (await server.api('POST', `/v1/app/${app}/portal`, {})).json.id as string,
      (await server.api('POST', `/v1/app/${app}/portal`, {})).json.id as string,
    ];
    expectStatus(await server.api('DELETE', `/v1/app/${app}/portal`, undefined, asPage(cookie)), 204);
    expectStatus(await server.api('DELETE', `/v1/sessions/${session}`), 204);

    const [[ended], [closed]] = [
      await entries({ resource: session }),
      await entries({ resource: app, action: 'DELETE /v1/app/:app/portal' }),
    ];

    expect(ended).toMatchObject({
      action: 'DELETE /v1/sessions/:id',
      before: { id: session, member, email },
      after: null,
    });
    expect(closed).toMatchObject({ actor: { kind: 'member', id: member, name: email, session }, after: null });
    expect([...(closed?.before?.['portals'] as string[])].sort()).toEqual([...portals].sort());
  });

  it('the actor of an agent is its granted key, and calls of its tools have its address', async () => {
    const client = await registered(server);
    const { verifier, challenge } = pkce();
    const code = await codeFor(await browserOf(server), client, challenge);
    const { json: granted } = await form(server, '/oauth/token', {
      grant_type: 'authorization_code',
      client_id: client,
      redirect_uri: CALLBACK,
      code,
      code_verifier: verifier,
    });
    const app = (await server.api('POST', '/v1/app', { name: 'Looked at' })).json.id as string;
    expectStatus(
      await server.api('POST', `/v1/app/${app}/portal/preview`, {}, as(granted.access_token as string)),
      201,
    );
    const { id, key } = await createKey(server, { scope: 'write', name: 'Tools' });
    const agent = await connectAgent(server, key);
    await agent.call('redrive_dead_letters');
    await agent.close();

    expect((await entries({ action: 'POST /v1/app/:app/portal/preview', resource: app }))[0]?.actor).toMatchObject({
      kind: 'key',
      id: expect.stringMatching(/^ek_/),
      name: 'An assistant',
      source: 'oauth',
    });
    expect((await entries({ action: 'oauth.granted' }))[0]).toMatchObject({
      actor: { kind: 'key', session: expect.stringMatching(/^ses_/) },
      resource_id: client,
    });
    expect(await entries({ actor: id })).toMatchObject([
      { action: 'POST /v1/dlq/redrive', actor: { kind: 'key', name: 'Tools', source: 'api' }, ip: '127.0.0.1' },
    ]);
  });

  it('rejected requests, reads and traffic leave no entry', async () => {
    const { id, key } = await createKey(server, { scope: 'admin' });
    const target = (await server.api('POST', '/v1/destinations', { name: 'Traffic', type: 'pull' }, as(key))).json
      .id as string;
    const before = (await entries({ actor: id })).length;
    expectStatus(
      await server.api('POST', '/v1/send', { destination: target, event_type: 'a', payload: {} }, as(key)),
      202,
    );
    await server.api('GET', '/v1/destinations', undefined, as(key));
    await server.api('PATCH', `/v1/destinations/${target}`, { nonsense: 1 }, as(key));
    await server.api('GET', `/v1/pull/${target}`, undefined, as(key));

    expect(await entries({ actor: id })).toHaveLength(before);
  });

  it('one effect has one entry: a repeated Idempotency-Key adds none', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const [first, again] = [
      await server.api('POST', '/v1/members', { email: 'once@customer.example', role: 'read' }, headers),
      await server.api('POST', '/v1/members', { email: 'once@customer.example', role: 'read' }, headers),
    ];

    expect([first.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
    expect(await entries({ resource: first.json.id })).toHaveLength(1);
  });

  it('a change of access and its entry are committed together', async () => {
    const { id } = await createKey(server, { scope: 'read' });
    const [row] = await sql.rows<{ same: boolean }>(
      `
      select k.xmin = a.xmin as same from api_keys k, audit_log a where a.resource_id = $1 and a.action = 'POST /v1/keys' and k.name = 'A key' and k.xmin = a.xmin`,
      [id],
    );

    expect(row?.same).toBe(true);
  });

  it('is append-only', async () => {
    await createKey(server, { scope: 'read' });
    const [{ name } = { name: '' }] = await sql.rows<{ name: string }>(
      `select tableoid::regclass::text as name from audit_log limit 1`,
    );

    for (const text of [
      'update audit_log set action = $$x$$',
      'delete from audit_log',
      'truncate audit_log',
      `update ${name} set action = $$x$$`,
      `delete from ${name}`,
      `truncate ${name}`,
    ]) {
      await expect(sql.rows(text)).rejects.toThrow('can be added to, and nothing else');
    }
  });

  it('filters and paginates, and rejects a cursor of another query', async () => {
    const { id, key } = await createKey(server, { scope: 'admin' });
    for (let i = 0; i < 3; i += 1)
      await server.api('POST', '/v1/destinations', { name: `Page ${i}`, type: 'pull' }, as(key));
    const first = (await server.api('GET', `/v1/audit?actor=${id}&limit=2`)).json;
    const rest = (await server.api('GET', `/v1/audit?actor=${id}&limit=2&cursor=${first.next_cursor}`)).json;

    expect([...first.data, ...rest.data].map((entry: Entry) => entry.after?.['name'])).toEqual([
      'Page 2',
      'Page 1',
      'Page 0',
    ]);
    expect(rest.next_cursor).toBeNull();
    expectRefusal(await server.api('GET', `/v1/audit?cursor=${first.next_cursor}`), 400);
    expectRefusal(await server.api('GET', '/v1/audit?since=yesterday'), 400);
    const { at } = rest.data[0] as Entry;
    expect(await entries({ actor: id, until: at })).toEqual([]);
    expect(await entries({ actor: id, since: at })).toHaveLength(3);
    expect((await entries({ actor: id, action: 'POST /v1/destinations', resource: 'destinations' })).length).toBe(3);
  });

  it('exports everything as JSON lines and as CSV, without formulas in the CSV', async () => {
    const { id, key } = await createKey(server, { scope: 'admin', name: '=HYPERLINK("https://evil.example")' });
    await server.api(
      'POST',
      '/v1/destinations',
      { name: 'Exported', type: 'pull' },
      { ...as(key), 'user-agent': '@SUM(1+1)' },
    );

    const lines = await server.api('GET', `/v1/audit/export?actor=${id}`);
    const csv = await server.api('GET', `/v1/audit/export?actor=${id}&format=csv`);

    expect(
      lines.text
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as Entry).action),
    ).toEqual(['POST /v1/destinations']);
    expect(csv.headers.get('content-type')).toBe('text/csv');
    expect(csv.text.split('\r\n')[0]).toMatch(/^id,at,actor_kind/);
    expect(csv.text).toContain(`,"'=HYPERLINK(""https://evil.example"")",`);
    expect(csv.text).toContain(`,'@SUM(1+1),`);
  });

  it('shows a test key no entry of live or of the organization', async () => {
    const { key } = await createKey(server, { scope: 'admin', environment: 'test' });
    const made = await server.api('POST', '/v1/destinations', { name: 'In test', type: 'pull' }, as(key));

    const seen = await entries({}, key);

    expect(seen.map(({ resource_id }) => resource_id)).toEqual([made.json.id]);
    expect(await entries({ resource: made.json.id })).toEqual([]);
  });

  it('records successful and failed sign-ins', async () => {
    const browser = new PlainBrowser(server, '198.51.100.9');
    const { id, key } = await createKey(server, { scope: 'admin' });
    await browser.post('/signin/key', { key });

    expect(await entries({ action: 'sign-in.succeeded', actor: id })).toEqual([
      expect.objectContaining({ ip: '198.51.100.9', after: { how: 'key' } }),
    ]);
    await browser.post('/signin/key', { key: 'ek_live_000000000000000000000000' });
    expect(await sql.rows(`select ip from audit_log where action = 'sign-in.failed'`)).toEqual([
      { ip: '198.51.100.9' },
    ]);
  });

  it('drops months that are past their retention', async () => {
    await sql.rows(
      `create table audit_log_202001 partition of audit_log for values from ('2020-01-01') to ('2020-02-01')`,
    );

    const again = await startServer(server.env);
    const [left] = await until(
      () => sql.rows(`select to_regclass('audit_log_202001') as name`),
      ([row]) => row?.['name'] === null,
      20_000,
    );
    await again.stop();

    expect(left).toEqual({ name: null });
  });
});
