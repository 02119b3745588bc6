import { BullModule } from '@nestjs/bullmq';
import {
  type DynamicModule,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type Type,
} from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { AdaptersModule } from './adapters/adapters.module.js';
import { BlobsModule } from './blobs/blobs.module.js';
import { EgressModule } from './egress/egress.module.js';
import { HttpModule } from './http/http.module.js';
import type { SystemClock } from './kernel/clock.js';
import { BackgroundJobs } from './kernel/concurrency/background-jobs.js';
import { queueOptions } from './kernel/concurrency/queue.js';
import type { Config } from './kernel/config/config.js';
import { KernelModule } from './kernel/kernel.module.js';
import { MailModule } from './mail/mail.module.js';
import { AgentsModule } from './modules/agents/agents.module.js';
import { ApplicationsModule } from './modules/applications/applications.module.js';
import { AttentionModule } from './modules/attention/attention.module.js';
import { AuditModule } from './modules/audit/audit.module.js';
import { AuthModule } from './modules/auth/auth.module.js';
import { ConsoleModule } from './modules/console/console.module.js';
import { DeliveryModule } from './modules/delivery/delivery.module.js';
import { DestinationsModule } from './modules/destinations/destinations.module.js';
import { DomainsModule } from './modules/domains/domains.module.js';
import { EmailModule } from './modules/email/email.module.js';
import { EndpointsModule } from './modules/endpoints/endpoints.module.js';
import { RoutesModule } from './modules/endpoints/routes.module.js';
import { EventTypesModule } from './modules/event-types/event-types.module.js';
import { EventsModule } from './modules/events/events.module.js';
import { FeedbackModule } from './modules/feedback/feedback.module.js';
import { InboxModule } from './modules/inbox/inbox.module.js';
import { LedgerModule } from './modules/ledger/ledger.module.js';
import { MetricsModule } from './modules/metrics/metrics.module.js';
import { NamesModule } from './modules/names/names.module.js';
import { PortalModule } from './modules/portal/portal.module.js';
import { PullModule } from './modules/pull/pull.module.js';
import { ReceivingModule } from './modules/receiving/receiving.module.js';
import { ReplayModule } from './modules/replay/replay.module.js';
import { SecretsModule } from './modules/secrets/secrets.module.js';
import { SendModule } from './modules/send/send.module.js';
import { SignInModule } from './modules/sign-in/sign-in.module.js';
import { SystemEventsModule } from './modules/system-events/system-events.module.js';
import { TemplatesModule } from './modules/templates/templates.module.js';
import { TopicsModule } from './modules/topics/topics.module.js';
import { SandboxModule } from './sandbox/sandbox.module.js';
import { SmtpModule } from './smtp/smtp.module.js';

/** Imports every module of the service, in the order in which data flows through them. */
@Module({})
export class AppModule implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(private readonly jobs: BackgroundJobs) {}

  static forRoot(
    config: Config,
    dataSource: DataSource,
    clock: SystemClock,
    extensions: (Type | DynamicModule)[],
  ): DynamicModule {
    return {
      module: AppModule,
      imports: [
        KernelModule.forRoot(config, dataSource, clock),
        BullModule.forRoot(queueOptions(config)),
        HttpModule,
        EgressModule,
        SandboxModule,
        BlobsModule,
        MailModule,
        AdaptersModule,
        AuditModule,
        AuthModule,
        SecretsModule,
        DestinationsModule,
        ApplicationsModule,
        SendModule,
        DomainsModule,
        SignInModule,
        TemplatesModule,
        TopicsModule,
        EmailModule,
        InboxModule,
        SmtpModule,
        EndpointsModule,
        ReceivingModule,
        FeedbackModule,
        RoutesModule,
        EventTypesModule,
        LedgerModule,
        EventsModule,
        PullModule,
        MetricsModule,
        NamesModule,
        AttentionModule,
        ReplayModule.register(config.role),
        SystemEventsModule,
        AgentsModule,
        PortalModule,
        ConsoleModule,
        DeliveryModule.register(config.role),
        ...extensions,
      ],
    };
  }

  onApplicationBootstrap(): void {
    this.jobs.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.jobs.stop();
  }
}
