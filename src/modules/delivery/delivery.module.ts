import { BullModule } from '@nestjs/bullmq';
import { type DynamicModule, Inject, Module, type OnModuleInit } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import type { Config } from '#kernel/config.js';
import { Outlet } from '#modules/ledger/lane.contract.js';
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
import { DeliveryLane } from './lane.js';
import { DeliveryLifecycle } from './lifecycle.js';
import { DeliveryListeners } from './listeners.js';
import { Permits } from './permits.js';
import { PermitsStore } from './permits.store.js';
import { WorkerPresence } from './presence.js';
import { Pump } from './pump.js';
import { QueuedTargets } from './queued-targets.js';
import { WakeProcessor } from './wake.processor.js';
import { WAKE_QUEUE, WakeQueue } from './wake.queue.js';
import { DeliveryWorker } from './worker.js';

/** In the `api` role: only the queue that wakes workers elsewhere. */
@Module({
  imports: [BullModule.registerQueue({ name: WAKE_QUEUE }), LedgerModule],
  providers: [WakeQueue],
})
export class HandoverModule implements OnModuleInit {
  constructor(
    @Inject(Outlet) private readonly outlet: Outlet,
    @Inject(WakeQueue) private readonly queue: WakeQueue,
  ) {}

  onModuleInit(): void {
    this.outlet.attachHandover(this.queue);
  }
}

/** In the roles `worker` and `all`: the engine that delivers. */
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
    DeliveryLane,
    DeliveryLifecycle,
    DeliveryLog,
    DeliveryListeners,
    DeliveryMetrics,
    DeliveryWorker,
    Dispatcher,
    Gates,
    Permits,
    PermitsStore,
    Pump,
    QueuedTargets,
    WakeProcessor,
    HeldCancellations,
    WorkerPresence,
  ],
})
export class WorkerModule {}

/** What delivers, by role. */
@Module({})
export class DeliveryModule {
  static for(role: Config['role']): DynamicModule {
    return { module: DeliveryModule, imports: [role === 'worker' || role === 'all' ? WorkerModule : HandoverModule] };
  }
}
