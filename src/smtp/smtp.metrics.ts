import { Injectable } from '@nestjs/common';
import { Metrics } from '#kernel/observability/metrics.js';

const CODES_MAX = 40;

/** Metrics of the conversations of one SMTP listener. The metric names start with `prefix`. */
class ConversationMetrics {
  private readonly acceptedTotal;
  private readonly refusedTotal;
  private readonly bytesTotal;
  private readonly connectionsTotal;
  private readonly commitSeconds;
  private readonly codes = new Set<string>();

  constructor(
    private readonly metrics: Metrics,
    private readonly prefix: string,
    private readonly listener: string,
  ) {
    this.connectionsTotal = metrics.counter(
      `${prefix}_connections_total`,
      `Connections that the ${listener} accepted.`,
    );
    this.acceptedTotal = metrics.counter(
      `${prefix}_messages_accepted_total`,
      'Messages that were answered with 250, after their commit.',
    );
    this.refusedTotal = metrics.counter(
      `${prefix}_refused_total`,
      'Replies of 4xx and 5xx, with their enhanced status code.',
      ['code'],
    );
    this.bytesTotal = metrics.counter(
      `${prefix}_received_bytes_total`,
      'Bytes of messages that were received in full.',
    );
    this.commitSeconds = metrics.histogram(
      `${prefix}_commit_seconds`,
      'Time from the end of a message to its reply.',
      [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    );
  }

  watch(open: () => number): void {
    this.metrics.gauge(`${this.prefix}_connections`, `Open connections of the ${this.listener}.`, [], (gauge) =>
      gauge.set(open()),
    );
  }

  connected(): void {
    this.connectionsTotal.inc();
  }

  received(bytes: number, code: number, tookMs: number): void {
    this.bytesTotal.inc(bytes);
    this.commitSeconds.observe(tookMs / 1_000);
    if (code < 300) this.acceptedTotal.inc();
  }

  refused(code: string): void {
    if (this.codes.size < CODES_MAX) this.codes.add(code);
    this.refusedTotal.inc({ code: this.codes.has(code) ? code : 'other' });
  }
}

@Injectable()
export class SmtpMetrics extends ConversationMetrics {
  constructor(metrics: Metrics) {
    super(metrics, 'smtp', 'SMTP listener');
  }
}

@Injectable()
export class SubmissionMetrics extends ConversationMetrics {
  private readonly loginsTotal;

  constructor(metrics: Metrics) {
    super(metrics, 'submission', 'submission listener');
    this.loginsTotal = metrics.counter('submission_logins_total', 'Logins at the submission listener, by outcome.', [
      'outcome',
    ]);
  }

  loggedIn(outcome: 'accepted' | 'rejected' | 'failed'): void {
    this.loginsTotal.inc({ outcome });
  }
}
