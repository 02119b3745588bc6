import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Metrics } from '#kernel/observability/metrics.js';
import type { SystemEventType } from './contract.js';
import { SignalsStore } from './signals.store.js';

@Injectable()
export class SystemEventsMetrics {
  private readonly notifications: Counter<'type'>;

  constructor(metrics: Metrics, signals: SignalsStore) {
    this.notifications = metrics.counter('system_events_told_total', 'System events that this process sent.', ['type']);
    metrics.gauges(
      () => signals.waiting(),
      [
        {
          name: 'system_signals_waiting',
          help: 'Signals waiting to be sent as system events.',
          of: ({ waiting }) => waiting,
        },
        {
          name: 'system_signals_oldest_age_seconds',
          help: 'Age of the oldest signal waiting to be sent.',
          of: ({ oldestAgeSeconds }) => oldestAgeSeconds,
        },
      ],
    );
  }

  notified(type: SystemEventType): void {
    this.notifications.inc({ type });
  }
}
