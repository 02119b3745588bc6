import { Global, Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { DestinationsModule } from '../destinations/destinations.module.js';
import { DomainsModule } from '../domains/domains.module.js';
import { EmailModule } from '../email/email.module.js';
import { EventsModule } from '../events/events.module.js';
import { FeedbackModule } from '../feedback/feedback.module.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { AliasActionsReader } from './actions/alias-actions.js';
import { AutoReplies } from './actions/auto-replies.js';
import { AutoRepliesStore } from './actions/auto-replies.store.js';
import { ForwardAddresses } from './actions/forward-addresses.js';
import { ForwardAddressesStore } from './actions/forward-addresses.store.js';
import { ForwardConfirmations } from './actions/forward-confirmations.js';
import { ForwardPagesController } from './actions/forward-pages.controller.js';
import { Forwarding } from './actions/forwarding.js';
import { MessageActions } from './actions/message-actions.js';
import { AliasDomains } from './aliases/alias-domains.js';
import { AliasLookupStore } from './aliases/alias-lookup.store.js';
import { AliasRegistration } from './aliases/alias-registration.js';
import { AliasReplay } from './aliases/alias-replay.js';
import { AliasRouting } from './aliases/alias-routing.js';
import { AliasSettingsReader } from './aliases/alias-settings.js';
import { AliasSweep } from './aliases/alias-sweep.js';
import { AliasesController } from './aliases/aliases.controller.js';
import { AliasesService } from './aliases/aliases.service.js';
import { AliasesStore } from './aliases/aliases.store.js';
import { IncomingMail } from './contract.js';
import { InboxMetrics } from './inbox.metrics.js';
import { AcceptMail } from './intake/accept-mail.js';
import { AcceptMailStore } from './intake/accept-mail.store.js';
import { StoredIncomingMail } from './intake/incoming-mail.js';
import { MailArrivalSignal } from './intake/mail-arrival-signal.js';
import { MailGroup } from './intake/mail-group.js';
import { MailPace } from './intake/mail-pace.js';
import { Recipients } from './intake/recipients.js';
import { EmailRepliesController } from './messages/email-replies.controller.js';
import { EmailReplies } from './messages/email-replies.js';
import { InboxTools } from './messages/inbox.tools.js';
import { MailFilesController } from './messages/mail-files.controller.js';
import { MailViewsController } from './messages/mail-views.controller.js';
import { MessageBytes } from './messages/message-bytes.js';
import { MessageDocuments } from './messages/message-documents.js';
import { MessageErasure } from './messages/message-erasure.js';
import { MessageFiles } from './messages/message-files.js';
import { MessageRelease } from './messages/message-release.js';
import { MessagesController } from './messages/messages.controller.js';
import { MessagesService } from './messages/messages.service.js';
import { MessagesStore } from './messages/messages.store.js';
import { SignedLinks } from './messages/signed-links.js';
import { SignedViews } from './messages/signed-views.js';
import { AcceptMessage } from './reading/accept-message.js';
import { MailPipeline } from './reading/mail-pipeline.js';
import { ThreadedMailReading } from './reading/mail-reading-threads.js';
import { MailThreads } from './reading/mail-threads.js';
import { MessageProgress } from './reading/message-progress.js';
import { PipelineMetrics } from './reading/pipeline.metrics.js';
import { ReadMessage } from './reading/read-message.js';
import { Scanners } from './reading/scanners.js';
import { WaitingMessagesStore } from './reading/waiting-messages.store.js';

/** Global, so that the SMTP listener and the `capture:` transport can depend on this module's contract only. */
@Global()
@Module({
  imports: [AuthModule, DestinationsModule, DomainsModule, EmailModule, EventsModule, FeedbackModule, LedgerModule],
  controllers: [
    AliasesController,
    EmailRepliesController,
    ForwardPagesController,
    MailFilesController,
    MailViewsController,
    MessagesController,
  ],
  providers: [
    AcceptMail,
    AcceptMailStore,
    AcceptMessage,
    AliasActionsReader,
    AliasDomains,
    AliasLookupStore,
    AliasRegistration,
    AliasReplay,
    AliasRouting,
    AliasSettingsReader,
    AliasSweep,
    AliasesService,
    AliasesStore,
    AutoReplies,
    AutoRepliesStore,
    EmailReplies,
    ForwardAddresses,
    ForwardAddressesStore,
    ForwardConfirmations,
    Forwarding,
    MailArrivalSignal,
    InboxMetrics,
    InboxTools,
    MailGroup,
    MailPace,
    MailPipeline,
    MailThreads,
    MessageActions,
    MessageBytes,
    MessageDocuments,
    MessageErasure,
    MessageFiles,
    MessageProgress,
    MessageRelease,
    MessagesService,
    MessagesStore,
    ThreadedMailReading,
    PipelineMetrics,
    ReadMessage,
    Recipients,
    Scanners,
    SignedLinks,
    SignedViews,
    WaitingMessagesStore,
    { provide: IncomingMail, useClass: StoredIncomingMail },
  ],
  exports: [IncomingMail, MailArrivalSignal, ThreadedMailReading, SignedViews],
})
export class InboxModule {}
