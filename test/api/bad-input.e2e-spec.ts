import type { ReceivedRequest } from '../support/receiver.js';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { expectRefusal } from './answers.js';
import type { TargetPath, Targets } from './scene.js';
import { destinationAt, eventIn, startTargets } from './scene.js';

const MIB = 1_048_576;
const PLACE = '"destination":"@","event_type":"bad.input"';

/** A request body, in which `@` stands for the destination id, and the payload that the receiver must get. */
interface Odd {
  body: string;
  payload: string;
}

const around = (payload: string): Odd => ({ body: `{${PLACE},"payload":${payload}}`, payload });
const deep = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
/** Returns a JSON object of exactly the given size in bytes. */
const sized = (bytes: number): string => `{"a":"${'x'.repeat(bytes - 8)}"}`;

describe('bad input on /v1/send', () => {
  let server: PosthornServer;
  let targets: Targets;
  let target: TargetPath;
  let destination: string;

  beforeAll(async () => {
    [server, targets] = await Promise.all([sharedServer(), startTargets()]);
    target = targets.open();
    destination = await destinationAt(server, target.url);
  });

  afterAll(async () => {
    await server.stop();
    await targets.close();
  });

  const post = (body: string | Buffer, headers?: Record<string, string>): Promise<ApiAnswer> =>
    server.api('POST', '/v1/send', typeof body === 'string' ? body.replace('@', destination) : body, headers);

  const countEvents = async (): Promise<number> => {
    const { json } = await server.api('GET', '/v1/events?limit=100');
    expect(json.next_cursor).toBeNull();
    return json.data.length;
  };

  /** Calls `ask` and expects the error status. Expects that the call stored and sent nothing. Returns the response. */
  async function expectNothingStored(status: number, ask: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
    const before = [await countEvents(), target.posts().length];
    const answer = await ask();
    expectRefusal(answer, status);
    expect([await countEvents(), target.posts().length]).toEqual(before);
    return answer;
  }

  async function deliveryOf(apiAnswer: ApiAnswer): Promise<ReceivedRequest> {
    expect({ status: apiAnswer.status, text: apiAnswer.text }).toEqual({
      status: 202,
      text: expect.stringMatching(/^\{"message_id":"msg_\w{26}"\}$/),
    });
    await eventIn(server, apiAnswer.json.message_id, 'delivered');
    return target.posts().find(({ headers }) => headers['webhook-id'] === apiAnswer.json.message_id) as ReceivedRequest;
  }

  describe('202: the payload is delivered with the very bytes of the request', () => {
    it.each<[string, Odd]>([
      ['an empty object', around('{}')],
      [
        'white space inside, but not around it',
        { body: `{${PLACE},"payload": \t\r\n{ "a" :\n 1 }\n }`, payload: '{ "a" :\n 1 }' },
      ],
      ['exactly 1 MiB', around(sized(MIB))],
      ['1 MiB of short strings', around(`{"a":[${'"a",'.repeat(MIB / 4 - 3)}"a"]}`)],
      ['10,000 levels', around(deep(10_000))],
      ['10,000 levels of lists', around(`{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`)],
      [
        'numbers that exceed a double',
        around(
          '{"a":1e400,"b":123456789012345678901234567890,"c":0.1000000000000000055511151231257827,"d":-0,"e":1E+2}',
        ),
      ],
      ['NUL, escaped', around('{"a":"\\u0000","\\u0000":1}')],
      ['an escaped lone surrogate', around('{"a":"\\ud800","b":"\\uDFFF\\ud83d"}')],
      ['every kind of escape', around('{"a":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE00"}')],
      ['characters of every byte length', around('{"é":"ß€😀\u2028\u2029\ufeff\u0085\u007f"}')],
      ['duplicate names', around('{"a":1,"a":2,"\\u0061":3}')],
      [
        '__proto__ and constructor',
        around('{"__proto__":{"admin":true},"constructor":{"prototype":{"x":1}},"toString":null}'),
      ],
      ['braces and quotes in strings', around('{"a":"}","b":"{\\"payload\\":1}","c":"\\\\\\"}"}')],
      ['50,000 names', around(`{${Array.from({ length: 50_000 }, (_, i) => `"k${i}":${i}`).join(',')}}`)],
      [
        'the last of two payload members',
        { body: `{"payload":{"a":1},${PLACE},"payload":{"b":2}}`, payload: '{"b":2}' },
      ],
      ['a payload member whose name is escaped', { body: `{${PLACE},"p\\u0061yload":{"a":1}}`, payload: '{"a":1}' }],
      [
        'a payload before all other members',
        { body: `{"payload":{"destination":"dst_other"},${PLACE}}`, payload: '{"destination":"dst_other"}' },
      ],
      [
        'another payload member before it',
        { body: `{"headers":{"payload":"{\\"no\\":1}"},${PLACE},"payload":{"a":1}}`, payload: '{"a":1}' },
      ],
      [
        'another payload member after it',
        { body: `{${PLACE},"payload":{"a":1},"headers":{"payload":"no"}}`, payload: '{"a":1}' },
      ],
    ])('%s', async (_what, { body, payload }) => {
      const { rawBody } = await deliveryOf(await post(body));

      expect(rawBody.length).toBe(Buffer.byteLength(payload));
      expect(rawBody.equals(Buffer.from(payload))).toBe(true);
    });

    it.each([
      'application/json',
      'application/json; charset=utf-8',
      'application/json;charset="UTF-8"',
      'Application/JSON',
      'application/vnd.example+json',
      'text/json',
    ])('the content type %s', async (type) => {
      const { rawBody } = await deliveryOf(await post(around('{"ä":1}').body, { 'content-type': type }));

      expect(rawBody.toString()).toBe('{"ä":1}');
    });
  });

  describe('400: a body that cannot be parsed', () => {
    it.each<[string, string | Buffer]>([
      ['half of it', `{${PLACE},"payload":{"a":`],
      ['words', 'payload=1'],
      ['a superfluous comma', `{${PLACE},"payload":{},}`],
      ['single quotes', `{${PLACE},'payload':{}}`],
      ['a comment', `{${PLACE},"payload":{} /* */}`],
      ['NaN', `{${PLACE},"payload":{"a":NaN}}`],
      ['two documents', `{${PLACE},"payload":{}}{}`],
      ['NUL inside a string', `{${PLACE},"payload":{"a":"\0"}}`],
      ['NUL after the end', `{${PLACE},"payload":{}}\0`],
      ['a line break inside a string', `{${PLACE},"payload":{"a":"\n"}}`],
      ['a byte order mark', `\ufeff{${PLACE},"payload":{}}`],
      ['UTF-16', Buffer.from(`{${PLACE},"payload":{}}`, 'utf16le')],
      ['Latin-1', Buffer.from(`{${PLACE},"payload":{"a":"\xe9"}}`, 'latin1')],
      ['a lone surrogate as bytes', Buffer.from('{"payload":{"a":"\xed\xa0\x80"}}', 'latin1')],
      ['an overlong slash', Buffer.from('{"payload":{"a":"\xc0\xaf"}}', 'latin1')],
      ['a code point beyond Unicode', Buffer.from('{"payload":{"a":"\xf4\x90\x80\x80"}}', 'latin1')],
      ['10,000 nesting levels that are never closed', '['.repeat(10_000)],
      ['white space alone', ' \n'],
    ])('%s', async (_what, body) => {
      const { json } = await expectNothingStored(400, () => post(body));

      // The message must not quote the body, which may contain secrets.
      expect(json.error.message).not.toContain('destination');
    });
  });

  describe('413: a body that is too large', () => {
    it.each<[string, string]>([
      ['a payload of 1 MiB plus one byte', around(sized(MIB + 1)).body],
      [
        'a payload of 1 MiB plus one byte, in two-byte characters',
        around(`{"a":"${'é'.repeat(MIB / 2 - 3)}"}`).body.replace('"a"', '"ab"'),
      ],
      ['a body with too much data around the payload', `{${PLACE},"payload":{},"x":"${'x'.repeat(MIB + 65_536)}"}`],
    ])('%s', async (_what, body) => {
      await expectNothingStored(413, () => post(body));
    });
  });

  describe('422: a body that can be parsed but is invalid', () => {
    it.each<[string, string, string]>([
      ['null', 'null', ''],
      ['a list', `[{${PLACE},"payload":{}}]`, ''],
      ['a string', '"payload"', ''],
      ['a number', '1e400', ''],
      ['an empty object', '{}', 'payload'],
      ['no body', '', 'payload'],
      ['fields of __proto__', `{"__proto__":{${PLACE},"payload":{}}}`, 'destination'],
      ['__proto__ beside the payload', `{"__proto__":{"payload":{}},${PLACE},"payload":{}}`, '__proto__'],
      ['a header named __proto__', `{${PLACE},"payload":{},"headers":{"__proto__":"x"}}`, 'headers.__proto__'],
      [
        'a header whose name is __proto__ with an escape',
        `{${PLACE},"payload":{},"headers":{"__pr\\u006fto__":"x"}}`,
        'headers.__proto__',
      ],
      ['a payload that is null', around('null').body, 'payload'],
      ['a payload that is a list', around('[]').body, 'payload'],
      ['a payload that is a string', around('"{}"').body, 'payload'],
      ['a payload that is a number', around('1').body, 'payload'],
      ['the last of two payload members is a list', `{${PLACE},"payload":{},"payload":[]}`, 'payload'],
      ['a destination that is null', '{"destination":null,"event_type":"a","payload":{}}', 'destination'],
      ['a destination that is a list', '{"destination":["@"],"event_type":"a","payload":{}}', 'destination'],
      ['a destination that is empty', '{"destination":"","event_type":"a","payload":{}}', 'destination'],
      [
        'a destination that does not exist',
        '{"destination":"dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1","event_type":"a","payload":{}}',
        'destination',
      ],
      [
        'a destination that is not an id',
        '{"destination":"dst_\' or 1=1","event_type":"a","payload":{}}',
        'destination',
      ],
      [
        'an id of another kind of object',
        '{"destination":"evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1","event_type":"a","payload":{}}',
        'destination',
      ],
      [
        'NUL in the destination',
        '{"destination":"https://example.com/\\u0000","event_type":"a","payload":{}}',
        'destination',
      ],
      [
        'a lone surrogate in the destination',
        '{"destination":"https://example.com/\\ud800","event_type":"a","payload":{}}',
        'destination',
      ],
      ['no event type', '{"destination":"@","payload":{}}', 'event_type'],
      ['an event type that is empty', '{"destination":"@","event_type":"","payload":{}}', 'event_type'],
      [
        'an event type that is too long',
        `{"destination":"@","event_type":"${'a'.repeat(257)}","payload":{}}`,
        'event_type',
      ],
      ['NUL in the event type', '{"destination":"@","event_type":"a\\u0000","payload":{}}', 'event_type'],
      ['a line break in the event type', '{"destination":"@","event_type":"a\\n","payload":{}}', 'event_type'],
      ['an event type that is true', '{"destination":"@","event_type":true,"payload":{}}', 'event_type'],
    ])('%s', async (_what, body, path) => {
      const { json } = await expectNothingStored(422, () => post(body));

      expect(json.error.details.check).toBe('schema');
      expect(json.error.details.fields.map((fault: { path: string }) => fault.path)).toContain(path);
    });

    it('an error response stays small, however many faults the body has', async () => {
      const headers = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`h${i}`, i]));

      const answer = await expectNothingStored(422, () =>
        server.api('POST', '/v1/send', { destination, event_type: 'a', payload: {}, headers }),
      );

      expect(answer.text.length).toBeLessThan(16_384);
    });
  });

  describe('headers to forward', () => {
    const withHeaders = (headers: unknown): Promise<ApiAnswer> =>
      server.api('POST', '/v1/send', { destination, event_type: 'bad.input', payload: {}, headers });

    it.each<[string, string, string]>([
      ['8 KB', 'x-long', 'a'.repeat(8_192)],
      ['a value with a tab and Latin-1', 'x-latin', 'a\tb é ÿ'],
      ['no value', 'x-empty', ''],
      ['a name of unusual characters', "x!#$%&'*+-.^_`|~1", 'a'],
      ['a name in upper case', 'X-CAPITALS', 'A'],
      ['authorization, which is meant for the receiver', 'authorization', 'Bearer abc'],
    ])('202: %s', async (_what, name, value) => {
      const { headers } = await deliveryOf(await withHeaders({ [name]: value }));

      expect(headers[name.toLowerCase()]).toBe(value);
    });

    it.each<[string, Record<string, unknown>]>([
      ['8 KB plus one byte', { 'x-long': 'a'.repeat(8_193) }],
      ['65 headers', Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`x-${i}`, 'a']))],
      ['32 KB in all', Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`x-${i}`, 'a'.repeat(8_000)]))],
      ['CR and LF in a value', { 'x-a': 'b\r\nx-evil: 1' }],
      ['LF in a value', { 'x-a': 'b\nx-evil: 1' }],
      ['CR in a value', { 'x-a': 'b\rx-evil: 1' }],
      ['NUL in a value', { 'x-a': 'b\0' }],
      ['a character beyond Latin-1', { 'x-a': '€' }],
      ['a lone surrogate', { 'x-a': '\ud800' }],
      ['a space at the end', { 'x-a': 'b ' }],
      ['LF in a name', { 'x-a\nx-evil': 'b' }],
      ['a colon in a name', { 'x-a:': 'b' }],
      ['an empty name', { '': 'b' }],
      ['one name in upper and lower case', { 'x-a': 'b', 'X-A': 'c' }],
      ['a number', { 'x-a': 1 }],
      ['a list', { 'x-a': ['b'] }],
    ])('422: %s', async (_what, headers) => {
      const { json } = await expectNothingStored(422, () => withHeaders(headers));

      expect(json.error.details.fields[0].path).toMatch(/^headers/);
    });

    it.each([
      'Host',
      'content-length',
      'Content-Type',
      'transfer-encoding',
      'connection',
      'keep-alive',
      'te',
      'trailer',
      'upgrade',
      'expect',
      'user-agent',
      'cookie',
      'webhook-id',
      'Webhook-Signature',
      'webhook-timestamp',
      'webhook-replayed',
      'svix-id',
      'proxy-authorization',
      'x-amz-date',
      'traceparent',
    ])('422: the caller cannot set %s', async (name) => {
      const { json } = await expectNothingStored(422, () => withHeaders({ [name]: 'a' }));

      expect(json.error.details.fields).toEqual([{ path: `headers.${name}`, message: expect.any(String) }]);
    });

    it.each([
      ['a list', []],
      ['a string', 'x-a: b'],
      ['null', null],
    ])('422: %s instead of headers', async (_what, headers) => {
      await expectNothingStored(422, () => withHeaders(headers));
    });
  });
});
