import { Injectable } from '@nestjs/common';
import { type Membership, Memberships } from '#modules/auth/members.contract.js';
import { type SessionClient, Sessions, type SignedIn } from '#modules/auth/sessions.contract.js';
import { parseMailbox } from '#engine/mail/addresses.js';
import { RateLimiter } from '#http/rate-limiter.js';
import { Authenticator } from '#kernel/authenticator.js';
import { Config } from '#kernel/config.js';
import { Database } from '#kernel/database.js';
import { ApiError } from '#kernel/errors.js';
import { CodeMail } from './code-mail.js';
import { Codes } from './codes.js';

/** Of one address, wherever they come from. */
const TRIES_OF_ADDRESS = { count: 10, periodMs: 900_000 };

/** What came of a code. */
export type CodeOutcome = { kind: 'wrong' } | { kind: 'several'; memberships: Membership[] } | { kind: 'in'; cookie: string };

/** Decides who may come in, and opens the session. */
@Injectable()
export class SignInService {
  constructor(
    private readonly sessions: Sessions,
    private readonly memberships: Memberships,
    private readonly authenticator: Authenticator,
    private readonly codes: Codes,
    private readonly mail: CodeMail,
    private readonly limiter: RateLimiter,
    private readonly database: Database,
    private readonly config: Config,
  ) {}

  /** By which ways this installation lets people in, beside the key. */
  ways(): { mailsCodes: boolean; hasProvider: boolean } {
    return { mailsCodes: this.mail.isPossible, hasProvider: this.config.oidc !== null };
  }

  /** `Set-Cookie`, or null when it is no key of ours that is in force. */
  async byKey(key: string, client: SessionClient, cookieHeader: string | undefined): Promise<string | null> {
    // Tokens that extensions vouch for are not ours to keep a session for: nobody would tell us when they end.
    const caller = key.startsWith('ek_') ? await this.authenticator.authenticate(key) : null;
    if (caller === null) return null;
    const { organizationId, environmentId } = caller.tenant;
    return this.sessions.begin({ organizationId, how: 'key', memberId: null, key: { environmentId, id: caller.keyId } }, client, cookieHeader);
  }

  /**
   * Mails a code to a member. Returns a ticket whether the address is somebody's or not, and takes as long for both; null for
   * what is no address, and where no mail leaves. Throws 429.
   */
  async mailCode(given: string): Promise<string | null> {
    const email = addressOf(given);
    if (email === null || !this.mail.isPossible) return null;
    await this.countAddress(email);
    const { ticket, code } = await this.codes.make(email);
    const [membership] = await this.memberships.of(email);
    // Not waited for: how long a relay takes would tell who is a member.
    if (membership !== undefined && code !== null) void this.mail.send(email, code);
    return ticket;
  }

  /** Throws nothing for a wrong code: the page asks again. */
  async byCode({ ticket, code, memberId }: { ticket: string; code: string; memberId: string | null }, client: SessionClient, cookieHeader: string | undefined): Promise<CodeOutcome> {
    const email = await this.codes.check(ticket, code);
    if (email === null) return { kind: 'wrong' };
    const memberships = await this.memberships.of(email);
    const chosen = memberships.length === 1 ? memberships[0] : memberships.find((membership) => membership.memberId === memberId);
    if (chosen === undefined) return memberships.length === 0 ? { kind: 'wrong' } : { kind: 'several', memberships };
    return this.database.unit(async (): Promise<CodeOutcome> => {
      if (!(await this.codes.use(ticket))) return { kind: 'wrong' };
      return { kind: 'in', cookie: await this.enter(chosen, 'code', client, cookieHeader) };
    });
  }

  /** Opens a member's session. */
  async enter({ organizationId, memberId }: Membership, how: 'code' | 'oidc', client: SessionClient, cookieHeader: string | undefined): Promise<string> {
    return this.database.transaction(async () => {
      await this.memberships.signedIn(organizationId, memberId);
      return this.sessions.begin({ organizationId, how, memberId, key: null }, client, cookieHeader);
    });
  }

  end(cookieHeader: string | undefined, _who: SignedIn | null, _client: SessionClient): Promise<string> {
    return this.sessions.end(cookieHeader);
  }

  private async countAddress(email: string): Promise<void> {
    const verdict = await this.limiter.count(email, [{ id: `sign-in:${email}`, quota: TRIES_OF_ADDRESS }]);
    if (!verdict.allowed) throw new ApiError('rate_limited', `Too many codes for this address. Try again in ${verdict.retryAfterSeconds} s.`, {}, verdict.retryAfterSeconds);
  }
}

/** An address in lower case, as members are known by; null for what is none. */
export function addressOf(given: string): string | null {
  const mailbox = parseMailbox(given.trim());
  return 'refusal' in mailbox || mailbox.name !== '' ? null : mailbox.address.toLowerCase();
}
