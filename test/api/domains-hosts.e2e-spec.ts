import { request } from 'node:http';
import { type ApiAnswer, type PosthornServer, startServer } from '../support/server.js';
import { as, createKey, expectInvalid, expectRefusal } from './answers.js';
import { type DomainsScene, recordsOf, startDomainsScene } from './domains.js';
import { until } from './polling.js';
import { destinationAt, expectStatus, startTargets, type Targets, WITHIN_MS } from './scene.js';

const PLATFORM_ID = 'pdom_00000000000000000000000001';

/** Sends a request with a custom Host header, which `fetch` does not allow, and returns the response. */
function call(
  server: PosthornServer,
  host: string,
  path: string,
  { method = 'POST', body = '{"a":1}' } = {},
): Promise<{ status: number; json: ReturnType<typeof JSON.parse> }> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const sent = request(
      { hostname, port, method, path, headers: { host, 'content-type': 'application/json' } },
      (response) => {
        let text = '';
        response
          .setEncoding('utf8')
          .on('data', (part: string) => (text += part))
          .on('end', () => {
            resolve({ status: response.statusCode ?? 0, json: text.startsWith('{') ? JSON.parse(text) : text });
          });
      },
    );
    sent.on('error', reject).end(method === 'GET' ? undefined : body);
  });
}

describe('custom hosts', () => {
  let scene: DomainsScene;
  let targets: Targets;

  beforeAll(async () => {
    [scene, targets] = await Promise.all([startDomainsScene(), startTargets()]);
  });

  afterAll(async () => {
    await scene.close();
    await targets.close();
  });

  const create = (body: object, headers = {}) => scene.server.api('POST', '/v1/endpoints', body, headers);
  const endpoint = async (body: object) => expectStatus(await create(body), 201).json;

  it('GET /v1/ingest-domains lists the platform domain, then the verified domains of the environment only', async () => {
    const [pending, verified] = [await scene.create('webhook'), await scene.verified('webhook')];
    await scene.verified('email');
    const { key } = await createKey(scene.server, { scope: 'read', environment: 'test' });

    const { data } = (await scene.server.api('GET', '/v1/ingest-domains')).json;

    expect(data[0]).toMatchObject({ id: PLATFORM_ID, kind: 'platform', default: true });
    expect(data.slice(1)).toEqual([
      { id: verified.id, host: verified.domain, kind: 'custom', default: false, prefix: `https://${verified.domain}/` },
    ]);
    expect(JSON.stringify(data)).not.toContain(pending.id);
    expect((await scene.server.api('GET', '/v1/ingest-domains', undefined, as(key))).json.data).toHaveLength(1);
  });

  it('an endpoint on a custom domain is served at its host and longest matching path, and a mirror gets the rest of the path', async () => {
    const { id, domain } = await scene.verified('webhook');
    const target = targets.open();
    const destination = await destinationAt(scene.server, target.url);
    const deep = await endpoint({ domainId: id, path: 'a/b', destinations: [destination] });
    const root = await endpoint({ url: `https://${domain}/` });
    const bySlug = await endpoint({ domainId: id, slug: 'v1' });

    const answers = await Promise.all(
      ['/a/b', '/a/b/c?d=1', '/a', '/', '/v1/keys', '/in/a/b'].map((path) => call(scene.server, domain, path)),
    );

    expect(deep).toMatchObject({
      url: `https://${domain}/a/b`,
      path: 'a/b',
      name: 'a/b',
      domain: { id, host: domain, kind: 'custom' },
    });
    expect(root).toMatchObject({ url: `https://${domain}/`, path: '', name: domain });
    const reached = await Promise.all(
      answers.map(async ({ json }) => (await scene.server.api('GET', `/v1/events/${json.id}`)).json.endpoint),
    );
    expect(reached).toEqual(['a/b', 'a/b', '/', '/', 'v1', '/']);
    expect((await target.arrived(2)).map(({ rawBody }) => rawBody.toString())).toEqual(['{"a":1}', '{"a":1}']);
    expect(
      (await scene.server.api('GET', '/v1/endpoints?limit=3')).json.data.map(({ url }: { url: string }) => url),
    ).toEqual([bySlug.url, root.url, deep.url]);
    expect((await scene.server.api('POST', `/v1/endpoints/${deep.id}/test`)).status).toBe(200);
  });

  it('a custom host serves only its own endpoints, whatever the path; the platform and other hosts do not serve them', async () => {
    const [mine, other] = [await scene.verified('webhook'), await scene.verified('webhook')];
    const onPlatform = await endpoint({ slug: 'shop' });
    await endpoint({ domainId: mine.id, slug: 'stripe' });
    const platform = new URL(scene.server.url).host;

    const statuses = await Promise.all(
      [
        [mine.domain, '/stripe'],
        [`${mine.domain.toUpperCase()}:443`, '/stripe'],
        [`${mine.domain}.`, '/stripe/more'],
        [other.domain, '/stripe'],
        [platform, '/stripe'],
        [platform, '/in/stripe'],
        ['unknown.customer.example', '/stripe'],
        [mine.domain, `/${onPlatform.path}`],
        [mine.domain, `/in/${onPlatform.path}`],
        [mine.domain, '/health/live'],
        [mine.domain, '/docs'],
        [mine.domain, '/nothing'],
      ].map(async ([host = '', path = '']) => (await call(scene.server, host, path)).status),
    );

    expect(statuses).toEqual([200, 200, 200, ...Array.from({ length: 9 }, () => 404)]);
    expect((await call(scene.server, platform, `/in/${onPlatform.path}`)).status).toBe(200);
  });

  it('a change of its URL moves an endpoint between the platform and a domain, and the old URL stops at once', async () => {
    const { domain } = await scene.verified('webhook');
    const { id, url, path } = await endpoint({ slug: 'moving' });

    const moved = expectStatus(
      await scene.server.api('PATCH', `/v1/endpoints/${id}`, { url: `https://${domain}/moved` }),
      200,
    ).json;
    const [onDomain, before] = [await call(scene.server, domain, '/moved'), await fetch(url, { method: 'POST' })];
    const renamed = expectStatus(await scene.server.api('PATCH', `/v1/endpoints/${id}`, { name: 'Other' }), 200).json;
    const back = expectStatus(await scene.server.api('PATCH', `/v1/endpoints/${id}`, { url }), 200).json;
    const [afterDomain, after] = [await call(scene.server, domain, '/moved'), await fetch(url, { method: 'POST' })];

    expect(moved).toMatchObject({ url: `https://${domain}/moved`, path: 'moved', domain: { host: domain } });
    expect(renamed).toMatchObject({ url: moved.url, domain: moved.domain });
    expect(back).toMatchObject({ url, path, domain: { id: PLATFORM_ID } });
    expect([onDomain.status, before.status, afterDomain.status, after.status]).toEqual([200, 404, 404, 200]);
  });

  it('409: another endpoint has this path; 201 for the same path on another domain', async () => {
    const [one, other] = [await scene.verified('webhook'), await scene.verified('webhook')];
    await endpoint({ domainId: one.id, slug: 'taken' });
    await endpoint({ domainId: other.id, slug: 'taken' });

    const refused = await create({ domainId: one.id, slug: 'taken' });

    expectRefusal(refused, 409);
    expect(refused.json.error.details).toEqual({ url: `https://${one.domain}/taken` });
  });

  it('422: a domain that is unverified, foreign, of another kind or unknown; and a URL that contradicts it', async () => {
    const [pending, mine, mail] = [
      await scene.create('webhook'),
      await scene.verified('webhook'),
      await scene.verified('email'),
    ];
    const { key } = await createKey(scene.server, { scope: 'write', environment: 'test' });

    expectInvalid(await create({ domainId: pending.id, slug: 'a' }), 'schema', 'domainId');
    expectInvalid(await create({ url: `https://${pending.domain}/a` }), 'schema', 'url');
    expectInvalid(await create({ domainId: mail.id, slug: 'a' }), 'schema', 'domainId');
    expectInvalid(await create({ domainId: mine.id, slug: 'a' }, as(key)), 'schema', 'domainId');
    expectInvalid(await create({ url: `https://${mine.domain}/a` }, as(key)), 'schema', 'url');
    expectInvalid(await create({ domainId: PLATFORM_ID, url: `https://${mine.domain}/a` }), 'schema', 'url');
    expectInvalid(await create({ domainId: mine.id, url: `${scene.server.url}/in/a` }), 'schema', 'url');
  });

  it('409: a domain with an endpoint cannot be deleted; without one it is deleted, and every process stops serving its host', async () => {
    const { id, domain } = await scene.verified('webhook');
    const { id: endpointId } = await endpoint({ domainId: id, slug: 'last' });
    const other = await startServer(scene.server.env);
    try {
      expect((await call(other, domain, '/last')).status).toBe(200);

      const refused = await scene.server.api('DELETE', `/v1/domains/${id}`);
      expectStatus(await scene.server.api('DELETE', `/v1/endpoints/${endpointId}`), 204);
      expectStatus(await scene.server.api('DELETE', `/v1/domains/${id}`), 204);

      expectRefusal(refused, 409);
      expect(refused.json.error.details).toEqual({ used_by: [endpointId] });
      for (const each of [scene.server, other]) {
        // The API answers requests to this host again, as it does for every unknown host.
        await until(
          () => call(each, domain, '/health/live', { method: 'GET' }),
          ({ status }) => status === 200,
          WITHIN_MS,
        );
      }
    } finally {
      await other.stop();
    }
  });

  it('a host stops when its verification is lost and serves again once verified, on every process; its endpoints stay', async () => {
    const verified = await scene.verified('webhook');
    const { id: endpointId, url } = await endpoint({ domainId: verified.id, slug: 'hook' });
    const other = await startServer(scene.server.env);
    try {
      const proof = recordsOf(verified, 'ownership');
      const statuses = () =>
        Promise.all([scene.server, other].map(async (each) => (await call(each, verified.domain, '/hook')).status));
      expect(await statuses()).toEqual([200, 200]);

      scene.withdraw(proof);
      await scene.verify(verified.id);
      expect(await statuses()).toEqual([200, 200]);
      await scene.letPass(verified.id, 73);
      expect(await scene.verify(verified.id)).toMatchObject({ state: 'failed' });
      await until(statuses, (both) => both.every((status) => status === 404), WITHIN_MS);
      expect((await scene.server.api('GET', `/v1/endpoints/${endpointId}`)).json).toMatchObject({
        url,
        domain: { id: verified.id },
      });

      scene.publish(proof);
      await scene.verify(verified.id, other);
      await until(statuses, (both) => both.every((status) => status === 200), WITHIN_MS);
    } finally {
      await other.stop();
    }
  });

  it('422: a destination cannot be a host of this installation', async () => {
    const { domain } = await scene.verified('webhook');

    for (const type of ['https', 'mirror']) {
      const create = (): Promise<ApiAnswer> =>
        scene.server.api('POST', '/v1/destinations', { name: 'A loop', type, url: `https://${domain}/hook` });
      // Repeats the request. It fails at the DNS lookup until the process has been notified about the verified host.
      const answer = await until(create, ({ json }) => json.error?.details.fields !== undefined, WITHIN_MS);
      expectInvalid(answer, 'connectivity', 'url');
    }
  });
});
