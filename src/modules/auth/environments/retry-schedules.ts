import { Injectable } from '@nestjs/common';
import { type LongestRetrySeconds } from '#modules/auth/contract.js';

/**
 * Returns the length of the longest retry schedule. The destinations module attaches the function that computes it.
 * Without that module, the length is 0.
 */
@Injectable()
export class AttachedRetrySchedules {
  private find: LongestRetrySeconds = async () => 0;

  attach(longest: LongestRetrySeconds): void {
    this.find = longest;
  }

  longestSeconds(environmentId: number): Promise<number> {
    return this.find(environmentId);
  }
}
