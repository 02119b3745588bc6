import type { PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { as, createKey, expectRateLimitHeaders, expectRefusal } from './answers.js';
import { until } from './polling.js';
import { expectStatus, WITHIN_MS } from './scene.js';

const ATTACK = `"'><script>alert(1)</script><img src=x onerror=alert(1)>`;

describe('the public catalogue', () => {
  let server: PosthornServer;
  let testKey: string;

  beforeAll(async () => {
    server = await sharedServer();
    testKey = (await createKey(server, { scope: 'admin', environment: 'test' })).key;
    expectStatus(await server.api('PATCH', '/v1/org', { slug: 'acme', name: `Acme ${ATTACK}` }), 200);
  });

  afterAll(() => server.stop());

  const visit = (path: string): Promise<Response> => fetch(server.url + path);
  const publish = async (isPublic: boolean, key = server.apiKey): Promise<void> =>
    void expectStatus(await server.api('PATCH', '/v1/org', { public_event_catalog: isPublic }, as(key)), 200);

  it('404: the catalog is private by default, and the response does not reveal whether the organization exists', async () => {
    expect((await server.api('GET', '/v1/org')).json.public_event_catalog).toBe(false);
    for (const path of [
      '/catalog/acme',
      '/catalog/acme/test',
      '/catalog/nobody',
      '/catalog/%00',
      `/catalog/${'a'.repeat(500)}`,
      '/catalog/ACME',
    ]) {
      expectRefusal(await server.api('GET', path, undefined, { authorization: '' }), 404);
    }
  });

  it('200: each environment is published separately, and no longer once publication is withdrawn', async () => {
    await publish(true);
    expect((await server.api('GET', '/v1/org')).json.public_event_catalog).toBe(true);
    expect((await server.api('GET', '/v1/org', undefined, as(testKey))).json.public_event_catalog).toBe(false);
    expect([(await visit('/catalog/acme')).status, (await visit('/catalog/acme/test')).status]).toEqual([200, 404]);

    await publish(true, testKey);
    await publish(false);

    expect([(await visit('/catalog/acme')).status, (await visit('/catalog/acme/test')).status]).toEqual([404, 200]);
  });

  it('200: the page runs no scripts and escapes every text', async () => {
    await publish(true);
    const schema = {
      title: ATTACK,
      required: [ATTACK],
      properties: { [ATTACK]: { type: 'string', description: ATTACK, enum: [ATTACK] } },
    };
    expectStatus(
      await server.api('POST', '/v1/event-types', {
        name: 'invoice.paid',
        description: ATTACK,
        group: ATTACK,
        schema,
        example: { [ATTACK]: ATTACK },
      }),
      201,
    );

    const page = await until(
      async () => visit('/catalog/acme'),
      (answer) => answer.status === 200,
      WITHIN_MS,
    );
    const text = await page.text();

    expect(text).toContain('invoice.paid');
    expect(text).toContain('&lt;script&gt;alert(1)');
    expect(text).not.toMatch(/<script|<img/);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    expect(page.headers.get('cache-control')).toBe('public, max-age=60');
    expectRateLimitHeaders(page.headers);
  });

  it('200: contains neither archived types nor those of the other environment', async () => {
    await publish(true);
    await publish(true, testKey);
    expectStatus(await server.api('POST', '/v1/event-types', { name: 'old.news', archived: true }), 201);
    expectStatus(await server.api('POST', '/v1/event-types', { name: 'only.in.test' }, as(testKey)), 201);

    const [live, test] = await Promise.all(
      ['/catalog/acme', '/catalog/acme/test'].map(async (path) => (await visit(path)).text()),
    );

    expect(live).not.toMatch(/old\.news|only\.in\.test/);
    expect(test).toContain('only.in.test');
    expect(test).not.toContain('invoice.paid');
  });
});
