import { Injectable } from '@nestjs/common';
import { lowestIdAt } from '#kernel/ids.js';
import { momentMs } from '#kernel/moment.js';
import { Cancellations } from '#modules/ledger/cancellations.js';
import type { NamedTarget } from './named-targets.js';

@Injectable()
export class Cancel {
  constructor(private readonly cancellations: Cancellations) {}

  /**
   * Cancels deliveries and returns their number. A delivery in flight ends after its current attempt. Throws 422 for an
   * invalid time.
   */
  async waiting(
    { environmentId, targetId, endpointId }: NamedTarget,
    query: { event_type?: string; until?: string },
  ): Promise<number> {
    const beforeId = query.until === undefined ? null : lowestIdAt(momentMs(query.until, 'until') + 1);
    return this.cancellations.ofTarget({
      environmentId,
      targetId,
      endpointId,
      eventType: query.event_type ?? null,
      beforeId,
    });
  }
}
