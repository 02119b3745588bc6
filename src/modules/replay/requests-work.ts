import { Injectable } from '@nestjs/common';
import { ApiError, type ErrorType } from '#kernel/errors.js';
import { idAfter } from '#kernel/ids.js';
import { type Released, SET_ASIDE_STATUSES } from '#modules/events/set-aside.contract.js';
import { SetAsideStore } from '#modules/events/set-aside.store.js';
import { RawRequests } from '#modules/receiving/raw-requests.js';
import type { ReplayJob } from './replay-job.js';
import type { WorkDone, WorkSource } from './replay-pages.js';

const PAGE_SIZE = 100;
/** Time after which a batch ends. The current request is completed first, and its transform may take seconds. */
const STRETCH_MS = 2_000;
/**
 * Types of errors that may be temporary. After such an error, the job repeats the page instead of skipping the request.
 */
const TEMPORARY: readonly ErrorType[] = ['unavailable', 'internal', 'rate_limited'];

/** Processes requests sequentially, oldest first, so that their order is preserved. */
@Injectable()
export class RequestsWork implements WorkSource {
  constructor(
    private readonly setAside: SetAsideStore,
    private readonly releases: RawRequests,
  ) {}

  async work({
    environmentId,
    id,
    endpointId,
    status,
    fromId,
    beforeId,
  }: ReplayJob): Promise<WorkDone | { obstacle: string }> {
    const range = {
      environmentId,
      endpointId,
      status: SET_ASIDE_STATUSES.find((each) => each === status) ?? 'quarantined',
      fromId,
      beforeId,
    };
    const { requests, scannedTo } = await this.setAside.page(range, PAGE_SIZE);
    const done: WorkDone = { scanned: 0, replayed: 0, skipped: 0, excluded: 0, enqueued: 0, isOver: false };
    const startedAt = performance.now();
    for (const request of requests) {
      if (performance.now() - startedAt > STRETCH_MS) return done;
      const released = request.isErased
        ? null
        : await this.releases.release(environmentId, endpointId, request.id, id).catch(skipRejected);
      // The endpoint is inactive, so the batch ends without recording its counts. A resumed job counts these requests
      // again, but creates no event twice.
      if (released !== null && 'obstacle' in released) return released;
      done.scanned += 1;
      if (released === null) done.excluded += 1;
      else if (released.isReleased) done.replayed += 1;
      else done.skipped += 1;
      done.enqueued += released?.deliveries ?? 0;
      done.fromId = idAfter(request.id, 1);
    }
    if (requests.length === PAGE_SIZE) return done;
    return scannedTo === null ? { ...done, isOver: true } : { ...done, fromId: idAfter(scannedTo, 1) };
  }
}

/**
 * Converts a rejection to a result, so that the job continues with the next request. Rethrows errors that may be
 * temporary.
 */
function skipRejected(error: unknown): Released {
  if (error instanceof ApiError && !TEMPORARY.includes(error.type)) return { isReleased: false, deliveries: 0 };
  throw error;
}
