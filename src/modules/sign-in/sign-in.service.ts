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
import { type Membership } from '#modules/auth/members.contract.js';
import { MembersService } from '#modules/auth/members/members.service.js';
import { type SignedIn, type SignInWay } from '#modules/auth/sessions.contract.js';
import { Sessions } from '#modules/auth/sessions/sessions.js';
import { CodeMail } from './code-mail.js';
import { Codes } from './codes.js';
import type { ProvidedPerson } from './identity-provider.js';
import { keyActor, memberActor, NOBODY, SignInAudit, type SignInClient } from './sign-in-audit.js';

/** Value of Retry-After, in seconds, after the limit on codes is reached. */
const NO_MORE_CODES_SECONDS = 600;

export type CodeOutcome =
  { kind: 'wrong' } | { kind: 'several'; memberships: Membership[] } | { kind: 'in'; cookie: string };

export type ProviderOutcome =
  { kind: 'refused' } | { kind: 'several'; memberships: Membership[] } | { kind: 'in'; cookie: string };

export interface GivenCode {
  ticket: string;
  code: string;
  memberId: string | null;
}

/** Checks sign-ins and opens sessions. A session and its audit log entry are committed together. */
@Injectable()
export class SignInService {
  constructor(
    private readonly sessions: Sessions,
    private readonly memberships: MembersService,
    private readonly authenticator: Authenticator,
    private readonly codes: Codes,
    private readonly mail: CodeMail,
    private readonly audit: SignInAudit,
    private readonly database: Database,
    private readonly config: Config,
  ) {}

  /** Returns the sign-in methods that are available in addition to the API key. */
  ways(): { mailsCodes: boolean; hasProvider: boolean } {
    return { mailsCodes: this.mail.isPossible, hasProvider: this.config.oidc !== null };
  }

  /** Signs in with an API key. Returns the `Set-Cookie` header, or null if the key is not an active Posthorn key. */
  async byKey(key: string, client: SignInClient, cookieHeader: string | undefined): Promise<string | null> {
    // Opens no session for an extension's token, because Posthorn could not detect when the token becomes invalid.
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
   * Mails a code if the address belongs to a member. Returns the ticket of the code, or null for an invalid address, or
   * if mail cannot be sent. Neither the result nor the duration reveals whether the address belongs to a member. Throws
   * 429 if the address has reached its limit.
   */
  async mailCode(given: string, { ip }: Pick<SignInClient, 'ip'>): Promise<string | null> {
    const email = addressOf(given);
    if (email === null || !this.mail.isPossible) return null;
    const { ticket, code } = await this.codes.make(email, clientNetwork(ip));
    if (code === null)
      throw new ApiError(
        'rate_limited',
        'Too many codes were requested, so no new code is sent for now. A code that you already have remains valid for ten minutes in the browser that requested it.',
        {},
        NO_MORE_CODES_SECONDS,
      );
    const [membership] = await this.memberships.findByEmail(email);
    // Not awaited, because the duration of the call would reveal whether the address belongs to a member.
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
   * Signs in a person whom the provider has identified.
   *
   * If a group of the person has a role, adds the person as a member, or updates the member's role. A member of several
   * organizations that use the provider must choose one. Throws 503 if there are several organizations but OIDC_DOMAINS
   * is not set.
   */
  async byProvider(
    person: ProvidedPerson,
    provider: OidcProvider,
    client: SignInClient,
    cookieHeader: string | undefined,
  ): Promise<ProviderOutcome> {
    return this.database.transaction(async () => {
      // OIDC_DOMAINS was already checked at the start and when the second organization was created. It is checked
      // again, because the environment variables of this process may differ from those of other processes.
      if (lacksDomains(provider) && (await this.memberships.haveSeveralOrganizations()))
        throw unavailable(DOMAINS_REQUIRED);
      const { email, role } = person;
      if (role !== null) await this.provision(provider.organization, { ...person, role }, client);
      return this.byVouchedAddress({ email, memberId: null }, provider, client, cookieHeader);
    });
  }

  /** Signs in a person with a verified address and the chosen membership. Returns the outcome. */
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

  /** Ends the session, and returns the `Set-Cookie` header that deletes the cookie. */
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

  /**
   * Creates a member, or changes a member's role, as the provider specifies. Writes the audit log entry. Returns the
   * member.
   */
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

  /** Records a failure for each organization of the member, or for the operator if the address is unknown. */
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

/** Returns the address in lower case, as stored for members, or null if it is invalid. */
export function addressOf(given: string): string | null {
  const mailbox = parseMailbox(given.trim());
  return 'refusal' in mailbox || mailbox.name !== '' ? null : mailbox.address.toLowerCase();
}
