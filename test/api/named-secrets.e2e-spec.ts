import pg from 'pg';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { as, createKey, expectInvalid, expectRefusal, TIMESTAMP } from './answers.js';
import { until } from './polling.js';
import type { Sql, TargetPath, Targets } from './scene.js';
import { destinationAt, expectStatus, openSql, send, startTargets, uuidOf, WITHIN_MS } from './scene.js';

const UNKNOWN = 'sec_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';

describe('named secrets', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;
  let made = 0;

  beforeAll(async () => {
    [server, targets] = await Promise.all([startServer(), startTargets()]);
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql.close();
    await server.stop();
    await targets.close();
  });

  /** Creates a secret with a unique name. Its value is `value-of-NAME` by default. */
  async function secret(value?: string): Promise<{ id: string; name: string; path: string; template: string }> {
    const name = `NAME_${(made += 1)}`;
    const { id } = expectStatus(
      await server.api('POST', '/v1/secrets', { name, value: value ?? `value-of-${name}` }),
      201,
    ).json;
    return { id, name, path: `/v1/secrets/${id}`, template: `{{secrets.${name}}}` };
  }

  /** Sends a message and returns the header `x-a` of its delivery. */
  async function delivered(target: TargetPath, destination: string, from = server): Promise<unknown> {
    const before = target.posts().length;
    await send(from, destination);
    return (await target.arrived(before + 1)).at(-1)?.headers['x-a'];
  }

  /** Sends messages until the header has the expected value, because other nodes apply a change a moment later. */
  const deliveredAs = (target: TargetPath, destination: string, wanted: string, from = server): Promise<unknown> =>
    until(
      () => delivered(target, destination, from),
      (header) => header === wanted,
      WITHIN_MS,
    );

  describe('POST /v1/secrets', () => {
    it('201: returns the secret without its value, version 1', async () => {
      const answer = await server.api('POST', '/v1/secrets', {
        name: 'CRM_TOKEN',
        value: 'tok_hunter2',
        description: 'The CRM',
      });

      expect(answer.status).toBe(201);
      expect(answer.json).toEqual({
        id: expect.stringMatching(/^sec_[0-9A-HJKMNP-TV-Z]{26}$/),
        name: 'CRM_TOKEN',
        description: 'The CRM',
        version: 1,
        created_at: expect.stringMatching(TIMESTAMP),
        updated_at: answer.json.created_at,
      });
      expect((await server.api('GET', `/v1/secrets/${answer.json.id}`)).json).toEqual({ ...answer.json, used_by: [] });
    });

    it('stores the value encrypted', async () => {
      const { id } = await secret('a-value-that-nobody-reads');

      const [row] = await sql.rows<{ value: Buffer }>('select value from secrets where id = $1', [uuidOf(id)]);

      expect(row?.value[0]).toBe(2);
      expect(row?.value.includes('nobody')).toBe(false);
    });

    it.each<[string, Record<string, unknown>, string]>([
      ['no name', { value: 'a' }, 'name'],
      ['no value', { name: 'A' }, 'value'],
      ['an empty value', { name: 'A', value: '' }, 'value'],
      ['a value that is not a string', { name: 'A', value: 5 }, 'value'],
      ['a value of more than 16 KB', { name: 'A', value: 'x'.repeat(16_385) }, 'value'],
      ['a value of few characters but more than 16 KB', { name: 'A', value: '😀'.repeat(4097) }, 'value'],
      ['an empty name', { name: '', value: 'a' }, 'name'],
      ['a name that begins with a digit', { name: '1A', value: 'a' }, 'name'],
      ['a name with a hyphen', { name: 'A-B', value: 'a' }, 'name'],
      ['a name with a line break', { name: 'A\n', value: 'a' }, 'name'],
      ['a name of 65 characters', { name: 'A'.repeat(65), value: 'a' }, 'name'],
      ['a description of 501 characters', { name: 'A', value: 'a', description: 'x'.repeat(501) }, 'description'],
    ])('422: %s', async (_what, body, path) => {
      expectInvalid(await server.api('POST', '/v1/secrets', body), 'schema', path);
    });

    it.each(['_', 'a', `A${'9'.repeat(63)}`])('201: the name %s', async (name) => {
      expectStatus(await server.api('POST', '/v1/secrets', { name, value: 'x'.repeat(16_384) }), 201);
    });

    it('409: the name is taken in this environment; 201 in the other one, and in another case', async () => {
      const { name } = await secret();
      const { key } = await createKey(server, { scope: 'write', environment: 'test' });

      const again = await server.api('POST', '/v1/secrets', { name, value: 'other' });

      expectRefusal(again, 409);
      expectStatus(await server.api('POST', '/v1/secrets', { name, value: 'other' }, as(key)), 201);
      expectStatus(await server.api('POST', '/v1/secrets', { name: name.toLowerCase(), value: 'other' }), 201);
    });

    it('of ten concurrent calls with one name, exactly one creates the secret', async () => {
      const body = { name: 'RACED', value: 'a' };

      const answers = await Promise.all(Array.from({ length: 10 }, () => server.api('POST', '/v1/secrets', body)));

      expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 9 }, () => 409)]);
    });

    it('the same Idempotency-Key twice creates one secret and repeats the first response, which contains no value', async () => {
      const headers = { 'idempotency-key': crypto.randomUUID() };
      const body = { name: 'ONCE', value: 'tok_once_only' };

      const [first, second] = [
        await server.api('POST', '/v1/secrets', body, headers),
        await server.api('POST', '/v1/secrets', body, headers),
      ];

      expect([first.status, second.status]).toEqual([201, 201]);
      expect(second.text).toBe(first.text);
      expect(second.headers.get('idempotent-replayed')).toBe('true');
      expect(first.text).not.toContain('tok_once_only');
    });

    it('409: the 1,001st secret of an environment; 201 once another one is deleted', async () => {
      const crowded = await startServer();
      const its = openSql(crowded);
      try {
        const { id } = expectStatus(await crowded.api('POST', '/v1/secrets', { name: 'FIRST', value: 'a' }), 201).json;
        await its.rows(
          `insert into secrets select environment_id, gen_random_uuid(), 'N' || n, null, value, 1, now(), now()
           from secrets, generate_series(1, 998) as n`,
        );

        const answers = await Promise.all(
          ['X', 'Y', 'Z'].map((name) => crowded.api('POST', '/v1/secrets', { name, value: 'a' })),
        );
        expectStatus(await crowded.api('DELETE', `/v1/secrets/${id}`), 204);
        const after = await crowded.api('POST', '/v1/secrets', { name: 'AFTER', value: 'a' });

        expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
        expect(answers.find(({ status }) => status === 409)?.json.error.details).toEqual({ limit: 1000 });
        expect(after.status).toBe(201);
      } finally {
        await its.close();
        await crowded.stop();
      }
    });
  });

  describe('GET', () => {
    it('200: the list, newest first, in pages, without values', async () => {
      const [first, second, third] = [await secret(), await secret(), await secret()];

      const page = await server.api('GET', '/v1/secrets?limit=2');
      const next = await server.api('GET', `/v1/secrets?limit=2&cursor=${page.json.next_cursor}`);

      expect(page.json.data.map(({ id }: { id: string }) => id)).toEqual([third.id, second.id]);
      expect(next.json.data[0].id).toBe(first.id);
      expect(Object.keys(page.json.data[0]).sort()).toEqual([
        'created_at',
        'description',
        'id',
        'name',
        'updated_at',
        'version',
      ]);
      expect(page.text + next.text).not.toContain('value-of');
    });

    it('400: a cursor of another list', async () => {
      await Promise.all([destinationAt(server, targets.open().url), destinationAt(server, targets.open().url)]);
      const { json } = await server.api('GET', '/v1/destinations?limit=1');

      expectRefusal(await server.api('GET', `/v1/secrets?cursor=${json.next_cursor}`), 400);
    });

    it.each(['GET', 'PUT', 'DELETE'])(
      '404: %s of a secret that is unknown, malformed or of another environment',
      async (method) => {
        const { id, path } = await secret();
        const { key } = await createKey(server, { scope: 'write', environment: 'test' });
        const body = method === 'PUT' ? { value: 'other' } : undefined;

        for (const unknown of [UNKNOWN, 'sec_1', `dst_${id.slice(4)}`])
          expectRefusal(await server.api(method, `/v1/secrets/${unknown}`, body), 404);
        expectRefusal(await server.api(method, path, body, as(key)), 404);
        expect((await server.api('GET', path)).json.version).toBe(1);
      },
    );

    it('200: used_by names the destinations with headers that use the secret', async () => {
      const { path, template } = await secret();
      const [one, two] = [
        await destinationAt(server, targets.open().url, { headers: { 'x-a': template, 'x-b': template } }),
        await destinationAt(server, targets.open().url, { headers: { 'x-a': `a ${template}` } }),
      ];

      const { json } = await server.api('GET', path);

      expect(json.used_by).toEqual([
        { kind: 'destination', id: one },
        { kind: 'destination', id: two },
      ]);
    });
  });

  describe('PUT /v1/secrets/{id}', () => {
    it('200: a new value creates a new version, a new description does not', async () => {
      const { path } = await secret();

      const described = await server.api('PUT', path, { description: 'What for' });
      const changed = await server.api('PUT', path, { value: 'next' });
      const cleared = await server.api('PUT', path, { description: null });
      const nothing = await server.api('PUT', path, {});

      expect([described, changed, cleared, nothing].map(({ json }) => [json.version, json.description])).toEqual([
        [1, 'What for'],
        [2, 'What for'],
        [2, null],
        [2, null],
      ]);
      expect(nothing.json.updated_at).toBe(cleared.json.updated_at);
      expect((await server.api('GET', path)).json).toEqual(nothing.json);
    });

    it('each of several concurrent calls increments the version', async () => {
      const { path } = await secret();

      await Promise.all(Array.from({ length: 8 }, (_, i) => server.api('PUT', path, { value: `v${i}` })));

      expect((await server.api('GET', path)).json.version).toBe(9);
    });

    it.each([
      ['empty', ''],
      ['null', null],
      ['of more than 16 KB', 'x'.repeat(16_385)],
    ])('422: a value that is %s', async (_what, value) => {
      const { path } = await secret();

      expectInvalid(await server.api('PUT', path, { value }), 'schema', 'value');
      expect((await server.api('GET', path)).json.version).toBe(1);
    });

    it.each([
      ['line ends', 'a\r\nx-evil: 1'],
      ['a trailing space', 'a '],
      ['more than Latin-1', 'a漢'],
      ['more than 8 KB', 'x'.repeat(8193)],
    ])('422: a value with %s, while a header uses it; 200 while none does', async (_what, value) => {
      const { path, template } = await secret('good');
      const destination = await destinationAt(server, targets.open().url, { headers: { 'x-a': template } });

      expectInvalid(await server.api('PUT', path, { value }), 'schema', 'value');
      expect((await server.api('GET', path)).json.version).toBe(1);
      expectStatus(await server.api('PATCH', `/v1/destinations/${destination}`, { headers: {} }), 200);
      expectStatus(await server.api('PUT', path, { value }), 200);
    });
  });

  describe('DELETE /v1/secrets/{id}', () => {
    it('204, then 404', async () => {
      const { path } = await secret();

      expect(await server.api('DELETE', path)).toMatchObject({ status: 204, text: '' });
      expectRefusal(await server.api('DELETE', path), 404);
      expectRefusal(await server.api('GET', path), 404);
    });

    it('409 while a destination uses it, with details.used_by; 204 once the use is removed or the destination is deleted', async () => {
      const { path, template } = await secret();
      const [one, two] = [
        await destinationAt(server, targets.open().url, { headers: { 'x-a': template } }),
        await destinationAt(server, targets.open().url, { headers: { 'x-a': template } }),
      ];

      const both = await server.api('DELETE', path);
      await server.api('PATCH', `/v1/destinations/${one}`, { headers: { 'x-a': 'plain' } });
      const last = await server.api('DELETE', path);
      await server.api('DELETE', `/v1/destinations/${two}`);
      const free = await server.api('DELETE', path);

      expectRefusal(both, 409);
      expect(both.json.error.details).toEqual({
        used_by: [
          { kind: 'destination', id: one },
          { kind: 'destination', id: two },
        ],
      });
      expect(last.json.error.details).toEqual({ used_by: [{ kind: 'destination', id: two }] });
      expect(free.status).toBe(204);
    });

    /** Returns the number of statements in this database that wait for a lock. */
    const waiting = async (): Promise<number> => {
      const rows = await sql.rows<{ count: number }>(
        `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rows[0]?.count ?? 0;
    };

    it.each<[string, number, number[]]>([
      ['the use comes first and wins: 409', 0, [409, 200]],
      ['the deletion comes first and wins: 422 for the use', 1, [204, 422]],
    ])('concurrently with a new use of the secret: %s', async (_what, first, statuses) => {
      const { id, path, template } = await secret();
      const destination = await destinationAt(server, targets.open().url);
      const calls = [
        () => server.api('PATCH', `/v1/destinations/${destination}`, { headers: { 'x-a': template } }),
        () => server.api('DELETE', path),
      ];
      // Makes both calls wait for a lock on the secret. The call at index `first` is first in the queue.
      const holder = new pg.Client({ connectionString: server.databaseUrl });
      await holder.connect();
      await holder.query('begin');
      await holder.query('select from secrets where id = $1 for update', [uuidOf(id)]);

      const earlier = calls[first]?.();
      await until(waiting, (count) => count === 1);
      const later = calls[1 - first]?.();
      await until(waiting, (count) => count === 2);
      await holder.query('rollback');
      await holder.end();

      const [one, two] = [await earlier, await later];
      expect(first === 0 ? [two?.status, one?.status] : [one?.status, two?.status]).toEqual(statuses);
    });
  });

  describe('in the headers of a destination', () => {
    it('the delivery contains the values within the surrounding text; GET shows the template', async () => {
      const [user, token] = [await secret('ann'), await secret('s3cret')];
      const target = targets.open();
      const headers = { 'x-a': `Basic ${user.template}:{{ secrets.${token.name} }} {{other}}` };

      const id = await destinationAt(server, target.url, { headers });

      expect(await delivered(target, id)).toBe('Basic ann:s3cret {{other}}');
      expect((await server.api('GET', `/v1/destinations/${id}`)).json.headers).toEqual(headers);
    });

    it('every node uses a new value', async () => {
      const { path, template } = await secret('old');
      const target = targets.open();
      const id = await destinationAt(server, target.url, { headers: { 'x-a': template } });
      const other = await startServer(server.env);
      try {
        expect([await delivered(target, id), await delivered(target, id, other)]).toEqual(['old', 'old']);
        expectStatus(await server.api('PUT', path, { value: 'new' }), 200);

        expect(await deliveredAs(target, id, 'new')).toBe('new');
        expect(await deliveredAs(target, id, 'new', other)).toBe('new');
      } finally {
        await other.stop();
      }
    });

    it('422 at the header, and nothing is stored or changed: an unknown secret, or one of the other environment', async () => {
      const { key } = await createKey(server, { scope: 'write', environment: 'test' });
      expectStatus(await server.api('POST', '/v1/secrets', { name: 'ONLY_IN_TEST', value: 'a' }, as(key)), 201);
      const { template } = await secret();
      const id = await destinationAt(server, targets.open().url, { headers: { 'x-a': template } });

      for (const name of ['NOWHERE', 'ONLY_IN_TEST', 'a-b', '']) {
        const headers = { 'X-Good': template, 'X-Bad': `a {{ secrets.${name} }}` };
        expectInvalid(
          await server.api('POST', '/v1/destinations', { name: 'A', type: 'https', url: targets.open().url, headers }),
          'schema',
          'headers.X-Bad',
        );
        expectInvalid(await server.api('PATCH', `/v1/destinations/${id}`, { headers }), 'schema', 'headers.X-Bad');
      }
      expect((await server.api('GET', `/v1/destinations/${id}`)).json).toMatchObject({
        version: 1,
        headers: { 'x-a': template },
      });
    });

    it.each([
      ['line ends', 'a\r\nx-evil: 1', 'headers.X-A'],
      ['a leading space', ' a', 'headers.X-A'],
      ['9 KB', 'x'.repeat(9000), 'headers.X-A'],
    ])('422: a secret whose value has %s', async (_what, value, path) => {
      const { template, path: secretPath } = await secret(value);

      const answer = await server.api('POST', '/v1/destinations', {
        name: 'A',
        type: 'https',
        url: targets.open().url,
        headers: { 'X-A': template },
      });

      expectInvalid(answer, 'schema', path);
      expect(answer.text).not.toContain('evil');
      expect((await server.api('GET', secretPath)).json.used_by).toEqual([]);
    });

    it('a template is never sent unresolved: secrets too long for the headers stop the delivery; unrelated fields can still be changed', async () => {
      const secrets = await Promise.all(Array.from({ length: 5 }, () => secret('short')));
      const target = targets.open();
      const headers = Object.fromEntries(secrets.map(({ template }, i) => [`x-${i}`, template]));
      const id = await destinationAt(server, target.url, { headers });
      for (const { path } of secrets) expectStatus(await server.api('PUT', path, { value: 'x'.repeat(8000) }), 200);

      const refused = await until(
        () => server.api('POST', '/v1/send', { destination: id, event_type: 'a', payload: {} }),
        ({ status }) => status !== 202,
        WITHIN_MS,
      );

      expectRefusal(refused, 409);
      expect(refused.text).not.toContain('xxx');
      expectStatus(await server.api('PATCH', `/v1/destinations/${id}`, { name: 'Renamed' }), 200);
      expectStatus(await server.api('PATCH', `/v1/destinations/${id}`, { headers: {} }), 200);
      expect(
        target
          .posts()
          .flatMap((post) => Object.values(post.headers))
          .join(),
      ).not.toContain('{{');
    });
  });

  describe('scopes', () => {
    it('a read key can read; every change requires write', async () => {
      const { path } = await secret();
      const { key } = await createKey(server, { scope: 'read' });

      for (const url of ['/v1/secrets', path]) expectStatus(await server.api('GET', url, undefined, as(key)), 200);
      expectRefusal(await server.api('POST', '/v1/secrets', { name: 'A', value: 'a' }, as(key)), 403);
      expectRefusal(await server.api('PUT', path, { value: 'a' }, as(key)), 403);
      expectRefusal(await server.api('DELETE', path, undefined, as(key)), 403);
    });
  });
});
