import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { expectInvalid, expectRefusal } from './answers.js';
import type { Consumers, Seen } from './consumers.js';
import { startConsumers } from './consumers.js';
import { arrived, pullDestination } from './pulling.js';
import type { Inbound, Json, Sent } from './receiving.js';
import { change, inbound, json, provide, requestOf, setSecret } from './receiving.js';
import { destinationAt, eventIn, eventOf, expectStatus, openSql, uuidOf } from './scene.js';

describe('forwarding received requests', () => {
  let server: PosthornServer;
  let consumers: Consumers;
  let base: string;

  beforeAll(async () => {
    [server, consumers] = await Promise.all([sharedServer(), startConsumers()]);
    base = consumers.origin;
  });

  afterAll(async () => {
    await server.stop();
    await consumers.close();
  });

  const place = (): string => consumers.place();
  const seen = (at: string, count?: number): Promise<Seen[]> => consumers.seen(at, count);
  const receive = async ({ at }: Inbound, suffix: string, sent: Sent = {}): Promise<string> =>
    expectStatus(await provide(server, at + suffix, sent), 200).json.id as string;
  const patch = (id: string, changes: object): Promise<ApiAnswer> =>
    server.api('PATCH', `/v1/destinations/${id}`, changes);

  describe('headers', () => {
    it('every header arrives, except hop-by-hop, credential, cookie and forwarding headers', async () => {
      const at = place();
      const pull = await pullDestination(server);
      const endpoint = await inbound(server, { destinations: [await destinationAt(server, base + at), pull] });
      const kept = {
        'content-type': 'text/csv',
        'content-language': 'de',
        'cache-control': 'no-cache',
        'user-agent': 'Provider/1.0',
        'x-request-id': 'r-1',
        'x-latin': 'caf\xe9',
        'if-none-match': '"a"',
        origin: 'https://provider.example',
      };
      const dropped = {
        authorization: 'Bearer theirs',
        cookie: 'a=b',
        connection: 'close, x-hop',
        'x-hop': '1',
        te: 'trailers',
        'proxy-authorization': 'Basic eDp5',
        forwarded: 'for=192.0.2.1',
        via: '1.1 proxy',
        'x-forwarded-for': '192.0.2.1',
        'x-real-ip': '192.0.2.1',
        'cf-connecting-ip': '192.0.2.1',
        'x-http-method-override': 'DELETE',
        'x-original-url': '/admin',
      };

      await receive(endpoint, '', { headers: { ...kept, ...dropped }, body: Buffer.from('a;b') });

      const [hook] = (await seen(at)) as [Seen];
      const [item] = (await arrived(server, pull, 1)).data;
      for (const headers of [hook.headers, item.headers]) {
        expect(headers).toMatchObject(kept);
        for (const name of Object.keys(dropped)) if (name !== 'connection') expect(headers).not.toHaveProperty(name);
      }
      expect(item.headers).not.toHaveProperty('connection');
    });

    it("the endpoint's own secret header does not arrive", async () => {
      const at = place();
      const endpoint = await inbound(server, {
        preset: 'gitlab',
        destinations: [await destinationAt(server, base + at)],
      });
      await setSecret(server, endpoint, 'a-secret-of-gitlab');

      const id = await receive(
        endpoint,
        '',
        json({}, { 'x-gitlab-token': 'a-secret-of-gitlab', 'x-gitlab-event': 'Push Hook' }),
      );

      const [hook] = (await seen(at)) as [Seen];
      expect(hook.headers['x-gitlab-event']).toBe('Push Hook');
      expect(hook.headers).not.toHaveProperty('x-gitlab-token');
      expect((await eventOf(server, id)).headers).not.toHaveProperty('x-gitlab-token');
    });

    it('a key in the query arrives only at a mirror, in any spelling', async () => {
      const [at, mirrored] = [place(), place()];
      const pull = await pullDestination(server);
      const mirror = await destinationAt(server, base + mirrored, { type: 'mirror' });
      const endpoint = await inbound(server, {
        verification: 'api-key',
        verificationConfig: { queryParameter: 'token' },
        destinations: [await destinationAt(server, base + at, { forward: { method: true } }), pull, mirror],
      });
      await setSecret(server, endpoint, 'a-key-in-the-query');

      const id = await receive(endpoint, '?a=1&%74oken=a-key-in-the-query&b=2', { method: 'GET' });

      expect(await seen(at)).toMatchObject([{ method: 'GET', url: `${at}?a=1&b=2` }]);
      expect(await seen(mirrored)).toMatchObject([{ url: `${mirrored}?a=1&%74oken=a-key-in-the-query&b=2` }]);
      expect((await arrived(server, pull, 1)).data[0].query).toBe('a=1&b=2');
      expect(await eventIn(server, id, 'delivered')).toMatchObject({ query: 'a=1&b=2' });
    });

    it('an event of an earlier build shows no query, because that query can contain a key', async () => {
      const sql = openSql(server);
      const endpoint = await inbound(server);
      const id = await receive(endpoint, '?token=a-key-in-the-query');

      await sql.rows('update events set method = null, path = null, query = null where id = $1', [uuidOf(id)]);
      await sql.close();

      const event = await eventOf(server, id);
      expect(event).toMatchObject({ direction: 'inbound' });
      for (const part of ['method', 'path', 'query']) expect(event).not.toHaveProperty(part);
    });

    it('after a change of the verification, a replay and a trial still hide the key of the first receipt', async () => {
      const at = place();
      const pull = await pullDestination(server);
      const endpoint = await inbound(server, {
        verification: 'api-key',
        verificationConfig: { queryParameter: 'token' },
        destinations: [await destinationAt(server, base + at), pull],
      });
      await setSecret(server, endpoint, 'a-key-in-the-query');
      const sent = { headers: { 'x-auth-token': 'forwarded', x_tenant: 't' } };
      const id = await receive(endpoint, '??token=a-key-in-the-query&b=2', sent);
      await change(server, endpoint, { verification: 'api-key', verificationConfig: { header: 'x-tenant' } });
      await setSecret(server, endpoint, 't');

      const again = expectStatus(
        await server.api('POST', `/v1/endpoints/${endpoint.id}/requests/${id}/replay`),
        202,
      ).text.match(/evt_\w+/)?.[0] as string;
      await change(server, endpoint, { verification: 'none', verificationConfig: null });
      expectStatus(await server.api('POST', `/v1/endpoints/${endpoint.id}/requests/${again}/replay`), 202);
      const trial = await server.api('POST', `/v1/endpoints/${endpoint.id}/trial`, {
        request: again.replace('evt_', 'req_'),
        transform: {
          engine: 'managed',
          code: 'export default (event) => ({ ...event, body: [event.query, event.headers] })',
        },
      });

      expect(expectStatus(trial, 200).text).not.toContain('a-key-in-the-query');
      const hooks = await seen(at, 3);
      for (const { url } of hooks) expect(url).toBe(`${at}?b=2`);
      const tenants = hooks.map(({ headers }) => [headers['x-auth-token'], headers.x_tenant]);
      expect(tenants.sort()).toEqual([
        ['forwarded', undefined],
        ['forwarded', undefined],
        ['forwarded', 't'],
      ]);
      const items = (await arrived(server, pull, 3)).data;
      expect(items.map(({ query }) => query as string)).toEqual(['b=2', 'b=2', 'b=2']);
    });

    it("the provider's own signature headers arrive under other names, beside Posthorn's", async () => {
      const at = place();
      const pull = await pullDestination(server);
      const endpoint = await inbound(server, { destinations: [await destinationAt(server, base + at), pull] });
      const theirs = { 'webhook-id': 'msg_theirs', 'svix-signature': 'v1,theirs', 'webhook-replayed': 'true' };

      const id = await receive(endpoint, '', json({ a: 1 }, theirs));

      const [hook] = (await seen(at)) as [Seen];
      expect(hook.headers).toMatchObject({
        'webhook-id': id,
        'posthorn-received-webhook-id': 'msg_theirs',
        'posthorn-received-svix-signature': 'v1,theirs',
      });
      expect(hook.headers).not.toHaveProperty('svix-signature');
      expect(hook.headers).not.toHaveProperty('webhook-replayed');
      expect((await arrived(server, pull, 1)).data[0].headers).toMatchObject(theirs);
    });

    it('long and numerous headers arrive, and those that do not fit are named in the note', async () => {
      const at = place();
      const endpoint = await inbound(server, { destinations: [await destinationAt(server, base + at)] });
      const long = { 'x-long': 'l'.repeat(9_000) };
      const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`x-many-${i}`, 'v']));

      const id = await receive(endpoint, '', { headers: { ...long, ...many } });
      const over = await receive(endpoint, '', {
        headers: { 'x-a': 'a'.repeat(8_000), 'x-b': 'b'.repeat(7_600), 'x-c': 'c' },
      });

      const [first, second] = (await seen(at, 2)).sort((one, other) =>
        'x-long' in one.headers ? -1 : 'x-long' in other.headers ? 1 : 0,
      ) as [Seen, Seen];
      expect(first.headers).toMatchObject({ ...long, ...many });
      expect((await eventOf(server, id)).note).toBeNull();
      expect([second.headers['x-a']?.length, second.headers['x-b'], second.headers['x-c']]).toEqual([
        8_000,
        undefined,
        'c',
      ]);
      const note = 'Deliveries carry at most 15 KB of received headers. Left out: x-b.';
      expect((await eventOf(server, over)).note).toBe(note);
      const request = await requestOf(server, endpoint, over);
      expect(request.note).toBe(note);
      expect(request.headers.find(([name]: [string]) => name === 'x-b')[1]).toHaveLength(7_600);
    });

    it("the destination's own headers replace received ones, in any spelling", async () => {
      const at = place();
      const destination = await destinationAt(server, base + at, { headers: { 'x-tenant': 'ours' } });
      const endpoint = await inbound(server, { destinations: [destination] });

      await receive(endpoint, '', {
        headers: { 'X-Tenant': 'theirs', x_tenant: 'theirs', webhook_event_type: 'forged' },
      });

      const [hook] = (await seen(at)) as [Seen];
      expect(hook.headers['x-tenant']).toBe('ours');
      expect(hook.headers).not.toHaveProperty('x_tenant');
      expect(hook.headers).not.toHaveProperty('webhook_event_type');
    });
  });

  describe('forward', () => {
    it('201 and 200: the setting is shown, changed member by member, and reset by null', async () => {
      const id = await destinationAt(server, base + place(), { forward: { method: true } });
      const shown = async (): Promise<Json> => (await server.api('GET', `/v1/destinations/${id}`)).json.forward;

      expect(await shown()).toEqual({ method: true, path: false, query: true });
      expectStatus(await patch(id, { forward: { path: true, query: false } }), 200);
      expect(await shown()).toEqual({ method: true, path: true, query: false });
      expectStatus(await patch(id, { name: 'Other' }), 200);
      expect(await shown()).toEqual({ method: true, path: true, query: false });
      expectStatus(await patch(id, { forward: null }), 200);
      expect(await shown()).toEqual({ method: false, path: false, query: true });
    });

    it.each<[string, unknown, string]>([
      ['a boolean', true, 'forward'],
      ['a list', [], 'forward'],
      ['text', 'method', 'forward'],
      ['text as a member', { method: 'GET' }, 'forward.method'],
      ['a number as a member', { path: 1 }, 'forward.path'],
      ['null as a member', { query: null }, 'forward.query'],
      ['an unknown member', { headers: true }, 'forward.headers'],
    ])('422: %s', async (_title, forward, path) => {
      const body = { name: 'A', type: 'https', url: base + place(), forward };

      expectInvalid(await server.api('POST', '/v1/destinations', body), 'schema', path);
    });

    it('422: another type than https, at creation and later', async () => {
      const body = { name: 'A', type: 'pull', forward: { method: true } };

      expectInvalid(await server.api('POST', '/v1/destinations', body), 'schema', 'forward');
      const pull = await pullDestination(server);
      expectInvalid(await patch(pull, { forward: { query: true } }), 'schema', 'forward');
      expect((await server.api('GET', `/v1/destinations/${pull}`)).json.forward).toBeNull();
    });

    it('422: a forwarded path to this service itself, which would cause a loop', async () => {
      const url = `${server.url}/hooks`;
      const body = { name: 'A', type: 'https', url, forward: { path: true } };

      expectInvalid(await server.api('POST', '/v1/destinations', body), 'connectivity', 'url');
    });

    it('404: another organization cannot change it, and a change is in the audit log', async () => {
      const id = await destinationAt(server, base + place());
      const other = await sharedServer();
      expectRefusal(await other.api('PATCH', `/v1/destinations/${id}`, { forward: { method: true } }), 404);
      await other.stop();

      expectStatus(await patch(id, { forward: { method: true } }), 200);

      const { data } = (await server.api('GET', `/v1/audit?limit=5`)).json;
      expect(JSON.stringify(data)).toContain('"forward"');
    });

    it.each(['GET', 'PUT', 'DELETE', 'PATCH', 'PROPFIND'])('method: %s arrives with path and query', async (method) => {
      const at = place();
      const forward = { method: true, path: true };
      const destination = await destinationAt(server, `${base}${at}?own=1`, { forward });
      const endpoint = await inbound(server, { destinations: [destination] });

      const id = await receive(endpoint, '/users/a%2Fb/?x=%20+&x=2', { method, body: method === 'GET' ? '' : 'b' });

      const [hook] = (await seen(at)) as [Seen];
      expect([hook.method, hook.url]).toEqual([method, `${at}users/a%2Fb/?own=1&x=%20+&x=2`]);
      expect(hook.headers['webhook-signature']).toMatch(/^v1,/);
      expect(await eventIn(server, id, 'delivered')).toMatchObject({
        method,
        path: '/users/a%2Fb/',
        query: 'x=%20+&x=2',
      });
    });

    it('without query, only the URL of the destination is called', async () => {
      const at = place();
      const destination = await destinationAt(server, base + at, { forward: { query: false } });
      const endpoint = await inbound(server, { destinations: [destination] });

      await receive(endpoint, '/x?a=1', { method: 'GET' });

      expect(await seen(at)).toMatchObject([{ method: 'POST', url: at }]);
    });

    it('retries, replays, the signed request and a replay of the raw request repeat method, path and query', async () => {
      const at = place();
      const destination = await destinationAt(server, base + at, {
        forward: { method: true, path: true },
        headers: { 'x-answer': '500' },
        retry: { schedule: [0, 0] },
      });
      const endpoint = await inbound(server, { destinations: [destination] });
      const id = await receive(endpoint, '/p?q=1', { method: 'PUT', body: '{}' });
      await eventIn(server, id, 'dlq');

      const signed = expectStatus(await server.api('POST', `/v1/events/${id}/sign`, {}), 200).json;
      expectStatus(await server.api('POST', `/v1/events/${id}/replay`), 202);
      await seen(at, 3);
      const raw = `/v1/endpoints/${endpoint.id}/requests/${id}/replay`;
      const again = expectStatus(await server.api('POST', raw), 202).json;
      await seen(at, 5);

      expect(signed).toMatchObject({ method: 'PUT', url: `${base}${at}p?q=1` });
      for (const { method, url } of await seen(at, 5)) expect([method, url]).toEqual(['PUT', `${at}p?q=1`]);
      expect(JSON.stringify(again)).toMatch(/evt_/);
    });

    it('a replay to another destination follows the settings of that destination', async () => {
      const [at, elsewhere] = [place(), place()];
      const endpoint = await inbound(server, { destinations: [await destinationAt(server, base + at)] });
      const id = await receive(endpoint, '/p?q=1', { method: 'GET' });
      await eventIn(server, id, 'delivered');
      const other = await destinationAt(server, base + elsewhere, { forward: { method: true, path: true } });

      await change(server, endpoint, { destinations: [other] });
      expectStatus(await server.api('POST', `/v1/endpoints/${endpoint.id}/requests/${id}/replay`), 202);

      expect(await seen(elsewhere)).toMatchObject([{ method: 'GET', url: `${elsewhere}p?q=1` }]);
    });

    it('a transform may replace body and headers, and method, path and query stay', async () => {
      const at = place();
      const destination = await destinationAt(server, base + at, { forward: { method: true, path: true } });
      const code =
        "export default (event) => ({ body: { q: event.query.q }, headers: { 'content-type': 'application/json', 'x-new': '1' } });";
      const endpoint = await inbound(server, { destinations: [destination], transform: { engine: 'managed', code } });

      await receive(endpoint, '/p?q=1', { method: 'GET', headers: { 'x-old': '1' } });

      const [hook] = (await seen(at)) as [Seen];
      expect([hook.method, hook.url, hook.body.toString()]).toEqual(['GET', `${at}p?q=1`, '{"q":"1"}']);
      expect(hook.headers['x-new']).toBe('1');
      expect(hook.headers).not.toHaveProperty('x-old');
    });

    it('a test request arrives as POST without a query', async () => {
      const at = place();
      const destination = await destinationAt(server, base + at, { forward: { method: true, path: true } });
      const endpoint = await inbound(server, { preset: 'github', destinations: [destination] });
      await setSecret(server, endpoint, 'a-secret-of-github');

      expectStatus(await server.api('POST', `/v1/endpoints/${endpoint.id}/test`, {}), 200);

      expect(await seen(at)).toMatchObject([{ method: 'POST', url: at }]);
    });

    it('a sent event is always a POST to the URL itself', async () => {
      const at = place();
      const destination = await destinationAt(server, base + at, { forward: { method: true, path: true } });
      const body = { destination, event_type: 'a', payload: {} };

      expectStatus(await server.api('POST', '/v1/send', body), 202);

      expect(await seen(at)).toMatchObject([{ method: 'POST', url: at }]);
    });

    it.each(['/..%2fadmin', '/..%5cadmin', '/%252e%252e%252fadmin', '/..;/admin', '/a/..%00/..%00/admin'])(
      '%s: the delivery fails, and nothing is sent',
      async (suffix) => {
        const [at, mirrored] = [place(), place()];
        const destination = await destinationAt(server, `${base}${at}in`, { forward: { path: true } });
        const mirror = await destinationAt(server, `${base}${mirrored}in`, { type: 'mirror' });
        const endpoint = await inbound(server, { destinations: [destination, mirror] });

        const id = await receive(endpoint, suffix);

        const { attempts, deliveries } = await eventIn(server, id, 'failed');
        expect(deliveries).toMatchObject([{ reason: 'refused' }, { reason: 'refused' }]);
        expect(attempts).toMatchObject([
          { error: 'refused', response_excerpt: expect.stringContaining('`..`') },
          { error: 'refused', response_excerpt: expect.stringContaining('`..`') },
        ]);
        expect([consumers.soFar(at), consumers.soFar(mirrored)]).toEqual([[], []]);
      },
    );

    it.each<[string, string]>([
      ['//evil.example/x', '//evil.example/x'],
      ['/@evil.example/x', '/@evil.example/x'],
      ['/x?@evil.example', '/x?own=1&@evil.example'],
      ['/x?own=2&%6fwn=3&OWN=4&own[]=5&a;own=6&b=7', '/x?own=1&b=7'],
      ['/%0d%0aX-Injected:%201?a=%0d%0aX-Injected:%201', '/%0d%0aX-Injected:%201?own=1&a=%0d%0aX-Injected:%201'],
      ['/http:%2f%2fevil.example', '/http:%2f%2fevil.example'],
    ])('%s stays below the URL of the destination', async (suffix, expected) => {
      const at = place();
      const destination = await destinationAt(server, `${base}${at}in?own=1`, { forward: { path: true } });
      const endpoint = await inbound(server, { destinations: [destination] });

      await receive(endpoint, suffix);

      const [hook] = (await seen(at)) as [Seen];
      const [path, query = 'own=1'] = expected.split('?');
      expect(hook.url).toBe(`${at}in${path}?${query}`);
      expect(hook.headers).not.toHaveProperty('x-injected');
    });
  });
});
