import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { as, createKey, expectRefusal } from './answers.js';

interface Listed {
  id: string;
  name: string;
}

describe('lists', () => {
  let server: PosthornServer;
  let testKey: string;

  beforeAll(async () => {
    server = await sharedServer();
    testKey = (await createKey(server, { scope: 'admin', environment: 'test' })).key;
    await Promise.all(Array.from({ length: 120 }, (_, i) => createKey(server, { name: `Key ${i}`, scope: 'read' })));
    await Promise.all(
      Array.from({ length: 6 }, (_, i) => server.api('POST', '/v1/destinations', { name: `Pull ${i}`, type: 'pull' })),
    );
    await server.api('POST', '/v1/destinations', { name: 'Of the test environment', type: 'pull' }, as(testKey));
  });

  afterAll(() => server.stop());

  async function walk(
    path: string,
    limit: number,
    between: () => Promise<unknown> = async () => undefined,
  ): Promise<Listed[][]> {
    const pages: Listed[][] = [];
    for (let cursor: string | null = ''; cursor !== null; await between()) {
      const { status, json } = await server.api(
        'GET',
        `${path}?limit=${limit}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      expect(status).toBe(200);
      expect(Object.keys(json).sort()).toEqual(['data', 'next_cursor']);
      pages.push(json.data);
      cursor = json.next_cursor;
    }
    return pages;
  }

  async function cursorOf(path: string, headers: Record<string, string> = {}): Promise<string> {
    const { json } = await server.api('GET', path, undefined, headers);
    expect(json.next_cursor).toEqual(expect.any(String));
    return json.next_cursor;
  }

  const go = (path: string, cursor: string, headers?: Record<string, string>): Promise<ApiAnswer> =>
    server.api(
      'GET',
      `${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`,
      undefined,
      headers,
    );

  it.each([7, 50, 100])('120 keys, %i per page: each is returned exactly once, newest first', async (limit) => {
    const pages = await walk('/v1/keys', limit);

    const all = pages.flat();
    const ids = all.map(({ id }) => id);
    expect(pages.slice(0, -1).map(({ length }) => length)).toEqual(pages.slice(0, -1).map(() => limit));
    expect(all.filter(({ name }) => name.startsWith('Key '))).toHaveLength(120);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(ids.toSorted().reverse());
  });

  it('a page has 50 items by default', async () => {
    const { json } = await server.api('GET', '/v1/keys');

    expect(json.data).toHaveLength(50);
    expect(json.next_cursor).toEqual(expect.any(String));
  });

  it('a full last page has no cursor', async () => {
    const pages = await walk('/v1/destinations', 3);

    expect(pages.map(({ length }) => length)).toEqual([3, 3]);
  });

  it('objects created during pagination cause neither repetitions nor gaps', async () => {
    let count = 0;
    const pages = await walk('/v1/keys', 40, () => createKey(server, { name: `Newcomer ${count++}`, scope: 'read' }));

    const names = pages.flat().map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('Key '))).toHaveLength(120);
    expect(new Set(names.filter((name) => name.startsWith('Key '))).size).toBe(120);
    expect(names.filter((name) => name.startsWith('Newcomer'))).toEqual([]);
  });

  it('the page size can change from page to page', async () => {
    const all = (await walk('/v1/destinations', 100)).flat().map(({ id }) => id);

    const rest = await go('/v1/destinations?limit=4', await cursorOf('/v1/destinations?limit=2'));

    expect(rest.json.data.map(({ id }: Listed) => id)).toEqual(all.slice(2));
  });

  it('a cursor belongs to the environment, not to the key: another key can use it', async () => {
    const { key } = await createKey(server, { scope: 'read' });

    const answer = await go('/v1/destinations?limit=2', await cursorOf('/v1/destinations?limit=2'), as(key));

    expect(answer).toMatchObject({ status: 200, json: { data: [{}, {}] } });
  });

  it.each(
    ['0', '101', '-1', 'abc', '1.5', '1e1', '', '0x10', '5&limit=6', '99999999999999999999'].map(
      (limit) => `limit=${limit}`,
    ),
  )('400: %s', async (query) => {
    for (const path of ['/v1/keys', '/v1/destinations', '/v1/events']) {
      const answer = await server.api('GET', `${path}?${query}`);

      expectRefusal(answer, 400);
      expect(answer.json.error.details.fields).toEqual([{ path: 'limit', message: expect.any(String) }]);
    }
  });

  it('200: limit 1 and limit 100', async () => {
    const answers = await Promise.all([1, 100].map((limit) => server.api('GET', `/v1/keys?limit=${limit}`)));

    expect(answers.map(({ json }) => json.data.length)).toEqual([1, 100]);
  });

  it.each<[string, (cursor: string) => string]>([
    ['empty', () => ''],
    ['a number', () => '2'],
    ['an id', () => 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'],
    ['without its signature', (cursor) => cursor.split('.')[0] ?? ''],
    ['its signature alone', (cursor) => `.${cursor.split('.')[1] ?? ''}`],
    ['cut off', (cursor) => cursor.slice(0, -1)],
    ['longer by one part', (cursor) => `${cursor}.AA`],
    ['too long', (cursor) => cursor.repeat(20)],
    [
      'of another position under the same signature',
      (cursor) => {
        const [, mac] = cursor.split('.');
        return `${Buffer.from(JSON.stringify(['ffffffff-ffff-ffff-ffff-ffffffffffff', Date.now() + 60_000])).toString('base64url')}.${mac}`;
      },
    ],
    ['NUL', () => '\0'],
  ])('400: a cursor that is %s', async (_what, alter) => {
    const cursor = await cursorOf('/v1/destinations?limit=2');

    expectRefusal(await go('/v1/destinations?limit=2', alter(cursor)), 400);
  });

  it('400: a cursor with any single character changed', async () => {
    const cursor = await cursorOf('/v1/destinations?limit=2');
    // Alters every character except the last. Several last characters decode to the same value, because the low bits of
    // the last character are unused.
    const alter = (_: unknown, i: number): string =>
      cursor.slice(0, i) + (cursor[i] === 'A' ? 'B' : 'A') + cursor.slice(i + 1);
    const altered = Array.from({ length: cursor.length - 1 }, alter);

    const answers = await Promise.all(altered.map((text) => go('/v1/destinations?limit=2', text)));

    expect(answers.map(({ status }) => status)).toEqual(altered.map(() => 400));
  });

  it.each([
    ['another filter', '/v1/destinations?limit=2&type=pull'],
    ['the same list with another filter', '/v1/destinations?limit=2&validation=pending'],
    ['another list', '/v1/keys?limit=2'],
    ['a third list', '/v1/events?limit=2'],
  ])('400: a cursor of %s', async (_what, path) => {
    const cursor = await cursorOf('/v1/destinations?limit=2');

    expectRefusal(await go(path, cursor), 400);
  });

  it('400: a cursor of another environment', async () => {
    const cursor = await cursorOf('/v1/destinations?limit=2');

    expectRefusal(await go('/v1/destinations?limit=2', cursor, as(testKey)), 400);
  });

  it('a cursor of a filtered list continues this list', async () => {
    const path = '/v1/destinations?limit=4&type=pull&validation=pending';

    const answer = await go(path, await cursorOf(path));

    expect(answer.json.data).toHaveLength(2);
    expect(answer.json.next_cursor).toBeNull();
  });

  it('an empty list has no items and no cursor', async () => {
    const answer = await server.api('GET', '/v1/destinations?type=https');

    expect(answer.json).toEqual({ data: [], next_cursor: null });
  });

  it.each(['type=carrier-pigeon', 'type=', 'validation=fine', 'validation=valid&validation=stale'])(
    '400: /v1/destinations?%s',
    async (query) => {
      expectRefusal(await server.api('GET', `/v1/destinations?${query}`), 400);
    },
  );
});
