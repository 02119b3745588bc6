import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { AcceptStore } from '#modules/ledger/accept.store.js';
import { PagedAttemptLog } from './attempt-log.js';
import { AttemptLogStore } from './attempt-log.store.js';
import { EventSources, Ledger, Presence, Requests } from '#modules/ledger/accept.contract.js';
import { AttemptLog, Messages, Waiting } from './reading.contract.js';
import { DeadLettersStore } from './dead-letters.store.js';
import { DueStore } from '#modules/ledger/due.store.js';
import { EraseStore } from './erase.store.js';
import { AttachedEventSources } from './event-sources.js';
import { EventsController } from './events.controller.js';
import { EventsService } from './events.service.js';
import { EventsStore } from './events.store.js';
import { FailedStore } from '#modules/ledger/failed.store.js';
import { FanOutStore } from '#modules/ledger/fan-out.store.js';
import { FanningOut } from '#modules/ledger/fan-out.js';
import { FirstRequests } from '#modules/ledger/idempotent-requests.js';
import { GroupLedger, LedgerStores } from '#modules/ledger/ledger.js';
import { LedgerContext } from './ledger-context.js';
import { LedgerMetrics, StorageGauges } from '#modules/ledger/ledger.metrics.js';
import { MessagesStore } from './messages.store.js';
import { PartitionsStore } from '#modules/ledger/partitions.store.js';
import { PresenceStore } from '#modules/ledger/presence.store.js';
import { ReceiveStore } from '#modules/ledger/receive.store.js';
import { ReceivedStore } from './received.store.js';
import { Receiving } from '#modules/ledger/receive.js';
import { RecordStore } from '#modules/ledger/record.store.js';
import { DeadLetters, FailedDeliveries, ReceivedEvents, Withdrawal } from './recovery.contract.js';
import { RedeliverStore } from '#modules/ledger/redeliver.store.js';
import { RequestsStore } from './requests.store.js';
import { Retention } from '#modules/ledger/retention.js';
import { WithdrawStore } from '#modules/ledger/cancel.store.js';
import { Withdrawing } from '#modules/ledger/cancel.js';
import { WaitingStore } from './waiting.store.js';

/** Events: the ledger, and what can be read of it. */
@Module({
  imports: [AuthModule],
  controllers: [EventsController],
  providers: [
    AcceptStore,
    AttemptLogStore,
    DueStore,
    EraseStore,
    EventsService,
    EventsStore,
    FanningOut,
    FanOutStore,
    FirstRequests,
    LedgerContext,
    LedgerMetrics,
    LedgerStores,
    PartitionsStore,
    ReceiveStore,
    Receiving,
    RecordStore,
    RedeliverStore,
    Retention,
    StorageGauges,
    WithdrawStore,
    { provide: AttemptLog, useClass: PagedAttemptLog },
    { provide: DeadLetters, useClass: DeadLettersStore },
    { provide: EventSources, useClass: AttachedEventSources },
    { provide: FailedDeliveries, useClass: FailedStore },
    { provide: Ledger, useClass: GroupLedger },
    { provide: Messages, useClass: MessagesStore },
    { provide: Presence, useClass: PresenceStore },
    { provide: ReceivedEvents, useClass: ReceivedStore },
    { provide: Requests, useClass: RequestsStore },
    { provide: Waiting, useClass: WaitingStore },
    { provide: Withdrawal, useClass: Withdrawing },
  ],
  exports: [AttemptLog, DeadLetters, EventSources, FailedDeliveries, Ledger, Messages, Presence, ReceivedEvents, Requests, Waiting, Withdrawal],
})
export class EventsModule {}
