import { hash, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { CredentialLookupLimiter } from '#http/credential-lookup-limiter.js';
import { Clock } from '#kernel/clock.js';
import { Cache } from '#kernel/concurrency/cache.js';
import { Notifications } from '#kernel/database/notifications.js';
import type { Caller } from '#kernel/tenant.js';
import { hasApiKeyForm } from './api-key.js';
import { KeyUsage } from './key-usage.js';
import { type KeyFacts, KeysStore } from './keys.store.js';

interface KnownKey {
  caller: Caller;
  expiresAtMs: number;
  isRevoked: boolean;
  usedAtMs: number;
}

/** Maximum number of cached keys. Unknown keys are cached too, so without a limit the cache could grow forever. */
const ENTRIES_MAX = 10_000;
const USE_NOTED_EVERY_MS = 60_000;

/**
 * Authenticates API keys and caches them by their SHA-256. A revoked key stops working immediately on the node that
 * revokes it, and within five seconds elsewhere. Every node applies an expiry to the millisecond.
 */
@Injectable()
export class KeyAuthenticator {
  private readonly cache: Cache<KnownKey | null>;

  constructor(
    private readonly keys: KeysStore,
    private readonly usage: KeyUsage,
    private readonly lookups: CredentialLookupLimiter,
    notifications: Notifications,
    private readonly clock: Clock,
  ) {
    this.cache = new Cache((hashHex) => this.load(hashHex), { entriesMax: ENTRIES_MAX, nowMs: () => clock.nowMs() });
    notifications.on('key', (hashHex) => (hashHex === '*' ? this.cache.clear() : this.cache.drop(hashHex)));
  }

  authenticate(bearer: string, from: string | null = null): Caller | null | Promise<Caller | null> {
    // Text that cannot be a key causes neither a lookup nor a cache entry.
    if (!hasApiKeyForm(bearer)) return null;
    const hashHex = hash('sha256', bearer);
    const known = this.cache.known(hashHex);
    return known === undefined
      ? this.lookups.look(this.cache, hashHex, from).then((key) => this.inForce(key))
      : this.inForce(known);
  }

  private inForce(key: KnownKey | null): Caller | null {
    const nowMs = this.clock.nowMs();
    if (key === null || key.isRevoked || key.expiresAtMs <= nowMs) return null;
    if (nowMs - key.usedAtMs >= USE_NOTED_EVERY_MS) {
      key.usedAtMs = nowMs;
      this.usage.note({ environmentId: key.caller.tenant.environmentId, keyId: key.caller.keyId, at: new Date(nowMs) });
    }
    return key.caller;
  }

  private async load(hashHex: string): Promise<KnownKey | null> {
    const wanted = Buffer.from(hashHex, 'hex');
    const facts = await this.keys.byHash(wanted);
    return facts !== null && timingSafeEqual(facts.hash, wanted) ? knownKey(facts) : null;
  }
}

function knownKey(facts: KeyFacts): KnownKey {
  const tenant = { environmentId: facts.environment_id, organizationId: facts.organization_id, mode: facts.mode };
  return {
    caller: { tenant, keyId: facts.id, scope: facts.scope },
    expiresAtMs: facts.expires_at?.getTime() ?? Infinity,
    isRevoked: facts.revoked_at !== null,
    usedAtMs: facts.last_used_at?.getTime() ?? -Infinity,
  };
}
