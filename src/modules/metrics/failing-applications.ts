import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { badRequest } from '#kernel/errors.js';
import type { Tenant } from '#kernel/tenant.js';
import { type FailingApplication, FailingApplicationsStore } from './failing-applications.store.js';
import { KEPT_MS } from './windows.js';

const DAY_MS = 86_400_000;
const LIMIT_DEFAULT = 50;

@Injectable()
export class FailingApplications {
  constructor(
    private readonly store: FailingApplicationsStore,
    private readonly clock: Clock,
  ) {}

  /** Lists applications with failures. Rounds the start down to the hour. Throws 400 for an invalid start. */
  list(
    { environmentId }: Tenant,
    { sinceMs, limit = LIMIT_DEFAULT }: { sinceMs?: number; limit?: number },
  ): Promise<FailingApplication[]> {
    const nowMs = this.clock.nowMs();
    const fromMs = sinceMs ?? nowMs - DAY_MS;
    if (fromMs > nowMs || fromMs < nowMs - KEPT_MS['1m'])
      throw badRequest('since must be in the past, at most seven days ago.');
    return this.store.failing(environmentId, new Date(fromMs), limit);
  }
}
