import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { conflict } from '#kernel/errors.js';
import { FailedStore } from '#modules/ledger/failed.store.js';
import type { NamedTarget } from './named-targets.js';
import { ESTIMATE_MAX, type ReplayJob } from './replay-job.js';
import { windowOf } from './replay-range.js';
import { ReplayStart } from './replay-start.js';

export interface RecoverQuery {
  since: string;
  until?: string;
  status?: string;
  include_cancelled?: boolean;
}

@Injectable()
export class Recover {
  constructor(
    private readonly failed: FailedStore,
    private readonly starting: ReplayStart,
    private readonly clock: Clock,
  ) {}

  /**
   * Starts a recovery. Throws 409 if the target accepts no deliveries or has an unfinished job, and 422 for invalid
   * input.
   */
  async start(target: NamedTarget, query: RecoverQuery): Promise<ReplayJob> {
    if (target.obstacle !== null) throw conflict(`${target.obstacle} Change that first.`, { reason: 'disabled' });
    const { environmentId, id, applicationId, targetId, endpointId } = target;
    const window = windowOf(query, this.clock.nowMs());
    const { fromId, beforeId } = window;
    const status = query.status ?? null;
    return this.starting.start({
      ...window,
      environmentId,
      kind: 'recover',
      endpointId: id,
      applicationId,
      targetId,
      status,
      destinations: null,
      includeCancelled: query.include_cancelled ?? false,
      // The API does not show the internal destination of an endpoint with its own URL.
      destinationsUsed: targetId === id && applicationId !== null ? [] : [targetId],
      totalEstimate: await this.failed.count(
        { environmentId, targetIds: [targetId], beforeId, fromId, status },
        endpointId,
        ESTIMATE_MAX,
      ),
    });
  }
}
