import { Injectable } from '@nestjs/common';
import { AcceptMail } from './accept-mail.js';
import { IncomingMail, type IncomingBytes, type MailEnvelope, type RecipientVerdict, type SmtpAnswer } from './contract.js';
import { MailGroup } from './mail-group.js';
import { Recipients } from './recipients.js';

/** The door, in front of what is behind it. */
@Injectable()
export class StoredIncomingMail extends IncomingMail {
  constructor(
    private readonly recipients: Recipients,
    private readonly mail: AcceptMail,
    private readonly group: MailGroup,
  ) {
    super();
  }

  override recipient(address: string, declaredBytes: number): Promise<RecipientVerdict> {
    return this.recipients.of(address, declaredBytes);
  }

  override accept(envelope: MailEnvelope, bytes: IncomingBytes): Promise<SmtpAnswer> {
    return this.mail.accept(envelope, bytes);
  }

  override drained(): Promise<void> {
    return this.group.drained();
  }
}
