import { Webhook } from 'standardwebhooks';
import type { PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { expectInvalid } from './answers.js';
import { applicationOf, emit, endpointAt } from './applications.js';
import { arrived as pulledAt } from './pulling.js';
import type { Inbound } from './receiving.js';
import { accepted, change, inbound, json, provide } from './receiving.js';
import { replayed } from './replaying.js';
import type { TargetPath, Targets } from './scene.js';
import { destinationAt, eventIn, eventOf, expectStatus, send, startTargets } from './scene.js';

const TOKEN = 'a token that only the receiver and its owner know';
const EVIL = { 'X-Internal-Token': 'evil', 'x-own': "the provider's" };

/**
 * A destination's static headers always override the headers of a received request, because the sender of the request
 * is not trusted.
 */
describe('static headers of a destination', () => {
  let server: PosthornServer;
  let targets: Targets;

  beforeAll(async () => {
    [server, targets] = await Promise.all([sharedServer(), startTargets()]);
    expectStatus(await server.api('POST', '/v1/secrets', { name: 'TOK', value: TOKEN }), 201);
  });

  afterAll(async () => {
    await Promise.all([server.stop(), targets.close()]);
  });

  const HEADERS = { 'X-Internal-Token': '{{secrets.TOK}}', 'X-Static': 'configured' };

  async function receiving(
    settings: object = {},
    more: object = {},
  ): Promise<{ endpoint: Inbound; target: TargetPath; destination: string }> {
    const target = targets.open();
    const destination = await destinationAt(server, target.url, { headers: HEADERS, ...more });
    return { endpoint: await inbound(server, { destinations: [destination], ...settings }), target, destination };
  }

  const deliveredAt = async (target: TargetPath, id: string): Promise<Record<string, string | undefined>> => {
    await eventIn(server, id, 'delivered');
    return target.posts().at(-1)?.headers as Record<string, string | undefined>;
  };

  it('override a received header of the same name in a signed delivery; other received headers are kept', async () => {
    const { endpoint, target, destination } = await receiving();

    const id = await accepted(server, endpoint, json({ a: 1 }, EVIL));

    const headers = await deliveredAt(target, id);
    expect(headers).toMatchObject({ 'x-internal-token': TOKEN, 'x-static': 'configured', 'x-own': "the provider's" });
    const { secret } = (await server.api('GET', `/v1/destinations/${destination}/secret`)).json;
    new Webhook(secret).verify(String(target.posts()[0]?.rawBody), headers as Record<string, string>);
  });

  it.each([
    ['in capitals', { 'X-INTERNAL-TOKEN': 'evil' }],
    ['repeated', { 'x-internal-token': ['evil', 'eviler'] }],
    ['empty', { 'x-internal-token': '' }],
    // RFC 3875, section 4.1.18: CGI and WSGI map both names to one variable, HTTP_X_INTERNAL_TOKEN.
    ['with underscores', { X_Internal_Token: 'evil', 'x-internal_token': 'evil' }],
  ])('override the same name %s', async (_how, sent) => {
    const { endpoint, target } = await receiving();

    const { status, json: answer } = await provide(server, endpoint.at, {
      body: '{}',
      headers: { 'content-type': 'application/json', ...sent },
    });

    expect(status).toBe(200);
    const headers = await deliveredAt(target, answer.id as string);
    expect(Object.entries(headers).filter(([name]) => name.replaceAll('_', '-') === 'x-internal-token')).toEqual([
      ['x-internal-token', TOKEN],
    ]);
  });

  it('override the headers set by a transform, which may copy received ones', async () => {
    const code = `export default (event) => ({ ...event, headers: { ...event.headers, 'x-internal-token': event.headers['x-own'], 'x-new': 'n' } })`;
    const { endpoint, target } = await receiving({ transform: { engine: 'managed', code, timeoutMs: 2_000 } });

    const headers = await deliveredAt(target, await accepted(server, endpoint, json({}, { 'x-own': 'evil' })));

    expect(headers).toMatchObject({ 'x-internal-token': TOKEN, 'x-new': 'n' });
  });

  it('override in a replay of an event received before they were configured, and in a test of the endpoint', async () => {
    const { endpoint, target, destination } = await receiving({}, { headers: {} });
    const id = await accepted(server, endpoint, json({}, EVIL));
    expect(await deliveredAt(target, id)).toMatchObject({ 'x-internal-token': 'evil' });
    expectStatus(await server.api('PATCH', `/v1/destinations/${destination}`, { headers: HEADERS }), 200);

    await replayed(server, endpoint);
    await target.arrived(2);
    expectStatus(await server.api('POST', `/v1/events/${id}/replay`), 202);
    await target.arrived(3);
    expectStatus(await server.api('POST', `/v1/endpoints/${endpoint.id}/test`, {}), 200);
    await target.arrived(4);

    expect(
      target
        .posts()
        .slice(1)
        .map(({ headers }) => headers['x-internal-token']),
    ).toEqual([TOKEN, TOKEN, TOKEN]);
  });

  it('override at a mirror, and are the only headers of their name in a manually signed delivery', async () => {
    const { endpoint, target } = await receiving({}, { type: 'mirror' });
    const https = await receiving();

    await accepted(server, endpoint, json({}, { ...EVIL, X_Internal_Token: 'evil' }));
    const id = await accepted(server, https.endpoint, json({}, EVIL));
    await eventIn(server, id, 'delivered');

    const [post] = await target.arrived(1);
    expect(post?.headers).toMatchObject({ 'x-internal-token': TOKEN, 'x-own': "the provider's" });
    expect(post?.headers).not.toHaveProperty('x_internal_token');
    const signed = expectStatus(await server.api('POST', `/v1/events/${id}/sign`, {}), 200).json;
    expect(signed.headers).toMatchObject({
      'x-internal-token': '(hidden)',
      'x-static': 'configured',
      'x-own': "the provider's",
    });
  });

  it('of a pull destination: received headers of the same names are not shown', async () => {
    const pull = expectStatus(
      await server.api('POST', '/v1/destinations', { name: 'Pulled', type: 'pull', headers: HEADERS }),
      201,
    ).json.id as string;
    const endpoint = await inbound(server, { destinations: [pull] });
    await accepted(server, endpoint, json({}, { ...EVIL, X_Static: 'evil' }));
    await send(server, pull, { headers: { 'x-static': 'trusted' } });

    const { data } = await pulledAt(server, pull, 2);

    expect(
      data.map(({ headers }) => [
        headers['x-internal-token'],
        headers['x-static'],
        headers['x_static'],
        headers['x-own'],
      ]),
    ).toEqual([
      [undefined, undefined, undefined, "the provider's"],
      [undefined, 'trusted', undefined, undefined],
    ]);
  });

  it('are overridden by the headers of a send and of an application event, whose callers have a key', async () => {
    const [target, own] = [targets.open(), targets.open()];
    const destination = await destinationAt(server, target.url, { headers: HEADERS });
    const application = await applicationOf(server);
    await endpointAt(server, application, own.url, { headers: HEADERS });

    await send(server, destination, { headers: { 'X-Internal-Token': 'of the caller' } });
    await emit(server, application, { headers: { 'x-static': 'of the caller' } });

    const [[sent], [emitted]] = await Promise.all([target.arrived(1), own.arrived(1)]);
    expect(sent?.headers).toMatchObject({ 'x-internal-token': 'of the caller', 'x-static': 'configured' });
    expect(emitted?.headers).toMatchObject({ 'x-internal-token': TOKEN, 'x-static': 'of the caller' });
  });

  it('do not change the event, which shows the received headers', async () => {
    const { endpoint } = await receiving();

    const id = await accepted(server, endpoint, json({}, EVIL));

    expect((await eventOf(server, id)).headers).toMatchObject({ 'x-internal-token': 'evil' });
  });

  describe('422: the literal (hidden) as a header value, which read keys get in place of a secret', () => {
    const hidden = { 'x-ok': 'ok', Authorization: '(hidden)' };

    it('of a destination, new and changed; the stored value stays', async () => {
      const target = targets.open();
      const destination = await destinationAt(server, target.url, { headers: { authorization: 'Bearer real' } });

      const answers = [
        await server.api('POST', '/v1/destinations', { name: 'A', type: 'https', url: target.url, headers: hidden }),
        await server.api('PATCH', `/v1/destinations/${destination}`, { headers: hidden }),
        await server.api('POST', '/v1/destinations', { name: 'A', type: 'pull', headers: hidden }),
      ];

      for (const answer of answers) expect(expectInvalid(answer, 'schema')).toEqual(['headers.Authorization']);
      expectStatus(await server.api('PATCH', `/v1/destinations/${destination}`, { name: 'Renamed' }), 200);
      expect((await server.api('GET', `/v1/destinations/${destination}`)).json.headers).toEqual({
        authorization: 'Bearer real',
      });
    });

    it("of an application's endpoint, new and changed", async () => {
      const application = await applicationOf(server);
      const { id } = await endpointAt(server, application, targets.open().url, { headers: { 'x-token': 'real' } });

      expectInvalid(
        await server.api('POST', `/v1/app/${application}/endpoints`, { url: targets.open().url, headers: hidden }),
        'schema',
        'headers.Authorization',
      );
      expectInvalid(
        await server.api('PATCH', `/v1/app/${application}/endpoints/${id}`, { headers: { 'x-token': '(hidden)' } }),
        'schema',
        'headers.x-token',
      );
      expect((await server.api('GET', `/v1/app/${application}/endpoints/${id}`)).json.headers).toEqual({
        'x-token': 'real',
      });
    });

    it('of a send, an application event and an email', async () => {
      const destination = await destinationAt(server, targets.open().url);
      const application = await applicationOf(server);

      expectInvalid(
        await server.api('POST', '/v1/send', { destination, event_type: 'a', payload: {}, headers: hidden }),
        'schema',
        'headers.Authorization',
      );
      expectInvalid(
        await server.api('POST', `/v1/app/${application}/event`, { event_type: 'a', payload: {}, headers: hidden }),
        'schema',
        'headers.Authorization',
      );
      const email = {
        from: 'a@localhost',
        to: 'b@example.com',
        subject: 'S',
        text: 'T',
        headers: { 'X-Tracking': '(hidden)' },
      };
      expect((await server.api('POST', '/v1/emails', email)).json.error.details.fields).toContainEqual({
        path: 'headers.X-Tracking',
        message: expect.stringContaining('(hidden)'),
      });
    });

    it("of an endpoint's responses", async () => {
      const endpoint = await inbound(server);
      const rules = {
        rules: [{ when: { type: 'method', op: 'eq', value: 'GET' }, respond: { headers: { 'x-a': '(hidden)' } } }],
        default: { headers: { 'x-b': '(hidden)' } },
      };

      expectInvalid(
        await server.api('PATCH', `/v1/endpoints/${endpoint.id}`, {
          response: { type: 'static', headers: { 'x-a': '(hidden)' } },
        }),
        'schema',
        'response.headers.x-a',
      );
      expectInvalid(
        await server.api('POST', '/v1/endpoints', { slug: 'hidden', responseRules: rules }),
        'schema',
        'responseRules.rules.0.respond.headers.x-a',
        'responseRules.default.headers.x-b',
      );
      await change(server, endpoint, { response: { type: 'static', headers: { 'x-a': 'hidden' } } });
    });

    it('200: similar texts are ordinary values', async () => {
      const headers = { 'x-a': 'hidden', 'x-b': '(HIDDEN)', 'x-c': 'Bearer (hidden)' };
      const destination = await destinationAt(server, targets.open().url, { headers });

      expect((await server.api('GET', `/v1/destinations/${destination}`)).json.headers).toEqual(headers);
    });
  });
});
