import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { DestinationsModule } from '../destinations/destinations.module.js';
import { DomainsModule } from '../domains/domains.module.js';
import { EventsModule } from '../events/events.module.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { TemplatesModule } from '../templates/templates.module.js';
import { TopicsModule } from '../topics/topics.module.js';
import { AcceptEmail } from './accept-email.js';
import { AcceptSubmittedMessage } from './accept-submitted-message.js';
import { AttachmentFetch } from './attachment-fetch.js';
import { CanceledEmailsStore } from './canceled-emails.store.js';
import { EmailMetrics } from './email.metrics.js';
import { EmailTools } from './email.tools.js';
import { EmailAdapter } from './email-adapter.js';
import { EmailChanges } from './email-changes.js';
import { EmailComposition } from './email-composition.js';
import { EmailContentsController } from './email-contents.controller.js';
import { EmailContents } from './email-contents.js';
import { EmailDestination } from './email-destination.js';
import { EmailDownloadsController } from './email-downloads.controller.js';
import { EmailErasure } from './email-erasure.js';
import { EmailInserts } from './email-inserts.js';
import { EmailStates } from './email-states.js';
import { EmailSubmission } from './email-submission.js';
import { EmailsController } from './emails.controller.js';
import { EmailsService } from './emails.service.js';
import { EmailsStore } from './emails.store.js';
import { FollowUpEmails } from './follow-up-emails.js';
import { OrphanSweep } from './orphan-sweep.js';
import { RawEmails } from './raw-emails.js';
import { ReturnPaths } from './return-paths.js';
import { RewrittenSenders } from './rewritten-senders.js';
import { ScheduledChanges } from './scheduled-changes.js';
import { ScheduledEmailsStore } from './scheduled-emails.store.js';
import { ScheduledRelease } from './scheduled-release.js';
import { SendEmails } from './send-emails.js';
import { SenderIdentities } from './sender-identity.js';
import { SentEmails } from './sent-emails.js';
import { SignedDownloads } from './signed-downloads.js';
import { SignedMessages } from './signed-messages.js';
import { SimulatorController } from './simulator.controller.js';
import { StoredDeliveryEvents } from './stored-delivery-events.js';
import { StrictBatch } from './strict-batch.js';
import { SuppressionSweep } from './suppression-sweep.js';
import { SuppressionsController } from './suppressions.controller.js';
import { SuppressionsService } from './suppressions.service.js';
import { SuppressionsStore } from './suppressions.store.js';
import { TemplatedDrafts } from './templated-drafts.js';
import { UnsubscribeController } from './unsubscribe.controller.js';
import { UnsubscribeLinks } from './unsubscribe-links.js';
import { Unsubscriptions } from './unsubscriptions.js';

/** Sends emails. Each email is an event, and the mail transport is a destination type. */
@Module({
  imports: [AuthModule, DestinationsModule, DomainsModule, EventsModule, LedgerModule, TemplatesModule, TopicsModule],
  controllers: [
    SimulatorController,
    EmailsController,
    EmailContentsController,
    EmailDownloadsController,
    SuppressionsController,
    UnsubscribeController,
  ],
  providers: [
    AcceptEmail,
    AcceptSubmittedMessage,
    AttachmentFetch,
    CanceledEmailsStore,
    EmailAdapter,
    EmailChanges,
    EmailComposition,
    EmailContents,
    EmailDestination,
    EmailErasure,
    EmailInserts,
    EmailMetrics,
    EmailStates,
    EmailSubmission,
    EmailsService,
    EmailsStore,
    EmailTools,
    FollowUpEmails,
    OrphanSweep,
    RawEmails,
    ReturnPaths,
    RewrittenSenders,
    ScheduledChanges,
    ScheduledEmailsStore,
    ScheduledRelease,
    SendEmails,
    SenderIdentities,
    SignedDownloads,
    SignedMessages,
    StoredDeliveryEvents,
    StrictBatch,
    SuppressionSweep,
    SuppressionsService,
    SuppressionsStore,
    SentEmails,
    TemplatedDrafts,
    UnsubscribeLinks,
    Unsubscriptions,
  ],
  exports: [
    AcceptSubmittedMessage,
    EmailSubmission,
    EmailsService,
    FollowUpEmails,
    ReturnPaths,
    RewrittenSenders,
    SenderIdentities,
    SentEmails,
    StoredDeliveryEvents,
    SuppressionsStore,
  ],
})
export class EmailModule {}
