import { Injectable } from '@nestjs/common';
import { type FailedAttempt, NamedRetryPolicy } from 'posthorn';

const RESTART_ATTEMPTS = 5;

/** A server that restarts is back in seconds, a stream when somebody has made it; what is too large stays too large. */
@Injectable()
export class StreamPatience extends NamedRetryPolicy {
  override readonly name = 'nats-streams';
  override readonly description =
    'Quick while a server restarts, then up to an hour apart for most of a day; gives up at once on what is too large.';
  override readonly maxAttempts = 20;
  override readonly scheduleSeconds = [0, 5, 30, 300, 1_200, 3_600];

  override delaySeconds({ number, error }: FailedAttempt): number | null {
    return error === 'connection' && number <= RESTART_ATTEMPTS ? 1 : null;
  }

  override isRetryable({ status }: FailedAttempt): boolean {
    return status !== 413;
  }
}
