import { Injectable } from '@nestjs/common';
import {
  type IncomingBytes,
  IncomingMail,
  type MailEnvelope,
  type RecipientVerdict,
  type SmtpAnswer,
} from '../contract.js';
import { AcceptMail } from './accept-mail.js';
import { MailGroup } from './mail-group.js';
import { MailPace } from './mail-pace.js';
import { Recipients } from './recipients.js';

@Injectable()
export class StoredIncomingMail extends IncomingMail {
  constructor(
    private readonly recipients: Recipients,
    private readonly mail: AcceptMail,
    private readonly group: MailGroup,
    private readonly pace: MailPace,
  ) {
    super();
  }

  override recipient(address: string, declaredBytes: number): Promise<RecipientVerdict> {
    return this.recipients.check(address, declaredBytes);
  }

  override turn(): Promise<boolean> {
    return this.pace.turn();
  }

  override accept(envelope: MailEnvelope, bytes: IncomingBytes): Promise<SmtpAnswer> {
    this.pace.taken(bytes.sizeBytes);
    return this.mail.accept(envelope, bytes);
  }

  override drained(): Promise<void> {
    return this.group.drained();
  }
}
