import type { Clock } from '#kernel/clock.js';
import type { Config } from '#kernel/config.js';
import type { Vault } from '#kernel/vault.js';
import { PendingCookie } from './pending-cookie.js';

const PENDING = { state: 's', nonce: 'n', verifier: 'v', returnTo: '/console' };

/** A vault that seals nothing: what stands in the cookie is not what is looked at here. */
function cookieAt(baseUrl: string): { cookie: PendingCookie; time: { nowMs: number } } {
  const time = { nowMs: 1_000_000 };
  const vault = { seal: (text: string) => Buffer.from(text), open: (sealed: Buffer) => sealed } as unknown as Vault;
  return { cookie: new PendingCookie(vault, { baseUrl } as Config, { nowMs: () => time.nowMs } as Clock), time };
}

describe('PendingCookie', () => {
  it.each([
    ['https://hooks.example.com', '__Host-posthorn_oidc', true],
    ['https://example.com/hooks/eu-1', '__Host-posthorn_oidc_hooks_eu_1', true],
    ['http://localhost:3000/hooks', 'posthorn_oidc_hooks', false],
  ])('%s: %s', (baseUrl, name, isSecure) => {
    const { cookie } = cookieAt(baseUrl);
    const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;

    expect(cookie.set(PENDING)).toMatch(new RegExp(`^${name}=[\\w-]+; Max-Age=600; ${attributes}$`));
    expect(cookie.clear).toBe(`${name}=; Max-Age=0; ${attributes}`);
  });

  it('two installations on one host do not take each other\'s', () => {
    const [one, other] = [cookieAt('https://example.com/one').cookie, cookieAt('https://example.com/other').cookie];
    const set = one.set(PENDING).split(';', 1)[0];

    expect([one.read(set), other.read(set), one.read(undefined)]).toEqual([PENDING, null, null]);
  });

  it('counts for ten minutes', () => {
    const { cookie, time } = cookieAt('https://hooks.example.com');
    const set = cookie.set(PENDING).split(';', 1)[0];

    time.nowMs += 599_999;
    expect(cookie.read(set)).toEqual(PENDING);
    time.nowMs += 1;
    expect(cookie.read(set)).toBeNull();
  });
});
