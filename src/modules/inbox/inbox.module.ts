import { Global, Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { DestinationsModule } from '../destinations/destinations.module.js';
import { DomainsModule } from '../domains/domains.module.js';
import { EmailModule } from '../email/email.module.js';
import { EventsModule } from '../events/events.module.js';
import { FeedbackModule } from '../feedback/feedback.module.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { AcceptMail } from './accept-mail.js';
import { AcceptMailStore } from './accept-mail.store.js';
import { AcceptMessage } from './accept-message.js';
import { AliasDomains } from './alias-domains.js';
import { AliasLookupStore } from './alias-lookup.store.js';
import { AliasRegistration } from './alias-registration.js';
import { AliasReplay } from './alias-replay.js';
import { AliasRouting } from './alias-routing.js';
import { AliasSettingsReader } from './alias-settings.js';
import { AliasSweep } from './alias-sweep.js';
import { AliasesController } from './aliases.controller.js';
import { AliasesService } from './aliases.service.js';
import { AliasesStore } from './aliases.store.js';
import { ArrivalBell } from './arrivals.js';
import { IncomingMail, MailArrivals } from './contract.js';
import { InboxMetrics } from './inbox.metrics.js';
import { InboxTools } from './inbox.tools.js';
import { StoredIncomingMail } from './incoming-mail.js';
import { MailGroup } from './mail-group.js';
import { MailPace } from './mail-pace.js';
import { MailPipeline } from './mail-pipeline.js';
import { MailThreads } from './mail-threads.js';
import { MailViewsController } from './mail-views.controller.js';
import { MessageBytes } from './message-bytes.js';
import { MessageDocuments } from './message-documents.js';
import { MessageErasure } from './message-erasure.js';
import { MessageProgress } from './message-progress.js';
import { MessageRelease } from './message-release.js';
import { MessagesController } from './messages.controller.js';
import { MessagesService } from './messages.service.js';
import { MessagesStore } from './messages.store.js';
import { PatientReading } from './patient-reading.js';
import { PipelineMetrics } from './pipeline.metrics.js';
import { ReadMessage } from './read-message.js';
import { Recipients } from './recipients.js';
import { Scanners } from './scanners.js';
import { SignedViews } from './signed-views.js';
import { MailReading, MailViews } from './viewing.contract.js';
import { WaitingMessagesStore } from './waiting-messages.store.js';

/** Receiving mail: aliases, and the messages that come to them. Global: the listener knows its contract only, and mail that is captured comes back in by it. */
@Global()
@Module({
  imports: [AuthModule, DestinationsModule, DomainsModule, EmailModule, EventsModule, FeedbackModule, LedgerModule],
  controllers: [AliasesController, MailViewsController, MessagesController],
  providers: [
    AcceptMail,
    AcceptMailStore,
    AcceptMessage,
    AliasDomains,
    AliasLookupStore,
    AliasRegistration,
    AliasReplay,
    AliasRouting,
    AliasSettingsReader,
    AliasSweep,
    AliasesService,
    AliasesStore,
    ArrivalBell,
    InboxMetrics,
    InboxTools,
    MailGroup,
    MailPace,
    MailPipeline,
    MailThreads,
    MessageBytes,
    MessageDocuments,
    MessageErasure,
    MessageProgress,
    MessageRelease,
    MessagesService,
    MessagesStore,
    PatientReading,
    PipelineMetrics,
    ReadMessage,
    Recipients,
    Scanners,
    SignedViews,
    WaitingMessagesStore,
    { provide: IncomingMail, useClass: StoredIncomingMail },
    { provide: MailArrivals, useExisting: ArrivalBell },
    { provide: MailReading, useExisting: PatientReading },
    { provide: MailViews, useExisting: SignedViews },
  ],
  exports: [IncomingMail, MailArrivals, MailReading, MailViews],
})
export class InboxModule {}
