import { ownPath } from './return-to.js';

const BASE = 'https://hooks.example.com';

describe('ownPath', () => {
  it.each(['/', '/console', '/oauth/authorize?client_id=a&redirect_uri=https%3A%2F%2Fb.example', '/a/%2e/b'])(
    '%s is ours',
    (path) => {
      expect(ownPath(path, BASE)).toBe(new URL(path, BASE).pathname + new URL(path, BASE).search);
    },
  );

  it.each([
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    'javascript:alert(1)',
    '/\t/evil.example',
    '/\n/evil.example',
    ' /console',
    'console',
    '',
    `/${'a'.repeat(2_001)}`,
    '/..//evil.example',
    '/./\\evil.example',
    undefined,
    null,
    7,
    '/.//evil.example',
    '/%2e%2e//evil.example',
    '/console\r\nLocation: https://evil.example',
    '/console\u2028',
    '/@evil.example/..//evil.example',
    '/%',
  ])('%j is not', (given) => {
    expect(ownPath(given, BASE)).toBeNull();
  });

  it.each(['/in/acme/orders', '/%69n/acme/orders', '/x/../in/acme/orders', '/i%6e/acme'])(
    '%s is a receive URL, whose answers a tenant configures, including redirects',
    (path) => {
      expect(ownPath(path, BASE)).toBeNull();
      expect(ownPath(`/hooks${path}`, `${BASE}/hooks`)).toBeNull();
    },
  );

  it('with a base path, only paths below it are accepted', () => {
    const base = `${BASE}/hooks`;

    expect(ownPath('/hooks/signin?a=b', base)).toBe('/hooks/signin?a=b');
    expect(['/', '/hooksign', '/hooks/../admin', '/hooks/%2e%2e/admin'].map((path) => ownPath(path, base))).toEqual([
      null,
      null,
      null,
      null,
    ]);
  });
});
