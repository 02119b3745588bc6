import { sessionCookie } from './session-cookie.js';

const TOKEN = 'a'.repeat(43);
const [KEY, OTHER_KEY] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];

describe('sessionCookie', () => {
  it.each([
    ['https://hooks.example.com', '__Host-posthorn_session_', true],
    ['https://example.com/hooks/eu-1', '__Host-posthorn_session_', true],
    ['http://localhost:3000', 'posthorn_session_', false],
  ])('BASE_URL %s: the cookie name is %s followed by the id of the installation', (baseUrl, prefix, isSecure) => {
    const { name, set, clear } = sessionCookie({ baseUrl, key: KEY });

    expect(name).toMatch(new RegExp(`^${prefix}[0-9a-f]{8}$`));
    expect(set(TOKEN, 60)).toBe(
      `${name}=${TOKEN}; Max-Age=60; Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`,
    );
    expect(clear).toMatch(/Max-Age=0/);
  });

  // Browsers send cookies to all ports of a host (RFC 6265, section 8.5), so each installation needs its own cookie
  // name.
  it.each([
    ['on two ports of one host', 'http://localhost:3000', 'http://localhost:3001'],
    ['behind published ports that BASE_URL does not know', 'http://localhost:3000', 'http://localhost:3000'],
    ['below two paths that differ in punctuation', 'https://example.com/eu-1', 'https://example.com/eu/1'],
  ])("two installations %s do not accept each other's cookies", (_where, baseUrl, otherUrl) => {
    const [one, other] = [sessionCookie({ baseUrl, key: KEY }), sessionCookie({ baseUrl: otherUrl, key: OTHER_KEY })];
    const header = one.set(TOKEN, 60).split(';', 1)[0];

    expect([one.read(header), other.read(header)]).toEqual([TOKEN, null]);
  });

  it('processes of one installation on several ports share the cookie', () => {
    const [one, other] = ['http://localhost:3000', 'http://localhost:3001'].map(
      (baseUrl) => sessionCookie({ baseUrl, key: KEY }).name,
    );

    expect(one).toBe(other);
  });

  it('finds its own cookie among others, and ignores text that is not a token', () => {
    const { name, read } = sessionCookie({ baseUrl: 'https://hooks.example.com', key: KEY });

    expect(read(`a=b; ${name}=${TOKEN}; c=d`)).toBe(TOKEN);
    expect([undefined, '', `posthorn_session=${TOKEN}`, `${name}=short`, `x${name}=${TOKEN}`].map(read)).toEqual([
      null,
      null,
      null,
      null,
      null,
    ]);
  });
});
