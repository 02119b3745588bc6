import type { Id } from '#kernel/ids.js';

/** Events that were fanned out to the given endpoints, as a range of ids. The end of the range is exclusive. */
export interface SentRange {
  environmentId: number;
  endpointIds: readonly Id[];
  fromId: Id;
  beforeId: Id;
}

export interface SentRow {
  id: Id;
  /** Day of the event's partition, as `YYYY-MM-DD`. */
  expiresOn: string;
  endpointId: Id;
  isGone: boolean;
}
