import type { SynchronousAnswer } from '#engine/inbound/request.js';
import type { Id } from '#kernel/ids.js';

/** Result of a request. */
export interface PipelineResult {
  /** `null` for a handshake, which creates no event. For a duplicate, the event of the first request. */
  eventId: Id | null;
  /**
   * `refused`: the signature is invalid. `unavailable`: the proxy that produces the endpoint's response is unavailable,
   * and nothing was stored.
   */
  answer: SynchronousAnswer | 'refused' | 'unavailable';
  /** True if the endpoint drops duplicates and the request was one. */
  isRepeat: boolean;
}
