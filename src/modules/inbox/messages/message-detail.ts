import type { ParsedMessage } from '../reading/parsed-message.js';

/** What a row keeps of a message as JSON: what it says, and what was found out beside its verdicts. */
export interface StoredDetail extends ParsedMessage {
  /** Whether a machine sent it by itself (RFC 3834). */
  autoSubmitted: boolean;
  arc: string;
  /** Nothing could be found out about it: somebody has to look at it. */
  isParked: boolean;
}
