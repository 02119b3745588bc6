import { Injectable } from '@nestjs/common';
import { type LongestRetrySeconds, RetrySchedules } from '#modules/auth/contract.js';

/** Delegates to the module that has destinations. Without that module there are no retries. */
@Injectable()
export class AttachedRetrySchedules extends RetrySchedules {
  private find: LongestRetrySeconds = async () => 0;

  override attach(longest: LongestRetrySeconds): void {
    this.find = longest;
  }

  longestSeconds(environmentId: number): Promise<number> {
    return this.find(environmentId);
  }
}
