import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { expectInvalid, expectRefusal } from './answers.js';
import type { Sql } from './scene.js';
import { expectStatus, openSql } from './scene.js';

const invoice = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } };
const webhook = (schema: object, more: object = {}): object => ({
  post: { requestBody: { content: { 'application/json': { schema } } }, ...more },
});
const YAML = `
openapi: 3.0.3
x-webhooks:
  order.created:
    post:
      summary: An order came
      tags: [Orders]
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Order'}}}}
components:
  schemas:
    Order: {type: object, properties: {note: {type: string, nullable: true}, parent: {$ref: '#/components/schemas/Order'}}}
`;

describe('POST /v1/event-types/import/openapi', () => {
  let server: PosthornServer;

  let sql: Sql;

  beforeAll(async () => {
    server = await startServer();
    sql = openSql(server);
  });

  beforeEach(() => sql.rows('delete from event_types'));

  afterAll(async () => {
    await sql.close();
    await server.stop();
  });

  const imported = (body: object, headers = {}): Promise<ApiAnswer> =>
    server.api('POST', '/v1/event-types/import/openapi', body, headers);
  const documentOf = (webhooks: object): object => ({ openapi: '3.1.0', webhooks });

  it('200: creates, updates, keeps and archives types, and reports which', async () => {
    const [paid, voided] = ['invoice.paid', 'invoice.void'];
    expectStatus(
      await imported({
        spec: documentOf({ [paid]: webhook(invoice), [voided]: webhook(invoice), gone: webhook(invoice) }),
        enforce: true,
      }),
      200,
    );

    const again = {
      spec: documentOf({ [paid]: webhook(invoice), [voided]: webhook({ type: 'object' }), fresh: webhook(invoice) }),
      replace_all: true,
    };
    const dry = await imported({ ...again, dry_run: true });
    const unchanged = (await server.api('GET', '/v1/event-types')).json.data.map(({ name }: { name: string }) => name);
    const real = await imported(again);

    const expected = {
      created: ['fresh'],
      updated: [voided],
      unchanged: [paid],
      archived: ['gone'],
      changed_numbers: [],
    };
    expect([dry.json, real.json]).toEqual([
      { ...expected, dry_run: true },
      { ...expected, dry_run: false },
    ]);
    expect(unchanged.sort()).toEqual(['gone', paid, voided]);
    const types = (await server.api('GET', '/v1/event-types')).json.data;
    expect(
      types
        .map((each: { name: string; version: number; enforce: boolean }) => [each.name, each.version, each.enforce])
        .sort(),
    ).toEqual([
      ['fresh', 1, false],
      [paid, 1, true],
      [voided, 2, true],
    ]);
    expect((await server.api('GET', '/v1/event-types?archived=true')).json.data[0]).toMatchObject({
      name: 'gone',
      enforce: true,
    });
    expect((await imported({ spec: documentOf({ gone: webhook(invoice) }) })).json.updated).toEqual(['gone']);
  });

  it('200: YAML of OpenAPI 3.0 with resolved references', async () => {
    expectStatus(await imported({ text: YAML }), 200);

    const { json } = await server.api('GET', '/v1/event-types/order.created');
    expect(json).toMatchObject({
      description: 'An order came',
      group: 'Orders',
      schema: {
        properties: { note: { type: ['string', 'null'] }, parent: { $ref: '#/$defs/Order' } },
        $defs: { Order: { type: 'object' } },
      },
    });
  });

  it('the same Idempotency-Key twice imports once', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() };

    const [first, second] = [await imported({ text: YAML }, headers), await imported({ text: YAML }, headers)];

    expect([first.json.created, second.text]).toEqual([['order.created'], first.text]);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
  });

  it.each<[string, object, string[]]>([
    ['no document', {}, ['spec']],
    ['two documents', { spec: documentOf({}), text: 'a' }, ['spec']],
    ['a text that is neither JSON nor YAML', { text: '{"a": ' }, ['text']],
    ['a text that is not an OpenAPI document', { text: '- a' }, ['text']],
    ['YAML that would exhaust the memory', { text: `a: ${'['.repeat(200_000)}` }, ['text']],
    ['no webhooks', { spec: documentOf({}) }, ['spec.webhooks']],
    [
      'faults in several webhooks, all reported',
      { spec: documentOf({ a: webhook({ $ref: '#/nothing' }), 'b c': webhook({}) }) },
      ['spec.webhooks.a.post.requestBody.content.application/json.schema.$ref', 'spec.webhooks.b c'],
    ],
    ['an invalid schema', { spec: documentOf({ a: webhook({ type: 'text' }) }) }, ['spec.webhooks.a.post.schema.type']],
    [
      'an example that violates its schema',
      { spec: documentOf({ a: webhook({ ...invoice, examples: [{}] }) }) },
      ['spec.webhooks.a.post.example.id'],
    ],
  ])(
    '422: %s, and nothing is imported',
    async (_what, body, paths) => {
      expectInvalid(await imported(body), 'schema', ...paths);
      expect((await server.api('GET', '/v1/event-types')).json.data).toEqual([]);
    },
    40_000,
  );

  it('GET of the import path reads a type of that name, or returns 404', async () => {
    expectRefusal(await server.api('GET', '/v1/event-types/import'), 404);
    expectRefusal(await server.api('GET', '/v1/event-types/import/openapi'), 404);
  });
});
