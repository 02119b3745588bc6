import { Injectable } from '@nestjs/common';
import { Metrics } from '#kernel/metrics.js';

/** Figures of sending mail, over all environments. */
@Injectable()
export class EmailMetrics {
  private readonly acceptedTotal;
  private readonly toldTotal;
  private readonly repliesTotal;

  constructor(metrics: Metrics) {
    this.acceptedTotal = metrics.counter('emails_accepted_total', 'Emails that were accepted.');
    this.toldTotal = metrics.counter('email_recipients_told_total', 'Recipients of emails that bounced, complained or failed.', ['state']);
    this.repliesTotal = metrics.counter('email_replies_total', 'What was answered for recipients when emails were handed over.', ['outcome']);
  }

  accepted(): void {
    this.acceptedTotal.inc();
  }

  told(state: string): void {
    this.toldTotal.inc({ state });
  }

  replied(outcome: string, count: number): void {
    this.repliesTotal.inc({ outcome }, count);
  }
}
