import { Injectable } from '@nestjs/common';
import { parseMailbox } from '#engine/mail/addresses.js';
import { clientNetwork } from '#http/client-network.js';
import { Authenticator } from '#kernel/authenticator.js';
import { Config } from '#kernel/config/config.js';
import { DOMAINS_REQUIRED, lacksDomains, type OidcProvider } from '#kernel/config/oidc-provider.js';
import { Database } from '#kernel/database/database.js';
import { ApiError, unavailable } from '#kernel/errors.js';
import { showId } from '#kernel/ids.js';
import type { Scope } from '#kernel/tenant.js';
import { type Membership, Memberships } from '#modules/auth/members.contract.js';
import { Sessions, type SignedIn, type SignInWay } from '#modules/auth/sessions.contract.js';
import { CodeMail } from './code-mail.js';
import { Codes } from './codes.js';
import type { ProvidedPerson } from './identity-provider.js';
import { keyActor, memberActor, NOBODY, SignInAudit, type SignInClient } from './sign-in-audit.js';

/** When somebody who had his codes is told to try again. */
const NO_MORE_CODES_SECONDS = 600;

/** What came of a code. */
export type CodeOutcome =
  { kind: 'wrong' } | { kind: 'several'; memberships: Membership[] } | { kind: 'in'; cookie: string };

/** The result of a sign-in through the identity provider. */
export type ProviderOutcome =
  { kind: 'refused' } | { kind: 'several'; memberships: Membership[] } | { kind: 'in'; cookie: string };

/** A code as it was typed, with the ticket of the browser and the membership that was chosen. */
export interface GivenCode {
  ticket: string;
  code: string;
  memberId: string | null;
}

/** Decides who may come in, and opens the session: with its entry in the audit log, or not at all. */
@Injectable()
export class SignInService {
  constructor(
    private readonly sessions: Sessions,
    private readonly memberships: Memberships,
    private readonly authenticator: Authenticator,
    private readonly codes: Codes,
    private readonly mail: CodeMail,
    private readonly audit: SignInAudit,
    private readonly database: Database,
    private readonly config: Config,
  ) {}

  /** By which ways this installation lets people in, beside the key. */
  ways(): { mailsCodes: boolean; hasProvider: boolean } {
    return { mailsCodes: this.mail.isPossible, hasProvider: this.config.oidc !== null };
  }

  /** `Set-Cookie`, or null when it is no key of ours that is in force. */
  async byKey(key: string, client: SignInClient, cookieHeader: string | undefined): Promise<string | null> {
    // Tokens that extensions vouch for are not ours to keep a session for: nobody would tell us when they end.
    const caller = key.startsWith('ek_') ? await this.authenticator.authenticate(key) : null;
    if (caller === null) return this.failed('key', null, client);
    const { organizationId, environmentId } = caller.tenant;
    return this.database.transaction(async () => {
      const cookie = await this.sessions.begin(
        { organizationId, how: 'key', memberId: null, key: { environmentId, id: caller.keyId } },
        client,
        cookieHeader,
      );
      await this.audit.note(
        {
          action: 'sign-in.succeeded',
          organizationId,
          environmentId,
          actor: keyActor(caller.keyId),
          what: { how: 'key' },
        },
        client,
      );
      return cookie;
    });
  }

  /**
   * Mails a code to a member. Returns a ticket whether the address is somebody's or not, and takes as long for both; null for
   * what is no address, and where no mail leaves. Throws 429 where the address has had its codes, whoever it belongs to.
   */
  async mailCode(given: string, { ip }: Pick<SignInClient, 'ip'>): Promise<string | null> {
    const email = addressOf(given);
    if (email === null || !this.mail.isPossible) return null;
    const { ticket, code } = await this.codes.make(email, clientNetwork(ip));
    if (code === null)
      throw new ApiError(
        'rate_limited',
        'So many codes were asked for that no other one is mailed for now. One that you have still counts, for ten minutes, in the browser that asked for it.',
        {},
        NO_MORE_CODES_SECONDS,
      );
    const [membership] = await this.memberships.findByEmail(email);
    // Not waited for: how long a relay takes would tell who is a member.
    if (membership !== undefined) void this.mail.send(email, code);
    return ticket;
  }

  async byCode(
    { ticket, code, memberId }: GivenCode,
    client: SignInClient,
    cookieHeader: string | undefined,
  ): Promise<CodeOutcome> {
    const { email, isRight } = await this.codes.check(ticket, code);
    const memberships = email === null ? [] : await this.memberships.findByEmail(email);
    if (!isRight) {
      await this.failed('code', email, client, memberships);
      return { kind: 'wrong' };
    }
    const chosen =
      memberships.length === 1 ? memberships[0] : memberships.find((membership) => membership.memberId === memberId);
    if (chosen === undefined) return memberships.length === 0 ? { kind: 'wrong' } : { kind: 'several', memberships };
    return this.database.transaction(async (): Promise<CodeOutcome> => {
      if (!(await this.codes.use(ticket))) return { kind: 'wrong' };
      return { kind: 'in', cookie: await this.enter(chosen, 'code', client, cookieHeader) };
    });
  }

  /**
   * Lets somebody in whom the provider knows: a member, with the role that their groups give, or a newcomer whom a group lets in. A member of
   * several organizations that the provider opens has to choose one. Throws 503 where OIDC_DOMAINS is missing.
   */
  async byProvider(
    person: ProvidedPerson,
    provider: OidcProvider,
    client: SignInClient,
    cookieHeader: string | undefined,
  ): Promise<ProviderOutcome> {
    return this.database.transaction(async () => {
      // A start and the creation of an organization check it, too: those of a process that has other variables do not.
      if (lacksDomains(provider) && (await this.memberships.haveSeveralOrganizations()))
        throw unavailable(DOMAINS_REQUIRED);
      const { email, role } = person;
      if (role !== null) await this.provision(provider.organization, { ...person, role }, client);
      return this.byVouchedAddress({ email, memberId: null }, provider, client, cookieHeader);
    });
  }

  /** Lets somebody in whose address the provider has vouched for, to the membership that they chose. */
  async byVouchedAddress(
    { email, memberId }: { email: string; memberId: string | null },
    { organization }: OidcProvider,
    client: SignInClient,
    cookieHeader: string | undefined,
  ): Promise<ProviderOutcome> {
    return this.database.transaction(async (): Promise<ProviderOutcome> => {
      const memberships = await this.memberships.openedBy(organization, email);
      const chosen =
        memberId === null && memberships.length === 1
          ? memberships[0]
          : memberships.find((membership) => membership.memberId === memberId);
      if (chosen !== undefined) return { kind: 'in', cookie: await this.enter(chosen, 'oidc', client, cookieHeader) };
      if (memberships.length > 0) return { kind: 'several', memberships };
      await this.failed('oidc', email, client);
      return { kind: 'refused' };
    });
  }

  /** `Set-Cookie` that takes the cookie away. */
  end(cookieHeader: string | undefined, who: SignedIn | null, client: SignInClient): Promise<string> {
    return this.database.transaction(async () => {
      if (who !== null) {
        const actor = who.member === null ? who.key && keyActor(who.key.id) : memberActor(who.member.id);
        const session = showId('ses', who.sessionId);
        await this.audit.note(
          {
            action: 'sign-out',
            organizationId: who.organizationId,
            actor: { ...(actor ?? NOBODY), session },
            session,
            what: { how: who.how },
            ...(who.key && { environmentId: who.key.environmentId }),
          },
          client,
        );
      }
      return this.sessions.end(cookieHeader);
    });
  }

  /** A member whom the provider makes, or whose role it changes, is in the audit log in the same commit. */
  private provision(
    organization: string | null,
    person: ProvidedPerson & { role: Scope },
    client: SignInClient,
  ): Promise<Membership | null> {
    return this.database.transaction(async () => {
      const provided = await this.memberships.provision(organization, person);
      if (provided !== null && provided.role !== provided.roleBefore)
        await this.audit.provisioned(provided, person.email, client);
      return provided;
    });
  }

  private async enter(
    { organizationId, memberId }: Membership,
    how: 'code' | 'oidc',
    client: SignInClient,
    cookieHeader: string | undefined,
  ): Promise<string> {
    return this.database.transaction(async () => {
      await this.memberships.signedIn(organizationId, memberId);
      const cookie = await this.sessions.begin({ organizationId, how, memberId, key: null }, client, cookieHeader);
      await this.audit.note(
        { action: 'sign-in.succeeded', organizationId, actor: memberActor(memberId), what: { how } },
        client,
      );
      return cookie;
    });
  }

  /** For the log of every organization that the address is a member of, or for the operator's when it is nobody's. */
  private async failed(
    how: SignInWay,
    email: string | null,
    client: SignInClient,
    memberships: readonly Membership[] = [],
  ): Promise<null> {
    const organizations = memberships.length === 0 ? [null] : memberships.map(({ organizationId }) => organizationId);
    for (const organizationId of organizations) {
      await this.audit.note(
        { action: 'sign-in.failed', organizationId, actor: NOBODY, what: { how, ...(email !== null && { email }) } },
        client,
      );
    }
    return null;
  }
}

/** An address in lower case, as members are known by; null for what is none. */
export function addressOf(given: string): string | null {
  const mailbox = parseMailbox(given.trim());
  return 'refusal' in mailbox || mailbox.name !== '' ? null : mailbox.address.toLowerCase();
}
