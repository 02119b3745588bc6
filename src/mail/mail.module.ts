import { Global, Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Dialer } from '#egress/dialer.js';
import { Config } from '#kernel/config.js';
import { IncomingMail } from '#modules/inbox/contract.js';
import { MailTransport, type Submission, type SubmissionReport } from '#modules/email/transport.contract.js';
import { CaptureTransport } from './capture.js';
import { SmtpTransport } from './smtp.js';

/** The transport that EMAIL_TRANSPORT names; its connections end with the process. */
@Injectable()
export class ConfiguredTransport extends MailTransport implements OnApplicationShutdown {
  private readonly transport: MailTransport;

  constructor(config: Config, dialer: Dialer, mail: IncomingMail) {
    super();
    const { emailTransport, platformDomain } = config;
    this.transport = emailTransport.kind === 'capture'
      ? new CaptureTransport(mail)
      : new SmtpTransport(emailTransport, dialer, { ownName: platformDomain.includes('.') ? platformDomain : null });
  }

  submit(submission: Submission): Promise<SubmissionReport> {
    return this.transport.submit(submission);
  }

  onApplicationShutdown(): void {
    if (this.transport instanceof SmtpTransport) this.transport.close();
  }
}

/** How mail leaves. */
@Global()
@Module({
  providers: [{ provide: MailTransport, useClass: ConfiguredTransport }],
  exports: [MailTransport],
})
export class MailModule {}
