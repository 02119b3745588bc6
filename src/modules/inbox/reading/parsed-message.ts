/** A header as it came, unfolded and cleaned. */
export interface HeaderLine {
  name: string;
  value: string;
}

/** A file in a message, without its bytes. */
export interface AttachmentNote {
  filename: string;
  content_type: string;
  size_bytes: number;
  /** How the message's HTML names it (`cid:`), without angle brackets; null for none. */
  content_id: string | null;
}

/** What a message says, as far as it can be kept: cleaned, and cut where `isTruncated` says so. */
export interface ParsedMessage {
  from: string;
  to: string[];
  cc: string[];
  replyTo: string[];
  subject: string;
  /** With its angle brackets. */
  inReplyTo: string | null;
  references: string[];
  /** What its sender says of when it was written, RFC 3339; null for what is no time. */
  date: string | null;
  text: string | null;
  html: string | null;
  headerLines: HeaderLine[];
  attachments: AttachmentNote[];
  isTruncated: boolean;
  /** Why there is no more of it; null for a message that could be read. */
  parseError: string | null;
}

/** What is kept of a message that could not be read: it is delivered all the same, and its bytes are there. */
export function unparsed(parseError: string): ParsedMessage {
  return {
    from: '',
    to: [],
    cc: [],
    replyTo: [],
    subject: '',
    inReplyTo: null,
    references: [],
    date: null,
    text: null,
    html: null,
    headerLines: [],
    attachments: [],
    isTruncated: false,
    parseError,
  };
}
