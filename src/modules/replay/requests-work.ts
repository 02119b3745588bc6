import { Injectable } from '@nestjs/common';
import { idAfter } from '#kernel/ids.js';
import { SetAsideStore } from '#modules/events/set-aside.store.js';
import { RawRequests } from '#modules/receiving/raw-requests.js';
import type { ReplayJob } from './replay-job.js';
import type { WorkDone, WorkSource } from './replay-pages.js';

const PAGE_SIZE = 100;
/** Time after which a batch ends. The request in progress is completed first, and its transform may take seconds. */
const STRETCH_MS = 2_000;

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
      status: status === 'parked' ? 'parked' : 'quarantined',
      fromId,
      beforeId,
    } as const;
    const found = await this.setAside.page(range, PAGE_SIZE);
    const done: WorkDone = { scanned: 0, replayed: 0, skipped: 0, excluded: 0, enqueued: 0, isOver: false };
    const startedAt = performance.now();
    for (const request of found) {
      if (performance.now() - startedAt > STRETCH_MS) return done;
      const released = request.isErased ? null : await this.releases.release(environmentId, endpointId, request.id, id);
      // The counts of earlier requests are recorded when the job resumes. No event is created twice.
      if (released !== null && 'obstacle' in released) return released;
      done.scanned += 1;
      if (released === null) done.excluded += 1;
      else if (released.isReleased) done.replayed += 1;
      else done.skipped += 1;
      done.enqueued += released?.deliveries ?? 0;
      done.fromId = idAfter(request.id, 1);
    }
    return { ...done, isOver: found.length < PAGE_SIZE };
  }
}
