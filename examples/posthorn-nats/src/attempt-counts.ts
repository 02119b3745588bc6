import { Injectable } from '@nestjs/common';
import { type AttemptReport, DeliveryListener, type FailedAttemptReport, Metrics } from 'posthorn';

/** Counts attempts for `/metrics`, by destination type and outcome. */
@Injectable()
export class AttemptCounts extends DeliveryListener {
  private readonly count: (type: string, outcome: string) => void;

  constructor(metrics: Metrics) {
    super();
    const counter = metrics.counter('nats_sample_attempts_total', 'Attempts observed by the sample extension.', [
      'type',
      'outcome',
    ]);
    this.count = (type, outcome) => counter.inc({ type, outcome });
  }

  override delivered({ type }: AttemptReport): void {
    this.count(type, 'delivered');
  }

  override attemptFailed({ type, next }: FailedAttemptReport): void {
    this.count(type, next);
  }
}
