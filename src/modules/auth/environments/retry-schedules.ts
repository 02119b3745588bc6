import { Injectable } from '@nestjs/common';
import { type LongestRetrySeconds } from '#modules/auth/contract.js';

/** Delegates to the module that has destinations. Without that module, no retry schedules exist. */
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
