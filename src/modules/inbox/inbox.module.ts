import { Global, Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { DestinationsModule } from '../destinations/destinations.module.js';
import { DomainsModule } from '../domains/domains.module.js';
import { EmailModule } from '../email/email.module.js';
import { FeedbackModule } from '../feedback/feedback.module.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { AcceptMail } from './accept-mail.js';
import { AcceptMailStore } from './accept-mail.store.js';
import { AliasDomains } from './alias-domains.js';
import { AliasLookupStore } from './alias-lookup.store.js';
import { AliasRegistration } from './alias-registration.js';
import { AliasSettingsReader } from './alias-settings.js';
import { AliasSweep } from './alias-sweep.js';
import { AliasesController } from './aliases.controller.js';
import { AliasesService } from './aliases.service.js';
import { AliasesStore } from './aliases.store.js';
import { ArrivalBell } from './arrivals.js';
import { IncomingMail, MailArrivals } from './contract.js';
import { InboxMetrics } from './inbox.metrics.js';
import { StoredIncomingMail } from './incoming-mail.js';
import { MailGroup } from './mail-group.js';
import { Recipients } from './recipients.js';

/** Receiving mail: aliases, and the messages that come to them. Global: the listener knows its contract only, and mail that is captured comes back in by it. */
@Global()
@Module({
  imports: [AuthModule, DestinationsModule, DomainsModule, EmailModule, FeedbackModule, LedgerModule],
  controllers: [AliasesController],
  providers: [
    AcceptMail,
    AcceptMailStore,
    AliasDomains,
    AliasLookupStore,
    AliasRegistration,
    AliasSettingsReader,
    AliasSweep,
    AliasesService,
    AliasesStore,
    ArrivalBell,
    InboxMetrics,
    MailGroup,
    Recipients,
    { provide: IncomingMail, useClass: StoredIncomingMail },
    { provide: MailArrivals, useExisting: ArrivalBell },
  ],
  exports: [IncomingMail, MailArrivals],
})
export class InboxModule {}
