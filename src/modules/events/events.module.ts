import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { AcceptStore } from './accept.store.js';
import { PagedAttemptLog } from './attempt-log.js';
import { AttemptLogStore } from './attempt-log.store.js';
import { EventSources, Ledger, Presence, Requests } from './contract.js';
import { AttemptLog, Messages, Waiting } from './reading.contract.js';
import { DeadLettersStore } from './dead-letters.store.js';
import { DueStore } from './due.store.js';
import { EraseStore } from './erase.store.js';
import { AttachedEventSources } from './event-sources.js';
import { EventsController } from './events.controller.js';
import { EventsService } from './events.service.js';
import { EventsStore } from './events.store.js';
import { FailedStore } from './failed.store.js';
import { FanOutStore } from './fan-out.store.js';
import { FanningOut } from './fanning-out.js';
import { FirstRequests } from './first-requests.js';
import { GroupLedger, LedgerStores } from './ledger.js';
import { LedgerContext } from './ledger-context.js';
import { LedgerMetrics, StorageGauges } from './ledger.metrics.js';
import { MessagesStore } from './messages.store.js';
import { PartitionsStore } from './partitions.store.js';
import { PresenceStore } from './presence.store.js';
import { ReceiveStore } from './receive.store.js';
import { ReceivedStore } from './received.store.js';
import { Receiving } from './receiving.js';
import { RecordStore } from './record.store.js';
import { DeadLetters, FailedDeliveries, ReceivedEvents, Withdrawal } from './recovery.contract.js';
import { RedeliverStore } from './redeliver.store.js';
import { RequestsStore } from './requests.store.js';
import { Retention } from './retention.js';
import { WithdrawStore } from './withdraw.store.js';
import { Withdrawing } from './withdrawing.js';
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
