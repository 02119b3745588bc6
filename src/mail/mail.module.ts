import { Global, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { EgressAgent } from '#egress/agent.js';
import { Dialer } from '#egress/dialer.js';
import { NameRecords } from '#egress/name-records.js';
import { Clock } from '#kernel/clock.js';
import { Config } from '#kernel/config/config.js';
import { MailTransport, type Submission, type SubmissionReport } from '#modules/email/transport.contract.js';
import { IncomingMail } from '#modules/inbox/contract.js';
import { CaptureTransport } from './capture.js';
import { ExtensionTransport } from './extension-transport.js';
import type { SmtpTransport } from './smtp.js';
import { TransportOutage } from './transport-outage.js';

/** The transport of EMAIL_TRANSPORT, closed when the process ends. */
export class ConfiguredTransport extends MailTransport implements OnModuleInit, OnApplicationShutdown {
  private readonly outage: TransportOutage;

  constructor(
    private readonly transport: MailTransport | SmtpTransport,
    { emailTransport }: Pick<Config, 'emailTransport'>,
  ) {
    super();
    this.outage = new TransportOutage(emailTransport);
  }

  override get rewritesIdentity(): boolean {
    return this.transport.rewritesIdentity;
  }

  override get submitMsMax(): number {
    return this.transport.submitMsMax;
  }

  async submit(submission: Submission): Promise<SubmissionReport> {
    const report = await this.transport.submit(submission);
    this.outage.note(report);
    return report;
  }

  override offersSmtpUtf8(): Promise<boolean | null> {
    return this.transport.offersSmtpUtf8();
  }

  onModuleInit(): void {
    if (this.transport instanceof ExtensionTransport) this.transport.find();
  }

  onApplicationShutdown(): void {
    if ('close' in this.transport) this.transport.close();
  }
}

/** Returns the configured transport. Loads no other transport, because each has its own library. */
async function transportOf(
  { emailTransport, platformDomain, smtpAnswerMsMax: answerMsMax }: Config,
  dialer: Dialer,
  agent: EgressAgent,
  records: NameRecords,
  clock: Clock,
  mail: IncomingMail,
  discovery: DiscoveryService,
): Promise<MailTransport> {
  switch (emailTransport.kind) {
    case 'capture':
      return new CaptureTransport(mail);
    case 'extension':
      return new ExtensionTransport(emailTransport.name, discovery);
    case 'direct': {
      const { DirectTransport } = await import('./direct/direct.js');
      const { MtaStsPolicies } = await import('./direct/policies.js');
      return new DirectTransport(dialer, records, new MtaStsPolicies(agent, records), {
        ownName: platformDomain,
        port: emailTransport.port,
        answerMsMax,
        random: () => clock.random(),
      });
    }
    case 'ses': {
      const { SesTransport } = await import('./ses.js');
      return new SesTransport(emailTransport, agent);
    }
    case 'smtp': {
      const { SmtpTransport } = await import('./smtp.js');
      return new SmtpTransport(emailTransport, dialer, {
        ownName: platformDomain.includes('.') ? platformDomain : null,
        answerMsMax,
      });
    }
  }
}

@Global()
@Module({
  imports: [DiscoveryModule],
  providers: [
    {
      provide: MailTransport,
      inject: [Config, Dialer, EgressAgent, NameRecords, Clock, IncomingMail, DiscoveryService],
      useFactory: async (...parts: Parameters<typeof transportOf>) =>
        new ConfiguredTransport(await transportOf(...parts), parts[0]),
    },
  ],
  exports: [MailTransport],
})
export class MailModule {}
