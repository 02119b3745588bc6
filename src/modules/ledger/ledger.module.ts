import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { AuthModule } from '../auth/auth.module.js';
import { Ledger } from './accept.contract.js';
import { Accept } from './accept.js';
import { AcceptStore } from './accept.store.js';
import { AcceptPace } from './accept-pace.js';
import { AcceptPaceMetrics } from './accept-pace.metrics.js';
import { AcceptancePolicies } from './acceptance.contract.js';
import { RegisteredAcceptancePolicies } from './acceptance.js';
import { Cancel } from './cancel.js';
import { CancelStore } from './cancel.store.js';
import { Cancellations } from './cancellation.contract.js';
import { StoredClaims } from './claim.js';
import { Claims } from './claims.contract.js';
import { Deduplication } from './deduplication.contract.js';
import { StoredDeduplication } from './deduplication.js';
import { DeduplicationStore } from './deduplication.store.js';
import { DeliveryHandoff } from './delivery-handoff.js';
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
import { DeliverySinks } from './local-scheduler.contract.js';
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
import { WorkerRegistry } from './worker-registry.contract.js';
import { WorkerRegistryStore } from './worker-registry.store.js';

/** The core: accepted events, due deliveries, claims and results. It has no routes. */
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
    DeliveryHandoff,
    LedgerMetrics,
    Partitions,
    PartitionsStore,
    Receive,
    ReceiveStore,
    RecordResults,
    RecordStore,
    RedeliverStore,
    DeduplicationStore,
    Retention,
    StorageGauges,
    { provide: AcceptancePolicies, useClass: RegisteredAcceptancePolicies },
    { provide: Cancellations, useClass: Cancel },
    { provide: Claims, useClass: StoredClaims },
    { provide: FailedDeliveries, useClass: FailedStore },
    { provide: KeptDays, useExisting: Partitions },
    { provide: LateFailures, useClass: LateFailuresStore },
    { provide: Ledger, useClass: GroupLedger },
    { provide: DeliverySinks, useExisting: DeliveryHandoff },
    { provide: WorkerRegistry, useClass: WorkerRegistryStore },
    { provide: Redeliveries, useClass: Redeliver },
    { provide: Deduplication, useClass: StoredDeduplication },
    { provide: Results, useExisting: RecordResults },
  ],
  exports: [
    AcceptancePolicies,
    Cancellations,
    Claims,
    FailedDeliveries,
    KeptDays,
    LateFailures,
    Ledger,
    DeliverySinks,
    WorkerRegistry,
    Redeliveries,
    Deduplication,
    Results,
  ],
})
export class LedgerModule {}
