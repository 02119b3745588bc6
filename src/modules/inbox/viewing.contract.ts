import type { Id } from '#kernel/ids.js';

/** A message whose HTML is to be shown. */
export interface ViewedMessage {
  environmentId: number;
  /** That of its event. */
  id: Id;
  /** The alias that it came to; null for one that was sent. */
  aliasId: Id | null;
}

/** Where the HTML of one message is shown, for a minute. */
export interface MailView {
  token: string;
  url: string;
  expiresAt: Date;
}

/** Gives out views of messages: whoever has one may see that one message. */
export abstract class MailViews {
  /** Who may see the message is for the caller to say. */
  abstract issue(viewed: ViewedMessage): MailView;
}

/** A file of a message, without its bytes. */
export interface FileNote {
  filename: string;
  content_type: string;
  size_bytes: number;
  /** How the HTML names it (`cid:`), without angle brackets; null for none. */
  content_id: string | null;
}

/** What a message says. */
export interface MailContents {
  text: string | null;
  html: string | null;
  headerLines: readonly { name: string; value: string }[];
  attachments: readonly FileNote[];
  /** Whether something was cut. */
  isTruncated: boolean;
}

/** The bytes of a message, once there is room for them; null when they are gone. */
export type ReadBytes = () => Promise<Buffer | null>;

/**
 * Reads messages apart from everything else, with an end to each: whatever one holds, it costs its own reading alone. Null where its
 * bytes are gone, or it did its reader harm. Throws 503 where there is no room for it within five seconds.
 */
export abstract class MailReading {
  /** What a message says. */
  abstract contents(environmentId: number, bytes: ReadBytes): Promise<MailContents | null>;

  /** One of its files by its place in the list, decoded; null also where there is none. */
  abstract attachment(
    environmentId: number,
    bytes: ReadBytes,
    index: number,
  ): Promise<{ note: FileNote; content: Uint8Array } | null>;
}
