import { Global, Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { EgressAgent } from '#egress/agent.js';
import { Dialer } from '#egress/dialer.js';
import { Clock } from '#kernel/clock.js';
import { Config } from '#kernel/config.js';
import { IncomingMail } from '#modules/inbox/contract.js';
import { MailTransport, type Submission, type SubmissionReport } from '#modules/email/transport.contract.js';
import { NameRecords } from '#egress/name-records.js';
import { CaptureTransport } from './capture.js';
import { DirectTransport } from './direct/direct.js';
import { MtaStsPolicies } from './direct/policies.js';
import { SesTransport } from './ses.js';
import { SmtpTransport } from './smtp.js';

/** The transport that EMAIL_TRANSPORT names; its connections end with the process. */
@Injectable()
export class ConfiguredTransport extends MailTransport implements OnApplicationShutdown {
  private readonly transport: MailTransport;

  constructor(config: Config, dialer: Dialer, agent: EgressAgent, records: NameRecords, clock: Clock, mail: IncomingMail) {
    super();
    this.transport = transportOf(config, dialer, agent, records, clock, mail);
  }

  override get rewritesIdentity(): boolean {
    return this.transport.rewritesIdentity;
  }

  submit(submission: Submission): Promise<SubmissionReport> {
    return this.transport.submit(submission);
  }

  onApplicationShutdown(): void {
    if (this.transport instanceof SmtpTransport) this.transport.close();
  }
}

function transportOf(
  { emailTransport, platformDomain }: Config, dialer: Dialer, agent: EgressAgent, records: NameRecords, clock: Clock, mail: IncomingMail,
): MailTransport {
  switch (emailTransport.kind) {
    case 'capture': return new CaptureTransport(mail);
    case 'direct': return new DirectTransport(dialer, records, new MtaStsPolicies(agent, records), { ownName: platformDomain, port: emailTransport.port, random: () => clock.random() });
    case 'ses': return new SesTransport(emailTransport, agent);
    case 'smtp': return new SmtpTransport(emailTransport, dialer, { ownName: platformDomain.includes('.') ? platformDomain : null });
  }
}

/** How mail leaves. */
@Global()
@Module({
  providers: [{ provide: MailTransport, useClass: ConfiguredTransport }],
  exports: [MailTransport],
})
export class MailModule {}
