import 'reflect-metadata';
import { jest } from '@jest/globals';
import type { OpenAPIObject } from '@nestjs/swagger';
import { parseJson } from './body-parser.js';
import type { Check, CheckBody, EdgeRouteConfig } from './request.js';
import type { RouteHandler } from './routes.js';
import { compileChecks, Verbatim } from './schemas.js';

class ThingDto {
  @Verbatim()
  payload: unknown;
}

class ListDto {}

function documentOf(): OpenAPIObject {
  const schemas = {
    ThingDto: {
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 5 },
        kind: { type: 'string', enum: ['a', 'b'] },
        description: { type: ['string', 'null'] },
        since: { type: 'string', format: 'date-time' },
        headers: { type: 'object', additionalProperties: { type: 'string' } },
        payload: { type: 'object', additionalProperties: true },
        policy: { description: 'x', anyOf: [{ $ref: '#/components/schemas/PolicyDto' }, { type: 'null' }] },
      },
    },
    OpenDto: {
      type: 'object',
      properties: { name: { type: 'string' }, any: { type: 'object', additionalProperties: true } },
    },
    PolicyDto: {
      type: 'object',
      properties: { schedule: { type: 'array', maxItems: 3, items: { type: 'integer', minimum: 0 } } },
    },
    ListDto: { type: 'object', properties: { limit: { type: 'integer', minimum: 1, maximum: 100, default: 50 } } },
  };
  return { openapi: '3.1.0', info: { title: 't', version: '1' }, paths: {}, components: { schemas } };
}

function checks(): Required<Pick<EdgeRouteConfig, 'checkBody' | 'checkQuery'>> {
  const route = { config: {} as EdgeRouteConfig, body: ThingDto, query: ListDto } as unknown as RouteHandler;
  compileChecks(documentOf(), [route], documentOf);
  return route.config as Required<Pick<EdgeRouteConfig, 'checkBody' | 'checkQuery'>>;
}

function faultsOf(check: CheckBody, value: unknown, text: string | null = null): Record<string, string> {
  try {
    check(value, text);
    return {};
  } catch (error) {
    const { details } = error as { details: { fields: { path: string; message: string }[] } };
    return Object.fromEntries(details.fields.map(({ path, message }) => [path, message]));
  }
}

describe('a body', () => {
  it.each<[string, unknown, Record<string, string>]>([
    ['fits', { name: 'a', kind: 'a', description: null, headers: { x: 'y' }, policy: { schedule: [1] } }, {}],
    ['has an unknown field', { name: 'a', other: 1 }, { other: 'is not known here' }],
    [
      'has unknown fields where any field is allowed',
      { name: 'a', headers: { other: 'x' }, payload: { other: 1 } },
      {},
    ],
    ['has null instead of an object', { name: 'a', policy: null }, {}],
    ['lacks a field', {}, { name: 'is required' }],
    ['is missing completely', undefined, { name: 'is required' }],
    ['is a list', [], { '': 'The body must be a JSON object.' }],
    ['is null', null, { '': 'The body must be a JSON object.' }],
    ['is a string', 'x', { '': 'The body must be a JSON object.' }],
    ['has an empty string', { name: '' }, { name: 'must not be empty' }],
    ['has a string that is too long', { name: 'abcdef' }, { name: 'must have at most 5 characters' }],
    ['has another type', { name: 7 }, { name: 'must be a string' }],
    ['is not coerced', { name: 'a', policy: { schedule: ['1'] } }, { 'policy.schedule.0': 'must be a whole number' }],
    ['has a value outside of an enumeration', { name: 'a', kind: 'c' }, { kind: 'must be one of a, b' }],
    [
      'has a nullable field of another type',
      { name: 'a', description: 3 },
      { description: 'must be a string or null' },
    ],
    [
      'has an invalid time',
      { name: 'a', since: '2026-01-31' },
      { since: 'must be a time such as 2026-01-31T12:00:00.000Z (RFC 3339)' },
    ],
    ['has an invalid value in a map', { name: 'a', headers: { 'x/y': 1 } }, { 'headers.x/y': 'must be a string' }],
    [
      'has an unknown field in a nested object',
      { name: 'a', policy: { tries: 1 } },
      { 'policy.tries': 'is not known here' },
    ],
    [
      'has several faults',
      { kind: 'c', policy: { schedule: [-1, 'x'] } },
      {
        name: 'is required',
        kind: 'must be one of a, b',
        'policy.schedule.0': 'must be at least 0',
        'policy.schedule.1': 'must be a whole number',
      },
    ],
  ])('%s', (_, body, faults) => {
    expect(faultsOf(checks().checkBody, body)).toEqual(faults);
  });

  it('is passed on unchanged', () => {
    const body = { name: 'a', payload: { b: 1 } };

    expect(checks().checkBody(body, null)).toBe(body);
  });

  it('is not answered with thousands of faults', () => {
    const headers = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [i, i]));
    const hostile = { name: 'a', policy: { schedule: Array(1000).fill('x') }, headers };

    expect(Object.keys(faultsOf(checks().checkBody, hostile)).length).toBeLessThanOrEqual(50);
  });

  it('may contain unstorable characters only in fields that are stored as sent', () => {
    const { checkBody } = checks();
    const read = (text: string): unknown => parseJson(Buffer.from(text)).value;

    expect(Object.keys(faultsOf(checkBody, read('{"name":"a\\u0000"}')))).toEqual(['name']);
    expect(faultsOf(checkBody, read('{"name":"a","payload":{"b":"\\u0000"}}'))).toEqual({});
  });

  it('may contain the field name __proto__ only in fields that are stored as sent', () => {
    const { checkBody } = checks();
    const read = (text: string): unknown => parseJson(Buffer.from(text)).value;

    expect(Object.keys(faultsOf(checkBody, read('{"name":"a","policy":{"__proto__":1}}')))).toEqual([
      'policy.__proto__',
    ]);
    expect(Object.keys(faultsOf(checkBody, read('{"name":"a","headers":{"__proto__":"b"}}')))).toEqual([
      'headers.__proto__',
    ]);
    expect(faultsOf(checkBody, read('{"name":"a","payload":{"__proto__":1}}'))).toEqual({});
  });

  describe('with a number that cannot be stored exactly', () => {
    const faultsIn = (text: string, fields: object): Record<string, string> => {
      const document = documentOf();
      Object.assign(document.components?.schemas?.['ThingDto'] as object, {
        required: [],
        properties: { payload: { type: 'object', additionalProperties: true }, ...fields },
      });
      const route = { config: {} as EdgeRouteConfig, body: ThingDto, query: null } as unknown as RouteHandler;
      compileChecks(document, [route], () => document);
      return faultsOf(route.config.checkBody as CheckBody, parseJson(Buffer.from(text)).value, text);
    };
    const said = '9007199254740993 would be stored as 9007199254740992: write it as a string, or with fewer digits';

    it.each<[string, object, string, string[]]>([
      [
        'in an object that allows anything',
        { config: { type: 'object', additionalProperties: true } },
        '{"config":{"a":[1,9007199254740993]}}',
        ['config.a.1'],
      ],
      [
        'in an object without further schema',
        { config: { type: 'object' } },
        '{"config":{"a":9007199254740993}}',
        ['config.a'],
      ],
      ['in a field of any type', { config: {} }, '{"config":9007199254740993}', ['config']],
      [
        'in a nullable class',
        { config: { anyOf: [{ $ref: '#/components/schemas/OpenDto' }, { type: 'null' }] } },
        '{"config":{"any":{"a":9007199254740993}}}',
        ['config.any.a'],
      ],
      [
        'in a list',
        { list: { type: 'array', items: { type: 'number' } } },
        '{"list":[1,9007199254740993]}',
        ['list.1'],
      ],
      [
        'in a map of numbers',
        { map: { type: 'object', additionalProperties: { type: ['number', 'null'] } } },
        '{"map":{"a":9007199254740993}}',
        ['map.a'],
      ],
      [
        'beside a field that is stored as sent',
        { config: {} },
        '{"payload":{"a":9007199254740993},"config":9007199254740993}',
        ['config'],
      ],
      ['only in a field that is stored as sent', { config: {} }, '{"payload":{"a":9007199254740993},"config":1}', []],
    ])('%s', (_, fields, text, paths) => {
      expect(faultsIn(text, fields)).toEqual(Object.fromEntries(paths.map((path) => [path, said])));
    });

    it('is not searched for if no number is allowed, so that a large body of texts is not scanned', () => {
      const fields = {
        headers: { type: 'object', additionalProperties: { type: 'string' } },
        kind: { enum: ['a', 1] },
        names: { type: 'array', items: { type: 'string' } },
        none: { type: 'object', additionalProperties: false },
      };
      const document = documentOf();
      Object.assign(document.components?.schemas?.['ThingDto'] as object, {
        required: [],
        properties: { payload: { type: 'object', additionalProperties: true }, ...fields },
      });
      const route = { config: {} as EdgeRouteConfig, body: ThingDto, query: null } as unknown as RouteHandler;
      compileChecks(document, [route], () => document);

      // The number is accepted although it is inexact, because the text of this body is not scanned for inexact
      // numbers.
      expect((route.config.checkBody as CheckBody)({}, '{"other":9007199254740993}')).toEqual({});
    });
  });
});

describe('a query', () => {
  it('gets types and defaults', () => {
    const { checkQuery } = checks();

    expect(checkQuery({ limit: '7' })).toEqual({ limit: 7 });
    expect(checkQuery({})).toEqual({ limit: 50 });
  });

  it.each(['other', 'Limit', 'limit[]', '__proto__', 'constructor'])('400 for the unknown parameter %s', (name) => {
    const query = Object.fromEntries([[name, '7']]);

    expect(() => checks().checkQuery(query)).toThrow(expect.objectContaining({ type: 'bad_request' }));
    expect(faultsOf(checks().checkQuery, query)).toEqual({ [name]: 'is not known here' });
  });

  it('400 for any parameter of an operation without parameters, and for unknown parameters of one without a query class', () => {
    const parameters = [
      { name: 'part', in: 'query' },
      { name: 'id', in: 'path' },
    ];
    const document = {
      ...documentOf(),
      paths: { '/a': { get: { operationId: 'showThing', parameters } } },
    } as unknown as OpenAPIObject;
    const route = {
      name: 'showThing',
      config: {} as EdgeRouteConfig,
      body: null,
      query: null,
    } as unknown as RouteHandler;
    compileChecks(document, [route], () => document);
    const check = route.config.checkQuery as NonNullable<EdgeRouteConfig['checkQuery']>;

    expect(check({ part: 'x' })).toEqual({ part: 'x' });
    expect(faultsOf(check, { id: 'x' })).toEqual({ id: 'is not known here' });
  });

  it('the whole document is built only when a request sends a parameter', () => {
    const document = jest.fn(documentOf);
    const route = {
      name: 'showThing',
      config: {} as EdgeRouteConfig,
      body: null,
      query: null,
    } as unknown as RouteHandler;
    compileChecks(documentOf(), [route], document);
    const check = route.config.checkQuery as Check;

    check({});
    expect(document).not.toHaveBeenCalled();
    check({ part: 'x' });
    check({ part: 'x' });
    expect(document).toHaveBeenCalledTimes(1);
  });

  it.each(['0', '101', 'abc', '1.5', ''])('400 for limit=%s', (limit) => {
    expect(() => checks().checkQuery({ limit })).toThrow(expect.objectContaining({ type: 'bad_request' }));
  });
});

describe('a document with a mistake stops the start', () => {
  it('a class that is not in the document', () => {
    class LostDto {}
    const route = { config: {}, body: LostDto, query: null } as unknown as RouteHandler;

    expect(() => compileChecks(documentOf(), [route], documentOf)).toThrow('LostDto is not in the OpenAPI document');
  });

  it.each<[string, object, string | RegExp]>([
    ['an unknown format', { type: 'string', format: 'tomorrow' }, 'tomorrow'],
    ['an invalid pattern', { type: 'string', pattern: '(' }, 'regular expression'],
    [
      'a reference to a missing schema',
      { $ref: '#/components/schemas/LostDto' },
      '#/components/schemas/LostDto refers to nothing',
    ],
    [
      'a deeply nested mistake',
      { type: 'array', items: { anyOf: [{ type: 'null' }, { type: 'string', format: 'tomorrow' }] } },
      'tomorrow',
    ],
  ])('%s', (_what, field, message) => {
    const document = documentOf();
    Object.assign(document.components?.schemas?.['ListDto'] as object, { properties: { at: field } });
    const route = { config: {}, body: null, query: ListDto } as unknown as RouteHandler;

    expect(() => compileChecks(document, [route], () => document)).toThrow(message);
  });

  it('fields and examples with the names of keywords are allowed', () => {
    const document = documentOf();
    const properties = {
      format: { type: 'string', example: { format: 'v1={signature}' } },
      pattern: { type: 'string', default: '(', enum: [{ $ref: 'x' }] },
    };
    Object.assign(document.components?.schemas?.['ListDto'] as object, { properties });

    expect(() =>
      compileChecks(document, [{ config: {}, body: null, query: ListDto } as unknown as RouteHandler], () => document),
    ).not.toThrow();
  });
});

describe('a body of an operation without one', () => {
  const check = (isBodiless: boolean): CheckBody | undefined => {
    const route = { config: {} as EdgeRouteConfig, body: null, query: null, isBodiless } as unknown as RouteHandler;
    compileChecks(documentOf(), [route], documentOf);
    return route.config.checkBody;
  };

  it.each<[string, unknown, Record<string, string>]>([
    ['is left out', undefined, {}],
    ['is an empty object', {}, {}],
    [
      'has fields',
      { dry_run: true, destination: 'x' },
      { dry_run: 'is not known here', destination: 'is not known here' },
    ],
    ['has a field with the name of an Object member', { constructor: 1 }, { constructor: 'is not known here' }],
    ['is a list', [], { '': 'The body must be a JSON object.' }],
    ['is null', null, { '': 'The body must be a JSON object.' }],
    ['is a number', 0, { '': 'The body must be a JSON object.' }],
  ])('%s', (_, body, faults) => {
    expect(faultsOf(check(true) as CheckBody, body)).toEqual(faults);
  });

  it('is not checked if the handler reads the request itself', () => {
    expect(check(false)).toBeUndefined();
  });
});
