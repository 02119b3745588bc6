import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { AcceptStore } from './accept.store.js';
import { Ledger, Presence } from './contract.js';
import { DueStore } from './due.store.js';
import { EventsController } from './events.controller.js';
import { EventsService } from './events.service.js';
import { EventsStore } from './events.store.js';
import { GroupLedger } from './ledger.js';
import { LedgerContext } from './ledger-context.js';
import { LedgerMetrics, StorageGauges } from './ledger.metrics.js';
import { PartitionsStore } from './partitions.store.js';
import { PresenceStore } from './presence.store.js';
import { RecordStore } from './record.store.js';
import { RedeliverStore } from './redeliver.store.js';
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
    PartitionsStore,
    RecordStore,
    RedeliverStore,
    Retention,
    StorageGauges,
    { provide: Ledger, useClass: GroupLedger },
    { provide: Presence, useClass: PresenceStore },
  ],
  exports: [Ledger, Presence],
})
export class EventsModule {}
