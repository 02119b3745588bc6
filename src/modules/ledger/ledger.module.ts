import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { AuthModule } from '../auth/auth.module.js';
import { Accept } from './accept.js';
import { AcceptStore } from './accept.store.js';
import { AcceptPace } from './accept-pace.js';
import { AcceptPaceMetrics } from './accept-pace.metrics.js';
import { AcceptancePolicies } from './acceptance-policies.js';
import { CancelStore } from './cancel.store.js';
import { Cancellations } from './cancellations.js';
import { Claims } from './claims.js';
import { DeduplicationStore } from './deduplication.store.js';
import { DeliveryHandoff } from './delivery-handoff.js';
import { DueStore } from './due.store.js';
import { EventlessRequests } from './eventless-requests.js';
import { EventlessRequestsStore } from './eventless-requests.store.js';
import { FailedStore } from './failed.store.js';
import { FanOut } from './fan-out.js';
import { FanOutStore } from './fan-out.store.js';
import { IdempotentRequests } from './idempotent-requests.js';
import { LateFailuresStore } from './late-failures.store.js';
import { Ledger } from './ledger.js';
import { LedgerMetrics, StorageGauges } from './ledger.metrics.js';
import { Partitions } from './partitions.js';
import { PartitionsStore } from './partitions.store.js';
import { Receive } from './receive.js';
import { ReceiveStore } from './receive.store.js';
import { RecordResults } from './record.js';
import { RecordStore } from './record.store.js';
import { RedeliverStore } from './redeliver.store.js';
import { Redeliveries } from './redeliveries.js';
import { Retention } from './retention.js';
import { WorkerRegistry } from './worker-registry.contract.js';
import { WorkerRegistryStore } from './worker-registry.store.js';

/** The core: stores accepted events, due deliveries, claims and results. Has no HTTP routes. */
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
    EventlessRequestsStore,
    Retention,
    StorageGauges,
    AcceptancePolicies,
    Cancellations,
    Claims,
    FailedStore,
    LateFailuresStore,
    Ledger,
    { provide: WorkerRegistry, useClass: WorkerRegistryStore },
    Redeliveries,
    DeduplicationStore,
    EventlessRequests,
  ],
  exports: [
    AcceptancePolicies,
    Cancellations,
    Claims,
    FailedStore,
    Partitions,
    LateFailuresStore,
    Ledger,
    DeliveryHandoff,
    WorkerRegistry,
    Redeliveries,
    DeduplicationStore,
    EventlessRequests,
    RecordResults,
  ],
})
export class LedgerModule {}
