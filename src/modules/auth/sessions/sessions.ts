import { createHash, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { clientNetwork } from '#http/client-network.js';
import { CredentialLookupLimiter } from '#http/credential-lookup-limiter.js';
import { COOKIE_KEY_PURPOSE } from '#http/pages/host-cookie.js';
import { Clock } from '#kernel/clock.js';
import { Cache } from '#kernel/concurrency/cache.js';
import { Config } from '#kernel/config/config.js';
import { Keyring } from '#kernel/crypto/keyring.js';
import { Database } from '#kernel/database/database.js';
import { Notifications } from '#kernel/database/notifications.js';
import { Ids } from '#kernel/ids.js';
import { type SessionClient, type SessionOwner, type SignedIn } from '#modules/auth/sessions.contract.js';
import { type SessionCookie, sessionCookie } from './session-cookie.js';
import { type SessionFacts, SessionsStore } from './sessions.store.js';

export const IDLE_MS_MAX = 12 * 3_600_000;
const LIFETIME_SECONDS = 7 * 86_400;
const SEEN_NOTED_EVERY_MS = 60_000;
const ENTRIES_MAX = 10_000;
const USER_AGENT_LENGTH_MAX = 200;

interface Known {
  facts: SessionFacts;
  lastSeenMs: number;
  /** Time at which the session or the key that opened it expires, whichever is earlier. */
  endsMs: number;
}

/**
 * Caches sessions by the SHA-256 of their tokens. Every change to a session, a member or a key invalidates the cache.
 */
@Injectable()
export class Sessions {
  private readonly cache: Cache<Known | null>;
  private ownCookie: SessionCookie | null = null;

  constructor(
    private readonly store: SessionsStore,
    private readonly database: Database,
    private readonly notifications: Notifications,
    private readonly config: Config,
    private readonly ids: Ids,
    private readonly clock: Clock,
    private readonly lookups: CredentialLookupLimiter,
    private readonly keyring: Keyring,
  ) {
    this.cache = new Cache((hashHex) => this.load(hashHex), { entriesMax: ENTRIES_MAX, nowMs: () => clock.nowMs() });
    // Clears the whole cache, because changes to members and keys are rare. The cache thus needs no index by member or
    // key.
    for (const topic of ['member', 'key', 'organization']) notifications.on(topic, () => this.cache.clear());
    notifications.on('session', (hashHex) => (hashHex === '*' ? this.cache.clear() : this.cache.drop(hashHex)));
  }

  /**
   * Returns the user of the session in this `Cookie` header, or `null` if there is no active session. Throws if the
   * database is unavailable. Throws 429 if the client address `from` sent too many unknown cookies. Without `from`,
   * unknown cookies are not counted.
   */
  async read(cookieHeader: string | undefined, from: string | null = null): Promise<SignedIn | null> {
    const found = await this.inForce(cookieHeader, from);
    if (found === null) return null;
    const { known } = found;
    const nowMs = this.clock.nowMs();
    if (nowMs - known.lastSeenMs >= SEEN_NOTED_EVERY_MS) {
      known.lastSeenMs = nowMs;
      // A failed update of the session's last use is ignored, because it must not fail the user's request.
      void this.store.touch(known.facts.organization_id, known.facts.id).catch(() => undefined);
    }
    return signedIn(found);
  }

  /**
   * Returns the user of the session without recording a use, because background polling must not keep a session alive.
   */
  async peek(cookieHeader: string | undefined): Promise<SignedIn | null> {
    const found = await this.inForce(cookieHeader, null);
    return found && signedIn(found);
  }

  /** Opens a session and ends the session in the `Cookie` header, if any. Returns the value of `Set-Cookie`. */
  async begin(
    owner: SessionOwner,
    { ip, userAgent = '' }: SessionClient,
    cookieHeader: string | undefined,
  ): Promise<string> {
    const token = randomBytes(32).toString('base64url');
    const hashHex = hash('sha256', token);
    await this.database.transaction(async () => {
      await this.revoke(cookieHeader);
      await this.store.insert({
        organizationId: owner.organizationId,
        id: this.ids.next(),
        hash: Buffer.from(hashHex, 'hex'),
        memberId: owner.memberId,
        keyEnvironmentId: owner.key?.environmentId ?? null,
        keyId: owner.key?.id ?? null,
        how: owner.how,
        network: clientNetwork(ip),
        userAgent: userAgent.slice(0, USER_AGENT_LENGTH_MAX),
        lifetimeSeconds: LIFETIME_SECONDS,
      });
      // Evicts the cache entry that marks the token as unknown, if there is one.
      await this.notifications.announce('session', hashHex);
    });
    return this.cookie.set(token, LIFETIME_SECONDS);
  }

  /** Ends the session in the `Cookie` header, if there is one. Returns a `Set-Cookie` value that deletes the cookie. */
  async end(cookieHeader: string | undefined): Promise<string> {
    await this.database.transaction(() => this.revoke(cookieHeader));
    return this.cookie.clear;
  }

  /** Returns true if `given` is the CSRF token of this session. Compares in constant time. */
  holdsCsrfToken({ csrfToken }: SignedIn, given: string | undefined): boolean {
    const [wanted, other] = [csrfToken, given ?? ''].map((text) => createHash('sha256').update(text).digest()) as [
      Buffer,
      Buffer,
    ];
    return timingSafeEqual(wanted, other);
  }

  private async inForce(
    cookieHeader: string | undefined,
    from: string | null,
  ): Promise<{ known: Known; token: string } | null> {
    const token = this.cookie.read(cookieHeader);
    if (token === null) return null;
    const known = await this.lookups.look(this.cache, hash('sha256', token), from);
    const nowMs = this.clock.nowMs();
    return known === null || known.endsMs <= nowMs || nowMs - known.lastSeenMs > IDLE_MS_MAX ? null : { known, token };
  }

  private async revoke(cookieHeader: string | undefined): Promise<void> {
    const token = this.cookie.read(cookieHeader);
    if (token === null) return;
    const hashHex = hash('sha256', token);
    const revoked = await this.store.revokeByHash(Buffer.from(hashHex, 'hex'));
    if (revoked !== null) await this.notifications.announce('session', hashHex);
  }

  private async load(hashHex: string): Promise<Known | null> {
    const facts = await this.store.byHash(Buffer.from(hashHex, 'hex'));
    if (facts === null) return null;
    const endsMs = Math.min(facts.expires_at.getTime(), facts.key_expires_at?.getTime() ?? Infinity);
    return { facts, lastSeenMs: facts.last_seen_at.getTime(), endsMs };
  }

  /**
   * Created on first use: with PORT=0, the service's own address is known only after the service has started to listen.
   */
  private get cookie(): SessionCookie {
    return (this.ownCookie ??= sessionCookie({
      baseUrl: this.config.baseUrl,
      key: this.keyring.derived(COOKIE_KEY_PURPOSE),
    }));
  }
}

/**
 * Returns the CSRF token, derived from the session token. Other sites cannot compute it, because they cannot read the
 * cookie.
 */
function csrfTokenOf(token: string): string {
  return hash('sha256', `csrf:${token}`, 'base64url');
}

function signedIn({ known: { facts, endsMs }, token }: { known: Known; token: string }): SignedIn {
  const {
    member_id: memberId,
    email,
    member_name: name,
    key_id: keyId,
    key_environment_id: environmentId,
    key_name: keyName,
    key_mode: mode,
  } = facts;
  return {
    sessionId: facts.id,
    organizationId: facts.organization_id,
    organizationName: facts.organization_name,
    organizationSlug: facts.organization_slug,
    member: memberId === null ? null : { id: memberId, email: email ?? '', name: name ?? '' },
    key: keyId === null ? null : { id: keyId, environmentId: environmentId ?? 0, name: keyName ?? '' },
    role: facts.role,
    modes: mode === null ? ['live', 'test'] : [mode],
    environmentIds: { live: facts.live_id, test: facts.test_id },
    expiresAt: new Date(endsMs),
    how: facts.how,
    csrfToken: csrfTokenOf(token),
  };
}
