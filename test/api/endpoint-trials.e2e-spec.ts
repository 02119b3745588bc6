import { PRESETS } from '../../src/engine/inbound/presets.js';
import { type PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { accepted, type Inbound, inbound, type Json, json, provide, requestsOf, setSecret } from './receiving.js';
import { expectStatus } from './scene.js';

describe('trying unsaved settings on a stored request', () => {
  let server: PosthornServer;

  beforeAll(async () => {
    server = await sharedServer();
  });

  afterAll(async () => {
    await server?.stop();
  });

  async function tried(endpoint: Inbound, draft: object): Promise<Json> {
    return expectStatus(await server.api('POST', `/v1/endpoints/${endpoint.id}/trial`, draft), 200).json;
  }

  const managed = (code: string): object => ({ engine: 'managed', code, timeoutMs: 2000 });

  it('200: unsaved filters, a transform and rules are evaluated on a stored request; nothing is stored or sent', async () => {
    const endpoint = await inbound(server);
    const request = await accepted(server, endpoint, json({ type: 'invoice.paid', amount: 4200 }, { 'x-old': '1' }));

    const answer = await tried(endpoint, {
      request,
      transform: managed(
        `export default ({ headers: { 'x-old': old, ...headers }, ...event }) => ({ ...event, event_type: 'bill.' + event.body.amount, headers: { ...headers, 'x-new': old }, body: { paid: event.body.amount } })`,
      ),
      routes: [
        { filter: { path: '$.paid', op: 'eq', value: '4200' } },
        { destination: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1', filter: { path: '$.amount', op: 'exists' } },
        {},
      ],
      responseRules: {
        rules: [
          { when: { type: 'method', op: 'eq', value: 'GET' }, respond: {} },
          {
            when: { type: 'json', path: '$.type', op: 'eq', value: 'invoice.paid' },
            respond: { status: 202, body: 'took {{body.amount}}' },
          },
        ],
      },
    });

    expect(answer).toEqual({
      outcome: 'routed',
      verified: null,
      verification_reason: null,
      event_type: 'bill.4200',
      transform: 'ran',
      transform_error: null,
      logs: null,
      body: '{"paid":4200}',
      headers_set: { 'x-new': '1' },
      headers_removed: ['x-old'],
      routes: [
        { destination: null, matches: true },
        { destination: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1', matches: false },
        { destination: null, matches: true },
      ],
      answer: { rule: 1, status: 202, headers: expect.anything(), body: 'took 4200' },
    });
    expect(await requestsOf(server, endpoint)).toHaveLength(1);
  });

  it('200: omitted settings are the saved ones; for a transform that throws, the response names the line and says whether the event would be parked or, failing open, continue', async () => {
    const endpoint = await inbound(server, {
      destinations: [(await server.api('POST', '/v1/destinations', { name: 'Pull', type: 'pull' })).json.id],
    });
    const request = await accepted(server, endpoint, json({ type: 'a' }));
    const broken = 'export default (event) => {\n  return event.body.missing.member;\n}';

    expect(await tried(endpoint, { request })).toMatchObject({
      outcome: 'routed',
      transform: 'none',
      event_type: 'a',
      body: null,
      routes: [{ matches: true }],
      answer: null,
    });
    expect(await tried(endpoint, { request, transform: managed(broken) })).toMatchObject({
      outcome: 'parked',
      transform: 'failed',
      transform_error: expect.stringMatching(/line 2/),
    });
    expect(await tried(endpoint, { request, transform: { ...managed(broken), failMode: 'open' } })).toMatchObject({
      outcome: 'routed',
      transform: 'failed',
    });
    expect(await tried(endpoint, { request, transform: managed('export default () => null') })).toMatchObject({
      outcome: 'ignored',
      transform: 'dropped',
    });
  });

  it('200: a failed signature is verified again with the current secret', async () => {
    const endpoint = await inbound(server, { preset: 'github' });
    await setSecret(server, endpoint, 'wrong');
    const sent = json({ action: 'opened' }, { 'x-github-event': 'issues', 'x-hub-signature-256': 'sha256=00' });
    expectStatus(await provide(server, endpoint.at, sent), 401);
    const [{ id: request }] = await requestsOf(server, endpoint);

    expect(await tried(endpoint, { request })).toMatchObject({
      outcome: 'quarantined',
      verified: false,
      verification_reason: expect.any(String),
      event_type: 'issues.opened',
    });
  });

  it('the response contains no secret value and no authentication header', async () => {
    await server.api('POST', '/v1/secrets', { name: 'CRM_TOKEN', value: 'tok-very-secret' });
    const endpoint = await inbound(server);
    const request = await accepted(
      server,
      endpoint,
      json({ type: 'a' }, { authorization: 'Bearer provider-secret', cookie: 'id=provider-cookie' }),
    );

    const answer = await tried(endpoint, {
      request,
      transform: managed(
        'export default (event, { secrets }) => ({ body: { ...event.headers, token: secrets.CRM_TOKEN, other: secrets.OTHER ?? null } })',
      ),
    });

    expect(JSON.parse(answer.body)).toMatchObject({
      token: '(CRM_TOKEN)',
      other: null,
      authorization: '(hidden)',
      cookie: '(hidden)',
    });
    expect(JSON.stringify(answer)).not.toMatch(/very-secret|provider-secret|provider-cookie/);
  });

  it('422 with the path of each invalid setting, 404 for requests of other endpoints, 409 for an erased one, 403 for a read key', async () => {
    const [endpoint, other] = [await inbound(server), await inbound(server)];
    const request = await accepted(server, endpoint, json({ type: 'a' }));
    const at = `/v1/endpoints/${endpoint.id}/trial`;
    const { key } = (await server.api('POST', '/v1/keys', { name: 'Reader', scope: 'read' })).json;

    const faulty = await server.api('POST', at, {
      request,
      transform: { engine: 'managed' },
      routes: [{}, { filter: { path: 'x', op: 'eq', value: 1 } }],
      responseRules: { rules: [{ when: {}, respond: {} }] },
    });
    expect([faulty.status, (faulty.json.error.details.fields as { path: string }[]).map(({ path }) => path)]).toEqual([
      422,
      expect.arrayContaining([
        'transform.code',
        expect.stringMatching(/^routes\.1\.filter/),
        expect.stringMatching(/^responseRules/),
      ]),
    ]);
    expect((await server.api('POST', `/v1/endpoints/${other.id}/trial`, { request })).status).toBe(404);
    expect((await server.api('POST', at, { request }, { authorization: `Bearer ${key}` })).status).toBe(403);
    expectStatus(await server.api('DELETE', `/v1/events/${request}/payload`), 204);
    expect((await server.api('POST', at, { request })).status).toBe(409);
  });

  it('lists every preset with the settings that its provider needs', async () => {
    const { data } = (await server.api('GET', '/v1/presets')).json as { data: Json[] };

    expect(data.map(({ id }) => id)).toEqual([...PRESETS.keys()]);
    expect(data.find(({ id }) => id === 'slack')).toEqual({
      id: 'slack',
      name: 'Slack',
      secret: 'The signing secret of the app.',
      response: 'slack-challenge',
      checks_url: false,
      has_id: expect.any(Boolean),
      retries: expect.stringContaining('three seconds'),
    });
    expect(data.find(({ id }) => id === 'trello')).toMatchObject({ checks_url: true });
  });
});
