import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Metrics } from '#kernel/observability/metrics.js';
import type { SystemEventType } from './contract.js';
import { SignalsStore } from './signals.store.js';

/** What operators watch of the service's own events. */
@Injectable()
export class SystemEventsMetrics {
  private readonly notifications: Counter<'type'>;

  constructor(metrics: Metrics, signals: SignalsStore) {
    this.notifications = metrics.counter(
      'system_events_told_total',
      "Events of the service's own that this process told.",
      ['type'],
    );
    metrics.gauges(
      () => signals.waiting(),
      [
        { name: 'system_signals_waiting', help: 'Signals that wait to be told.', of: ({ waiting }) => waiting },
        {
          name: 'system_signals_oldest_age_seconds',
          help: 'How long the oldest signal waits to be told.',
          of: ({ oldestAgeSeconds }) => oldestAgeSeconds,
        },
      ],
    );
  }

  notified(type: SystemEventType): void {
    this.notifications.inc({ type });
  }
}
