import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { createKey, expectRefusal } from './answers.js';
import type { Targets } from './scene.js';
import { destinationAt, eventIn, send, startTargets } from './scene.js';

interface Operation {
  requestBody?: { content: Record<string, { schema: { $ref: string } }> };
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, { properties?: Record<string, unknown>; allOf?: unknown }> };
}

/** JSON texts of unexpected types and shapes for a field. */
const ODD_VALUES = [
  'null',
  'true',
  '0',
  '-1',
  '1.5',
  '1e21',
  '1e400',
  '-0',
  '9007199254740993',
  '""',
  '" "',
  '"\\u0000"',
  '"a\\u0000b"',
  '"\\ud800"',
  '"\\udc00a"',
  '"\\n"',
  '"👩‍👩‍👧"',
  '"\'; drop table keys --"',
  '"%00"',
  '"999999-12-31T00:00:00Z"',
  '"0000-01-01T00:00:00Z"',
  '"9999-12-31T23:59:59.999Z"',
  '"2026-01-01T00:00:00+23:59"',
  '[]',
  '[null]',
  '[[]]',
  '{}',
  '{"":""}',
  '{"\\u0000":"a"}',
  '{"a":"\\ud800"}',
  '{"__proto__":{"a":1}}',
  '{"constructor":"a","toString":"b","hasOwnProperty":"c"}',
  '{"schedule":[1e400]}',
  '{"max_attempts":1e400}',
  '{"per_second":1e-400}',
  '{"per_second":1e400}',
  '{"circuit_breaker":[[]]}',
  '{"circuit_breaker":{"failure_threshold":1e400}}',
  `"${'a'.repeat(100_000)}"`,
  `${'['.repeat(10_000)}${']'.repeat(10_000)}`,
  `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
];

/** Unexpected whole request bodies. */
const ODD_BODIES = [
  '',
  ' ',
  'null',
  'true',
  '1',
  '"a"',
  '[]',
  '[{}]',
  '{',
  '{"a":}',
  '{}{}',
  '\ufeff{}',
  '{"a":"\0"}',
  '{"\\ud800":1}',
  '{"x":"\\u0000"}',
  '{"__proto__":null}',
  '{"__proto__":{"name":"a","type":"pull","scope":"admin"}}',
  '['.repeat(100_000),
  `{"x":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
  `{${Array.from({ length: 20_000 }, (_, i) => `"k${i}":${i}`).join(',')}}`,
];

const ODD_BYTES = [
  Buffer.from([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]),
  Buffer.from('{"name":"\xed\xa0\x80"}', 'latin1'),
  Buffer.from([0x1f, 0x8b, 0x08, 0x00]),
  Buffer.alloc(3),
];

/** Path segments and query values that are not ids, and some that are not valid text. */
const ODD_TEXTS = [
  '%',
  '%00',
  '%zz',
  '%ff',
  '%ed%a0%80',
  '..%2f..',
  '%2e%2e',
  'a'.repeat(3_000),
  'dst_',
  "'",
  '%F0%9F%91%A9',
  'dst_ZZZZZZZZZZZZZZZZZZZZZZZZZZ',
  '{id}',
  '*',
  '%0d%0aa:b',
];

const PARAMETERS = [
  'cursor',
  'limit',
  'type',
  'validation',
  'status',
  'endpoint',
  'event_type',
  'message_id',
  'since',
  'until',
  '__proto__',
  'constructor',
];

const ODD_URLS = [
  '/v1/events?since=9999-99-99T00:00:00Z',
  '/v1/events?since=9999-12-31T23:59:59Z',
  '/v1/events?until=0000-01-01T00:00:00Z',
  '/v1/events?since=275760-09-13T00:00:00Z',
  '/v1/events?since=2026-01-01T00:00:60Z',
  '/v1/keys?&&&==&=',
  '/v1/keys?%',
  '/v1/keys??',
  '/v1//keys',
  '//v1/keys',
  '/v1/keys/',
  '/v1/keys;a=b',
];

describe('bad input on every write operation', () => {
  let server: PosthornServer;
  let targets: Targets;
  let ids: Record<string, string>;
  let document: Document;

  beforeAll(async () => {
    [server, targets] = await Promise.all([
      startServer({ RATE_LIMIT_KEY: 'off', RATE_LIMIT_ORG: 'off' }),
      startTargets(),
    ]);
    const destination = await destinationAt(server, targets.open().url);
    const { id: event } = await eventIn(server, await send(server, destination), 'delivered');
    ids = { destinations: destination, keys: (await createKey(server, { scope: 'read' })).id, events: event };
    document = (await (await fetch(`${server.url}/openapi.json`)).json()) as Document;
  });

  afterAll(async () => {
    await server.stop();
    await targets.close();
  });

  /** Returns every route with a body: its method, its path with an existing id, and the names of its fields. */
  function writes(): { method: string; path: string; fields: string[] }[] {
    return Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).flatMap(([method, { requestBody }]) => {
        // The OAuth and MCP routes use their own error formats and have their own tests.
        if (method === 'get' || method === 'delete' || path === '/mcp' || path.startsWith('/oauth/')) return [];
        const reference = requestBody?.content['application/json']?.schema.$ref ?? '';
        const fields = Object.keys(document.components.schemas[reference.split('/').at(-1) ?? '']?.properties ?? {});
        return [
          { method: method.toUpperCase(), path: path.replace('{id}', ids[path.split('/')[2] ?? ''] ?? ''), fields },
        ];
      }),
    );
  }

  /**
   * Returns an empty list if the request succeeded, or failed with a 4xx status and the standard error body. Otherwise
   * returns the fault.
   */
  function faultOf(apiAnswer: ApiAnswer, what: string): string[] {
    if (apiAnswer.status < 300) return [];
    try {
      expectRefusal(apiAnswer, apiAnswer.status);
      return apiAnswer.status < 500 ? [] : [`${what}: ${apiAnswer.text}`];
    } catch (error) {
      return [`${what}: ${apiAnswer.status} ${apiAnswer.text} ${String(error)}`];
    }
  }

  it('the OpenAPI document names the fields of every body', () => {
    const withFields = writes().filter(({ fields }) => fields.length > 0);

    expect(withFields.length).toBeGreaterThanOrEqual(10);
    expect(withFields.find(({ path, method }) => path === '/v1/destinations' && method === 'POST')?.fields).toContain(
      'retry',
    );
  });

  it.each([
    ['/v1/app', '{"name":"a","metadata":{"__proto__":"x"}}', 'metadata.__proto__'],
    ['/v1/event-types', '{"name":"a","example":{"list":[{"__proto__":1}]}}', 'example.list.0.__proto__'],
    [
      '/v1/emails',
      '{"from":"a@simulator.localhost","to":"delivered@simulator.localhost","template":{"id":"a","variables":{"__proto__":{"a":1}}}}',
      'template.variables.__proto__',
    ],
    [
      '/v1/emails/batch',
      '[{"from":"a@simulator.localhost","to":"delivered@simulator.localhost","subject":"a","text":"a","headers":{"__proto__":"x"}}]',
      '0.headers.__proto__',
    ],
    [
      '/mcp',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send_webhook","arguments":{"payload":{"__proto__":1}}}}',
      'params.arguments.payload.__proto__',
    ],
  ])('422: POST %s rejects the field __proto__ of an object instead of dropping it', async (path, body, field) => {
    const answer = await server.api('POST', path, Buffer.from(body));

    expectRefusal(answer, 422);
    expect(answer.json.error.details.fields).toContainEqual({
      path: field,
      message: 'is not allowed as a field name',
    });
  });

  it('any whole body is accepted or rejected with the error envelope, and never answered with 5xx', async () => {
    const faults: string[] = [];
    for (const { method, path } of writes()) {
      for (const body of [...ODD_BODIES, ...ODD_BYTES]) {
        faults.push(...faultOf(await server.api(method, path, body), `${method} ${path} ${String(body).slice(0, 60)}`));
      }
    }

    expect(faults).toEqual([]);
  });

  it('any value of any field is accepted or rejected with the error envelope, and never answered with 5xx', async () => {
    const faults: string[] = [];
    for (const { method, path, fields } of writes()) {
      for (const field of fields) {
        const answers = await Promise.all(
          ODD_VALUES.map((value) => server.api(method, path, bodyWith(path, field, value))),
        );
        for (const [i, answer] of answers.entries()) {
          faults.push(...faultOf(answer, `${method} ${path} ${field}=${ODD_VALUES[i]?.slice(0, 60)}`));
        }
      }
    }

    expect(faults).toEqual([]);
  }, 240_000);

  /**
   * Returns a body in which only `field` can be invalid. If the body already has the field, the added one wins, because
   * parsers use the last value.
   */
  function bodyWith(path: string, field: string, value: string): string {
    const rest: Record<string, object> = {
      '/v1/destinations': { name: 'Odd', type: 'pull' },
      '/v1/destinations/check': { type: 'https' },
      '/v1/keys': { name: 'Odd', scope: 'read' },
      '/v1/send': { destination: ids['destinations'], event_type: 'odd', payload: {} },
    };
    return `${JSON.stringify(rest[path] ?? {}).slice(0, -1)}${rest[path] ? ',' : ''}"${field}":${value}}`;
  }

  it('any path and query is answered or rejected with the error envelope, and never with 5xx', async () => {
    const withId = Object.keys(document.paths).filter((path) => document.paths[path]?.['get'] && path.includes('{id}'));
    const urls = [
      ...withId.flatMap((path) => ODD_TEXTS.map((text) => path.replace('{id}', text))),
      ...['keys', 'destinations', 'events'].flatMap((list) =>
        PARAMETERS.flatMap((name) => ODD_TEXTS.map((text) => `/v1/${list}?${name}=${text}`)),
      ),
      ...ODD_URLS,
    ];

    const faults: string[] = [];
    for (const url of urls) faults.push(...faultOf(await server.api('GET', url), url.slice(0, 80)));

    expect(urls.length).toBeGreaterThan(500);
    expect(faults).toEqual([]);
  });

  it('afterwards the service is ready and has logged no internal error', async () => {
    const ready = await fetch(`${server.url}/health/ready`);

    expect(ready.status).toBe(200);
    expect(server.logs()).not.toMatch(/"level":[56]0|RangeError|TypeError|QueryFailedError/);
  });
});
