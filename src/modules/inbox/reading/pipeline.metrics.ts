import { Injectable } from '@nestjs/common';
import { Metrics } from '#kernel/observability/metrics.js';
import { MailPace } from '../intake/mail-pace.js';
import { WaitingMessagesStore } from './waiting-messages.store.js';

@Injectable()
export class PipelineMetrics {
  private readonly readTotal;

  constructor(metrics: Metrics, store: WaitingMessagesStore, pace: MailPace) {
    this.readTotal = metrics.counter(
      'inbox_messages_read_total',
      'Received messages that this process handled, by result: accepted, parked, gone, deferred, busy and failed (retried), or the reason of their quarantine.',
      ['outcome'],
    );
    metrics.gauges(
      () => store.waiting(),
      [
        {
          name: 'inbox_waiting_seconds',
          help: 'Seconds for which the oldest received message has waited for its verdicts.',
          of: ({ seconds }) => seconds,
        },
        {
          name: 'inbox_waiting_messages',
          help: 'Received messages that wait for their verdicts, at most 10,000.',
          of: ({ count }) => count,
        },
      ],
    );
    metrics.gauge(
      'inbox_pace_per_second',
      'Maximum messages per second that this process accepts (taken) and reads (read) while deliveries need it; absent without a limit.',
      ['step'],
      (gauge) => {
        gauge.reset();
        for (const [step, perSecond] of Object.entries(pace.figures()))
          if (Number.isFinite(perSecond)) gauge.set({ step }, perSecond);
      },
    );
  }

  became(outcome: string): void {
    this.readTotal.inc({ outcome });
  }
}
