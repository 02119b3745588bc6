import { Injectable } from '@nestjs/common';
import { Metrics } from '#kernel/observability/metrics.js';

/** Metrics of received mail, over all environments. */
@Injectable()
export class InboxMetrics {
  private readonly groupSeconds;
  private readonly groupMessages;
  private readonly messagesTotal;

  constructor(metrics: Metrics) {
    this.groupSeconds = metrics.histogram(
      'inbox_group_commit_seconds',
      'Time to commit a group of received messages.',
      [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    );
    this.groupMessages = metrics.histogram(
      'inbox_group_messages',
      'Number of messages in one commit.',
      [1, 2, 4, 8, 16, 32, 64, 128],
    );
    this.messagesTotal = metrics.counter(
      'inbox_messages_total',
      'Messages to aliases, by the result of their acceptance.',
      ['outcome'],
    );
  }

  committed(messages: number, tookMs: number): void {
    this.groupSeconds.observe(tookMs / 1_000);
    this.groupMessages.observe(messages);
  }

  /** `outcome`: `stored`, `repeated`, or the reason of the rejection: `too_large`, `sender`, `gone`. */
  became(outcome: string, count: number): void {
    this.messagesTotal.inc({ outcome }, count);
  }
}
