/** A header, unfolded and sanitized. */
export interface HeaderLine {
  name: string;
  value: string;
}

export interface AttachmentNote {
  filename: string;
  content_type: string;
  size_bytes: number;
  /** Content-ID by which the HTML refers to the file (`cid:`), without angle brackets. Null if there is none. */
  content_id: string | null;
}

/** Storable contents of a message: sanitized, and cut if `isTruncated` is true. */
export interface ParsedMessage {
  from: string;
  to: string[];
  cc: string[];
  replyTo: string[];
  subject: string;
  /** Message-ID from the In-Reply-To header, with its angle brackets. */
  inReplyTo: string | null;
  references: string[];
  /** Date header in RFC 3339. Null if it is not a valid time. */
  date: string | null;
  text: string | null;
  html: string | null;
  headerLines: HeaderLine[];
  attachments: AttachmentNote[];
  isTruncated: boolean;
  /** Error of the parser. Null if the message could be parsed. */
  parseError: string | null;
}

/** Contents of a message that could not be parsed. It is delivered nevertheless, and its bytes are available. */
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
