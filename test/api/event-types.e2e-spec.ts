import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { as, createKey, expectInvalid, expectRefusal, TIMESTAMP } from './answers.js';
import { until } from './polling.js';
import type { Sql, Targets } from './scene.js';
import { expectStatus, openSql, startTargets, WITHIN_MS } from './scene.js';

const SCHEMA = {
  type: 'object',
  required: ['amount'],
  properties: { z: { type: 'string' }, amount: { type: 'integer' } },
};

describe('event types', () => {
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

  const pathTo = (name: string): string => `/v1/event-types/${encodeURIComponent(name)}`;

  async function type(fields: object = {}): Promise<string> {
    const name = `made.${(made += 1)}`;
    expectStatus(await server.api('POST', '/v1/event-types', { name, ...fields }), 201);
    return name;
  }

  describe('POST /v1/event-types', () => {
    it('201: returns the type with version 1 and its schema with the keys in order', async () => {
      const body = {
        name: 'invoice.paid',
        description: 'Paid.',
        group: 'Billing',
        schema: SCHEMA,
        example: { amount: 1 },
        enforce: true,
      };

      const answer = await server.api('POST', '/v1/event-types', body);

      expect(answer.status).toBe(201);
      expect(answer.json).toEqual({
        ...body,
        version: 1,
        has_schema: true,
        archived: false,
        created_at: expect.stringMatching(TIMESTAMP),
        updated_at: answer.json.created_at,
      });
      const read = await server.api('GET', pathTo('invoice.paid'));
      expect(read.json).toEqual(answer.json);
      expect(JSON.stringify(read.json.schema)).toBe(JSON.stringify(SCHEMA));
    });

    it.each(['import', 'a/b:c', 'versions', 'a/versions', 'A'.repeat(256)])(
      '201: the name %s is found when percent-encoded',
      async (name) => {
        expectStatus(await server.api('POST', '/v1/event-types', { name }), 201);

        expect((await server.api('GET', pathTo(name))).json.name).toBe(name);
        expect((await server.api('GET', `${pathTo(name)}/versions`)).json.data).toHaveLength(1);
      },
    );

    it('201: the name .. is listed, although clients resolve it in paths, also if it is percent-encoded', async () => {
      expectStatus(await server.api('POST', '/v1/event-types', { name: '..' }), 201);

      const { data } = expectStatus(await server.api('GET', '/v1/event-types?limit=100'), 200).json;
      expect(data.map(({ name }: { name: string }) => name)).toContain('..');
    });

    it.each<[string, object, string]>([
      ['no name', {}, 'name'],
      ['a name with a space', { name: 'a b' }, 'name'],
      ['a name of 257 characters', { name: 'a'.repeat(257) }, 'name'],
      ['an invalid schema', { name: 'x', schema: { properties: { a: { type: 'text' } } } }, 'schema.properties.a.type'],
      [
        'a schema of draft 7',
        { name: 'x', schema: { $schema: 'http://json-schema.org/draft-07/schema#' } },
        'schema.$schema',
      ],
      ['a schema with a reference to a URL', { name: 'x', schema: { $ref: 'http://127.0.0.1/a' } }, 'schema.$ref'],
      [
        'an example that violates its schema',
        { name: 'x', schema: SCHEMA, example: { amount: 'a' } },
        'example.amount',
      ],
      ['enforce without a schema', { name: 'x', enforce: true }, 'enforce'],
      ['an empty group', { name: 'x', group: '' }, 'group'],
    ])('422: %s', async (_what, body, path) => {
      expectInvalid(await server.api('POST', '/v1/event-types', body), 'schema', path);
    });

    it('409: the name is taken in this environment; 201 in the other one', async () => {
      const name = await type();
      const { key } = await createKey(server, { scope: 'write', environment: 'test' });

      expectRefusal(await server.api('POST', '/v1/event-types', { name }), 409);
      expectStatus(await server.api('POST', '/v1/event-types', { name }, as(key)), 201);
    });

    it('the same Idempotency-Key twice creates one type and repeats the first response', async () => {
      const headers = { 'idempotency-key': crypto.randomUUID() };
      const call = (): ReturnType<PosthornServer['api']> =>
        server.api('POST', '/v1/event-types', { name: 'once' }, headers);

      const [first, second] = [await call(), await call()];

      expect([first.status, second.status, second.text]).toEqual([201, 201, first.text]);
      expect(second.headers.get('idempotent-replayed')).toBe('true');
    });

    it('of ten concurrent calls with one name, exactly one creates the type', async () => {
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => server.api('POST', '/v1/event-types', { name: 'raced' })),
      );

      expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 9 }, () => 409)]);
    });

    it('409: the 1,001st type of an environment, also by import', async () => {
      const { key } = await createKey(server, { scope: 'write', environment: 'test' });
      expectStatus(await server.api('POST', '/v1/event-types', { name: 'first' }, as(key)), 201);
      await sql.rows(`
        insert into event_types select environment_id, 'n' || n, gen_random_uuid(), 1, null, null, null, null, 0, false, false, now(), now()
        from (select environment_id, count(*) as there from event_types where environment_id = (select environment_id from event_types where name = 'first') group by 1) as e,
        generate_series(1, 1000 - there) as n`);

      const document = { openapi: '3.1.0', webhooks: { more: { post: {} } } };
      const answers = [
        await server.api('POST', '/v1/event-types', { name: 'more' }, as(key)),
        await server.api('POST', '/v1/event-types/import/openapi', { spec: document }, as(key)),
      ];

      for (const answer of answers) {
        expectRefusal(answer, 409);
        expect(answer.json.error.details).toEqual({ limit: 1000 });
      }
      await sql.rows(
        `delete from event_types where environment_id = (select environment_id from event_types where name = 'first')`,
      );
    });

    it('409: more than one megabyte of enforced schemas', async () => {
      const { key } = await createKey(server, { scope: 'write', environment: 'test' });
      const large = { description: 'x'.repeat(64_000) };
      const statuses: number[] = [];
      for (let i = 0; i < 17; i += 1)
        statuses.push(
          (await server.api('POST', '/v1/event-types', { name: `large.${i}`, schema: large, enforce: true }, as(key)))
            .status,
        );

      expect(statuses).toEqual([...Array.from({ length: 16 }, () => 201), 409]);
      expectStatus(await server.api('POST', '/v1/event-types', { name: 'large.16', schema: large }, as(key)), 201);
    });
  });

  describe('PATCH, DELETE and versions', () => {
    it('only a changed schema creates a new version', async () => {
      const name = await type({ schema: SCHEMA });

      const said = (await server.api('PATCH', pathTo(name), { description: 'New', schema: { ...SCHEMA } })).json;
      const second = (await server.api('PATCH', pathTo(name), { schema: { type: 'object' }, enforce: true })).json;
      const third = (await server.api('PATCH', pathTo(name), { schema: null, enforce: false, description: null })).json;

      expect([said.version, second.version, third.version]).toEqual([1, 2, 3]);
      expect([third.schema, third.has_schema, third.description]).toEqual([null, false, null]);
      const page = await server.api('GET', `${pathTo(name)}/versions?limit=2`);
      const rest = await server.api('GET', `${pathTo(name)}/versions?limit=2&cursor=${page.json.next_cursor}`);
      expect([...page.json.data, ...rest.json.data].map(({ version, schema }) => [version, schema])).toEqual([
        [3, null],
        [2, { type: 'object' }],
        [1, SCHEMA],
      ]);
      expect(rest.json.next_cursor).toBeNull();
    });

    it.each<[string, object, object, string]>([
      ['removing the schema of an enforced type', { schema: SCHEMA, enforce: true }, { schema: null }, 'enforce'],
      [
        'a schema that the existing example violates',
        { schema: SCHEMA, example: { amount: 1 } },
        { schema: { required: ['b'] } },
        'example.b',
      ],
      ['an example that violates the existing schema', { schema: SCHEMA }, { example: {} }, 'example.amount'],
    ])('422: %s, and nothing changes', async (_what, fields, changes, path) => {
      const name = await type(fields);
      const before = (await server.api('GET', pathTo(name))).json;

      expectInvalid(await server.api('PATCH', pathTo(name), changes), 'schema', path);
      expect((await server.api('GET', pathTo(name))).json).toEqual(before);
    });

    it('204, then 404; the versions are deleted too', async () => {
      const name = await type({ schema: SCHEMA });

      expectStatus(await server.api('DELETE', pathTo(name)), 204);
      expectRefusal(await server.api('DELETE', pathTo(name)), 404);
      for (const path of [pathTo(name), `${pathTo(name)}/versions`]) expectRefusal(await server.api('GET', path), 404);
      expect(await sql.rows('select from event_type_versions where name = $1', [name])).toEqual([]);
    });

    it('404: a type of the other environment', async () => {
      const name = await type();
      const { key } = await createKey(server, { scope: 'admin', environment: 'test' });

      for (const [method, path] of [
        ['GET', ''],
        ['PATCH', ''],
        ['DELETE', ''],
        ['GET', '/versions'],
      ] as const) {
        expectRefusal(
          await server.api(
            method,
            pathTo(name) + path,
            method === 'PATCH' ? { description: 'mine' } : undefined,
            as(key),
          ),
          404,
        );
      }
      expect((await server.api('GET', pathTo(name))).json.description).toBeNull();
      expect((await server.api('GET', '/v1/event-types?limit=100', undefined, as(key))).text).not.toContain(
        `"${name}"`,
      );
    });
  });

  it('lists are newest first, in pages and by group, without archived types and without schemas', async () => {
    const names = [
      await type({ group: 'Listed', schema: SCHEMA }),
      await type({ group: 'Listed' }),
      await type({ group: 'Listed' }),
      await type({ group: 'Listed', archived: true }),
    ];

    const page = await server.api('GET', '/v1/event-types?group=Listed&limit=2');
    const rest = await server.api('GET', `/v1/event-types?group=Listed&limit=2&cursor=${page.json.next_cursor}`);
    const archived = await server.api('GET', '/v1/event-types?group=Listed&archived=true');

    const listed = [...page.json.data, ...rest.json.data];
    expect(listed.map(({ name }) => name)).toEqual([names[2], names[1], names[0]]);
    expect(listed.map(({ has_schema: has }) => has)).toEqual([false, false, true]);
    expect(Object.keys(listed[0])).not.toContain('schema');
    expect(archived.json.data.map(({ name }: { name: string }) => name)).toEqual([names[3]]);
    expectRefusal(await server.api('GET', `/v1/event-types?group=Other&cursor=${page.json.next_cursor}`), 400);
  });

  describe('enforcement', () => {
    const sendOf = (name: string, payload: object, from = server): ReturnType<PosthornServer['api']> =>
      from.api('POST', '/v1/send', { destination: targets.open().url, event_type: name, payload });

    it('422 with every error of a payload that violates its schema; 202 for a valid payload', async () => {
      const name = await type({ schema: { ...SCHEMA, additionalProperties: false }, enforce: true });

      const refused = await sendOf(name, { amount: 'a', more: 1 });

      expect(expectInvalid(refused, 'schema').sort()).toEqual(['payload.amount', 'payload.more']);
      expectStatus(await sendOf(name, { amount: 5 }), 202);
      expect((await server.api('GET', `/v1/events?event_type=${name}`)).json.data).toHaveLength(1);
    });

    it('422: a field named __proto__ is an additional property', async () => {
      const name = await type({ schema: { ...SCHEMA, additionalProperties: false }, enforce: true });
      const body = `{"destination":"${targets.open().url}","event_type":"${name}","payload":{"amount":5,"__proto__":{"a":1}}}`;

      expectInvalid(await server.api('POST', '/v1/send', Buffer.from(body)), 'schema', 'payload.__proto__');
    });

    it('applies on this node as soon as the change is answered, and on other nodes a moment later', async () => {
      const name = await type({ schema: SCHEMA });
      const other = await startServer(server.env);
      try {
        for (const node of [server, other]) expectStatus(await sendOf(name, {}, node), 202);
        expectStatus(await server.api('PATCH', pathTo(name), { enforce: true }), 200);
        expectInvalid(await sendOf(name, {}), 'schema', 'payload.amount');
        await until(
          () => sendOf(name, {}, other),
          ({ status }) => status === 422,
          WITHIN_MS,
        );

        expectStatus(await server.api('PATCH', pathTo(name), { schema: { required: ['other'] } }), 200);
        expectInvalid(await sendOf(name, {}), 'schema', 'payload.other');
        expectStatus(await server.api('DELETE', pathTo(name)), 204);
        expectStatus(
          await server.api('POST', '/v1/event-types', { name, schema: { required: ['again'] }, enforce: true }),
          201,
        );
        expectInvalid(await sendOf(name, {}), 'schema', 'payload.again');
      } finally {
        await other.stop();
      }
    });

    it('applies to one environment, also while the type is archived', async () => {
      const name = await type({ schema: SCHEMA, enforce: true, archived: true });
      const { key } = await createKey(server, { scope: 'write', environment: 'test' });

      expectInvalid(await sendOf(name, {}), 'schema', 'payload.amount');
      expectStatus(
        await server.api(
          'POST',
          '/v1/send',
          { destination: targets.open().url, event_type: name, payload: {} },
          as(key),
        ),
        202,
      );
    });

    it('422: a payload whose validation exceeds the time limit', async () => {
      const twice = (i: number): object => ({ anyOf: [{ $ref: `#/$defs/a${i}` }, { $ref: `#/$defs/a${i}` }] });
      const $defs = Object.fromEntries(
        Array.from({ length: 40 }, (_, i) => [`a${i}`, i === 39 ? { type: 'string' } : twice(i + 1)]),
      );
      const name = await type({ schema: { $ref: '#/$defs/a0', $defs }, enforce: true });

      const answer = await sendOf(name, {});

      expectInvalid(answer, 'schema', 'payload');
      expect(answer.json.error.message).toContain('cannot be checked in the time there is');
    });
  });
});
