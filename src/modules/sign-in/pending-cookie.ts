import { Injectable } from '@nestjs/common';
import { COOKIE_KEY_PURPOSE, type HostCookie, hostCookie } from '#http/pages/host-cookie.js';
import { Clock } from '#kernel/clock.js';
import { Config } from '#kernel/config/config.js';
import { Keyring } from '#kernel/crypto/keyring.js';
import { Vault } from '#kernel/crypto/vault.js';
import type { PendingSignIn } from './identity-provider.js';

const LIFETIME_SECONDS = 600;
const PLACE = 'sign-in:oidc';

export type PendingInBrowser = PendingSignIn & { returnTo: string | null };

/** A sign-in with an address that the provider has verified. The person must still choose an organization. */
export interface VouchedInBrowser {
  vouchedEmail: string;
  returnTo: string | null;
}

/**
 * Encrypted cookie with a sign-in in progress, valid for ten minutes. Only the browser that started a sign-in can
 * complete it, so a link cannot sign a person in as someone else.
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

  set(pending: PendingInBrowser | VouchedInBrowser): string {
    const untilMs = this.clock.nowMs() + LIFETIME_SECONDS * 1000;
    const sealed = this.vault.seal(JSON.stringify({ ...pending, untilMs }), PLACE).toString('base64url');
    return this.cookie.set(sealed, LIFETIME_SECONDS);
  }

  get clear(): string {
    return this.cookie.clear;
  }

  /** Returns the sign-in in progress. Returns null for a missing, altered or expired cookie. */
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

  /**
   * Returns the cookie. It is created on first use, because with PORT=0 the address is unknown before the service
   * listens.
   */
  private get cookie(): HostCookie {
    return (this.ownCookie ??= hostCookie('posthorn_oidc', {
      baseUrl: this.config.baseUrl,
      key: this.keyring.derived(COOKIE_KEY_PURPOSE),
    }));
  }
}
