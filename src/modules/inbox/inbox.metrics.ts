import { Injectable } from '@nestjs/common';
import { Metrics } from '#kernel/observability/metrics.js';

/** Metrics of received mail, over all environments. */
@Injectable()
export class InboxMetrics {
  private readonly groupSeconds;
  private readonly groupMessages;
  private readonly messagesTotal;
  private readonly actionsTotal;

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
    this.actionsTotal = metrics.counter(
      'inbox_actions_total',
      'Forwarded copies and automatic replies of aliases, and those that were not sent.',
      ['action'],
    );
  }

  /** Counts an action of an alias: `forwarded`, `forward_pending`, `forward_skipped`, `replied` or `not_replied`. */
  acted(action: string): void {
    this.actionsTotal.inc({ action });
  }

  committed(messages: number, tookMs: number): void {
    this.groupSeconds.observe(tookMs / 1_000);
    this.groupMessages.observe(messages);
  }

  /** Counts messages by `outcome`: `stored`, `repeated`, or the reason for rejection: `too_large`, `sender`, `gone`. */
  became(outcome: string, count: number): void {
    this.messagesTotal.inc({ outcome }, count);
  }
}
