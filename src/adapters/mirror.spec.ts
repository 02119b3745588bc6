import fc from 'fast-check';
import { mirroredHeaders, mirroredUrl } from './mirror.js';

const OUTGOING = { replayed: false, traceparent: null };
const NONE = { headers: {} };

describe('mirroredUrl', () => {
  it.each([
    ['https://a.example', '', '', 'https://a.example/'],
    ['https://a.example/', '/x', '', 'https://a.example/x'],
    ['https://a.example/base', '/x/', 'q=1', 'https://a.example/base/x/?q=1'],
    ['https://a.example/base/', '/x', '', 'https://a.example/base/x'],
    ['https://a.example/base/', '', '', 'https://a.example/base/'],
    ['https://a.example/base?t=1', '/x', 'a=1&a=2', 'https://a.example/base/x?t=1&a=1&a=2'],
    ['https://a.example/base?t=1', '', '', 'https://a.example/base?t=1'],
    ['https://a.example/base', '/a%2Fb%20c', 'q=%20+%zz', 'https://a.example/base/a%2Fb%20c?q=%20+%zz'],
    ['https://a.example', '//evil.example/x', '', 'https://a.example//evil.example/x'],
    ['https://a.example/base', '/@evil.example:80/#x', '', 'https://a.example/base/@evil.example:80/%23x'],
    ['https://a.example/base', '/x', '//evil.example#y', 'https://a.example/base/x?//evil.example%23y'],
  ])('%s with %j and %j is %s', (target, path, query, expected) => {
    expect(mirroredUrl(new URL(target), { path, query }).href).toBe(expected);
  });

  it("keeps the target's own URL", () => {
    const target = new URL('https://a.example/base?t=1');

    mirroredUrl(target, { path: '/x', query: 'q' });

    expect(target.href).toBe('https://a.example/base?t=1');
  });

  it("no received path or query leads to another host, or outside the target's path", () => {
    const segment = fc
      .stringMatching(/^(?:[!$&'()*+,:;=@A-Za-z0-9._~|"<>^`{}-]|%[0-9A-F]{2}){0,12}$/)
      .filter((text) => !/^(?:\.|%2e){1,2}$/i.test(text));
    const query = fc.stringMatching(/^[!-~]{0,30}$/);
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 5 }), query, (segments, text) => {
        const url = mirroredUrl(new URL('https://a.example/base/in'), {
          path: segments.map((each) => `/${each}`).join(''),
          query: text,
        });
        expect(url.origin).toBe('https://a.example');
        expect(url.pathname.startsWith('/base/in')).toBe(true);
        expect(url.hash).toBe('');
      }),
    );
  });
});

describe('mirroredHeaders', () => {
  const mirrored = (
    headers: [string, string][],
    target = NONE,
    outgoing: Parameters<typeof mirroredHeaders>[1] = OUTGOING,
  ): Record<string, string> => mirroredHeaders({ headers }, outgoing, target);

  it.each<[string, [string, string][], Record<string, string>]>([
    [
      'as they came',
      [
        ['authorization', 'Bearer a'],
        ['webhook-signature', 'v1,a'],
        ['user-agent', 'p/1'],
      ],
      { authorization: 'Bearer a', 'webhook-signature': 'v1,a', 'user-agent': 'p/1' },
    ],
    [
      'joins repeated headers',
      [
        ['x-a', '1'],
        ['x-a', '2'],
        ['cookie', 'a=1'],
        ['cookie', 'b=2'],
      ],
      { 'x-a': '1, 2', cookie: 'a=1; b=2' },
    ],
    [
      'drops hop-by-hop headers',
      [
        ['connection', 'close'],
        ['host', 'a'],
        ['te', 'x'],
        ['transfer-encoding', 'chunked'],
        ['content-length', '1'],
        ['expect', '100-continue'],
      ],
      {},
    ],
    [
      'drops headers named in Connection, in any letter case',
      [
        ['connection', 'X-Hop, x-two'],
        ['connection', 'x-three'],
        ['x-hop', '1'],
        ['x-two', '1'],
        ['x-three', '1'],
        ['x-four', '1'],
      ],
      { 'x-four': '1' },
    ],
    ['keeps a header named like a property of Object.prototype', [['constructor', 'c']], { constructor: 'c' }],
  ])('%s', (_title, headers, expected) => {
    expect(mirrored(headers)).toEqual({ ...expected, 'posthorn-hops': '1' });
  });

  it("the destination's headers override the received ones, and Posthorn's override both", () => {
    const headers: [string, string][] = [
      ['x-own', 'theirs'],
      ['posthorn-hops', '4'],
      ['webhook-replayed', 'no'],
      ['traceparent', 'theirs'],
    ];

    expect(
      mirrored(
        headers,
        { headers: { 'x-own': 'ours', 'posthorn-hops': '0' } },
        { replayed: true, traceparent: '00-1' },
      ),
    ).toEqual({
      'x-own': 'ours',
      'posthorn-hops': '5',
      'webhook-replayed': 'true',
      traceparent: '00-1',
    });
  });
});
