import { randomUUID } from 'node:crypto';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { as, createKey, expectInvalid, expectRefusal, TIMESTAMP } from './answers.js';
import { expectStatus } from './scene.js';

const UNKNOWN = '01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';

describe('endpoints', () => {
  let server: PosthornServer;
  let org: string;
  let made = 0;

  beforeAll(async () => {
    server = await sharedServer();
    org = (await server.api('GET', '/v1/org')).json.slug as string;
  });

  afterAll(() => server.stop());

  const slug = (): string => `endpoint-${(made += 1)}`;
  const create = (body: object): Promise<ApiAnswer> => server.api('POST', '/v1/endpoints', body);
  const patch = (id: string, body: object): Promise<ApiAnswer> => server.api('PATCH', `/v1/endpoints/${id}`, body);
  const read = async (id: string): Promise<ApiAnswer['json']> =>
    expectStatus(await server.api('GET', `/v1/endpoints/${id}`), 200).json;
  const endpoint = async (settings: object = {}): Promise<ApiAnswer['json']> =>
    expectStatus(await create({ slug: slug(), ...settings }), 201).json;
  const count = async (): Promise<number> => (await server.api('GET', '/v1/endpoints?limit=100')).json.data.length;
  const domain = (): object => ({
    id: 'pdom_00000000000000000000000001',
    host: new URL(server.url.replace('127.0.0.1', 'localhost')).host,
    kind: 'platform',
  });
  const urlOf = (path: string): string => `${server.url.replace('127.0.0.1', 'localhost')}/in/${path}`;

  describe('POST /v1/endpoints', () => {
    it('201: by slug, with the computed url and domain and every default', async () => {
      const { status, json, text } = await create({ slug: 'stripe' });

      expect({ status, text }).toMatchObject({ status: 201 });
      expect(json).toEqual({
        id: expect.stringMatching(/^ep_[0-9A-HJKMNP-TV-Z]{26}$/),
        path: `${org}/stripe`,
        name: 'stripe',
        preset: null,
        url: urlOf(`${org}/stripe`),
        domain: domain(),
        destinations: [],
        routes: [],
        responseRules: null,
        responseProxy: null,
        transform: null,
        response: null,
        verification: 'none',
        verificationConfig: null,
        allowed_methods: null,
        deduplicate: null,
        status: 'active',
        has_secret: false,
        max_body_bytes: 1048576,
        version: 1,
        created_at: expect.stringMatching(TIMESTAMP),
        updated_at: json.created_at,
      });
      expect(await read(json.id)).toEqual(json);
    });

    it('201: by url or path, with or without the prefix and the slug of the organization', async () => {
      const [a, b, c, d] = [slug(), slug(), slug(), slug()];

      const answers = await Promise.all([
        create({ url: urlOf(`${org}/${a}`) }),
        create({ url: urlOf(b).replace('http:', 'https:') }),
        create({ path: `${org}/${c}/deep` }),
        create({ url: urlOf('').replace('/in/', `/${d}`), slug: d, path: d }),
      ]);

      expect(answers.map(({ status, json }) => [status, json.path, json.name, json.url])).toEqual([
        [201, `${org}/${a}`, a, urlOf(`${org}/${a}`)],
        [201, `${org}/${b}`, b, urlOf(`${org}/${b}`)],
        [201, `${org}/${c}/deep`, `${c}/deep`, urlOf(`${org}/${c}/deep`)],
        [201, `${org}/${d}`, d, urlOf(`${org}/${d}`)],
      ]);
    });

    it('201: a url without a path gives the path of the organization', async () => {
      const { json } = await create({ url: urlOf('').replace('/in/', '') });

      expect(json).toMatchObject({ path: org, name: org, url: urlOf(org) });
    });

    it('201: the platform domain is the default and can be given explicitly; 422 for an unknown domain', async () => {
      expect((await create({ slug: slug(), domainId: 'pdom_00000000000000000000000001' })).json.domain).toEqual(
        domain(),
      );
      for (const domainId of [`pdom_${UNKNOWN}`, `dom_${UNKNOWN}`, 'x'])
        expectInvalid(await create({ slug: slug(), domainId }), 'schema', 'domainId');
    });

    it('201: a preset selects its verification by default, and its own response is not shown as a setting', async () => {
      expect(await endpoint({ preset: 'meta' })).toMatchObject({
        preset: 'meta',
        verification: 'preset',
        response: null,
      });
      expect(await endpoint({ preset: 'stripe', verification: 'stripe' })).toMatchObject({ verification: 'preset' });
      expect(await endpoint({ preset: 'stripe', verification: 'none' })).toMatchObject({ verification: 'none' });
    });

    it('422: without url, slug and path; with two that contradict; with a foreign host', async () => {
      expectInvalid(await create({ name: 'Nowhere' }), 'schema', 'url');
      expectInvalid(await create({ slug: 'a', path: `${org}/b` }), 'schema', 'path');
      expectInvalid(await create({ url: 'https://elsewhere.example/in/a' }), 'schema', 'url');
    });

    it.each<[string, object, string]>([
      ['a query in the url', { url: 'http://HOST/in/a?b=c' }, 'url'],
      ['a fragment in the url', { url: 'http://HOST/in/a#b' }, 'url'],
      ['dots in the url', { url: 'http://HOST/in/a/../b' }, 'url'],
      ['percent-encoding', { url: 'http://HOST/in/%61' }, 'url'],
      ['an empty segment', { path: 'a//b' }, 'path'],
      ['nine segments', { path: 'a/b/c/d/e/f/g/h' }, 'path'],
      ['an upper-case slug', { slug: 'Stripe' }, 'slug'],
      ['a slug of 65 characters', { slug: 'a'.repeat(65) }, 'slug'],
      ['a url that is not a string', { url: 7 }, 'url'],
      ['an empty name', { name: '' }, 'name'],
      ['NUL in the name', { name: 'a\0' }, 'name'],
      ['an unknown preset', { preset: 'nobody' }, 'preset'],
      ['an unknown verification', { verification: 'hmac-md5' }, 'verification'],
      ['preset verification without a preset', { verification: 'preset' }, 'verification'],
      ['verification settings without an HMAC', { verificationConfig: { header: 'x-a' } }, 'verificationConfig'],
      [
        'an unknown key in the verification settings',
        { verification: 'hmac-sha1', verificationConfig: { colour: 'red' } },
        'verificationConfig.colour',
      ],
      [
        'a signed text without the body',
        { verification: 'hmac-sha1', verificationConfig: { signed: '{{method}}' } },
        'verificationConfig.signed',
      ],
      ['an unknown response', { response: { type: 'telepathy' } }, 'response.type'],
      ['a response without its required secret', { response: { type: 'meta-challenge' } }, 'response.verifyToken'],
      ['an unknown key in the response', { response: { type: 'static', colour: 'red' } }, 'response.colour'],
      ['a response status of 99', { response: { type: 'static', status: 99 } }, 'response.status'],
      [
        'a forbidden response header',
        { response: { type: 'static', headers: { 'Set-Cookie': 'a' } } },
        'response.headers.Set-Cookie',
      ],
      ['an unknown key in the rules', { responseRules: { fallback: {} } }, 'responseRules.fallback'],
      [
        'a rule without an answer',
        { responseRules: { rules: [{ when: { type: 'method', op: 'exists' } }] } },
        'responseRules.rules.0.respond',
      ],
      [
        'an unknown op deep in a rule',
        {
          responseRules: {
            rules: [{ when: { all: [{ not: { type: 'method', op: 'is', value: 'GET' } }] }, respond: {} }],
          },
        },
        'responseRules.rules.0.when.all.0.not.op',
      ],
      [
        'a rule answer with status 700',
        { responseRules: { default: { status: 700 } } },
        'responseRules.default.status',
      ],
      ['an unknown proxy', { responseProxy: { target: 'cloud' } }, 'responseProxy.target'],
      ['a proxy without code', { responseProxy: { target: 'managed' } }, 'responseProxy.code'],
      ['a proxy without a url', { responseProxy: { target: 'url' } }, 'responseProxy.url'],
      [
        'a proxy whose code does not compile',
        { responseProxy: { target: 'managed', code: 'export default (' } },
        'responseProxy.code',
      ],
      [
        'a proxy whose code is not a function',
        { responseProxy: { target: 'managed', code: 'export default 7' } },
        'responseProxy.code',
      ],
      [
        'code of more than 64 KB',
        { responseProxy: { target: 'managed', code: `export default () => 1 // ${'ä'.repeat(40_000)}` } },
        'responseProxy.code',
      ],
      [
        'a proxy in a private network',
        { responseProxy: { target: 'url', url: 'http://10.0.0.1/' } },
        'responseProxy.url',
      ],
      [
        'a proxy at the service itself',
        { responseProxy: { target: 'url', url: 'http://HOST/in/a' } },
        'responseProxy.url',
      ],
      [
        'a proxy with a timeout of 49 ms',
        { responseProxy: { target: 'url', url: 'https://example.com/', timeoutMs: 49 } },
        'responseProxy.timeoutMs',
      ],
      [
        'a proxy with a timeout of 5001 ms',
        { responseProxy: { target: 'url', url: 'https://example.com/', timeoutMs: 5001 } },
        'responseProxy.timeoutMs',
      ],
      [
        'an unknown onUnavailable',
        { responseProxy: { target: 'url', url: 'https://example.com/', onUnavailable: 'x' } },
        'responseProxy.onUnavailable',
      ],
      ['an unknown engine', { transform: { engine: 'wasm' } }, 'transform.engine'],
      [
        'an unknown failMode',
        { transform: { engine: 'url', url: 'https://example.com/', failMode: 'ajar' } },
        'transform.failMode',
      ],
      [
        'a transform with both url and code',
        { transform: { engine: 'managed', code: 'export default (e) => e', url: 'https://a.example/' } },
        'transform.url',
      ],
      [
        'a transform that loops while it is loaded',
        { transform: { engine: 'managed', code: 'for (;;);' } },
        'transform.code',
      ],
      [
        'a secret that does not exist',
        { transform: { engine: 'managed', code: 'export default (e, { secrets }) => secrets.NOBODY' } },
        'transform.code',
      ],
      ['an unknown destination', { destinations: [`dst_${UNKNOWN}`] }, 'destinations.0'],
      ['an invalid destination id', { destinations: ['x'] }, 'destinations.0'],
      ['an unknown destination of a route', { routes: [{ destination: `dst_${UNKNOWN}` }] }, 'routes.0.destination'],
      ['an unknown key in a route', { routes: [{ destination: `dst_${UNKNOWN}`, colour: 'red' }] }, 'routes.0.colour'],
      [
        'an invalid filter',
        { routes: [{ destination: `dst_${UNKNOWN}`, filter: { op: 'eq', value: 'a', path: 'type[' } }] },
        'routes.0.filter.path',
      ],
    ])('422: %s, and nothing is created', async (_what, settings, path) => {
      const before = await count();
      const { host } = new URL(urlOf(''));
      const body = JSON.parse(
        JSON.stringify({
          ...('url' in settings || 'slug' in settings || 'path' in settings ? {} : { slug: slug() }),
          ...settings,
        }).replaceAll('HOST', host),
      ) as object;

      const answer = await create(body);

      expectInvalid(answer, /private network|the service itself/.test(_what) ? 'connectivity' : 'schema', path);
      expect(await count()).toBe(before);
    });

    it('422: all faults are reported together', async () => {
      const answer = await create({
        slug: 'A',
        preset: 'nobody',
        verification: 'x',
        response: { type: 'ebay-challenge' },
        transform: { engine: 'managed' },
        destinations: ['x'],
      });

      expect(expectInvalid(answer, 'schema').sort()).toEqual([
        'destinations.0',
        'preset',
        'response.endpointUrl',
        'response.verificationToken',
        'slug',
        'transform.code',
        'verification',
      ]);
    });

    it('409: another endpoint has the URL, also one of the other environment, and the response reveals nothing about it', async () => {
      const { id, url, path } = await endpoint();
      const { key } = await createKey(server, { scope: 'write', environment: 'test' });

      const [same, foreign] = [await create({ url }), await server.api('POST', '/v1/endpoints', { path }, as(key))];

      for (const answer of [same, foreign]) {
        expectRefusal(answer, 409);
        expect(answer.json.error.details).toEqual({ url });
        expect(answer.text).not.toContain(id);
      }
    });

    it('409: of ten concurrent requests for one URL, exactly one succeeds', async () => {
      const name = slug();

      const answers = await Promise.all(Array.from({ length: 10 }, () => create({ slug: name })));

      expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(9).fill(409)]);
    });

    it('201: the same Idempotency-Key twice creates once and repeats the first response; a 409 is not stored', async () => {
      const [body, headers, other] = [
        { slug: slug() },
        { 'idempotency-key': randomUUID() },
        { 'idempotency-key': randomUUID() },
      ];
      const send = (more: Record<string, string>): Promise<ApiAnswer> =>
        server.api('POST', '/v1/endpoints', body, more);

      const [first, second, third] = [await send(headers), await send(headers), await send(other)];
      await server.api('DELETE', `/v1/endpoints/${first.json.id}`);
      const fourth = await send(other);

      expect([first.status, second.text, second.headers.get('idempotent-replayed')]).toEqual([201, first.text, 'true']);
      expect([third.status, fourth.status, fourth.headers.get('idempotent-replayed')]).toEqual([409, 201, null]);
    });

    it('201: an endpoint created as paused parks incoming requests', async () => {
      const { id, url } = await endpoint({ status: 'paused' });
      const { id: eventId } = (await (await fetch(url, { method: 'POST', body: '{}' })).json()) as { id: string };

      expect(await read(id)).toMatchObject({ status: 'paused', version: 1 });
      expect((await server.api('GET', `/v1/events/${eventId}`)).json.status).toBe('parked');
      expectInvalid(await create({ slug: slug(), status: 'disabled' }), 'schema', 'status');
    });
  });

  describe('PATCH /v1/endpoints/{id}', () => {
    const SETTINGS = {
      name: 'Payments',
      preset: 'stripe',
      verification: 'hmac-sha256',
      verificationConfig: { header: 'x-acme-signature' },
      responseRules: {
        rules: [{ when: { type: 'method', op: 'eq', value: 'GET' }, respond: { status: 204 } }],
        default: { body: 'ok' },
      },
      responseProxy: {
        target: 'managed',
        code: 'export default () => ({ status: 200 })',
        timeoutMs: 100,
        onUnavailable: 'error',
      },
      transform: { engine: 'url', url: 'https://example.com/transform', failMode: 'open', timeoutMs: 200 },
      response: { type: 'static', status: 202, body: 'thanks', headers: { 'x-a': 'b' } },
    };

    it('200: every setting is returned as given, and omitted settings stay', async () => {
      const before = await endpoint(SETTINGS);

      const { status, json } = await patch(before.id, { name: 'Other' });

      expect(before).toMatchObject(SETTINGS);
      expect(status).toBe(200);
      expect(json).toEqual({ ...before, name: 'Other', version: 2, updated_at: json.updated_at });
      expect(await read(before.id)).toEqual(json);
    });

    it('200: null clears every optional setting', async () => {
      const { id } = await endpoint(SETTINGS);

      const { json } = await patch(id, {
        preset: null,
        responseRules: null,
        responseProxy: null,
        transform: null,
        response: null,
        verificationConfig: null,
        allowed_methods: null,
        deduplicate: null,
        verification: null,
      });

      expect(json).toMatchObject({
        name: 'Payments',
        preset: null,
        responseRules: null,
        responseProxy: null,
        transform: null,
        response: null,
        verificationConfig: null,
        allowed_methods: null,
        deduplicate: null,
        verification: 'none',
        version: 2,
      });
    });

    it('200: a proxy and a transform show the effective defaults', async () => {
      const { json } = await patch((await endpoint()).id, {
        responseProxy: { target: 'url', url: 'https://EXAMPLE.com/a' },
        transform: { engine: 'managed', code: 'export default (event) => event' },
      });

      expect(json.responseProxy).toEqual({
        target: 'url',
        url: 'https://example.com/a',
        timeoutMs: 3000,
        onUnavailable: 'fallback',
      });
      expect(json.transform).toEqual({
        engine: 'managed',
        code: 'export default (event) => event',
        timeoutMs: 250,
        failMode: 'closed',
      });
    });

    it('200: a PATCH without changes creates no new version, also with every setting as read', async () => {
      const before = await endpoint(SETTINGS);
      const settings = Object.fromEntries(
        [...Object.keys(SETTINGS), 'url', 'status', 'destinations'].map((name) => [name, before[name]]),
      );

      expect((await patch(before.id, {})).json).toEqual(before);
      expect((await patch(before.id, settings)).json).toEqual(before);
    });

    it.each(['slug', 'path', 'domainId'])(
      '422: %s cannot be changed, and the message says which fields can',
      async (field) => {
        const before = await endpoint();

        const answer = await patch(before.id, { name: 'Other', [field]: 'other' });

        expect(expectInvalid(answer, 'schema')).toEqual([field]);
        expect(answer.json.error.message).toBe(`${field}: cannot be changed: \`url\` moves the endpoint`);
        expect(await read(before.id)).toEqual(before);
      },
    );

    it('200: paused and active again; 422: callers cannot set disabled', async () => {
      const { id } = await endpoint();

      expect((await patch(id, { status: 'paused' })).json.status).toBe('paused');
      expect((await patch(id, { status: 'active' })).json).toMatchObject({ status: 'active', version: 3 });
      expectInvalid(await patch(id, { status: 'disabled' }), 'schema', 'status');
    });

    it('200: a new url moves the endpoint, and the old one is free at once', async () => {
      const before = await endpoint();
      const target = slug();

      const { json } = await patch(before.id, { url: urlOf(target) });

      expect(json).toMatchObject({
        id: before.id,
        path: `${org}/${target}`,
        url: urlOf(`${org}/${target}`),
        name: before.name,
        version: 2,
      });
      expect((await create({ url: before.url })).status).toBe(201);
    });

    it('409: another endpoint has the url, and nothing changes', async () => {
      const [before, other] = [await endpoint(), await endpoint()];

      const answer = await patch(before.id, { url: other.url, name: 'Moved' });

      expectRefusal(answer, 409);
      expect(await read(before.id)).toEqual(before);
    });

    it('200 and 409: of ten endpoints that move to one url concurrently, exactly one succeeds', async () => {
      const [target, ids] = [
        slug(),
        await Promise.all(Array.from({ length: 10 }, async () => (await endpoint()).id as string)),
      ];

      const answers = await Promise.all(ids.map((id) => patch(id, { url: urlOf(target) })));

      expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(9).fill(409)]);
    });

    it('200: concurrent changes of different settings all take effect', async () => {
      const { id } = await endpoint();

      await Promise.all([
        patch(id, { name: 'A' }),
        patch(id, { status: 'paused' }),
        patch(id, { preset: 'github' }),
        patch(id, { responseRules: { default: { status: 202 } } }),
      ]);

      expect(await read(id)).toMatchObject({
        name: 'A',
        status: 'paused',
        preset: 'github',
        responseRules: { default: { status: 202 } },
        version: 5,
      });
    });

    it('422: an invalid PATCH changes nothing', async () => {
      const before = await endpoint(SETTINGS);

      for (const fault of [
        { preset: 'nobody' },
        { url: 'x' },
        { response: { type: 'x-crc', status: 1 } },
        { responseProxy: { target: 'managed', code: '(' } },
      ]) {
        expectInvalid(await patch(before.id, { name: 'Other', status: 'paused', ...fault }), 'schema');
      }

      expect(await read(before.id)).toEqual(before);
    });

    it('200: secrets of a response are never shown, and kept while its type stays the same', async () => {
      const { id, ...shown } = await endpoint({
        response: { type: 'ebay-challenge', verificationToken: 'hidden-token', endpointUrl: 'https://a.example/' },
      });

      const answers = [
        await patch(id, { response: { type: 'ebay-challenge', endpointUrl: 'https://b.example/' } }),
        await server.api('GET', '/v1/endpoints'),
      ];

      expect(shown.response).toEqual({ type: 'ebay-challenge', endpointUrl: 'https://a.example/' });
      expect(answers[0]?.json.response).toEqual({ type: 'ebay-challenge', endpointUrl: 'https://b.example/' });
      expect(JSON.stringify([shown, ...answers.map(({ text }) => text)])).not.toContain('hidden');
      expectInvalid(await patch(id, { response: { type: 'meta-challenge' } }), 'schema', 'response.verifyToken');
    });

    it('200: an endpoint keeps its URL when the slug of the organization changes', async () => {
      const before = await endpoint();
      expectStatus(await server.api('PATCH', '/v1/org', { slug: 'renamed' }), 200);

      const same = await patch(before.id, { url: before.url });
      const [next, domains] = [await endpoint(), (await server.api('GET', '/v1/ingest-domains')).json];
      expectStatus(await server.api('PATCH', '/v1/org', { slug: org }), 200);

      expect(same.json).toEqual(before);
      expect(next.path).toMatch(/^renamed\//);
      expect(domains.data[0].prefix).toBe(urlOf('renamed/'));
    });
  });

  describe('DELETE /v1/endpoints/{id}', () => {
    it('204, and the URL is free at once; 404 afterwards', async () => {
      const { id, url } = await endpoint();

      expect(await server.api('DELETE', `/v1/endpoints/${id}`)).toMatchObject({ status: 204, text: '' });

      expectRefusal(await server.api('DELETE', `/v1/endpoints/${id}`), 404);
      expectRefusal(await server.api('GET', `/v1/endpoints/${id}`), 404);
      expectRefusal(await patch(id, { name: 'a' }), 404);
      expect((await create({ url })).status).toBe(201);
    });
  });

  describe('GET /v1/endpoints', () => {
    it('200: newest first, in pages, with the filters status and preset', async () => {
      const ids: string[] = [];
      for (let i = 0; i < 5; i += 1) ids.unshift((await endpoint({ preset: 'twilio' })).id as string);
      await patch(ids[2] as string, { status: 'paused' });

      const first = (await server.api('GET', '/v1/endpoints?preset=twilio&limit=2')).json;
      const second = (await server.api('GET', `/v1/endpoints?preset=twilio&limit=2&cursor=${first.next_cursor}`)).json;
      const third = (await server.api('GET', `/v1/endpoints?preset=twilio&limit=2&cursor=${second.next_cursor}`)).json;
      const paused = (await server.api('GET', '/v1/endpoints?preset=twilio&status=paused')).json;

      expect([first, second, third].flatMap(({ data }) => data.map(({ id }: { id: string }) => id))).toEqual(ids);
      expect(third.next_cursor).toBeNull();
      expect(paused.data.map(({ id }: { id: string }) => id)).toEqual([ids[2]]);
      expect(await read(ids[0] as string)).toMatchObject(first.data[0]);
      expect(Object.keys(first.data[0])).toEqual([
        'id',
        'path',
        'name',
        'preset',
        'url',
        'domain',
        'destinations',
        'verification',
        'status',
        'has_secret',
        'version',
        'created_at',
        'updated_at',
      ]);
    });

    it('400: an unknown preset or status, and a cursor of another query', async () => {
      await Promise.all([endpoint(), endpoint()]);
      const { next_cursor: cursor } = (await server.api('GET', '/v1/endpoints?limit=1')).json;

      for (const query of ['preset=nobody', 'status=gone', `limit=1&status=active&cursor=${cursor}`]) {
        expectRefusal(await server.api('GET', `/v1/endpoints?${query}`), 400);
      }
    });
  });

  describe('GET /v1/ingest-domains', () => {
    it('200: returns the platform domain and the prefix of its URLs', async () => {
      const { status, json } = await server.api('GET', '/v1/ingest-domains');

      expect(status).toBe(200);
      expect(json).toEqual({
        data: [{ ...domain(), default: true, prefix: urlOf(`${org}/`) }],
        platform_domain: 'localhost',
      });
    });
  });
});
