import { Injectable } from '@nestjs/common';
import { Metrics } from '#kernel/observability/metrics.js';
import { Readiness } from '#kernel/observability/readiness.js';
import { CircuitWatch } from './circuit-watch.js';
import { Dispatcher } from './dispatcher.js';
import { LocalScheduler } from './local-scheduler.js';
import { ParkedDeliveryReleaser } from './parked-delivery-releaser.js';
import { WorkerHeartbeat } from './worker-heartbeat.js';

@Injectable()
export class DeliveryMetrics {
  constructor(
    metrics: Metrics,
    readiness: Readiness,
    scheduler: LocalScheduler,
    circuits: CircuitWatch,
    dispatcher: Dispatcher,
    releaser: ParkedDeliveryReleaser,
    presence: WorkerHeartbeat,
  ) {
    metrics.gauge('deliveries_running', 'Attempts in flight in this process.', [], (gauge) =>
      gauge.set(scheduler.figures().running),
    );
    metrics.gauge('deliveries_held', 'Deliveries held by this process, in flight or waiting.', [], (gauge) =>
      gauge.set(scheduler.figures().held),
    );
    metrics.gauge(
      'targets_held_back',
      'Targets held back because hardly any target of their environment responds.',
      [],
      (gauge) => gauge.set(scheduler.figures().heldBack),
    );
    metrics.gauge('circuits_open', 'Targets whose circuit is open or being probed.', [], (gauge) =>
      gauge.set(circuits.openCount()),
    );
    metrics.gauge(
      'loop_last_turn_timestamp_seconds',
      'Time of the last completed iteration of a loop.',
      ['loop'],
      (gauge) => {
        for (const { name, lastTurnAtMs } of [dispatcher.loop, releaser.loop]) {
          if (lastTurnAtMs !== null) gauge.set({ loop: name }, lastTurnAtMs / 1000);
        }
      },
    );
    readiness.register('delivery', async () => {
      const { heldBack, ...figures } = scheduler.figures();
      return { ready: presence.claimant() !== null, ...figures, held_back: heldBack };
    });
  }
}
