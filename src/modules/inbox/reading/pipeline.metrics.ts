import { Injectable } from '@nestjs/common';
import { Metrics } from '#kernel/observability/metrics.js';
import { MailPace } from '../intake/mail-pace.js';
import { WaitingMessagesStore } from './waiting-messages.store.js';

/** What operators watch of the pipeline of received mail. */
@Injectable()
export class PipelineMetrics {
  private readonly readTotal;

  constructor(metrics: Metrics, store: WaitingMessagesStore, pace: MailPace) {
    this.readTotal = metrics.counter(
      'inbox_messages_read_total',
      'Received messages that this process took up, by what became of them: accepted, parked, gone, deferred, busy and failed (taken up again), or why they were quarantined.',
      ['outcome'],
    );
    metrics.gauges(
      () => store.waiting(),
      [
        {
          name: 'inbox_waiting_seconds',
          help: 'How long the received message waits that has waited the longest for its verdicts.',
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
      'Messages per second that this process takes (taken) and reads (read) at most while deliveries need it; absent while nothing has to wait.',
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
