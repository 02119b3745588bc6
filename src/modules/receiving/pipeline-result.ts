import type { SynchronousAnswer } from '#engine/inbound/request.js';
import type { Id } from '#kernel/ids.js';

/** What came of a request. */
export interface PipelineResult {
  /** Null for a handshake, which is no event; of a repeat the event of the first request. */
  eventId: Id | null;
  /** `refused`: the signature did not hold. `unavailable`: what answers for the endpoint is away, and nothing was stored. */
  answer: SynchronousAnswer | 'refused' | 'unavailable';
  /** Whether the endpoint drops repeats, and the request was one. */
  isRepeat: boolean;
}
