import { sessionCookie } from './session-cookie.js';

const TOKEN = 'a'.repeat(43);

describe('sessionCookie', () => {
  it.each([
    ['https://hooks.example.com', '__Host-posthorn_session', true],
    ['https://example.com/hooks/eu-1', '__Host-posthorn_session_hooks_eu_1', true],
    ['http://localhost:3000', 'posthorn_session', false],
  ])('%s: %s', (baseUrl, name, isSecure) => {
    const { set, clear } = sessionCookie(baseUrl);

    expect(set(TOKEN, 60)).toBe(`${name}=${TOKEN}; Max-Age=60; Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`);
    expect(clear).toMatch(/Max-Age=0/);
  });

  it('finds its own among others, and nothing that is no token', () => {
    const { read } = sessionCookie('https://hooks.example.com');

    expect(read(`a=b; __Host-posthorn_session=${TOKEN}; c=d`)).toBe(TOKEN);
    expect([undefined, '', `posthorn_session=${TOKEN}`, '__Host-posthorn_session=short', `x__Host-posthorn_session=${TOKEN}`].map(read)).toEqual([null, null, null, null, null]);
  });
});
