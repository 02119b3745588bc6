import { Injectable } from '@nestjs/common';
import { COOKIE_KEY_PURPOSE, type HostCookie, hostCookie } from '#http/pages/host-cookie.js';
import { Clock } from '#kernel/clock.js';
import { Config } from '#kernel/config/config.js';
import { Keyring } from '#kernel/crypto/keyring.js';
import { Vault } from '#kernel/crypto/vault.js';
import type { PendingSignIn } from './identity-provider.js';

const LIFETIME_SECONDS = 600;
const PLACE = 'sign-in:oidc';

/** A sign-in that is under way at the provider, and where the person goes on afterwards. */
export type PendingInBrowser = PendingSignIn & { returnTo: string | null };

/** A sign-in of an address that the provider has vouched for, whose person still has to choose an organization. */
export interface VouchedInBrowser {
  vouchedEmail: string;
  returnTo: string | null;
}

/**
 * Keeps a sign-in that is under way in the browser that began it: sealed, for ten minutes, first as begun, then as vouched for. No other browser
 * can end it, so a link cannot sign a person in as somebody else.
 */
@Injectable()
export class PendingCookie {
  private ownCookie: HostCookie | null = null;

  constructor(
    private readonly vault: Vault,
    private readonly config: Config,
    private readonly clock: Clock,
    private readonly keyring: Keyring,
  ) {}

  /** `Set-Cookie`. */
  set(pending: PendingInBrowser | VouchedInBrowser): string {
    const untilMs = this.clock.nowMs() + LIFETIME_SECONDS * 1000;
    const sealed = this.vault.seal(JSON.stringify({ ...pending, untilMs }), PLACE).toString('base64url');
    return this.cookie.set(sealed, LIFETIME_SECONDS);
  }

  /** `Set-Cookie` that takes it away. */
  get clear(): string {
    return this.cookie.clear;
  }

  /** Null for none, for one that was altered, and for one that is too old. */
  read(header: string | undefined): PendingInBrowser | VouchedInBrowser | null {
    const { name } = this.cookie;
    const value = header
      ?.split(';')
      .map((pair) => pair.trim())
      .find((pair) => pair.startsWith(`${name}=`))
      ?.slice(name.length + 1);
    if (value === undefined || value === '') return null;
    try {
      const { untilMs, ...pending } = JSON.parse(
        this.vault.open(Buffer.from(value, 'base64url'), PLACE).toString(),
      ) as (PendingInBrowser | VouchedInBrowser) & { untilMs: number };
      return untilMs > this.clock.nowMs() ? pending : null;
    } catch {
      return null;
    }
  }

  /** Made when it is first asked for: with PORT=0 the address is known once the service listens, and the keyring is loaded by then. */
  private get cookie(): HostCookie {
    return (this.ownCookie ??= hostCookie('posthorn_oidc', {
      baseUrl: this.config.baseUrl,
      key: this.keyring.derived(COOKIE_KEY_PURPOSE),
    }));
  }
}
