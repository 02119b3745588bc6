import { Injectable } from '@nestjs/common';
import { type LongestRetrySeconds } from '#modules/auth/contract.js';

/**
 * Returns retry schedules from the destinations module, which registers itself here. Without that module, there are
 * none.
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
