import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { DestinationsModule } from '../destinations/destinations.module.js';
import { DomainsModule } from '../domains/domains.module.js';
import { EventsModule } from '../events/events.module.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { AcceptEmail } from './accept-email.js';
import { AttachmentFetch } from './attachment-fetch.js';
import { EmailMetrics } from './email.metrics.js';
import { EmailTools } from './email.tools.js';
import { EmailAdapter } from './email-adapter.js';
import { EmailChanges } from './email-changes.js';
import { EmailComposition } from './email-composition.js';
import { EmailContentsController } from './email-contents.controller.js';
import { EmailContents } from './email-contents.js';
import { EmailDestination } from './email-destination.js';
import { EmailErasure } from './email-erasure.js';
import { EmailGroup } from './email-group.js';
import { EmailStates } from './email-states.js';
import { EmailSubmission } from './email-submission.js';
import { EmailsController } from './emails.controller.js';
import { EmailsService } from './emails.service.js';
import { EmailsStore } from './emails.store.js';
import { OrphanSweep } from './orphan-sweep.js';
import { RawEmails } from './raw-emails.js';
import { ReturnPaths } from './return-paths.js';
import { ScheduledEmailsStore } from './scheduled-emails.store.js';
import { ScheduledRelease } from './scheduled-release.js';
import { SendEmails } from './send-emails.js';
import { SenderIdentities } from './sender-identity.js';
import { SentEmails } from './sent-emails.js';
import { SimulatorController } from './simulator.controller.js';
import { StoredDeliveryEvents } from './stored-delivery-events.js';
import { SuppressionSweep } from './suppression-sweep.js';
import { SuppressionsController } from './suppressions.controller.js';
import { SuppressionsService } from './suppressions.service.js';
import { SuppressionsStore } from './suppressions.store.js';

/** Sends emails: each email is an event, and the mail transport is a destination type. */
@Module({
  imports: [AuthModule, DestinationsModule, DomainsModule, EventsModule, LedgerModule],
  controllers: [SimulatorController, EmailsController, EmailContentsController, SuppressionsController],
  providers: [
    AcceptEmail,
    AttachmentFetch,
    EmailAdapter,
    EmailChanges,
    EmailComposition,
    EmailContents,
    EmailDestination,
    EmailErasure,
    EmailGroup,
    EmailMetrics,
    EmailStates,
    EmailSubmission,
    EmailsService,
    EmailsStore,
    EmailTools,
    OrphanSweep,
    RawEmails,
    ReturnPaths,
    ScheduledEmailsStore,
    ScheduledRelease,
    SendEmails,
    SenderIdentities,
    StoredDeliveryEvents,
    SuppressionSweep,
    SuppressionsService,
    SuppressionsStore,
    SentEmails,
  ],
  exports: [EmailSubmission, StoredDeliveryEvents, ReturnPaths, SentEmails],
})
export class EmailModule {}
