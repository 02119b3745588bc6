import { createHmac } from 'node:crypto';
import Stripe from 'stripe';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { as, createKey, expectInvalid, expectRefusal, TIMESTAMP } from './answers.js';
import type { Inbound, Json } from './receiving.js';
import { accepted, change, inbound, json, provide, requestOf, requestsOf, setSecret, whsec } from './receiving.js';
import type { Sql, Targets } from './scene.js';
import { destinationAt, eventIn, eventOf, expectStatus, openSql, startTargets, uuidOf } from './scene.js';

const { webhooks: stripe } = new Stripe('sk_test_1');
const ADYEN_KEY = '44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056';

describe('raw requests', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;

  beforeAll(async () => {
    [server, targets] = await Promise.all([startServer(), startTargets()]);
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql.close();
    await server.stop();
    await targets.close();
  });

  const replay = (endpoint: Inbound, request: string, headers: Record<string, string> = {}): Promise<ApiAnswer> =>
    server.api('POST', `/v1/endpoints/${endpoint.id}/requests/${request}/replay`, undefined, headers);

  describe('list and detail', () => {
    it('200: newest first, in pages without gaps, including rejected requests', async () => {
      const endpoint = await inbound(server);
      const ids: string[] = [];
      for (let n = 0; n < 5; n += 1) ids.push((await accepted(server, endpoint, json({ n }))).replace('evt_', 'req_'));
      const path = `/v1/endpoints/${endpoint.id}/requests`;

      const pages: Json[] = [];
      let cursor: string | null = null;
      do {
        const page: ApiAnswer = expectStatus(
          await server.api('GET', `${path}?limit=2${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`),
          200,
        );
        pages.push(page.json.data);
        cursor = page.json.next_cursor;
      } while (cursor !== null);

      expect(pages.map((page) => page.length)).toEqual([2, 2, 1]);
      expect(pages.flat().map(({ id }: Json) => id)).toEqual(ids.reverse());
      const [first] = pages[0];
      expect(first).toEqual({
        id: ids[0],
        event_id: ids[0]?.replace('req_', 'evt_'),
        method: 'POST',
        path: '',
        status: 'ignored',
        verified: null,
        received_at: expect.stringMatching(TIMESTAMP),
        size_bytes: 7,
        dedupe_id: null,
        note: null,
        replay_of: null,
        released_at: null,
      });
    });

    it.each<[string, object, Record<string, string>]>([
      ['authorization', {}, { authorization: 'Bearer hunter2' }],
      ['cookie', {}, { cookie: 'session=hunter2' }],
      ['x-gitlab-token', { preset: 'gitlab' }, { 'x-gitlab-token': 'hunter2' }],
      ['x-mine', { verification: 'api-key', verificationConfig: { header: 'x-mine' } }, { 'x-mine': 'hunter2' }],
    ])(
      '200: %s is shown to scope write and hidden from scope read, also after the endpoint has changed',
      async (name, settings, headers) => {
        const endpoint = await inbound(server, settings);
        if ('preset' in settings || 'verification' in settings) await setSecret(server, endpoint, 'hunter2');
        const id = await accepted(server, endpoint, {
          body: '{"object_kind":"push"}',
          headers: { 'content-type': 'application/json', 'x-plain': 'hello', ...headers },
        });
        const [reader, writer] = [
          as((await createKey(server, { scope: 'read' })).key),
          as((await createKey(server, { scope: 'write' })).key),
        ];
        const shownTo = async (key: Record<string, string>, query = ''): Promise<[string, string][]> =>
          expectStatus(
            await server.api('GET', `/v1/endpoints/${endpoint.id}/requests/${id}${query}`, undefined, key),
            200,
          ).json.headers;

        for (const turn of ['as it came', 'without verification']) {
          if (turn !== 'as it came')
            expectStatus(
              await server.api(
                'PATCH',
                `/v1/endpoints/${endpoint.id}`,
                'preset' in settings ? { preset: null } : { verification: 'none' },
              ),
              200,
            );
          expect([turn, ...(await shownTo(writer))]).toEqual(
            expect.arrayContaining([turn, [name, headers[name]], ['x-plain', 'hello']]),
          );
          for (const shown of [await shownTo(reader), await shownTo(writer, '?hide_secrets=true')]) {
            expect([turn, ...shown]).toEqual(expect.arrayContaining([turn, [name, '(hidden)'], ['x-plain', 'hello']]));
            expect(JSON.stringify(shown)).not.toContain('hunter2');
          }
        }
      },
    );

    it('400: a cursor of another endpoint, and an invalid one', async () => {
      const [one, two] = [await inbound(server), await inbound(server)];
      for (let n = 0; n < 2; n += 1) await accepted(server, one, json({ n }));
      const { next_cursor: cursor } = (await server.api('GET', `/v1/endpoints/${one.id}/requests?limit=1`)).json;

      expectRefusal(
        await server.api('GET', `/v1/endpoints/${two.id}/requests?cursor=${encodeURIComponent(cursor)}`),
        400,
      );
      expectRefusal(await server.api('GET', `/v1/endpoints/${one.id}/requests?cursor=x`), 400);
    });

    it("200: the detail by either id, with the client's address and the called URL", async () => {
      const endpoint = await inbound(server);
      const { json: answer } = await provide(server, `${endpoint.at}/sub?x=1`, { body: 'é', headers: { 'X-A': '1' } });

      const byEvent = await requestOf(server, endpoint, answer.id);
      const byRequest = await requestOf(server, endpoint, byEvent.id);

      expect(byRequest).toEqual(byEvent);
      expect(byEvent).toMatchObject({
        url: `${server.url}${endpoint.at}/sub?x=1`,
        path: '/sub',
        query: 'x=1',
        body: 'é',
        body_encoding: 'text',
        ip: '127.0.0.1',
        size_bytes: 2,
        headers: expect.arrayContaining([
          ['x-a', '1'],
          ['content-length', '2'],
        ]),
        answer: {
          status: 200,
          headers: { 'content-type': 'application/json; charset=utf-8' },
          body: JSON.stringify(answer),
          truncated: false,
        },
      });
    });

    it("200: the request shows the response to the provider: the endpoint's own one, truncated if long, or an error; a replay has none", async () => {
      const own = await inbound(server, {
        responseRules: {
          rules: [
            {
              when: { type: 'json', path: '$.long', op: 'exists' },
              respond: { status: 201, headers: { 'x-own': '1' }, body: '{{body.long}}' },
            },
          ],
        },
        response: { type: 'static', status: 204 },
      });
      const strict = await inbound(server, { preset: 'github' });
      const [long, short] = [
        await provide(server, own.at, json({ long: 'é'.repeat(3_000) })),
        await provide(server, own.at, json({})),
      ];
      expectRefusal(await provide(server, strict.at, json({})), 401);
      const [refused] = await requestsOf(server, strict);
      const [ofShort, ofLong] = await requestsOf(server, own);
      const repeated = expectStatus(await replay(own, ofShort.id), 202).json.event_id;

      const answers = await Promise.all(
        [
          [own, ofLong.id],
          [own, ofShort.id],
          [own, repeated],
          [strict, refused.id],
        ].map(async ([endpoint, id]) => (await requestOf(server, endpoint as Inbound, id)).answer),
      );

      expect([long.status, short.status]).toEqual([201, 204]);
      expect(answers).toEqual([
        { status: 201, headers: expect.objectContaining({ 'x-own': '1' }), body: 'é'.repeat(512), truncated: true },
        { status: 204, headers: {}, body: '', truncated: false },
        null,
        { status: 401, headers: {}, body: null, truncated: false },
      ]);
      expect(refused.note).toBe('The signature is invalid: the endpoint has no secret yet.');
      expectStatus(await server.api('DELETE', `/v1/events/${ofLong.event_id}/payload`), 204);
      expect((await requestOf(server, own, ofLong.id)).answer).toEqual({
        status: 201,
        headers: {},
        body: null,
        truncated: false,
      });
    });

    it("404: unknown ids, another endpoint's request, an outbound event, and everything of another environment", async () => {
      const [one, two] = [await inbound(server), await inbound(server)];
      const id = await accepted(server, one, json({}));
      const sent = (
        await server.api('POST', '/v1/send', { destination: targets.open().url, event_type: 'a', payload: {} })
      ).json.message_id as string;
      const test = as((await createKey(server, { scope: 'admin', environment: 'test' })).key);
      const { length } = 'req_';

      for (const path of [
        `${two.id}/requests/${id}`,
        `${one.id}/requests/${sent.replace('msg', 'evt')}`,
        `${one.id}/requests/${sent}`,
        `${one.id}/requests/req_x`,
        `${one.id}/requests/req_${'0'.repeat(26)}`,
        `ep_${id.slice(length)}/requests`,
        `ep_${id.slice(length)}/requests/${id}`,
        `dst_x/requests`,
      ]) {
        expectRefusal(await server.api('GET', `/v1/endpoints/${path}`), 404);
      }
      for (const path of [`${one.id}/requests`, `${one.id}/requests/${id}`])
        expectRefusal(await server.api('GET', `/v1/endpoints/${path}`, undefined, test), 404);
      expectRefusal(await replay(two, id), 404);
      expectRefusal(await replay(one, id, test), 404);
      expectRefusal(await server.api('POST', `/v1/endpoints/${one.id}/test`, {}, test), 404);
    });

    it('403: a read key can neither replay nor test', async () => {
      const endpoint = await inbound(server);
      const id = await accepted(server, endpoint, json({}));
      const reader = as((await createKey(server, { scope: 'read' })).key);

      expect((await server.api('GET', `/v1/endpoints/${endpoint.id}/requests/${id}`, undefined, reader)).status).toBe(
        200,
      );
      expectRefusal(await replay(endpoint, id, reader), 403);
      expectRefusal(await server.api('POST', `/v1/endpoints/${endpoint.id}/test`, {}, reader), 403);
    });
  });

  describe('replay through the current endpoint', () => {
    it('202: a request quarantined before the secret was set is verified as of its time of arrival, and routed as a new event', async () => {
      const target = targets.open();
      const endpoint = await inbound(server, {
        preset: 'stripe',
        destinations: [await destinationAt(server, target.url)],
      });
      const secret = 'whsec_stripe';
      const payload = '{"id":"evt_1","type":"invoice.paid"}';
      // The timestamp is just within the tolerance on arrival, and too old during the replays.
      const timestamp = Math.floor(Date.now() / 1000) - 299;
      const sent = {
        body: payload,
        headers: {
          'stripe-signature': stripe.generateTestHeaderString({ payload, secret, timestamp }),
          'content-type': 'application/json',
        },
      };
      expectRefusal(await provide(server, endpoint.at, sent), 401);
      const [quarantined] = await requestsOf(server, endpoint);

      const before = expectStatus(await replay(endpoint, quarantined.id), 202).json;
      await setSecret(server, endpoint, secret);
      const after = expectStatus(await replay(endpoint, quarantined.id), 202).json;
      const again = expectStatus(await replay(endpoint, before.event_id), 202).json;

      expect(after.replay_id).toMatch(/^rpl_/);
      expect(new Set([quarantined.event_id, before.event_id, after.event_id, again.event_id]).size).toBe(4);
      expect(await eventOf(server, before.event_id)).toMatchObject({ status: 'quarantined' });
      await eventIn(server, after.event_id, 'delivered');
      await eventIn(server, again.event_id, 'delivered');
      expect(
        target
          .posts()
          .map(({ headers, rawBody }) => [headers['webhook-id'], String(rawBody)])
          .sort(),
      ).toEqual(
        [
          [after.event_id, payload],
          [again.event_id, payload],
        ].sort(),
      );
      for (const { event_id: id } of [after, again]) {
        expect(await requestOf(server, endpoint, id)).toMatchObject({
          status: 'routed',
          verified: true,
          replay_of: quarantined.id,
          body: payload,
          dedupe_id: 'evt_1',
        });
      }
      expect(await requestOf(server, endpoint, quarantined.id)).toMatchObject({
        status: 'quarantined',
        verified: false,
      });
    });

    it('202: a successful verification stays valid, although the signature is too old by now and the secret has changed', async () => {
      const endpoint = await inbound(server, { verification: 'hmac-sha256' });
      await setSecret(server, endpoint, 'old');
      const id = await accepted(server, endpoint, {
        body: '{}',
        headers: { 'x-signature': createHmac('sha256', 'old').update('{}').digest('hex') },
      });
      await setSecret(server, endpoint, 'new', { grace_seconds: 0 });

      const { event_id: replayed } = expectStatus(await replay(endpoint, id), 202).json;

      expect(await requestOf(server, endpoint, replayed)).toMatchObject({ verified: true, status: 'ignored' });
    });

    it('202: the replay starts from the received body, with the current transform and routes', async () => {
      const target = targets.open();
      const endpoint = await inbound(server, {
        transform: { engine: 'managed', code: 'export default () => ({ body: 1 })', timeoutMs: 2000 },
      });
      const id = await accepted(server, endpoint, json({ n: 1 }));
      await change(server, endpoint, {
        transform: {
          engine: 'managed',
          code: 'export default (event) => ({ body: { n: event.body.n + 1 } })',
          timeoutMs: 2000,
        },
        destinations: [await destinationAt(server, target.url)],
      });

      const { event_id: replayed } = expectStatus(await replay(endpoint, id), 202).json;

      await eventIn(server, replayed, 'delivered');
      expect(String(target.posts()[0]?.rawBody)).toBe('{"n":2}');
      expect(await eventOf(server, id)).toMatchObject({ payload: 1 });
    });

    it('202: a replayed request is not a handshake, and no response proxy is called', async () => {
      const proxy = targets.open(() => ({ status: 500 }));
      const endpoint = await inbound(server);
      const id = await accepted(server, endpoint, json({ type: 'url_verification', challenge: 'x' }));
      await change(server, endpoint, {
        response: { type: 'slack-challenge' },
        responseProxy: { target: 'url', url: proxy.url, onUnavailable: 'error' },
      });

      const { event_id: replayed } = expectStatus(await replay(endpoint, id), 202).json;

      expect(await eventOf(server, replayed)).toMatchObject({ status: 'ignored' });
      expect(proxy.posts()).toEqual([]);
    });

    it('202: binary data is replayed byte for byte', async () => {
      const target = targets.open();
      const endpoint = await inbound(server);
      const body = Buffer.from([0, 255, 1]);
      const id = await accepted(server, endpoint, { body, headers: { 'content-type': 'application/x-own' } });
      await change(server, endpoint, { destinations: [await destinationAt(server, target.url)] });

      const { event_id: replayed } = expectStatus(await replay(endpoint, id), 202).json;

      await eventIn(server, replayed, 'delivered');
      expect(target.posts()[0]?.rawBody.equals(body)).toBe(true);
    });

    it('202 once: the same Idempotency-Key creates one event', async () => {
      const endpoint = await inbound(server);
      const id = await accepted(server, endpoint, json({}));
      const key = { 'idempotency-key': '6f1f3d1c-0a5e-4a3f-9a52-0d2a9f0d1b11' };

      const [first, second] = [await replay(endpoint, id, key), await replay(endpoint, id, key)];

      expect([first.status, second.status, second.text, second.headers.get('idempotent-replayed')]).toEqual([
        202,
        202,
        first.text,
        'true',
      ]);
      expect(await requestsOf(server, endpoint)).toHaveLength(2);
    });

    it('409: while the endpoint is paused, and nothing is created', async () => {
      const endpoint = await inbound(server);
      const id = await accepted(server, endpoint, json({}));
      await change(server, endpoint, { status: 'paused' });

      expectRefusal(await replay(endpoint, id), 409);

      expect(await requestsOf(server, endpoint)).toHaveLength(1);
    });
  });

  describe('sample events', () => {
    const test = (endpoint: Inbound, body?: object): Promise<ApiAnswer> =>
      server.api('POST', `/v1/endpoints/${endpoint.id}/test`, body);

    it.each([
      ['stripe', 'whsec_stripe', 'payment_intent.succeeded'],
      ['github', 's3cret', 'issues.opened'],
      ['standard-webhooks', whsec(), 'invoice.paid'],
      ['svix', whsec(), 'user.created'],
      ['slack', 's3cret', expect.any(String)],
      ['shopify', 's3cret', expect.any(String)],
      ['twilio', 's3cret', 'message.received'],
      ['gitlab', 's3cret', expect.any(String)],
      ['mailgun', 's3cret', expect.any(String)],
      ['postmark', 'user:password', expect.any(String)],
      ['adyen', ADYEN_KEY, expect.any(String)],
      ['ms-graph', 's3cret', expect.any(String)],
      ['square', 's3cret', 'payment.created'],
    ])(
      "200: %s, signed with the endpoint's secret, is processed like a real request",
      async (preset, secret, eventType) => {
        const target = targets.open();
        const endpoint = await inbound(server, { preset, destinations: [await destinationAt(server, target.url)] });
        await setSecret(server, endpoint, secret);

        const answer = expectStatus(await test(endpoint), 200).json;

        expect(answer).toMatchObject({ event_id: expect.stringMatching(/^evt_/), verified: true });
        expect(answer.status).toBeGreaterThanOrEqual(200);
        expect(answer.status).toBeLessThan(300);
        expect(await eventIn(server, answer.event_id, 'delivered')).toMatchObject({
          event_type: eventType,
          endpoint: endpoint.path,
        });
        expect(await requestsOf(server, endpoint)).toMatchObject([{ verified: true, status: 'routed' }]);
      },
    );

    it('200: without a preset, with a custom body, and signed with a custom HMAC', async () => {
      const open = await inbound(server);
      const signed = await inbound(server, {
        verification: 'hmac-sha256',
        verificationConfig: { timestampHeader: 'x-time' },
      });
      await setSecret(server, signed, 's3cret');

      const plain = expectStatus(await test(open), 200).json;
      const own = expectStatus(await test(signed, { body: '{"type":"my.own"}' }), 200).json;

      expect(plain).toMatchObject({ verified: null, status: 200 });
      expect(await eventOf(server, plain.event_id)).toMatchObject({ event_type: 'posthorn.test' });
      expect(own).toMatchObject({ verified: true, status: 200 });
      expect(await eventOf(server, own.event_id)).toMatchObject({ event_type: 'my.own', payload: { type: 'my.own' } });
    });

    it('200: returns the response that the provider would get, also for a paused endpoint and for a proxy', async () => {
      const away = await inbound(server, {
        responseProxy: { target: 'url', url: targets.open(() => ({ status: 500 })).url, onUnavailable: 'error' },
      });
      const paused = await inbound(server);
      await change(server, paused, { status: 'paused' });

      expect((await test(away)).json).toEqual({ event_id: null, verified: null, status: 502 });
      expect((await test(paused)).json).toMatchObject({ status: 200 });
      expect((await requestsOf(server, paused))[0]).toMatchObject({ status: 'parked' });
    });

    it('422: without a secret, for a preset that only the provider can sign, and for an unknown preset', async () => {
      const unset = await inbound(server, { preset: 'stripe' });
      const discord = await inbound(server, { preset: 'discord' });
      await setSecret(server, discord, 'ab'.repeat(32));

      expectInvalid(await test(unset), 'credentials');
      expectInvalid(await test(discord), 'credentials');
      expectInvalid(await test(await inbound(server), { preset: 'no-such' }), 'schema', 'preset');
      for (const endpoint of [unset, discord]) expect(await requestsOf(server, endpoint)).toEqual([]);
    });
  });

  it('the log contains neither the body nor the headers of a request', async () => {
    const endpoint = await inbound(server, {
      transform: { engine: 'managed', code: 'export default (event) => { throw new Error(event.body.pan); }' },
    });

    const id = await accepted(
      server,
      endpoint,
      json({ pan: '4111111111111111' }, { authorization: 'Bearer topsecret-header' }),
    );

    expect(await sql.rows('select disposition from events where id = $1', [uuidOf(id)])).toEqual([
      { disposition: 'parked' },
    ]);
    expect(server.logs()).not.toMatch(/4111111111111111|topsecret-header/);
  });
});
