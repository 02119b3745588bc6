import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Config } from '#kernel/config/config.js';
import { type Id, showId } from '#kernel/ids.js';
import { Environments } from '#modules/auth/environments/environments.js';
import { MembersService } from '#modules/auth/members/members.service.js';
import { OwnMail } from '#modules/sign-in/own-mail.js';

/** Maximum number of recipients of a notice. The approver is always among them. */
const RECIPIENTS_MAX = 20;

export interface Grant {
  environmentId: number;
  keyId: Id;
  scope: string;
  /** Name that the client gave itself. */
  clientName: string;
  grantedBy: string;
  lifetimeSeconds: number;
}

/** Emails the admins and the approver about a granted API key. Does nothing if no email transport is configured. */
@Injectable()
export class GrantNotice {
  private readonly logger = new Logger('Agents');

  constructor(
    private readonly mail: OwnMail,
    private readonly memberships: MembersService,
    private readonly environments: Environments,
    private readonly config: Config,
    private readonly clock: Clock,
  ) {}

  /** Sends the notice and never throws. Do not await it or call it in a transaction: a mail relay can be slow. */
  async send(grant: Grant): Promise<void> {
    if (!this.mail.isPossible) return;
    try {
      const { organizationId, organizationSlug, mode } = await this.environments.get(grant.environmentId);
      const until = new Date(this.clock.nowMs() + grant.lifetimeSeconds * 1000);
      const text = textOf(grant, { slug: organizationSlug, mode, baseUrl: this.config.baseUrl, until });
      for (const to of await this.memberships.listGrantNoticeRecipients(
        organizationId,
        grant.grantedBy,
        RECIPIENTS_MAX,
      )) {
        await this.mail.send({
          to,
          subject: 'An application was given access to Posthorn',
          text,
          what: 'The notice of a granted key',
        });
      }
    } catch (error) {
      this.logger.warn(
        `The notice of a granted key was not mailed: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
}

function textOf(
  { keyId, scope, clientName, grantedBy }: Grant,
  { slug, mode, baseUrl, until }: { slug: string; mode: string; baseUrl: string; until: Date },
): string {
  return `An application was given a key of the organization ${slug} at ${baseUrl}.

Application: ${words(clientName)} (it chose this name itself)
Approved by: ${grantedBy}
It may: ${scope}, in the ${mode} environment, until ${until.toISOString().slice(0, 16).replace('T', ' ')} UTC
Key: ${showId('ek', keyId)}

If none of you meant this, revoke the key: it is one of your API keys.
`;
}

/** Replaces all characters of a name that could form a link in an email, because a third party chose the name. */
export const words = (name: string): string =>
  name
    .replaceAll(/[^\p{L}\p{M}\p{N}-]+/gu, ' ')
    .trim()
    .slice(0, 80) || 'without a name';
