import type { Id } from '#kernel/ids.js';

/** A message whose HTML will be shown. */
export interface ViewedMessage {
  environmentId: number;
  /** Id of the message's event. */
  id: Id;
  /** The alias that received the message. Null for a sent message. */
  aliasId: Id | null;
}

/** Token and URL that show the HTML of one message for one minute. */
export interface MailView {
  token: string;
  url: string;
  expiresAt: Date;
}

/** Issues views of messages. Anyone who holds a view can see that one message. */
export abstract class MailViews {
  /** Issues a view. The caller must have checked that the requester may see the message. */
  abstract issue(viewed: ViewedMessage): MailView;
}

/** Metadata of a file in a message, without its bytes. */
export interface FileNote {
  filename: string;
  content_type: string;
  size_bytes: number;
  /** Content-ID by which the HTML refers to the file (`cid:`), without angle brackets. Null if it has none. */
  content_id: string | null;
}

/** Parsed contents of a message. */
export interface MailContents {
  text: string | null;
  html: string | null;
  headerLines: readonly { name: string; value: string }[];
  attachments: readonly FileNote[];
  /** Whether a part was cut. */
  isTruncated: boolean;
}

/** Loads the bytes of a message once there is capacity to read it. Resolves with null if they have been deleted. */
export type ReadBytes = () => Promise<Buffer | null>;

/**
 * Parses messages in isolation and with a time limit, so that a harmful message affects only its own parsing.
 *
 * Resolves with null if the bytes have been deleted, or if the message crashed its parser. Rejects with 503 if there is
 * no capacity within five seconds.
 */
export abstract class MailReading {
  /** Returns the parsed contents of a message. */
  abstract contents(environmentId: number, bytes: ReadBytes): Promise<MailContents | null>;

  /** Returns the decoded file at this index of the file list, or also null if there is no such file. */
  abstract attachment(
    environmentId: number,
    bytes: ReadBytes,
    index: number,
  ): Promise<{ note: FileNote; content: Uint8Array } | null>;
}
