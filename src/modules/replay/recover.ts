import { Injectable } from '@nestjs/common';
import { FailedDeliveries } from '#modules/events/recovery.contract.js';
import { conflict, invalid } from '#kernel/errors.js';
import { lowestIdAt } from '#kernel/ids.js';
import { momentMs } from './moment.js';
import type { NamedTarget } from './named-targets.js';
import { ReplayBasics } from './range-replay.js';
import type { ReplayJob } from './replay-job.js';
import { ReplayJobsStore } from './replay-jobs.store.js';

/** Which of the failed deliveries of a target to send again. */
export interface RecoverQuery {
  since: string;
  until?: string;
  status?: string;
  include_cancelled?: boolean;
}

/** A count on a request goes no further; the job knows the rest when it is done. */
const ESTIMATE_MAX = 100_000;

/** Starts recoveries: jobs that send again what failed at a target. */
@Injectable()
export class Recover {
  constructor(
    private readonly failed: FailedDeliveries,
    private readonly jobs: ReplayJobsStore,
    private readonly basics: ReplayBasics,
  ) {}

  /** Throws 409 for a target that takes no deliveries or has a live job, and 422. */
  async start(target: NamedTarget, query: RecoverQuery): Promise<ReplayJob> {
    if (target.obstacle !== null) throw conflict(`${target.obstacle} Change that first.`, { reason: 'disabled' });
    const { environmentId, id, applicationId, targetId, endpointId } = target;
    const { ids, clock, announcer } = this.basics;
    const since = new Date(momentMs(query.since, 'since'));
    const until = query.until === undefined ? null : new Date(momentMs(query.until, 'until'));
    if (until && since > until) throw invalid([{ path: 'since', message: 'must not be after until' }]);
    // The window is fixed now: what fails while it runs is not tried again by it.
    const endMs = Math.min(until?.getTime() ?? Infinity, clock.nowMs());
    const beforeId = lowestIdAt(endMs + 1);
    const fromId = lowestIdAt(since.getTime());
    const status = query.status ?? null;
    const job = await this.jobs.insert({
      environmentId, id: ids.next(), kind: 'recover', replayId: ids.next(), endpointId: id, applicationId, targetId,
      includeCancelled: query.include_cancelled ?? false, since, until, status, destinations: null,
      // The destination of an endpoint with a URL of its own is nobody else's business.
      destinationsUsed: targetId === id && applicationId !== null ? [] : [targetId],
      beforeId, fromId, createdAt: clock.now(),
      totalEstimate: await this.failed.count({ environmentId, targetId, beforeId, fromId, status }, endpointId, ESTIMATE_MAX),
    });
    announcer.announce(job);
    return job;
  }
}
