import { Injectable, Logger } from '@nestjs/common';
import { SendingDomains } from '#modules/domains/contract.js';
import { MailTransport } from '#modules/email/transport.contract.js';
import { domainOf } from '#engine/mail/addresses.js';
import { Clock } from '#kernel/clock.js';
import { Config } from '#kernel/config.js';
import { Database } from '#kernel/database.js';
import { Ids, showId } from '#kernel/ids.js';
import { compose } from '#mail/compose.js';

/**
 * Mails codes. A code goes to the transport itself and is stored nowhere: as an email of an organization it could be read by
 * whoever holds a key of it, and used in somebody else's name. It is worth nothing after ten minutes, so it is not tried again.
 */
@Injectable()
export class CodeMail {
  private readonly logger = new Logger('SignIn');

  constructor(
    private readonly transport: MailTransport,
    private readonly domains: SendingDomains,
    private readonly database: Database,
    private readonly config: Config,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  /** Whether mail leaves this installation at all, and there is a name for it to leave in. */
  get isPossible(): boolean {
    return this.config.emailTransport.kind !== 'capture' && this.sender.includes('.');
  }

  /** Never throws: what the page says must not depend on whether somebody got mail. */
  async send(to: string, code: string): Promise<void> {
    try {
      const { platformDomain } = this.config;
      const id = showId('evt', this.ids.next());
      const domain = domainOf(this.sender);
      const dkim = { ...(await this.database.unit(() => this.domains.signingKey())), domain };
      const raw = await compose({
        messageId: `<${id}@${domain}>`, date: this.clock.now(), from: { name: 'Posthorn', address: this.sender }, to: [{ name: '', address: to }], cc: [], replyTo: [],
        subject: `${code} is your code for Posthorn`, text: textOf(code, this.config.baseUrl), html: null, attachments: [],
        headers: { 'Auto-Submitted': 'auto-generated' },
      }, dkim);
      const { replies } = await this.transport.submit({ emailId: id, raw, mailFrom: platformDomain.includes('.') ? this.sender : '', recipients: [to] });
      const refused = replies.find(({ outcome }) => outcome !== 'accepted');
      if (refused !== undefined) this.logger.warn(`A sign-in code was not mailed: ${refused.text}`);
    } catch (error) {
      this.logger.warn(`A sign-in code was not mailed: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  private get sender(): string {
    return this.config.signInMailFrom ?? `sign-in@${this.config.platformDomain}`;
  }
}

function textOf(code: string, baseUrl: string): string {
  return `${code} is your code for ${baseUrl}. It can be used once, within ten minutes, in the browser that asked for it.

Nobody but the sign-in page needs it. If you did not ask for it, somebody typed your address: you need not do anything.
`;
}
