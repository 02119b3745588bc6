import { Injectable } from '@nestjs/common';
import { Metrics } from '#kernel/observability/metrics.js';

const CODES_MAX = 40;

@Injectable()
export class SmtpMetrics {
  private readonly acceptedTotal;
  private readonly refusedTotal;
  private readonly bytesTotal;
  private readonly connectionsTotal;
  private readonly commitSeconds;
  private readonly codes = new Set<string>();

  constructor(private readonly metrics: Metrics) {
    this.connectionsTotal = metrics.counter('smtp_connections_total', 'Connections that the SMTP listener accepted.');
    this.acceptedTotal = metrics.counter(
      'smtp_messages_accepted_total',
      'Messages that were answered with 250, after their commit.',
    );
    this.refusedTotal = metrics.counter(
      'smtp_refused_total',
      'Replies of 4xx and 5xx, with their enhanced status code.',
      ['code'],
    );
    this.bytesTotal = metrics.counter('smtp_received_bytes_total', 'Bytes of messages that were received in full.');
    this.commitSeconds = metrics.histogram(
      'smtp_commit_seconds',
      'Time from the end of a message to its reply.',
      [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    );
  }

  watch(open: () => number): void {
    this.metrics.gauge('smtp_connections', 'Open connections of the SMTP listener.', [], (gauge) => gauge.set(open()));
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
