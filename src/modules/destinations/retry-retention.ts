import { Injectable } from '@nestjs/common';
import { DEFAULT_RETRY_POLICY, longestSeconds } from '#engine/retry.js';
import type { Fault } from '#kernel/errors.js';
import { Environments } from '#modules/auth/environments/environments.js';
import { AttachedRetrySchedules } from '#modules/auth/environments/retry-schedules.js';
import type { RetrySettings } from './destinations.entities.js';
import { DestinationsStore } from './destinations.store.js';
import { RetryPolicies } from './retry-policies.js';

const DAY_SECONDS = 86_400;

/** Rejects changes that would make a retry schedule longer than the environment's retention period. */
@Injectable()
export class RetryRetention {
  constructor(
    private readonly environments: Environments,
    private readonly store: DestinationsStore,
    private readonly policies: RetryPolicies,
    schedules: AttachedRetrySchedules,
  ) {
    schedules.attach((environmentId) => this.longestSeconds(environmentId));
  }

  /** Returns an error if the policy is unknown, or if its schedule is longer than the event retention. */
  async faults(environmentId: number, retry: RetrySettings | null): Promise<Fault[]> {
    const unknown = retry === null ? [] : this.policies.faults(retry);
    if (unknown.length > 0) return unknown;
    const { retentionDays } = await this.environments.get(environmentId);
    const seconds = longestSeconds(this.policies.forSettings(retry));
    if (seconds <= retentionDays * DAY_SECONDS) return [];
    const hours = Math.ceil(seconds / 3600);
    const message = `takes up to ${hours} hours, and events are kept for ${retentionDays} days: shorten it, or raise retention_days with PATCH /v1/org first`;
    return [{ path: 'retry', message }];
  }

  /** Returns the length of the longest retry schedule. Includes the default schedule, which most destinations use. */
  private async longestSeconds(environmentId: number): Promise<number> {
    const schedules = await this.store.retrySchedules(environmentId);
    return Math.max(
      longestSeconds(DEFAULT_RETRY_POLICY),
      ...schedules.map((retry) => longestSeconds(this.policies.forSettings(retry))),
    );
  }
}
