import { Injectable } from '@nestjs/common';
import { SessionAuthenticator } from '#kernel/authenticator.js';
import type { Caller, Tenant } from '#kernel/tenant.js';
import { type SignedIn } from '#modules/auth/sessions.contract.js';
import { Sessions } from './sessions.js';

/**
 * Authenticates requests by session. A member acts with their role in both environments. A session opened with a key
 * acts with the key's scope in the key's environment.
 */
@Injectable()
export class SessionCallers extends SessionAuthenticator {
  constructor(private readonly sessions: Sessions) {
    super();
  }

  override async authenticate(
    cookieHeader: string | undefined,
    mode: Tenant['mode'] | null,
    from: string,
  ): Promise<Caller | null> {
    const who = await this.sessions.read(cookieHeader, from);
    return who && callerOf(who, mode);
  }

  override async isInForce(cookieHeader: string | undefined): Promise<boolean> {
    return (await this.sessions.peek(cookieHeader)) !== null;
  }
}

/**
 * Returns the caller. Its `keyId` identifies the member and not the session, because quotas are counted by `keyId`. A
 * session opened with an API key has the id of that key.
 */
function callerOf(
  { sessionId, organizationId, member, key, role, modes, environmentIds }: SignedIn,
  asked: Tenant['mode'] | null,
): Caller {
  const mode = modes.find((one) => one === asked) ?? modes[0] ?? 'test';
  return {
    tenant: { environmentId: environmentIds[mode], organizationId, mode },
    keyId: member === null ? (key?.id ?? '') : `member:${member.id}`,
    scope: role,
    session: { id: sessionId, memberId: member?.id ?? null },
  };
}
