import { randomUUID } from 'node:crypto';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { expectRateLimitHeaders, expectRefusal } from './answers.js';
import { until } from './polling.js';
import { exchangeBytes, requestText } from './raw-request.js';
import type { Inbound } from './receiving.js';
import { accepted, change, inbound, json, provide, requestOf, requestsOf, setSecret } from './receiving.js';
import type { Sql, Targets } from './scene.js';
import { destinationAt, eventOf, expectStatus, openSql, startTargets } from './scene.js';

/** Time within which a revocation or removal takes effect on every node. */
const EVERYWHERE_WITHIN_MS = 5_000;

describe('receive URLs of endpoints', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;
  let org: string;

  beforeAll(async () => {
    [server, targets] = await Promise.all([startServer(), startTargets()]);
    sql = openSql(server);
    org = expectStatus(await server.api('GET', '/v1/org'), 200).json.slug as string;
  });

  afterAll(async () => {
    await sql.close();
    await server.stop();
    await targets.close();
  });

  const stored = async (): Promise<number> =>
    Number((await sql.rows<{ count: number }>('select count(*)::int as count from requests'))[0]?.count);

  it('404: an unknown receive URL gets the error envelope, counts per address, and stores nothing', async () => {
    const before = await stored();

    for (const path of [
      '/in/nobody/nothing',
      `/in/${org}/${randomUUID()}`,
      `/in/${org}`,
      '/in/',
      '/in//',
      `/in/${'a'.repeat(1500)}`,
    ]) {
      const answer = await provide(server, path, json({}));
      expectRefusal(answer, 404);
      expectRateLimitHeaders(answer.headers);
    }
    expect(await stored()).toBe(before);
  });

  it('200: an endpoint receives as soon as it is created, even if its URL returned 404 a moment before', async () => {
    const slug = randomUUID();
    expectRefusal(await provide(server, `/in/${org}/${slug}`, json({})), 404);

    const endpoint = await inbound(server, { slug });

    await accepted(server, endpoint, json({}));
  });

  it('200: no key is required, and a key in the request is ignored and not rate limited', async () => {
    const endpoint = await inbound(server);

    const answer = await provide(server, endpoint.at, {
      ...json({}),
      headers: { authorization: 'Bearer ek_live_wrong' },
    });

    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/);
    expect(answer.headers.get('ratelimit-limit')).toBeNull();
  });

  describe('the longest path wins, and the rest belongs to the request', () => {
    let base: string;
    let short: Inbound;
    let long: Inbound;

    beforeAll(async () => {
      base = randomUUID();
      short = await inbound(server, { path: base });
      long = await inbound(server, { path: `${base}/deep/er` });
    });

    it.each<[string, 'short' | 'long', string]>([
      ['', 'short', ''],
      ['/', 'short', '/'],
      ['/x', 'short', '/x'],
      ['/deep', 'short', '/deep'],
      ['/deep/', 'short', '/deep/'],
      ['/deep/error', 'short', '/deep/error'],
      ['/deep/er', 'long', ''],
      ['/deep/er/', 'long', '/'],
      ['/deep/er/a%20b/c', 'long', '/a%20b/c'],
      ['//deep/er', 'short', '//deep/er'],
      ['/deep//er', 'short', '/deep//er'],
      ['/deep%2Fer', 'short', '/deep%2Fer'],
      ['/Deep/er', 'short', '/Deep/er'],
      ['/d%65ep/er', 'short', '/d%65ep/er'],
      ['/deep/er;v=1', 'short', '/deep/er;v=1'],
      [`/${'x/'.repeat(40)}`, 'short', `/${'x/'.repeat(40)}`],
      ['/%00', 'short', '/%00'],
      ['/...', 'short', '/...'],
      [`/${'y'.repeat(900)}`, 'short', `/${'y'.repeat(900)}`],
    ])('%s goes to the %s one, and its path is %s', async (suffix, which, rest) => {
      const { at, ...others } = short;
      const answer = expectStatus(await provide(server, `${at}${suffix}?a=1&a=%zz`, json({})), 200);

      const request = await requestOf(server, which === 'short' ? { at, ...others } : long, answer.json.id);
      expect(request).toMatchObject({ path: rest, query: 'a=1&a=%zz', url: `${server.url}${at}${suffix}?a=1&a=%zz` });
    });

    it.each([
      '/../x',
      '/deep/er/../..',
      '/./x',
      '/x/..',
      '/%2e%2e/x',
      '/%2E./x',
      '/x/.%2e',
      '/deep/er/%2e',
      '/..\\x',
      '/x\\..\\..\\y',
      '/x\\%2e%2e',
    ])('404: %s is rejected, because a client that normalises it would reach another path', async (suffix) => {
      const before = await stored();

      expectRefusal(await provide(server, `${short.at}${suffix}`, json({})), 404);

      expect(await stored()).toBe(before);
    });

    it('404: a path that equals a receive URL only when decoded is rejected', async () => {
      const own = await inbound(server);

      for (const path of [
        `/%69n/${own.path}`,
        `/i%6e/${own.path}`,
        `//in/${own.path}`,
        `/In/${own.path}`,
        `/in/./${own.path}`,
        `/in/x/../${own.path}`,
        `/in//${own.path}`,
      ]) {
        expectRefusal(await provide(server, path, json({})), 404);
      }
      expect(await requestsOf(server, own)).toEqual([]);
    });

    it('400: a path with invalid percent-encoding is rejected with the error envelope', async () => {
      const { answers } = await exchangeBytes(server, requestText(`POST ${short.at}/%zz`, {}, '{}'));

      expectRefusal(answers[0] as ApiAnswer, 400);
    });
  });

  it('401: without its secret, or with an invalid signature, a request is stored as quarantined and not delivered', async () => {
    const target = targets.open();
    const endpoint = await inbound(server, {
      verification: 'hmac-sha256',
      destinations: [await destinationAt(server, target.url)],
    });

    const unset = await provide(server, endpoint.at, json({ n: 1 }));
    await setSecret(server, endpoint, 's3cret');
    const forged = await provide(server, endpoint.at, json({ n: 2 }, { 'x-signature': 'a'.repeat(64) }));

    expectRefusal(unset, 401);
    expectRefusal(forged, 401);
    const found = await requestsOf(server, endpoint);
    expect(found.map(({ status, verified }) => ({ status, verified }))).toEqual([
      { status: 'quarantined', verified: false },
      { status: 'quarantined', verified: false },
    ]);
    expect(await eventOf(server, found[0].event_id)).toMatchObject({
      status: 'quarantined',
      deliveries: [],
      payload: { n: 2 },
    });
    expect(target.posts()).toEqual([]);
  });

  it('200: a paused endpoint responds and parks requests; once active it delivers new ones, but does not release parked ones by itself', async () => {
    const target = targets.open();
    const endpoint = await inbound(server, { destinations: [await destinationAt(server, target.url)] });
    await change(server, endpoint, { status: 'paused' });

    const parked = await accepted(server, endpoint, json({ n: 1 }));
    await change(server, endpoint, { status: 'active' });
    await accepted(server, endpoint, json({ n: 2 }));

    const [post] = await target.arrived(1);
    expect(JSON.parse(String(post?.rawBody))).toEqual({ n: 2 });
    expect(await eventOf(server, parked)).toMatchObject({
      status: 'parked',
      deliveries: [],
      attempts: [],
      payload: { n: 1 },
    });
    expect(await requestOf(server, endpoint, parked)).toMatchObject({
      status: 'parked',
      note: 'The endpoint is paused.',
    });
  });

  it('404: the old URL of a moved endpoint stops at once, that of a deleted one on every node within 5 s; events stay', async () => {
    const { DATABASE_URL: databaseUrl = '', ...env } = server.env;
    const other = await startServer({ ...env, DATABASE_URL: databaseUrl, PORT: '0' });
    try {
      const endpoint = await inbound(server);
      const slug = randomUUID();
      const id = await accepted(server, endpoint, json({ n: 1 }));
      await accepted(other, endpoint, json({ n: 2 }));

      await change(server, endpoint, { url: `${server.url}/in/${org}/${slug}` });
      const moved = await provide(server, endpoint.at, json({}));
      await until(
        () => provide(other, endpoint.at, json({})),
        ({ status }) => status === 404,
        EVERYWHERE_WITHIN_MS,
      );
      expectStatus(await provide(other, `/in/${org}/${slug}`, json({})), 200);
      expectStatus(await server.api('DELETE', `/v1/endpoints/${endpoint.id}`), 204);
      const deleted = await provide(server, `/in/${org}/${slug}`, json({}));
      await until(
        () => provide(other, `/in/${org}/${slug}`, json({})),
        ({ status }) => status === 404,
        EVERYWHERE_WITHIN_MS,
      );

      expect([moved.status, deleted.status]).toEqual([404, 404]);
      expect(await eventOf(server, id)).toMatchObject({ status: 'ignored', payload: { n: 1 } });
    } finally {
      await other.stop();
    }
  });
});
