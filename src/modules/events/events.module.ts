import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { AcceptStore } from './accept.store.js';
import { EventSources, Ledger, Presence, ReceivedEvents, Requests } from './contract.js';
import { DueStore } from './due.store.js';
import { AttachedEventSources } from './event-sources.js';
import { EventsController } from './events.controller.js';
import { EventsService } from './events.service.js';
import { EventsStore } from './events.store.js';
import { GroupLedger, LedgerStores } from './ledger.js';
import { LedgerContext } from './ledger-context.js';
import { LedgerMetrics, StorageGauges } from './ledger.metrics.js';
import { PartitionsStore } from './partitions.store.js';
import { PresenceStore } from './presence.store.js';
import { ReceiveStore } from './receive.store.js';
import { ReceivedStore } from './received.store.js';
import { Receiving } from './receiving.js';
import { RecordStore } from './record.store.js';
import { RedeliverStore } from './redeliver.store.js';
import { RequestsStore } from './requests.store.js';
import { Retention } from './retention.js';

/** Events: the ledger, and what can be read of it. */
@Module({
  imports: [AuthModule],
  controllers: [EventsController],
  providers: [
    AcceptStore,
    DueStore,
    EventsService,
    EventsStore,
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
    { provide: EventSources, useClass: AttachedEventSources },
    { provide: Ledger, useClass: GroupLedger },
    { provide: Presence, useClass: PresenceStore },
    { provide: ReceivedEvents, useClass: ReceivedStore },
    { provide: Requests, useClass: RequestsStore },
  ],
  exports: [EventSources, Ledger, Presence, ReceivedEvents, Requests],
})
export class EventsModule {}
