import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { CredentialLookupLimiter } from '#http/credential-lookup-limiter.js';
import { hasPortalTokenForm, PortalAuthenticator } from '#kernel/authenticator.js';
import { Clock } from '#kernel/clock.js';
import { Cache } from '#kernel/concurrency/cache.js';
import { Notifications } from '#kernel/database/notifications.js';
import { parseId } from '#kernel/ids.js';
import type { Caller } from '#kernel/tenant.js';
import { PortalFrames } from '#modules/portal/contract.js';
import { type PortalFacts, PortalSessionsStore } from './portal-sessions.store.js';

const ENTRIES_MAX = 10_000;

/**
 * Caches portal sessions by the SHA-256 of their tokens. A change to a session evicts its entry. A change to a key,
 * member, organization or environment clears the cache. A revoked session ends on every node within five seconds, even
 * if the notification is lost.
 */
@Injectable()
export class PortalSessions extends PortalAuthenticator {
  private readonly cache: Cache<PortalFacts | null>;

  constructor(
    store: PortalSessionsStore,
    notifications: Notifications,
    private readonly lookups: CredentialLookupLimiter,
    private readonly clock: Clock,
  ) {
    super();
    this.cache = new Cache((hashHex) => store.byHash(Buffer.from(hashHex, 'hex')), {
      entriesMax: ENTRIES_MAX,
      nowMs: () => clock.nowMs(),
    });
    for (const topic of ['member', 'key', 'organization', 'environment'])
      notifications.on(topic, () => this.cache.clear());
    notifications.on('portal', (hashHex) => (hashHex === '*' ? this.cache.clear() : this.cache.drop(hashHex)));
  }

  override async authenticate(token: string, from: string): Promise<Caller | null> {
    const facts = await this.read(token, from);
    return facts && callerOf(facts);
  }

  /**
   * Returns a token's session, or null if it has ended. Throws 429 if IP address `from` sent too many unknown tokens.
   */
  async read(token: string, from: string): Promise<PortalFacts | null> {
    if (!hasPortalTokenForm(token)) return null;
    const facts = await this.lookups.look(this.cache, hash('sha256', token), from);
    return facts === null || facts.expires_at.getTime() <= this.clock.nowMs() ? null : facts;
  }
}

/**
 * Returns the caller of a session. The scope is always `read`: with a higher scope, responses would contain the values
 * of authentication headers.
 */
function callerOf({
  id,
  environment_id: environmentId,
  organization_id: organizationId,
  mode,
  application_id: applicationId,
  permissions,
}: PortalFacts): Caller {
  return {
    tenant: { environmentId, organizationId, mode },
    keyId: `portal:${id}`,
    scope: 'read',
    portal: { id, applicationId, permissions },
  };
}

@Injectable()
export class CachedPortalFrames extends PortalFrames {
  private readonly cache: Cache<readonly string[]>;

  constructor(store: PortalSessionsStore, notifications: Notifications, clock: Clock) {
    super();
    this.cache = new Cache((id) => store.origins(id), { entriesMax: ENTRIES_MAX, nowMs: () => clock.nowMs() });
    notifications.on('environment', () => this.cache.clear());
  }

  override async originsOf(session: string): Promise<readonly string[]> {
    const id = parseId('pls', session);
    return id === null ? [] : this.cache.get(id);
  }
}
