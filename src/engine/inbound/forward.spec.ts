import fc from 'fast-check';
import { FIELD_VALUE, TOKEN } from '../headers.js';
import { endToEndHeaders, FORWARDED_BYTES_MAX, forwardedFrom, HOPS_HEADER, hopsOf, omittedNote } from './forward.js';

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
      'push notifications of Google Calendar, which have no body',
      [
        ['x-goog-channel-id', '4ba78bf0-6a47-11e2-bcfd-0800200c9a66'],
        ['x-goog-message-number', '10'],
        ['x-goog-resource-state', 'exists'],
      ],
      {
        'content-type': OCTETS,
        'x-goog-channel-id': '4ba78bf0-6a47-11e2-bcfd-0800200c9a66',
        'x-goog-message-number': '10',
        'x-goog-resource-state': 'exists',
      },
    ],
    [
      'a long value and a long content type',
      [
        ['x-a', 'a'.repeat(8_000)],
        ['content-type', `a/b; c=${'d'.repeat(4_000)}`],
      ],
      { 'content-type': `a/b; c=${'d'.repeat(4_000)}`, 'x-a': 'a'.repeat(8_000) },
    ],
    [
      'all but the headers that Connection lists',
      [
        ['connection', 'Keep-Alive, X-Hop'],
        ['x-hop', '1'],
        ['x-end', '2'],
      ],
      { 'content-type': OCTETS, 'x-end': '2' },
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
    const { headers: forwarded, omitted } = forwardedFrom(headers);

    expect(Object.entries(forwarded)).toEqual(Object.entries(expected));
    expect(omitted).toEqual([]);
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
    'accept-encoding',
    'proxy-authorization',
    'authorization',
    'cookie',
    'x-amz-security-token',
    'x-goog-api-key',
    'x-goog-iam-authorization-token',
    'x-vercel-protection-bypass',
    'x-vercel-oidc-token',
    'proxy-client-ip',
    'forwarded',
    'via',
    'x-forwarded-for',
    'x-forwarded-host',
    'x_forwarded_for',
    'x-real-ip',
    'x-original-url',
    'x-http-method-override',
    'cf-connecting-ip',
    'x-amzn-oidc-data',
    'x-amzn-trace-id',
    'x-goog-iap-jwt-assertion',
    'x-goog-authenticated-user-email',
    'x-azure-clientip',
    'x-ms-client-principal',
    HOPS_HEADER,
    'posthorn_hops',
  ])('%s is not forwarded', (name) => {
    expect(
      forwardedFrom([
        [name, 'x'],
        ['x-kept', '1'],
      ]).headers,
    ).toEqual({ 'content-type': OCTETS, 'x-kept': '1' });
  });

  it.each([
    'x-request-id',
    'x-goog-channel-id',
    'x-amz-sns-message-type',
    'x-vercel-signature',
    'user-agent',
    'accept',
    'cache-control',
    'content-language',
    'webhook-id',
    'svix-signature',
    'traceparent',
  ])('%s is forwarded', (name) => {
    expect(forwardedFrom([[name, 'x']]).headers).toEqual({ 'content-type': OCTETS, [name]: 'x' });
  });

  it('the secret headers of the endpoint are not forwarded', () => {
    const headers = [
      ['x-gitlab-token', 's'],
      ['x-gitlab-event', 'Push Hook'],
    ] as const;

    expect(forwardedFrom(headers, new Set(['x-gitlab-token'])).headers).toEqual({
      'content-type': OCTETS,
      'x-gitlab-event': 'Push Hook',
    });
  });

  it('forwards any number of headers up to 15 KB, names those that do not fit, and goes on with smaller ones', () => {
    const many = Array.from({ length: 1_000 }, (_, i): [string, string] => [`x-${i}`, 'v']);
    const large: [string, string][] = [
      ['x-a', 'a'.repeat(8_000)],
      ['x-b', 'b'.repeat(8_000)],
      ['x-c', 'c'.repeat(7_000)],
      ['x-d', 'd'],
    ];

    const { headers, omitted } = forwardedFrom(large);

    expect(Object.keys(forwardedFrom(many).headers)).toHaveLength(1_001);
    expect(Object.keys(headers)).toEqual(['content-type', 'x-a', 'x-c', 'x-d']);
    expect(omitted).toEqual(['x-b']);
    expect(omittedNote(omitted)).toBe('Deliveries carry at most 15 KB of received headers. Left out: x-b.');
    expect(omittedNote([])).toBeNull();
  });

  it('counts headers of a signature by the longer name that deliveries give them', () => {
    const prefix = 'posthorn-received-webhook-';
    const many = Array.from({ length: 500 }, (_, i): [string, string] => [`webhook-${100 + i}`, 'v']);

    const { headers, omitted } = forwardedFrom(many);

    expect(Object.keys(headers)).toHaveLength(1 + Math.floor(FORWARDED_BYTES_MAX / `${prefix}100: v\r\n`.length));
    expect(omitted.length).toBeGreaterThan(0);
  });

  it('the note names at most twenty headers', () => {
    const names = Array.from({ length: 30 }, (_, i) => `x-${i}`);

    expect(omittedNote(names)).toMatch(/: x-0, .*, x-19 and 10 more\.$/);
  });

  it('all forwarded headers can be sent, within the maximum size', () => {
    const name = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9a-z-]{1,20}$/);
    const value = fc.stringMatching(/^(?:[!-~\xa1-\xff](?:[\t -~\xa1-\xff]{0,900}[!-~\xa1-\xff])?)?$/);
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value), { maxLength: 80 }), (given) => {
        const headers = given.filter(([each]) => !each.startsWith('content-'));
        const { 'content-type': _type, ...forwarded } = forwardedFrom(headers).headers;
        const lines = Object.entries(forwarded).map(([key, text]) => `${key}: ${text}\r\n`);
        expect(lines.join('').length).toBeLessThanOrEqual(FORWARDED_BYTES_MAX);
        for (const [key, text] of Object.entries(forwarded)) {
          expect(key).toMatch(TOKEN);
          expect(text).toMatch(FIELD_VALUE);
        }
      }),
    );
  });
});

describe('endToEndHeaders', () => {
  it('keeps credentials, and joins repeated names', () => {
    expect(
      endToEndHeaders([
        ['authorization', 'Bearer a'],
        ['x-a', '1'],
        ['x-a', '2'],
        ['cookie', 'a=1'],
        ['cookie', 'b=2'],
        ['connection', 'close'],
      ]),
    ).toEqual({ authorization: 'Bearer a', 'x-a': '1, 2', cookie: 'a=1; b=2' });
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
