import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Config } from '#kernel/config/config.js';
import { Claims } from '#modules/ledger/claims.js';
import { Dispatcher } from './dispatcher.js';
import { HeldCancellations } from './held-cancellations.js';
import { LocalScheduler } from './local-scheduler.js';
import { ParkedDeliveryReleaser } from './parked-delivery-releaser.js';
import { DeliveryWorker } from './worker.js';
import { WorkerHeartbeat } from './worker-heartbeat.js';

/**
 * Starts and drains the worker. A drain waits for running attempts, records their results, and releases the other
 * deliveries.
 */
@Injectable()
export class DeliveryLifecycle implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(
    private readonly worker: DeliveryWorker,
    private readonly cancellations: HeldCancellations,
    private readonly dispatcher: Dispatcher,
    private readonly releaser: ParkedDeliveryReleaser,
    private readonly presence: WorkerHeartbeat,
    private readonly scheduler: LocalScheduler,
    private readonly claims: Claims,
    private readonly config: Config,
  ) {}

  onApplicationBootstrap(): void {
    this.worker.start(() => this.dispatcher.loop.wake());
    this.cancellations.start();
    this.presence.onReaped(() => this.dispatcher.loop.wake());
    this.presence.start(this.scheduler);
    // The sweep is the periodic search of the dispatcher for due deliveries. Durability tests disable it, to prove that
    // they detect lost deliveries.
    if (this.config.reconcile) {
      this.claims.attend(
        () => this.dispatcher.loop.wake(),
        () => this.releaser.wake(),
      );
      this.dispatcher.loop.start();
      this.releaser.loop.start();
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    const waiting = this.scheduler.close();
    await Promise.all([this.dispatcher.loop.stop(), this.releaser.loop.stop()]);
    // Not awaited: unregistering the worker also releases these claims, and unavailable storage must not delay the
    // exit.
    void this.claims.release(waiting, false).catch(() => undefined);
    await this.worker.idle();
    await this.presence.stop().catch(() => undefined);
  }
}
