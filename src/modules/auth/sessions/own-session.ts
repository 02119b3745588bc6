import { Injectable } from '@nestjs/common';
import { type AuditOrigin, AuditTrail } from '#kernel/audit.js';
import { Database } from '#kernel/database/database.js';
import { noSuch } from '#kernel/errors.js';
import { showId } from '#kernel/ids.js';
import type { Caller } from '#kernel/tenant.js';
import { type SignedIn } from '#modules/auth/sessions.contract.js';
import { Sessions } from './sessions.js';

@Injectable()
export class OwnSession {
  constructor(
    private readonly sessions: Sessions,
    private readonly trail: AuditTrail,
    private readonly database: Database,
  ) {}

  /**
   * Returns the user of the caller's session. Throws 404 for a caller with an API key, even if the request also has a
   * session cookie.
   */
  async read({ session }: Caller, cookieHeader: string | undefined): Promise<SignedIn> {
    const who = session === undefined ? null : await this.sessions.peek(cookieHeader);
    if (who === null) throw noSuch('session');
    return who;
  }

  /** Signs out, writes the audit log, and returns the `Set-Cookie` that deletes the cookie. Throws 404 for a key. */
  async end(caller: Caller, cookieHeader: string | undefined, origin: AuditOrigin): Promise<string> {
    const { sessionId, organizationId, member, key, how } = await this.read(caller, cookieHeader);
    const session = showId('ses', sessionId);
    return this.database.unitOfWork(() =>
      this.database.transaction(async () => {
        await this.trail.record({
          organizationId,
          environmentId: key?.environmentId ?? null,
          action: 'sign-out',
          resourceType: 'sessions',
          resourceId: session,
          origin,
          before: null,
          after: { how },
          actor: {
            ...(member === null
              ? { kind: 'key', id: key && showId('ek', key.id) }
              : { kind: 'member', id: showId('mbr', member.id) }),
            session,
          },
        });
        return this.sessions.end(cookieHeader);
      }),
    );
  }
}
