import {
  type HeadersPlace,
  openHeaders,
  openNamed,
  sealedHeaderNames,
  sealHeaders,
  sealNamed,
  type StoredHeader,
} from './sealed-headers.js';
import { Vault } from './vault.js';

const KEY = Buffer.alloc(32, 1);
const vault = new Vault({ newest: () => ({ id: 1, key: KEY }), find: (id) => (id === 1 ? KEY : null) });
const PLACE: HeadersPlace = { table: 'events', environmentId: 1, id: '0190f0a0-0000-0000-0000-000000000001' };

describe('headers in order', () => {
  it('seals secret and sensitive values in any spelling, and marks those that only their name makes sensitive', () => {
    const headers: [string, string][] = [
      ['x_acme_key', 'a'],
      ['x-acme-key', 'b'],
      ['x-auth-token', 'c'],
      ['x-tenant', 'd'],
    ];

    const stored = sealHeaders(vault, PLACE, headers, new Set(['x-acme-key']));

    expect(stored).toEqual([
      ['x_acme_key', { sealed: expect.any(String), of: 'environment' }],
      ['x-acme-key', { sealed: expect.any(String), of: 'environment' }],
      ['x-auth-token', { sealed: expect.any(String), byName: true }],
      ['x-tenant', 'd'],
    ]);
    expect(openHeaders(vault, PLACE, stored)).toEqual(headers);
    expect([...sealedHeaderNames(stored, 'all')]).toEqual(['x-acme-key', 'x-auth-token']);
    expect([...sealedHeaderNames(stored, 'used')]).toEqual(['x-acme-key']);
  });

  it('opens a credential in other requests of its environment, under the same name only', () => {
    const stored = sealHeaders(vault, PLACE, [['x-acme-key', 'a']], new Set(['x-acme-key']));
    const renamed = stored.map(([, sealed]): StoredHeader => ['x-tenant', sealed]);
    const otherRequest = { ...PLACE, id: '0190f0a0-0000-0000-0000-000000000002' };

    expect(openHeaders(vault, otherRequest, stored)).toEqual([['x-acme-key', 'a']]);
    expect(() => openHeaders(vault, { ...PLACE, environmentId: 2 }, stored)).toThrow();
    expect(() => openHeaders(vault, PLACE, renamed)).toThrow();
  });

  it('opens a sensitive value that is not a credential in its own request only', () => {
    const stored = sealHeaders(vault, PLACE, [['x-auth-token', 'c']], new Set());

    expect(() => openHeaders(vault, { ...PLACE, id: '0190f0a0-0000-0000-0000-000000000002' }, stored)).toThrow();
  });
});

describe('headers by name', () => {
  it('opens what it sealed; only sensitive values are sealed, in any case of their names', () => {
    const headers = { Authorization: 'Bearer a', 'x-auth-token': 'b', 'x-tenant': '42', ['__proto__']: 'c' };

    const stored = JSON.parse(JSON.stringify(sealNamed(vault, PLACE, headers))) as ReturnType<typeof sealNamed>;

    expect(stored).toEqual({
      ...headers,
      Authorization: { sealed: expect.any(String) },
      'x-auth-token': { sealed: expect.any(String) },
    });
    expect(JSON.stringify(stored)).not.toContain('Bearer');
    expect(openNamed(vault, PLACE, stored)).toEqual(headers);
  });

  it('returns the same object if there are no sensitive headers', () => {
    const headers = { 'x-tenant': '42' };

    expect(sealNamed(vault, PLACE, headers)).toBe(headers);
    expect(openNamed(vault, PLACE, headers)).toBe(headers);
  });

  it('opens values only in their own row', () => {
    const stored = sealNamed(vault, PLACE, { cookie: 'a=b' });

    for (const place of [
      { ...PLACE, table: 'messages' },
      { ...PLACE, environmentId: 2 },
      { ...PLACE, id: '0190f0a0-0000-0000-0000-000000000002' },
    ]) {
      expect(() => openNamed(vault, place, stored)).toThrow(/can't be opened/);
    }
  });

  it('reads values that older releases stored unencrypted', () => {
    expect(openNamed(vault, PLACE, { authorization: 'Bearer old' })).toEqual({ authorization: 'Bearer old' });
  });
});
