import { BullModule } from '@nestjs/bullmq';
import { Inject, Module, type DynamicModule, type OnModuleInit } from '@nestjs/common';
import { Ledger } from '#modules/ledger/accept.contract.js';
import type { Config } from '#kernel/config.js';
import { DestinationsModule } from '../destinations/destinations.module.js';
import { EventsModule } from '../events/events.module.js';
import { Attempt } from './attempt.js';
import { CircuitWatch } from './circuit-watch.js';
import { DeliveryMetrics } from './delivery.metrics.js';
import { Dispatcher } from './dispatcher.js';
import { Gates } from './gates.js';
import { DeliveryLane } from './lane.js';
import { DeliveryLifecycle, WorkerLoops } from './lifecycle.js';
import { Permits } from './permits.js';
import { PermitsStore } from './permits.store.js';
import { WorkerPresence } from './presence.js';
import { Pump, PumpContext } from './pump.js';
import { WAKE_QUEUE, WakeQueue } from './wake.queue.js';
import { WakeProcessor } from './wake.processor.js';
import { Withdrawals } from './held-cancellations.js';
import { DeliveryWorker } from './worker.js';

/** In the `api` role: only the queue that wakes workers elsewhere. */
@Module({
  imports: [BullModule.registerQueue({ name: WAKE_QUEUE }), EventsModule],
  providers: [WakeQueue],
})
export class HandoverModule implements OnModuleInit {
  constructor(
    @Inject(Ledger) private readonly ledger: Ledger,
    @Inject(WakeQueue) private readonly queue: WakeQueue,
  ) {}

  onModuleInit(): void {
    this.ledger.attachHandover(this.queue);
  }
}

/** In the roles `worker` and `all`: the engine that delivers. */
@Module({
  imports: [BullModule.registerQueue({ name: WAKE_QUEUE }), EventsModule, DestinationsModule],
  providers: [
    Attempt,
    CircuitWatch,
    DeliveryLane,
    DeliveryLifecycle,
    DeliveryMetrics,
    DeliveryWorker,
    Dispatcher,
    Gates,
    Permits,
    PermitsStore,
    Pump,
    PumpContext,
    WakeProcessor,
    Withdrawals,
    WorkerLoops,
    WorkerPresence,
  ],
})
export class WorkerModule {}

/** What delivers, by role. */
@Module({})
export class DeliveryModule {
  static for(role: Config['role']): DynamicModule {
    return { module: DeliveryModule, imports: [role === 'api' ? HandoverModule : WorkerModule] };
  }
}
