import { Injectable } from '@nestjs/common';
import { Environments, RetrySchedules } from '#modules/auth/contract.js';
import { DEFAULT_RETRY_POLICY, longestSeconds } from '#engine/retry.js';
import type { Fault } from '#kernel/errors.js';
import type { RetrySettings } from './destinations.entities.js';
import { DestinationsStore } from './destinations.store.js';
import { retryPolicy } from './settings.js';

const DAY_SECONDS = 86_400;

/** Keeps retry schedules within the retention of their environment, from both sides. */
@Injectable()
export class RetryRetention {
  constructor(
    private readonly environments: Environments,
    private readonly store: DestinationsStore,
    schedules: RetrySchedules,
  ) {
    schedules.attach((environmentId) => this.longestSeconds(environmentId));
  }

  /** That a schedule takes longer than events are kept. One that a caller leaves alone stays as it is. */
  async faults(environmentId: number, retry: RetrySettings | null): Promise<Fault[]> {
    const { retentionDays } = await this.environments.get(environmentId);
    const seconds = longestSeconds(retryPolicy(retry));
    if (seconds <= retentionDays * DAY_SECONDS) return [];
    const hours = Math.ceil(seconds / 3600);
    const message = `takes up to ${hours} hours, and events are kept for ${retentionDays} days: shorten it, or raise retention_days with PATCH /v1/org first`;
    return [{ path: 'retry', message }];
  }

  /** Ad-hoc URLs and most destinations have the default. */
  private async longestSeconds(environmentId: number): Promise<number> {
    const schedules = await this.store.retrySchedules(environmentId);
    return Math.max(longestSeconds(DEFAULT_RETRY_POLICY), ...schedules.map((retry) => longestSeconds(retryPolicy(retry))));
  }
}
