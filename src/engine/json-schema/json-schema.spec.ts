import fc from 'fast-check';
import { type CompiledSchema, compileSchema } from './json-schema.js';

type Json = Record<string, unknown>;

function compiled(schema: unknown): CompiledSchema {
  const result = compileSchema(schema);
  if ('faults' in result) throw new Error(JSON.stringify(result.faults));
  return result;
}

const fits = (schema: unknown, value: unknown): boolean => compiled(schema).validate(value).length === 0;
const pathsOf = (schema: unknown): string[] => {
  const result = compileSchema(schema);
  return 'faults' in result ? result.faults.map(({ path }) => path) : [];
};

/** Vectors in the form of JSON-Schema-Test-Suite (draft 2020-12): keyword, schema, valid values, invalid values. */
const VECTORS: [string, Json, unknown[], unknown[]][] = [
  ['type', { type: 'integer' }, [1, 1.0, -0], [1.1, '1', null, true, {}]],
  ['types', { type: ['array', 'object'] }, [[], {}], [1, 'a', null]],
  [
    'enum of several',
    { enum: [6, 'foo', [], true, { foo: 12 }] },
    [[], { foo: 12 }],
    [null, { foo: false }, { foo: 12, boo: 42 }],
  ],
  ['enum: false is not 0', { enum: [false] }, [false], [0, [false]]],
  ['const', { const: { foo: 'bar', baz: 'bax' } }, [{ baz: 'bax', foo: 'bar' }], [{ foo: 'bar' }, [1, 2]]],
  ['multipleOf', { multipleOf: 0.01 }, [4.5, 'a'], [0.00751]],
  ['exclusiveMinimum', { exclusiveMinimum: 1.1 }, [1.2, 'x'], [1.1, 0.6]],
  ['maxLength counts code points', { maxLength: 2 }, ['f', 'fo', 100, '\u{1F4A9}\u{1F4A9}'], ['foo']],
  ['pattern is not anchored', { pattern: 'a+' }, ['xxaayy', 1, {}], ['abc'.replace('a', 'b')]],
  ['items', { items: { type: 'integer' } }, [[1, 2], {}, []], [[1, 'x']]],
  [
    'prefixItems and items',
    { prefixItems: [{ type: 'integer' }, {}], items: false },
    [[1, 'a'], [], [1]],
    [['a'], [1, 2, 3]],
  ],
  [
    'contains',
    { contains: { minimum: 5 }, maxContains: 2 },
    [
      [3, 5],
      [5, 6],
    ],
    [[], [3], [5, 6, 7]],
  ],
  [
    'uniqueItems',
    { uniqueItems: true },
    [
      [1, '1', true],
      [{ a: 1 }, { a: 2 }],
      [0, false],
      [[1], ['1']],
    ],
    [
      [1, 1.0],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      [[[1]], [[1]]],
      [0, -0],
    ],
  ],
  ['uniqueItems false', { uniqueItems: false }, [[1, 1]], []],
  ['required of an inherited name', { required: ['toString', 'constructor'] }, [{ toString: 1, constructor: 2 }], [{}]],
  [
    'properties of inherited names',
    { properties: { toString: { type: 'string' } }, additionalProperties: false },
    [{}, { toString: 'a' }],
    [{ toString: 1 }, { b: 1 }],
  ],
  [
    'patternProperties',
    { patternProperties: { '^f.*o$': { type: 'integer' } } },
    [{ foo: 1, bar: 'a' }],
    [{ foo: 'a' }],
  ],
  ['propertyNames', { propertyNames: { maxLength: 3 } }, [{ f: {} }], [{ foobar: {} }]],
  [
    'dependentRequired',
    { dependentRequired: { quux: ['foo', 'bar'] } },
    [{ foo: 1 }, { foo: 1, bar: 2, quux: 3 }],
    [{ foo: 1, quux: 2 }],
  ],
  [
    'dependentSchemas',
    { dependentSchemas: { bar: { properties: { foo: { type: 'integer' } } } } },
    [{ foo: 'a' }, { foo: 1, bar: 2 }],
    [{ foo: 'a', bar: 2 }],
  ],
  ['allOf', { allOf: [{ required: ['bar'] }, { required: ['foo'] }] }, [{ foo: 1, bar: 1 }], [{ foo: 1 }]],
  ['oneOf', { oneOf: [{ type: 'integer' }, { minimum: 2 }] }, [1, 2.5], [3, 1.5]],
  ['not', { not: { type: ['integer', 'boolean'] } }, ['a'], [1, true]],
  [
    'if, then, else',
    { if: { exclusiveMaximum: 0 }, then: { minimum: -10 }, else: { multipleOf: 2 } },
    [-1, 4],
    [-100, 3],
  ],
  [
    'unevaluatedProperties',
    { allOf: [{ properties: { foo: {} } }], properties: { bar: {} }, unevaluatedProperties: false },
    [{ foo: 1, bar: 2 }],
    [{ foo: 1, baz: 2 }],
  ],
  [
    'unevaluatedProperties through a $ref',
    {
      $ref: '#/$defs/a',
      properties: { foo: {} },
      unevaluatedProperties: false,
      $defs: { a: { properties: { bar: {} } } },
    },
    [{ foo: 1, bar: 2 }],
    [{ baz: 1 }],
  ],
  ['unevaluatedItems', { prefixItems: [{ type: 'string' }], unevaluatedItems: false }, [['a']], [['a', 1]]],
  [
    '$ref to the root',
    { properties: { foo: { $ref: '#' } }, additionalProperties: false },
    [{ foo: { foo: false } }],
    [{ foo: { bar: false } }],
  ],
  [
    '$ref with escaped names',
    { $defs: { 'a~b/c%d': { type: 'integer' } }, properties: { x: { $ref: '#/$defs/a~0b~1c%25d' } } },
    [{ x: 1 }],
    [{ x: 'a' }],
  ],
  [
    '$ref beside other keywords',
    { $defs: { a: { type: 'array' } }, properties: { x: { $ref: '#/$defs/a', maxItems: 2 } } },
    [{ x: [] }],
    [{ x: [1, 2, 3] }, { x: 'a' }],
  ],
  [
    '$ref to a property',
    { properties: { a: { type: 'integer' }, b: { $ref: '#/properties/a' } } },
    [{ b: 1 }],
    [{ b: 'a' }],
  ],
  [
    '$ref to true and false',
    { $defs: { yes: true, no: false }, properties: { a: { $ref: '#/$defs/yes' }, b: { $ref: '#/$defs/no' } } },
    [{ a: 1 }],
    [{ b: 1 }],
  ],
  ['a property called $ref', { properties: { $ref: { type: 'string' } } }, [{ $ref: 'a' }], [{ $ref: 2 }]],
  [
    'format date-time',
    { format: 'date-time' },
    ['1963-06-19T08:30:06.283185Z', 5],
    ['1990-02-31T15:59:59.123-08:00', 'a'],
  ],
  ['format email', { format: 'email' }, ['joe.bloggs@example.com'], ['2962', `a@${'a-'.repeat(1000)}`]],
  ['format ipv4', { format: 'ipv4' }, ['192.168.0.1'], ['300.256.256.256', '0x7f.0.0.1']],
  [
    'format uuid',
    { format: 'uuid' },
    ['2EB8AA08-aa98-11ea-b4aa-73b441d16380'],
    ['2eb8aa08-aa98-11ea-b4aa-73b441d1638'],
  ],
  ['an unknown format says nothing', { format: 'toString' }, ['anything'], []],
  [
    'unknown keywords say nothing',
    { discriminator: { propertyName: 'a' }, nullable: true, 'x-a': { $id: 'http://a' }, example: 1 },
    [1, null, {}],
    [],
  ],
  [
    '$schema and $id of the root',
    { $schema: 'https://json-schema.org/draft/2020-12/schema', $id: 'https://example.com/a', type: 'null' },
    [null],
    [1],
  ],
  ['an empty schema', {}, [1, null, {}], []],
];

describe('compileSchema', () => {
  it.each(VECTORS)('%s', (_keyword, schema, valid, invalid) => {
    expect(valid.filter((value) => !fits(schema, value))).toEqual([]);
    expect(invalid.filter((value) => fits(schema, value))).toEqual([]);
  });

  it.each<[string, unknown, string[]]>([
    ['no object', true, ['']],
    ['a list', [], ['']],
    ['draft 7', { $schema: 'http://json-schema.org/draft-07/schema#' }, ['$schema']],
    ['an unknown type', { properties: { a: { type: 'text' } } }, ['properties.a.type']],
    ['items as a list', { items: [{ type: 'string' }] }, ['items']],
    ['a negative length', { maxLength: -1, minLength: 'a' }, ['maxLength', 'minLength']],
    ['a $ref to a URL', { properties: { a: { $ref: 'https://example.com/a.json' } } }, ['properties.a.$ref']],
    ['a $ref to a file', { $ref: 'other.json#/$defs/a' }, ['$ref']],
    ['a $ref to nothing', { $ref: '#/$defs/a' }, ['$ref']],
    ['a $ref to a value that is not a schema', { default: { $ref: '#/default' }, $ref: '#/default' }, ['$ref']],
    ['a $ref to a validation keyword', { $ref: '#/const', const: { $ref: '#/const' } }, ['$ref']],
    ['an $id inside', { $defs: { a: { $id: 'https://example.com/b' } } }, ['$defs.a.$id']],
    ['an anchor', { $defs: { a: { $anchor: 'b' } } }, ['$defs.a.$anchor']],
    ['a dynamic reference', { $dynamicRef: '#a' }, ['$dynamicRef']],
    ['a pattern with look-ahead', { properties: { a: { pattern: '(?=a)b' } } }, ['properties.a.pattern']],
    ['a property pattern with a back-reference', { patternProperties: { '(a)\\1': {} } }, ['patternProperties.(a)\\1']],
    ['a huge pattern', { pattern: '(a{100}){9}' }, ['pattern']],
    [
      'a pattern that is too large to compile even for measuring it',
      { pattern: `(?:${'a'.repeat(400)}){1000}` },
      ['pattern'],
    ],
    ['a long pattern', { pattern: 'a'.repeat(513) }, ['pattern']],
    [
      'a pattern of wide ranges that are case-folded',
      { pattern: `(?i)[${'\u0100-\u{10ffff}'.repeat(30)}]` },
      ['pattern'],
    ],
    [
      'many classes in many patterns',
      { allOf: Array.from({ length: 12 }, (_, i) => ({ pattern: `(?i)${i}${'\\PL'.repeat(20)}` })) },
      ['allOf.10.pattern', 'allOf.11.pattern', 'allOf.9.pattern'],
    ],
    [
      'more than 100 patterns',
      { patternProperties: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`^k${i}$`, {}])) },
      ['patternProperties.^k100$'],
    ],
    ['more than 64 KB', { description: 'x'.repeat(65_536) }, ['']],
    ['more than 500 subschemas', { anyOf: Array.from({ length: 501 }, (_, i) => ({ const: i })) }, ['']],
  ])('refuses %s', (_what, schema, paths) => {
    expect([...new Set(pathsOf(schema))].sort()).toEqual(paths);
  });

  it('rejects more than 32 levels, at any depth', () => {
    const nested = (levels: number): unknown => Array.from({ length: levels }).reduce((inner) => ({ not: inner }), {});

    expect(pathsOf(nested(31))).toEqual([]);
    expect(pathsOf(nested(33))).toEqual(['']);
    expect(pathsOf(nested(50_000))).toEqual(['']);
  });

  it('prototype property names have no effect', () => {
    const schema = JSON.parse(
      '{"properties": {"__proto__": {"type": "string"}, "constructor": {"type": "string"}}, "required": ["__proto__"]}',
    ) as Json;

    expect(fits(schema, {})).toBe(false);
    expect(fits(schema, JSON.parse('{"__proto__": 1}'))).toBe(true);
    expect(({} as Json)['type']).toBeUndefined();
  });
});

describe('faults of a value', () => {
  it.each<[string, Json, unknown, { path: string; message: string }[]]>([
    [
      'all faults, each with the path of its field',
      {
        required: ['id'],
        properties: { amount: { type: 'integer' }, lines: { items: { required: ['sku'] } } },
        additionalProperties: false,
      },
      { amount: 'a', lines: [{ sku: 1 }, {}], more: 1 },
      [
        { path: 'id', message: 'is required' },
        { path: 'more', message: 'is not known here' },
        { path: 'amount', message: 'must be a whole number' },
        { path: 'lines.1.sku', message: 'is required' },
      ],
    ],
    [
      'faults inside a nullable value',
      { properties: { a: { anyOf: [{ type: 'object', required: ['b'] }, { type: 'null' }] } } },
      { a: {} },
      [{ path: 'a.b', message: 'is required' }],
    ],
    [
      'an enum',
      { properties: { a: { enum: ['x', 1, null] } } },
      { a: 2 },
      [{ path: 'a', message: 'must be one of x, 1, null' }],
    ],
    [
      'fields that are not allowed at all',
      { properties: { a: false } },
      { a: 2 },
      [{ path: 'a', message: 'is not allowed here' }],
    ],
    [
      'names with slashes',
      { properties: { 'a/b~c': { type: 'null' } } },
      { 'a/b~c': 2 },
      [{ path: 'a/b~c', message: 'must be null' }],
    ],
    [
      'an if',
      { if: { required: ['a'] }, then: { required: ['b'] } },
      { a: 1 },
      [{ path: 'b', message: 'is required' }],
    ],
  ])('%s', (_what, schema, value, faults) => {
    expect(compiled(schema).validate(value)).toEqual(faults);
  });

  it('are at most twenty, and short for any names and values', () => {
    const value = Object.fromEntries(
      Array.from({ length: 100 }, (_, i) => [`${'x'.repeat(5_000)}${i}`, 'y'.repeat(5_000)]),
    );

    const faults = [
      ...compiled({ additionalProperties: { enum: ['z'.repeat(5_000)] } }).validate(value),
      ...compiled({ additionalProperties: { pattern: `^${'z'.repeat(400)}$` } }).validate(value),
      ...compiled({ propertyNames: { maxLength: 1 } }).validate(value),
    ];

    expect(faults.length).toBeLessThanOrEqual(60);
    expect(Math.max(...faults.map(({ path, message }) => path.length + message.length))).toBeLessThan(700);
    expect(JSON.stringify(faults)).not.toContain('y');
  });
});

describe('hostile schemas and values', () => {
  const TOO_MUCH = [{ path: '', message: expect.stringMatching(/^cannot be checked in the time there is/) }];
  const chain = (alternative: (next: Json) => Json, length = 40): Json => ({
    $ref: '#/$defs/a0',
    $defs: Object.fromEntries(
      Array.from({ length: length + 1 }, (_, i) => [
        `a${i}`,
        i === length ? { type: ['string', 'object'] } : alternative({ $ref: `#/$defs/a${i + 1}` }),
      ]),
    ),
  });
  const list = (length: number, value: unknown): unknown[] => Array.from({ length }, () => value);
  const keys = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, 1]));
  const deep = (levels: number): unknown => list(levels, null).reduce<unknown>((inner) => [inner], []);

  it.each<[string, Json, unknown]>([
    ['2^40 alternatives', chain((next) => ({ anyOf: [next, next] })), 5],
    ['2^40 of oneOf', chain((next) => ({ oneOf: [next, next] })), 5],
    ['2^40 of not', chain((next) => ({ allOf: [{ not: next }, { not: { not: next } }] })), 'a'],
    ['2^40 of if', chain((next) => ({ if: next, then: next, else: next })), 5],
    [
      '2^40 of unevaluatedProperties',
      chain((next) => ({ anyOf: [next, next], unevaluatedProperties: next })),
      { a: 1 },
    ],
    ['2^40 of dependentSchemas', chain((next) => ({ dependentSchemas: { a: next, b: next } })), { a: 1, b: 1 }],
    ['a $ref to itself', { $ref: '#' }, 5],
    [
      'two schemas that refer to each other',
      { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
      5,
    ],
    ['a recursion as deep as the value', { items: { $ref: '#' } }, deep(200_000)],
    ['a comparison as deep as the value', { uniqueItems: true }, [deep(200_000), deep(200_000)]],
    ['repeated uniqueItems', { allOf: list(400, { uniqueItems: true }) }, Array.from({ length: 20_000 }, (_, i) => i)],
    ['repeated counting of keys', { allOf: list(400, { maxProperties: 200_000 }) }, keys],
    [
      'keys against patterns',
      { patternProperties: Object.fromEntries(list(100, 0).map((_, i) => [`a${i}b*c`, {}])) },
      keys,
    ],
    [
      'keys that are evaluated elsewhere',
      {
        allOf: list(50, { $ref: '#/$defs/a' }),
        unevaluatedProperties: false,
        $defs: { a: { patternProperties: { '^k1': true } } },
      },
      keys,
    ],
    ['repeated counting of characters', { allOf: list(400, { maxLength: 2_000_000 }) }, 'x'.repeat(1_000_000)],
    [
      'a pattern whose automaton grows',
      { items: { not: { pattern: '(.*)(.*)(.*)(.*)(.*)[^b]x{100}' } } },
      list(1_000, 'ab'.repeat(500)),
    ],
    ['formats that backtrack', { items: { not: { format: 'email' } } }, list(3_200, `a@${'a-'.repeat(158)}`)],
    ['enums of objects', { allOf: list(100, { enum: list(50, { a: 1 }) }) }, keys],
  ])('stops at %s', (_what, schema, value) => {
    expect(compiled(schema).validate(value)).toEqual(TOO_MUCH);
  });

  it('validates ordinary values afterwards', () => {
    const schema = compiled({ type: 'array', items: { $ref: '#' } });

    expect(schema.validate(deep(200_000))).toEqual(TOO_MUCH);
    expect(schema.validate(deep(50))).toEqual([]);
    expect(schema.validate([5])).toEqual([{ path: '0', message: 'must be a list' }]);
  });

  it('validates one megabyte of ordinary JSON with formats and patterns', () => {
    const schema = compiled({
      properties: { lines: { type: 'array', items: { $ref: '#/$defs/line' } } },
      $defs: {
        line: {
          type: 'object',
          required: ['id', 'at'],
          additionalProperties: false,
          properties: {
            id: { pattern: '^in_[0-9a-f]+$' },
            at: { format: 'date-time' },
            amount: { type: 'integer', minimum: 0 },
            kind: { enum: ['a', 'b'] },
          },
        },
      },
    });
    const lines = Array.from({ length: 10_000 }, (_, i) => ({
      id: 'in_0123456789abcdef',
      at: '2026-01-31T12:00:00.000Z',
      amount: i,
      kind: 'a',
    }));

    expect(schema.validate({ lines })).toEqual([]);
    expect(schema.validate({ lines: [...lines, { id: 'in_1', at: 'never' }] })).toEqual([
      { path: 'lines.10000.at', message: 'must be a time such as 2026-01-31T12:00:00.000Z (RFC 3339)' },
    ]);
  });
});

describe('any schema and value', () => {
  const keyword = fc.oneof(
    fc.constantFrom(
      'type',
      'properties',
      '$ref',
      'items',
      'anyOf',
      'not',
      'pattern',
      'enum',
      'required',
      'format',
      '$defs',
      '$id',
      'uniqueItems',
      'const',
    ),
    fc.string({ maxLength: 6 }),
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom('string', 'object', '#', '#/$defs/a', '[', true, null, 3, -1),
      tie('list'),
      tie('object'),
    ),
    list: fc.array(tie('tree'), { maxLength: 4 }),
    object: fc.dictionary(keyword, tie('tree'), { maxKeys: 5 }),
  }));

  it('compiles or returns faults, and validates every value without throwing', () => {
    fc.assert(
      fc.property(tree, fc.jsonValue(), (schema, value) => {
        const result = compileSchema(schema);
        const faults = 'faults' in result ? result.faults : result.validate(value);

        expect(faults.length).toBeLessThanOrEqual(20);
        if ('faults' in result) expect(faults.length).toBeGreaterThan(0);
      }),
      { numRuns: 500 },
    );
  });

  it('lists of different values are unique, and lists with a repeated value are not', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.jsonValue({ maxDepth: 2 }), {
          minLength: 1,
          maxLength: 6,
          selector: (value) => JSON.stringify(sorted(value)),
        }),
        (values) => {
          expect(fits({ uniqueItems: true }, values)).toBe(true);
          expect(fits({ uniqueItems: true }, [...values, structuredClone(values[0])])).toBe(false);
        },
      ),
    );
  });

  function sorted(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(sorted);
    if (typeof value !== 'object' || value === null) return value === 0 ? 0 : value;
    return Object.fromEntries(
      Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, each]) => [key, sorted(each)]),
    );
  }
});
