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

export interface ParsedAttachment extends AttachmentNote {
  /** `inline` if the message declares the file as inline, or gives it a Content-ID but no disposition. */
  content_disposition: 'inline' | 'attachment';
}

/** Contents of a message, ready to store. All texts are sanitized. Some are truncated if `isTruncated` is true. */
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
  /** True if the text is, or contains, the converted text of an HTML part. */
  isTextFromHtml: boolean;
  /** Text without quoted messages and without the signature. Null if nothing was removed. */
  replyText: string | null;
  signature: string | null;
  headerLines: HeaderLine[];
  attachments: ParsedAttachment[];
  isTruncated: boolean;
  /** True if a character set was guessed, because nothing declared it. */
  isCharsetGuessed: boolean;
  /** Error of the parser. Null if the message could be parsed completely. */
  parseError: string | null;
}

/**
 * Returns empty contents for a message that cannot be parsed. It is still delivered, and its original bytes are
 * available.
 */
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
    isTextFromHtml: false,
    replyText: null,
    signature: null,
    headerLines: [],
    attachments: [],
    isTruncated: false,
    isCharsetGuessed: false,
    parseError,
  };
}
