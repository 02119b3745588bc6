import { Injectable } from '@nestjs/common';
import { Metrics } from '#kernel/observability/metrics.js';
import { ScheduledEmailsStore } from './scheduled-emails.store.js';

@Injectable()
export class EmailMetrics {
  private readonly acceptedTotal;
  private readonly statesTotal;
  private readonly repliesTotal;
  private readonly releasedTotal;
  private readonly choicesTotal;

  constructor(metrics: Metrics, scheduled: ScheduledEmailsStore) {
    this.acceptedTotal = metrics.counter('emails_accepted_total', 'Emails that were accepted.');
    this.statesTotal = metrics.counter(
      'email_recipients_told_total',
      'Recipients of emails that bounced, complained or failed.',
      ['state'],
    );
    this.repliesTotal = metrics.counter('email_replies_total', 'Replies for recipients when emails were handed over.', [
      'outcome',
    ]);
    this.releasedTotal = metrics.counter(
      'scheduled_emails_released_total',
      'Scheduled emails that became due (sent, or failed because they may no longer be sent) or were canceled.',
      ['outcome'],
    );
    this.choicesTotal = metrics.counter(
      'email_unsubscribes_total',
      'Choices that recipients made with unsubscribe links, about one topic or about all emails.',
      ['choice', 'scope'],
    );
    metrics.gauge(
      'scheduled_emails_overdue_seconds',
      'Seconds since the oldest due scheduled email should have been sent.',
      [],
      async (gauge) => {
        gauge.set(await scheduled.overdueSeconds());
      },
    );
  }

  recordChoice(choice: 'unsubscribed' | 'resubscribed', isOfTopic: boolean): void {
    this.choicesTotal.inc({ choice, scope: isOfTopic ? 'topic' : 'all' });
  }

  released(outcome: 'sent' | 'failed' | 'canceled'): void {
    this.releasedTotal.inc({ outcome });
  }

  accepted(): void {
    this.acceptedTotal.inc();
  }

  recordState(state: string): void {
    this.statesTotal.inc({ state });
  }

  replied(outcome: string, count: number): void {
    this.repliesTotal.inc({ outcome }, count);
  }
}
