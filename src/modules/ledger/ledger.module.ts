import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { AuthModule } from '../auth/auth.module.js';
import { Ledger } from './accept.contract.js';
import { Accept } from './accept.js';
import { AcceptStore } from './accept.store.js';
import { AcceptPace } from './accept-pace.js';
import { AcceptPaceMetrics } from './accept-pace.metrics.js';
import { Acceptance } from './acceptance.contract.js';
import { PolicedAcceptance } from './acceptance.js';
import { Cancel } from './cancel.js';
import { CancelStore } from './cancel.store.js';
import { Cancellations } from './cancellation.contract.js';
import { StoredClaims } from './claim.js';
import { Claims } from './claims.contract.js';
import { Repeats } from './deduplication.contract.js';
import { StoredRepeats } from './deduplication.js';
import { RepeatsStore } from './deduplication.store.js';
import { LaneOutlet } from './delivery-handoff.js';
import { DueStore } from './due.store.js';
import { FailedStore } from './failed.store.js';
import { FanOut } from './fan-out.js';
import { FanOutStore } from './fan-out.store.js';
import { IdempotentRequests } from './idempotent-requests.js';
import { KeptDays } from './kept-days.contract.js';
import { LateFailures } from './late-failures.contract.js';
import { LateFailuresStore } from './late-failures.store.js';
import { GroupLedger } from './ledger.js';
import { LedgerMetrics, StorageGauges } from './ledger.metrics.js';
import { Outlet } from './local-scheduler.contract.js';
import { Partitions } from './partitions.js';
import { PartitionsStore } from './partitions.store.js';
import { Receive } from './receive.js';
import { ReceiveStore } from './receive.store.js';
import { Results } from './record.contract.js';
import { RecordResults } from './record.js';
import { RecordStore } from './record.store.js';
import { Redeliver } from './redeliver.js';
import { RedeliverStore } from './redeliver.store.js';
import { FailedDeliveries, Redeliveries } from './redelivery.contract.js';
import { Retention } from './retention.js';
import { Presence } from './worker-registry.contract.js';
import { PresenceStore } from './worker-registry.store.js';

/** The middle of everything: what was accepted, what is due, who holds it, what came of it. It has no routes. */
@Module({
  imports: [AuthModule, DiscoveryModule],
  providers: [
    Accept,
    AcceptPace,
    AcceptPaceMetrics,
    AcceptStore,
    CancelStore,
    DueStore,
    FanOut,
    FanOutStore,
    IdempotentRequests,
    LaneOutlet,
    LedgerMetrics,
    Partitions,
    PartitionsStore,
    Receive,
    ReceiveStore,
    RecordResults,
    RecordStore,
    RedeliverStore,
    RepeatsStore,
    Retention,
    StorageGauges,
    { provide: Acceptance, useClass: PolicedAcceptance },
    { provide: Cancellations, useClass: Cancel },
    { provide: Claims, useClass: StoredClaims },
    { provide: FailedDeliveries, useClass: FailedStore },
    { provide: KeptDays, useExisting: Partitions },
    { provide: LateFailures, useClass: LateFailuresStore },
    { provide: Ledger, useClass: GroupLedger },
    { provide: Outlet, useExisting: LaneOutlet },
    { provide: Presence, useClass: PresenceStore },
    { provide: Redeliveries, useClass: Redeliver },
    { provide: Repeats, useClass: StoredRepeats },
    { provide: Results, useExisting: RecordResults },
  ],
  exports: [
    Acceptance,
    Cancellations,
    Claims,
    FailedDeliveries,
    KeptDays,
    LateFailures,
    Ledger,
    Outlet,
    Presence,
    Redeliveries,
    Repeats,
    Results,
  ],
})
export class LedgerModule {}
