import fc from 'fast-check';
import { forwardedHeaderFaults } from '../headers.js';
import { forwardedFrom, HOPS_HEADER, hopsOf } from './forward.js';

const OCTETS = 'application/octet-stream';

describe('forwardedFrom', () => {
  it.each<[string, [string, string][], Record<string, string>]>([
    ['nothing came', [], { 'content-type': OCTETS }],
    [
      'content type and encoding of the body',
      [
        ['content-type', 'text/xml'],
        ['content-encoding', 'gzip'],
      ],
      { 'content-type': 'text/xml', 'content-encoding': 'gzip' },
    ],
    [
      'metadata of the provider',
      [
        ['x-github-event', 'push'],
        ['stripe-signature', 't=1,v1=a'],
      ],
      { 'content-type': OCTETS, 'x-github-event': 'push', 'stripe-signature': 't=1,v1=a' },
    ],
    [
      'repeated names',
      [
        ['x-a', '1'],
        ['x-b', ''],
        ['x-a', '2'],
      ],
      { 'content-type': OCTETS, 'x-a': '1, 2', 'x-b': '' },
    ],
    [
      'the last of several content types',
      [
        ['content-type', 'a/b'],
        ['content-type', 'c/d'],
      ],
      { 'content-type': 'c/d' },
    ],
    [
      'a value that is too long',
      [
        ['x-a', 'a'.repeat(2049)],
        ['x-b', 'b'.repeat(2048)],
      ],
      { 'content-type': OCTETS, 'x-b': 'b'.repeat(2048) },
    ],
    [
      'a name like an object property',
      [
        ['__proto__', 'p'],
        ['constructor', 'c'],
      ],
      Object.fromEntries([
        ['content-type', OCTETS],
        ['__proto__', 'p'],
        ['constructor', 'c'],
      ]),
    ],
  ])('%s', (_title, headers, expected) => {
    expect(Object.entries(forwardedFrom(headers))).toEqual(Object.entries(expected));
  });

  it.each([
    'host',
    'connection',
    'keep-alive',
    'te',
    'trailer',
    'transfer-encoding',
    'upgrade',
    'expect',
    'content-length',
    'proxy-authorization',
    'authorization',
    'cookie',
    'user-agent',
    'accept',
    'accept-encoding',
    'origin',
    'referer',
    'forwarded',
    'via',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-real-ip',
    'x-original-url',
    'x-http-method-override',
    'cf-connecting-ip',
    'sec-fetch-mode',
    'if-none-match',
    'traceparent',
    'webhook-id',
    'webhook-signature',
    'webhook-replayed',
    'svix-id',
    HOPS_HEADER,
  ])('%s is not forwarded', (name) => {
    expect(
      forwardedFrom([
        [name, 'x'],
        ['x-kept', '1'],
      ]),
    ).toEqual({ 'content-type': OCTETS, 'x-kept': '1' });
  });

  it('forwards the first 48 headers and 16 KB, and always the content type', () => {
    const many = Array.from({ length: 100 }, (_, i): [string, string] => [`x-${i}`, 'v']);
    const large = Array.from({ length: 20 }, (_, i): [string, string] => [`x-${i}`, 'v'.repeat(2000)]);

    expect(Object.keys(forwardedFrom(many))).toHaveLength(48);
    expect(Object.keys(forwardedFrom(large)).slice(1)).toEqual([
      'x-0',
      'x-1',
      'x-2',
      'x-3',
      'x-4',
      'x-5',
      'x-6',
      'x-7',
    ]);
    expect(forwardedFrom([...many.slice(0, 10), ['content-type', 'a/b']])['content-type']).toBe('a/b');
    expect(forwardedFrom([...many, ['content-type', 'a/b']])['content-type']).toBe('a/b');
  });

  it('a caller of the API could also send all forwarded headers, except those of the body', () => {
    const name = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9a-z-]{1,20}$/);
    const value = fc.stringMatching(/^(?:[!-~\xa1-\xff](?:[\t -~\xa1-\xff]{0,20}[!-~\xa1-\xff])?)?$/);
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value), { maxLength: 80 }), (headers) => {
        const { 'content-type': _type, 'content-encoding': _encoding, ...forwarded } = forwardedFrom(headers);
        expect(forwardedHeaderFaults(forwarded)).toEqual([]);
      }),
    );
  });
});

describe('hopsOf', () => {
  it.each<[string | undefined, number]>([
    [undefined, 0],
    ['', 0],
    ['0', 0],
    ['3', 3],
    ['008', 8],
    ['999', 999],
    ['1000', 0],
    ['-1', 0],
    ['1.5', 0],
    ['1e2', 0],
    [' 1', 0],
    ['1, 2', 0],
    ['x', 0],
    ['٣', 0],
  ])('%j is %d', (value, hops) => {
    expect(hopsOf(value)).toBe(hops);
  });
});
