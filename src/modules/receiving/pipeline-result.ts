import type { SynchronousAnswer } from '#engine/inbound/request.js';
import type { Id } from '#kernel/ids.js';

export interface PipelineResult {
  /** `null` for a handshake, which creates no event. For a duplicate, the event of the first request. */
  eventId: Id | null;
  /** `refused`: invalid signature. `unavailable`: the proxy for the response is unavailable, nothing was stored. */
  answer: SynchronousAnswer | 'refused' | 'unavailable';
  isRepeat: boolean;
}
