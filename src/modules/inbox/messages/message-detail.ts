import type { Id } from '#kernel/ids.js';
import type { AttachmentNote, ParsedMessage } from '../reading/parsed-message.js';

/** Fields that are missing in messages stored by earlier versions. */
type LaterFields = 'isTextFromHtml' | 'replyText' | 'signature' | 'isCharsetGuessed';

/**
 * Type of the JSON column `detail` of a message's row: the parsed contents, and further results such as planned
 * forwards.
 */
export interface StoredDetail
  extends Omit<ParsedMessage, LaterFields | 'attachments'>, Partial<Pick<ParsedMessage, LaterFields>> {
  attachments: AttachmentNote[];
  /** True for an automatic message (RFC 3834). */
  autoSubmitted: boolean;
  arc: string;
  /** Domains of the DKIM signatures with the result of the message. Missing in messages stored by earlier versions. */
  dkimDomains?: readonly string[];
  /** True if the message could not be evaluated and needs a manual check. */
  isParked: boolean;
  /** Copies to the alias's forward addresses. Missing if the alias does not forward. */
  forwards?: PlannedForward[];
  /** Automatic reply, or the reason why there is none. Missing if the alias does not reply. */
  autoReply?: PlannedReply;
}

/** A copy of a message for one forward address, as planned when the message was processed. */
export interface PlannedForward {
  address: string;
  /** Email that contains the copy. Null if the message is not forwarded to the address. */
  emailId: Id | null;
  /** True if the owner of the address had not confirmed it when the message was processed. */
  isPending: boolean;
  /** Reason why the message is not forwarded, or null. */
  detail: string | null;
}

export interface PlannedReply {
  /** Email that contains the reply. Null if there is no reply. */
  emailId: Id | null;
  /** Reason why there is no reply, or null. */
  detail: string | null;
}
