import type { Clock } from '#kernel/clock.js';
import type { Config } from '#kernel/config/config.js';
import type { Keyring } from '#kernel/crypto/keyring.js';
import type { Vault } from '#kernel/crypto/vault.js';
import { PendingCookie } from './pending-cookie.js';

const PENDING = { state: 's', nonce: 'n', verifier: 'v', returnTo: '/console' };

/** Returns a cookie with a vault that does not encrypt, because these tests do not check the cookie's content. */
function cookieAt(baseUrl: string, installation = 1): { cookie: PendingCookie; time: { nowMs: number } } {
  const time = { nowMs: 1_000_000 };
  const vault = { seal: (text: string) => Buffer.from(text), open: (sealed: Buffer) => sealed } as unknown as Vault;
  const keyring = { derived: () => Buffer.alloc(32, installation) } as unknown as Keyring;
  return {
    cookie: new PendingCookie(vault, { baseUrl } as Config, { nowMs: () => time.nowMs } as Clock, keyring),
    time,
  };
}

describe('PendingCookie', () => {
  it.each([
    ['https://hooks.example.com', '__Host-posthorn_oidc_[0-9a-f]{8}', true],
    ['http://localhost:3000/hooks', 'posthorn_oidc_[0-9a-f]{8}', false],
  ])('%s: %s', (baseUrl, name, isSecure) => {
    const { cookie } = cookieAt(baseUrl);
    const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;

    expect(cookie.set(PENDING)).toMatch(new RegExp(`^${name}=[\\w-]+; Max-Age=600; ${attributes}$`));
    expect(cookie.clear).toMatch(new RegExp(`^${name}=; Max-Age=0; ${attributes}$`));
  });

  it("two installations on one host do not accept each other's cookies", () => {
    const [one, other] = [cookieAt('http://localhost:3000', 1).cookie, cookieAt('http://localhost:3001', 2).cookie];
    const set = one.set(PENDING).split(';', 1)[0];

    expect([one.read(set), other.read(set), one.read(undefined)]).toEqual([PENDING, null, null]);
  });

  it('is valid for ten minutes', () => {
    const { cookie, time } = cookieAt('https://hooks.example.com');
    const set = cookie.set(PENDING).split(';', 1)[0];

    time.nowMs += 599_999;
    expect(cookie.read(set)).toEqual(PENDING);
    time.nowMs += 1;
    expect(cookie.read(set)).toBeNull();
  });
});
