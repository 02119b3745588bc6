import { Injectable } from '@nestjs/common';
import { returnPathHost } from '#engine/mail/dns-records.js';
import { Clock } from '#kernel/clock.js';
import { Cache } from '#kernel/concurrency/cache.js';
import { Notifications } from '#kernel/database/notifications.js';
import type { Id } from '#kernel/ids.js';
import { type DkimKey, type SendingDomain, type SigningKeys } from './contract.js';
import { DkimKeys } from './dkim-keys.js';
import { DomainKeys } from './domain-keys.js';
import { PlatformZone } from './platform-zone.js';
import { VerifiedDomainsStore } from './verified-domains.store.js';

const CACHED_MAX = 20_000;

/** Caches sending domains, because every email asks for one. A change of a domain evicts it on every node. */
@Injectable()
export class SendingDomains {
  private readonly cache: Cache<SendingDomain | null>;

  constructor(
    private readonly store: VerifiedDomainsStore,
    private readonly zone: PlatformZone,
    private readonly keys: DkimKeys,
    private readonly ownKeys: DomainKeys,
    notifications: Notifications,
    clock: Clock,
  ) {
    this.cache = new Cache((key) => this.load(key), {
      entriesMax: CACHED_MAX,
      nowMs: () => clock.nowMs(),
      confirmedUntilMs: () => notifications.confirmedUntilMs(),
    });
    notifications.on('sending_domain', (key) => (key === '*' ? this.cache.clear() : this.cache.drop(key)));
  }

  /**
   * Returns the verified domain with exactly this host, never a parent domain. Null if there is no such domain, or if
   * mail must not be sent from it. Throws 503 while storage is unavailable.
   */
  async find(environmentId: number, host: string): Promise<SendingDomain | null> {
    const key = `${environmentId}:${host}`;
    const known = this.cache.known(key);
    if (known !== undefined) return known;
    const found = await this.cache.get(key);
    // A client may send as soon as its domain is verified, so a missing domain is searched again each time.
    if (found === null) this.cache.drop(key);
    return found;
  }

  private async load(key: string): Promise<SendingDomain | null> {
    const colon = key.indexOf(':');
    const row = await this.store.sending(Number(key.slice(0, colon)), key.slice(colon + 1));
    if (row === null) return null;
    const { id, domain, isReturnPathSeen, dkimSigner, version, isPaused } = row;
    const { domain: platformDomain } = this.zone;
    return {
      id,
      domain,
      returnPathHost: platformDomain === null ? null : returnPathHost(isReturnPathSeen ? domain : platformDomain),
      keyVersion: dkimSigner === 'domain' ? version : null,
      isPaused,
    };
  }

  /** Returns the keys that sign a domain's mail: its own or the platform's. Throws 503 if storage is unavailable. */
  async signingKeysOf(environmentId: number, { id, keyVersion }: SendingDomain): Promise<SigningKeys> {
    return keyVersion === null ? this.signingKey() : this.ownKeys.signing(environmentId, id, keyVersion);
  }

  /** Returns the platform's current DKIM key. The first call creates the key, which is stored encrypted. */
  signingKey(): Promise<DkimKey> {
    return this.keys.signing();
  }
}

@Injectable()
export class ReceivingDomains {
  constructor(private readonly store: VerifiedDomainsStore) {}

  /** Returns the verified domain of kind `email` with this host, across all environments. */
  find(host: string): Promise<{ environmentId: number; domainId: Id } | null> {
    return this.store.receiving(host);
  }

  /** Returns a domain that can have aliases. Null if the domain does not receive mail. */
  ofEnvironment(environmentId: number, domainId: Id): Promise<{ domain: string } | null> {
    return this.store.ofEnvironment(environmentId, domainId);
  }
}
