import { validateHeaderName, validateHeaderValue } from 'node:http';
import fc from 'fast-check';
import { unicodeText } from '../../test/support/unicode-text.js';
import { forwardedHeaderFaults, normalizeForwardedHeaders, withoutConfigured } from './headers.js';

const SET_BY_US = "This header is set by the service or by the connection and can't be forwarded.";

// Headers that must be rejected, from Svix's `core/types/mod.rs` and RFC 9110, section 7.6.1.
const FORBIDDEN = [
  'user-agent',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'trailers',
  'transfer-encoding',
  'upgrade',
  'age',
  'cache-control',
  'clear-site-data',
  'expires',
  'pragma',
  'warning',
  'content-length',
  'content-type',
  'content-encoding',
  'content-language',
  'content-location',
  'x-amz-date',
  'x-amzn-trace-id',
  'x-google',
  'x-google-id',
  'x-goog-api-key',
  'x-gfe-a',
  'x-azure-ref',
  'x-fd-healthprobe',
  'x-svix-id',
  'svix-id',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
  'webhook-x',
  'host',
  'connection',
  'cookie',
  'traceparent',
  'tracestate',
  'expect',
  'http2-settings',
];

const BAD_VALUES = [
  'a\r\nX-Evil: 1',
  'a\nb',
  'a\rb',
  'a\n',
  'a\0b',
  'a\x7fb',
  'a\x1bb',
  'Ā',
  '日本',
  '\ud83d\ude00',
  'a\u2028b',
  ' a',
  'a ',
  '\ta',
  'a\t',
  ' ',
];

const tokenChar = fc.constantFrom(..."!#$%&'*+-.^_`|~0123456789abcXYZ");
const name = fc.array(tokenChar, { minLength: 1, maxLength: 20 }).map((chars) => `A${chars.join('')}`);
const visible = fc
  .integer({ min: 0x21, max: 0xff })
  .filter((code) => code !== 0x7f)
  .map((code) => String.fromCharCode(code));
const value = fc
  .array(fc.oneof(visible, fc.constant(' '), fc.constant('\t')), { maxLength: 40 })
  .map((chars) => chars.join('').replace(/^[ \t]+|[ \t]+$/g, ''));

describe('forwardedHeaderFaults by name', () => {
  it.each(FORBIDDEN)('rejects %s in any case', (forbidden) => {
    for (const spelling of [forbidden, forbidden.toUpperCase()]) {
      const faults = forwardedHeaderFaults({ [spelling]: 'x' });
      expect(faults).toEqual([{ path: `headers.${spelling}`, message: SET_BY_US }]);
    }
  });

  it.each([
    'authorization',
    'x-request-id',
    'accept',
    'webhook',
    'hosts',
    'x-amz',
    'my-content-type',
    '__proto__',
    'constructor',
  ])('allows %s', (allowed) => {
    expect(forwardedHeaderFaults(Object.fromEntries([[allowed, 'x']]))).toEqual([]);
  });

  it.each([
    '',
    ' ',
    'a b',
    'a:',
    ':authority',
    ':path',
    'a\r\nb',
    'a\0',
    'ä',
    'a(b)',
    '"a"',
    'a/b',
    'a@b',
    'a[0]',
    '\u212aeep-alive',
  ])('rejects %j, which is no token', (bad) => {
    expect(forwardedHeaderFaults({ [bad]: 'x' })).toEqual([
      { path: `headers.${bad}`, message: expect.stringContaining('A header name consists of') as string },
    ]);
  });

  it('rejects the second of two names that differ only in case', () => {
    const message = 'The same name occurs twice.';

    expect(forwardedHeaderFaults({ 'X-A': '1', 'x-a': '2' })).toEqual([{ path: 'headers.x-a', message }]);
    expect(forwardedHeaderFaults({ 'x-a': '1', 'X-A': '2' })).toEqual([{ path: 'headers.X-A', message }]);
  });
});

describe('forwardedHeaderFaults by value', () => {
  it.each(BAD_VALUES)('refuses %j', (bad) => {
    expect(forwardedHeaderFaults({ 'x-a': bad })).toEqual([
      { path: 'headers.x-a', message: expect.stringMatching(/^A header value/) as string },
    ]);
  });

  it.each(['', 'a', 'a b', 'a\tb', 'é', '\x80\xff', '"q"', 'a, b; c=d'])('allows %j', (good) => {
    expect(forwardedHeaderFaults({ 'x-a': good })).toEqual([]);
  });
});

describe('forwardedHeaderFaults by size', () => {
  const count = (n: number): Record<string, string> =>
    Object.fromEntries(Array.from({ length: n }, (_, i) => [`x-${i}`, 'v']));

  it('allows at most 64 headers', () => {
    expect(forwardedHeaderFaults(count(64))).toEqual([]);
    expect(forwardedHeaderFaults(count(65))).toEqual([
      { path: 'headers', message: 'At most 64 headers can be forwarded.' },
    ]);
  });

  it('allows a value of at most 8192 bytes', () => {
    expect(forwardedHeaderFaults({ a: 'v'.repeat(8192) })).toEqual([]);
    expect(forwardedHeaderFaults({ a: 'v'.repeat(8193) })).toEqual([
      { path: 'headers.a', message: 'A header value has at most 8192 bytes.' },
    ]);
  });

  it('allows at most 32768 bytes of names and values together', () => {
    const headers = { a: 'v'.repeat(8191), b: 'v'.repeat(8191), c: 'v'.repeat(8191), d: 'v'.repeat(8191) };

    expect(forwardedHeaderFaults(headers)).toEqual([]);
    expect(forwardedHeaderFaults({ ...headers, e: '' })).toEqual([
      { path: 'headers', message: 'All names and values together have at most 32768 bytes.' },
    ]);
  });

  it('reports every fault', () => {
    const faults = forwardedHeaderFaults({ host: 'x', ok: 'x', 'x-a': 'a\nb' });

    expect(faults.map((fault) => fault.path)).toEqual(['headers.host', 'headers.x-a']);
  });
});

describe('any forwarded headers', () => {
  it('have no fault if they are valid tokens and field values, and Node accepts them', () => {
    fc.assert(
      fc.property(name, value, (anyName, anyValue) => {
        expect(forwardedHeaderFaults({ [anyName]: anyValue })).toEqual([]);
        validateHeaderName(anyName);
        validateHeaderValue(anyName, anyValue);
      }),
    );
  });

  it('have a fault whenever Node would refuse to send them', () => {
    fc.assert(
      fc.property(unicodeText(), unicodeText(), (anyName, anyValue) => {
        const headers = Object.fromEntries([[anyName, anyValue]]);
        if (forwardedHeaderFaults(headers).length > 0) return;
        validateHeaderName(anyName);
        validateHeaderValue(anyName, anyValue);
      }),
    );
  });
});

describe('normalizeForwardedHeaders', () => {
  it('lower-cases names and keeps values and order', () => {
    const normal = normalizeForwardedHeaders({ 'X-B': 'V', 'x-a': 'W' });

    expect(Object.entries(normal)).toEqual([
      ['x-b', 'V'],
      ['x-a', 'W'],
    ]);
  });

  it('keeps __proto__ as an ordinary name', () => {
    const normal = normalizeForwardedHeaders(JSON.parse('{"__PROTO__": "a", "x": "b"}') as Record<string, string>);

    expect(Object.entries(normal)).toEqual([
      ['__proto__', 'a'],
      ['x', 'b'],
    ]);
    expect(Object.getPrototypeOf(normal)).toBe(Object.prototype);
  });
});

describe('withoutConfigured', () => {
  it.each([
    ['nothing is configured', { 'x-a': '1' }, {}, { 'x-a': '1' }],
    ['other names are', { 'x-a': '1' }, { 'x-b': '2' }, { 'x-a': '1' }],
    ['the name is', { 'x-a': '1', 'x-b': '1' }, { 'x-b': '2' }, { 'x-a': '1' }],
    ['the name is configured in another case', { 'X-B': '1' }, { 'x-b': '2' }, {}],
    // A gateway passes `x_b` and `x-b` to a program as the same variable HTTP_X_B (RFC 3875, section 4.1.18).
    [
      'the name is configured with underscores instead of hyphens',
      { x_b: '1', 'x-c': '1' },
      { 'x-b': '2', x_c: '2' },
      {},
    ],
    [
      'the name is a property of every object',
      { constructor: '1', 'x-a': '1' },
      { 'x-b': '2' },
      { constructor: '1', 'x-a': '1' },
    ],
  ])('leaves out received headers where %s', (_, received, configured, left) => {
    expect(withoutConfigured(received, configured)).toEqual(left);
  });

  it('keeps __proto__ as an ordinary name', () => {
    const received = JSON.parse('{"__proto__":"1","x-a":"1"}') as Record<string, string>;

    expect(JSON.stringify(withoutConfigured(received, { 'x-b': '2' }))).toBe('{"__proto__":"1","x-a":"1"}');
    expect(JSON.stringify(withoutConfigured(received, JSON.parse('{"__proto__":"2"}') as Record<string, string>))).toBe(
      '{"x-a":"1"}',
    );
  });
});
