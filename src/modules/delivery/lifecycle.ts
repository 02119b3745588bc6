import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { Ledger } from '#modules/ledger/accept.contract.js';
import { Config } from '#kernel/config.js';
import { Notifications } from '#kernel/notifications.js';
import { Dispatcher } from './dispatcher.js';
import { DeliveryLane } from './lane.js';
import { WorkerPresence } from './presence.js';
import { Pump } from './pump.js';
import { Withdrawals } from './held-cancellations.js';
import { DeliveryWorker } from './worker.js';

/** The parts of a worker that are started and stopped together. */
@Injectable()
export class WorkerLoops {
  constructor(
    readonly dispatcher: Dispatcher,
    readonly pump: Pump,
    readonly presence: WorkerPresence,
    readonly config: Config,
    readonly withdrawals: Withdrawals,
  ) {}
}

/** Starts the worker, and drains it: nothing new starts, what runs ends and is recorded, the rest is handed back. */
@Injectable()
export class DeliveryLifecycle implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(
    private readonly loops: WorkerLoops,
    private readonly worker: DeliveryWorker,
    private readonly lane: DeliveryLane,
    private readonly ledger: Ledger,
    private readonly notifications: Notifications,
  ) {}

  onApplicationBootstrap(): void {
    const { dispatcher, pump, presence, config, withdrawals } = this.loops;
    this.worker.start(() => dispatcher.loop.wake(), this.notifications);
    withdrawals.start(this.notifications);
    presence.onReaped(() => dispatcher.loop.wake());
    presence.start((claimant) => this.lane.holds(claimant));
    // Without the sweep only wake-ups start deliveries: durability tests use it to show that they would notice.
    if (config.reconcile) {
      dispatcher.loop.start();
      pump.loop.start();
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    const { dispatcher, pump, presence } = this.loops;
    const waiting = this.lane.close();
    await Promise.all([dispatcher.loop.stop(), pump.loop.stop()]);
    // Not waited for: leaving gives back the same, and an absent storage must not hold up the exit.
    void this.ledger.release(waiting, false).catch(() => undefined);
    await this.worker.idle();
    await presence.leave().catch(() => undefined);
  }
}
