import type { ParsedMessage } from '../reading/parsed-message.js';

/** The JSON part of a message's row: its contents, and all results other than verdicts. */
export interface StoredDetail extends ParsedMessage {
  /** True for an automatic message (RFC 3834). */
  autoSubmitted: boolean;
  arc: string;
  /** True if the message could not be evaluated and needs a manual check. */
  isParked: boolean;
}
