import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { compileSchema } from '#engine/json-schema/json-schema.js';
import { type Webhook, webhooksOf } from './openapi-webhooks.js';

type Json = Record<string, unknown>;

const operation = (schema: unknown, more: object = {}, media: object = {}): Json => ({
  post: { requestBody: { content: { 'application/json': { schema, ...media } } }, ...more },
});

const many = <T>(length: number, each: (i: number) => T): T[] => Array.from({ length }, (_, i) => each(i));

async function read(document: Json): Promise<Webhook[]> {
  const found = await webhooksOf(document, 'spec');
  if ('faults' in found) throw new Error(JSON.stringify(found.faults));
  return found.webhooks;
}

async function faultsOf(document: Json): Promise<string[]> {
  const found = await webhooksOf(document, 'spec');
  return 'faults' in found ? found.faults.map(({ path, message }) => `${path}: ${message}`) : [];
}

const only = async (schema: unknown, components: Json = {}, openapi = '3.1.0'): Promise<Json | null | undefined> =>
  (await read({ openapi, webhooks: { a: operation(schema) }, components: { schemas: components } }))[0]?.schema;

describe('webhooksOf', () => {
  it('imports name, description, group, schema and example', async () => {
    const schema = { type: 'object', properties: { id: { type: 'string' } } };

    expect(
      await read({
        openapi: '3.1.0',
        webhooks: {
          'invoice.paid': operation(
            schema,
            { summary: 'Short', description: ' Paid. ', tags: ['Billing', 'Other'] },
            { example: { id: 'in_1' } },
          ),
          invoiceVoid: operation(
            schema,
            { 'x-event-type': 'invoice.void', summary: 'Void' },
            { examples: { one: { $ref: '#/components/examples/one' } } },
          ),
          ping: { get: {} },
        },
        'x-webhooks': { later: { $ref: '#/components/pathItems/later' } },
        components: {
          examples: { one: { value: { id: 'in_2' } } },
          pathItems: { later: operation({ ...schema, examples: [{ id: 'in_3' }] }) },
        },
      }),
    ).toEqual([
      {
        path: 'spec.webhooks.invoice.paid.post',
        name: 'invoice.paid',
        description: 'Paid.',
        group: 'Billing',
        schema,
        example: { id: 'in_1' },
      },
      {
        path: 'spec.webhooks.invoiceVoid.post',
        name: 'invoice.void',
        description: 'Void',
        group: null,
        schema,
        example: { id: 'in_2' },
      },
      { path: 'spec.webhooks.ping.get', name: 'ping', description: null, group: null, schema: null, example: null },
      {
        path: 'spec.x-webhooks.later.post',
        name: 'later',
        description: null,
        group: null,
        schema: { ...schema, examples: [{ id: 'in_3' }] },
        example: { id: 'in_3' },
      },
    ]);
  });

  it('bundles each referenced part once, even if it contains itself', async () => {
    const schema = await only(
      { $ref: '#/components/schemas/Tree' },
      {
        Tree: {
          type: 'object',
          properties: { left: { $ref: '#/components/schemas/Tree' }, leaf: { $ref: '#/components/schemas/Leaf~1a' } },
        },
        'Leaf/a': { type: 'integer' },
      },
    );

    expect(schema).toEqual({
      type: 'object',
      properties: { left: { $ref: '#/$defs/Tree' }, leaf: { $ref: '#/$defs/Leaf_a' } },
      $defs: {
        Tree: { type: 'object', properties: { left: { $ref: '#/$defs/Tree' }, leaf: { $ref: '#/$defs/Leaf_a' } } },
        Leaf_a: { type: 'integer' },
      },
    });
    const compiled = compileSchema(schema);
    expect('validate' in compiled && compiled.validate({ left: { leaf: 'x' } })).toEqual([
      { path: 'left.leaf', message: 'must be a whole number' },
    ]);
  });

  it('gives parts with the same last name unique names', async () => {
    const document = {
      openapi: '3.1.0',
      webhooks: { a: operation({ anyOf: [{ $ref: '#/components/schemas/A' }, { $ref: '#/x-more/A' }] }) },
      components: { schemas: { A: { type: 'null' } } },
      'x-more': { A: { type: 'string' } },
    };

    expect((await read(document))[0]?.schema).toEqual({
      anyOf: [{ $ref: '#/$defs/A' }, { $ref: '#/$defs/A2' }],
      $defs: { A: { type: 'null' }, A2: { type: 'string' } },
    });
  });

  it.each<[string, unknown, unknown]>([
    ['nullable', { type: 'string', nullable: true }, { type: ['string', 'null'] }],
    [
      'nullable with an enum',
      { type: 'string', enum: ['a'], nullable: true },
      { type: ['string', 'null'], enum: ['a', null] },
    ],
    [
      'nullable without a type',
      { allOf: [{ $ref: '#/components/schemas/A' }], nullable: true },
      { anyOf: [{ allOf: [{ $ref: '#/$defs/A' }] }, { type: 'null' }], $defs: { A: {} } },
    ],
    ['exclusiveMinimum: true', { minimum: 1, exclusiveMinimum: true }, { exclusiveMinimum: 1 }],
    ['exclusiveMaximum: false', { maximum: 1, exclusiveMaximum: false }, { maximum: 1 }],
    ['example', { type: 'integer', example: 5 }, { type: 'integer', examples: [5] }],
    [
      'siblings of $ref',
      { properties: { a: { $ref: '#/components/schemas/A', nullable: true } } },
      { properties: { a: { $ref: '#/$defs/A' } }, $defs: { A: {} } },
    ],
    [
      'properties with the names of keywords',
      { properties: { nullable: { type: 'string' }, example: { type: 'string' }, $ref: { type: 'string' } } },
      { properties: { nullable: { type: 'string' }, example: { type: 'string' }, $ref: { type: 'string' } } },
    ],
    [
      'a value that is not a schema',
      { enum: [{ nullable: true, $ref: 'a' }], default: { $ref: 'b' } },
      { enum: [{ nullable: true, $ref: 'a' }], default: { $ref: 'b' } },
    ],
  ])('3.0: %s', async (_what, schema, converted) => {
    expect(await only(schema, { A: {} }, '3.0.3')).toEqual(converted);
  });

  it('3.1: keeps schemas unchanged', async () => {
    const schema = { type: ['string', 'null'], nullable: true, exclusiveMinimum: 5 };

    expect(await only(schema)).toEqual(schema);
  });

  it.each<[string, Json, RegExp]>([
    ['no version', {}, /^spec\.openapi: /],
    ['Swagger 2', { swagger: '2.0' }, /^spec\.openapi: /],
    ['no webhooks', { openapi: '3.1.0', paths: {} }, /^spec\.webhooks: has no webhooks/],
    ['webhooks that are a list', { openapi: '3.1.0', webhooks: [] }, /^spec\.webhooks: must be an object/],
    [
      'a webhook without an operation',
      { openapi: '3.1.0', webhooks: { a: {} } },
      /^spec\.webhooks\.a: must be a path item/,
    ],
    [
      'an invalid name',
      { openapi: '3.1.0', webhooks: { 'a b': operation({}) } },
      /^spec\.webhooks\.a b: must be a name/,
    ],
    [
      'an invalid name in x-event-type',
      { openapi: '3.1.0', webhooks: { a: operation({}, { 'x-event-type': 5 }) } },
      /^spec\.webhooks\.a\.post\.x-event-type: /,
    ],
    [
      'one name twice',
      { openapi: '3.1.0', webhooks: { a: operation({}), b: operation({}, { 'x-event-type': 'a' }) } },
      /^spec\.webhooks\.b\.post: has the name a/,
    ],
    [
      'a dangling reference',
      { openapi: '3.1.0', webhooks: { a: operation({ items: { $ref: '#/components/schemas/B' } }) } },
      /schema\.items\.\$ref: leads to nothing/,
    ],
    [
      'a reference to a file',
      { openapi: '3.1.0', webhooks: { a: operation({ $ref: 'b.yaml#/B' }) } },
      /schema\.\$ref: leads out of this document/,
    ],
    [
      'circular references',
      { openapi: '3.1.0', webhooks: { a: { $ref: '#/webhooks/a' } } },
      /^spec\.webhooks\.a\.\$ref: leads to nothing/,
    ],
    [
      'a description that cannot be stored',
      { openapi: '3.1.0', webhooks: { a: operation({}, { description: 'a\0' }) } },
      /cannot be stored/,
    ],
    [
      'too much in one schema',
      { openapi: '3.1.0', webhooks: { a: operation({ enum: Array.from({ length: 30_000 }, (_, i) => i) }) } },
      /is too large/,
    ],
    [
      'too many references in one schema',
      { openapi: '3.1.0', webhooks: { a: operation({ allOf: many(10_000, () => ({ $ref: '#/webhooks' })) }) } },
      /is too large/,
    ],
    [
      'too many references to different places',
      {
        openapi: '3.1.0',
        webhooks: { a: operation({ allOf: many(9_000, (i) => ({ $ref: `#/x-all/${i}/A` })) }) },
        'x-all': many(9_000, () => ({ A: {} })),
      },
      /is too large/,
    ],
    [
      'too many entries of a list',
      { openapi: '3.1.0', webhooks: { a: operation({ prefixItems: many(30_000, () => true) }) } },
      /is too large/,
    ],
    [
      'too many entries of a map',
      {
        openapi: '3.1.0',
        webhooks: { a: operation({ $defs: Object.fromEntries(many(30_000, (i) => [`a${i}`, {}] as const)) }) },
      },
      /is too large/,
    ],
    [
      'a reference that is too long',
      { openapi: '3.1.0', webhooks: { a: operation({ items: { $ref: `#${'/a'.repeat(1_000)}` } }) } },
      /leads to nothing/,
    ],
  ])('refuses %s', async (_what, document, fault) => {
    expect((await faultsOf(document))[0]).toMatch(fault);
  });

  it('stops at the total limit of all webhooks, with one fault', async () => {
    const item = operation({ allOf: many(4_000, () => ({ $ref: '#/x-a' })) });

    const faults = await faultsOf({
      openapi: '3.1.0',
      webhooks: Object.fromEntries(many(1_000, (i) => [`w${i}`, item] as const)),
      'x-a': {},
    });

    expect(faults).toEqual([
      expect.stringMatching(
        /^spec\.webhooks\.w\d+\..*exceeds the remaining part of the limit of 400000 values for all webhooks$/,
      ),
    ]);
  });

  it('numbers parts with the same name in order', async () => {
    const schema = (
      await read({
        openapi: '3.1.0',
        webhooks: { a: operation({ allOf: many(4, (i) => ({ $ref: `#/x-all/${i}/A${i === 1 ? '2' : ''}` })) }) },
        'x-all': many(4, () => ({ A: {}, A2: {} })),
      })
    )[0]?.schema;

    expect(schema?.['allOf']).toEqual(['A', 'A2', 'A3', 'A4'].map((name) => ({ $ref: `#/$defs/${name}` })));
  });

  it('yields to the event loop between two webhooks', async () => {
    let isDone = false;
    const reading = read({ openapi: '3.1.0', webhooks: { a: operation({}), b: operation({}) } }).then(() => {
      isDone = true;
    });
    await setImmediate();

    expect(isDone).toBe(false);
    await reading;
  });

  it('never throws, whatever the document contains', async () => {
    const webhooks = fc.dictionary(fc.constantFrom('a', 'b', 'post', '$ref'), fc.jsonValue());
    await fc.assert(
      fc.asyncProperty(webhooks, fc.jsonValue(), fc.constantFrom('3.0.0', '3.1.1'), async (items, schema, openapi) => {
        const found = await webhooksOf({ openapi, webhooks: { ...items, c: operation(schema) } }, 'spec');

        expect('faults' in found ? found.faults.length : found.webhooks.length).toBeGreaterThan(0);
      }),
    );
  });
});
