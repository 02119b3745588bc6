import { Injectable } from '@nestjs/common';
import { type FailedAttempt, NamedRetryPolicy } from 'posthorn';

const RESTART_ATTEMPTS = 5;

/**
 * Retries within seconds at first, because a restarting server is back soon. Later retries are further apart, to leave
 * time to create a missing stream. A message that is too large is not retried.
 */
@Injectable()
export class StreamRetryPolicy extends NamedRetryPolicy {
  override readonly name = 'nats-streams';
  override readonly description =
    'Retries quickly while a server restarts, then at intervals of up to one hour for most of a day. Gives up immediately if the message is too large.';
  override readonly maxAttempts = 20;
  override readonly scheduleSeconds = [0, 5, 30, 300, 1_200, 3_600];

  override delaySeconds({ number, error }: FailedAttempt): number | null {
    return error === 'connection' && number <= RESTART_ATTEMPTS ? 1 : null;
  }

  override isRetryable({ status }: FailedAttempt): boolean {
    return status !== 413;
  }
}
