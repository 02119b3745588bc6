import type { SynchronousAnswer } from '#engine/inbound/request.js';
import type { Id } from '#kernel/ids.js';

export interface PipelineResult {
  /** Id of the event. For a duplicate, the id of the first request's event. `null` for a handshake. */
  eventId: Id | null;
  /** `refused`: the signature is invalid. `unavailable`: the response proxy failed, so nothing was stored. */
  answer: SynchronousAnswer | 'refused' | 'unavailable';
  isDuplicate: boolean;
}
