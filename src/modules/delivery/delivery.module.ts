import { BullModule } from '@nestjs/bullmq';
import { type DynamicModule, Inject, Module, type OnModuleInit } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import type { Config } from '#kernel/config/config.js';
import { DeliveryHandoff } from '#modules/ledger/delivery-handoff.js';
import { AuthModule } from '../auth/auth.module.js';
import { DestinationsModule } from '../destinations/destinations.module.js';
import { EventsModule } from '../events/events.module.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { Attempt } from './attempt.js';
import { CircuitWatch } from './circuit-watch.js';
import { DeliveryMetrics } from './delivery.metrics.js';
import { DeliveryLog } from './delivery-log.js';
import { Dispatcher } from './dispatcher.js';
import { Gates } from './gates.js';
import { HeldCancellations } from './held-cancellations.js';
import { DeliveryLifecycle } from './lifecycle.js';
import { DeliveryListeners } from './listeners.js';
import { LocalScheduler } from './local-scheduler.js';
import { ParkedDeliveryReleaser } from './parked-delivery-releaser.js';
import { QueuedTargets } from './queued-targets.js';
import { RateLimitTokens } from './rate-limit-tokens.js';
import { RateLimitTokensStore } from './rate-limit-tokens.store.js';
import { WakeProcessor } from './wake.processor.js';
import { WAKE_QUEUE, WakeQueue } from './wake.queue.js';
import { DeliveryWorker } from './worker.js';
import { WorkerHeartbeat } from './worker-heartbeat.js';

/** Module for the `api` role. Contains only the queue that wakes workers in other processes. */
@Module({
  imports: [BullModule.registerQueue({ name: WAKE_QUEUE }), LedgerModule],
  providers: [WakeQueue],
})
export class HandoverModule implements OnModuleInit {
  constructor(
    @Inject(DeliveryHandoff) private readonly handoff: DeliveryHandoff,
    @Inject(WakeQueue) private readonly queue: WakeQueue,
  ) {}

  onModuleInit(): void {
    this.handoff.attachWakeQueue(this.queue);
  }
}

/** Module for the roles `worker` and `all`: the complete delivery engine. */
@Module({
  imports: [
    BullModule.registerQueue({ name: WAKE_QUEUE }),
    AuthModule,
    DiscoveryModule,
    EventsModule,
    LedgerModule,
    DestinationsModule,
  ],
  providers: [
    Attempt,
    CircuitWatch,
    LocalScheduler,
    DeliveryLifecycle,
    DeliveryLog,
    DeliveryListeners,
    DeliveryMetrics,
    DeliveryWorker,
    Dispatcher,
    Gates,
    RateLimitTokens,
    RateLimitTokensStore,
    ParkedDeliveryReleaser,
    QueuedTargets,
    WakeProcessor,
    HeldCancellations,
    WorkerHeartbeat,
  ],
})
export class WorkerModule {}

@Module({})
export class DeliveryModule {
  static register(role: Config['role']): DynamicModule {
    return { module: DeliveryModule, imports: [role === 'worker' || role === 'all' ? WorkerModule : HandoverModule] };
  }
}
