import { mirroredHeaders } from './mirror.js';

const OUTGOING = { replayed: false, traceparent: null };
const NONE = { headers: {} };

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
