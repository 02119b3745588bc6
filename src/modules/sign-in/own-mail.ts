import { Injectable, Logger } from '@nestjs/common';
import { domainOf } from '#engine/mail/addresses.js';
import { Clock } from '#kernel/clock.js';
import { Config } from '#kernel/config/config.js';
import { Database } from '#kernel/database/database.js';
import { Ids, showId } from '#kernel/ids.js';
import { compose } from '#mail/compose.js';
import { SendingDomains } from '#modules/domains/verified-domains.js';
import { MailTransport } from '#modules/email/transport.contract.js';
import { type OwnMessage } from '#modules/sign-in/own-mail.contract.js';

/** Sends Posthorn's own mail through the installation's transport, signed with the platform's key. */
@Injectable()
export class OwnMail {
  private readonly logger = new Logger('OwnMail');

  constructor(
    private readonly transport: MailTransport,
    private readonly domains: SendingDomains,
    private readonly database: Database,
    private readonly config: Config,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  /** True if this installation can send mail and has a sender name for it. */
  get isPossible(): boolean {
    return this.config.emailTransport.kind !== 'capture' && this.sender.includes('.');
  }

  /** Sends a mail. Never throws, because no response may reveal whether a mail was sent. */
  async send({ to, subject, text, what }: OwnMessage): Promise<void> {
    try {
      const { platformDomain } = this.config;
      const id = showId('evt', this.ids.next());
      const domain = domainOf(this.sender);
      const dkim = { ...(await this.database.unitOfWork(() => this.domains.signingKey())), domain };
      const raw = await compose(
        {
          messageId: `<${id}@${domain}>`,
          date: this.clock.now(),
          from: { name: 'Posthorn', address: this.sender },
          to: [{ name: '', address: to }],
          cc: [],
          replyTo: [],
          subject,
          text,
          html: null,
          attachments: [],
          headers: { 'Auto-Submitted': 'auto-generated' },
        },
        dkim,
      );
      const { replies } = await this.transport.submit({
        emailId: id,
        raw,
        mailFrom: () => (platformDomain.includes('.') ? this.sender : ''),
        recipients: [to],
      });
      const refused = replies.find(({ outcome }) => outcome !== 'accepted');
      if (refused !== undefined) this.logger.warn(`${what} was not mailed: ${refused.text}`);
    } catch (error) {
      this.logger.warn(`${what} was not mailed: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  private get sender(): string {
    return this.config.signInMailFrom ?? `sign-in@${this.config.platformDomain}`;
  }
}
