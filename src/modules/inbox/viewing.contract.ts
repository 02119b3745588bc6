import type { Id } from '#kernel/ids.js';

export interface ViewedMessage {
  environmentId: number;
  /** The id of the message's event. */
  id: Id;
  /** Id of the alias that received the message. Null for a sent message. */
  aliasId: Id | null;
}

/** Token and URL that show one message for one minute. */
export interface MailView {
  token: string;
  url: string;
  expiresAt: Date;
}

/** Issues view tokens. Anyone who holds a token can see its one message. */
export abstract class MailViews {
  /** The caller must have checked that the requester may see the message. */
  abstract issue(viewed: ViewedMessage): MailView;
}

export interface FileNote {
  filename: string;
  content_type: string;
  size_bytes: number;
  /** Content-ID by which the HTML refers to the file (`cid:`), without angle brackets. Null if it has none. */
  content_id: string | null;
}

export interface MailContents {
  text: string | null;
  html: string | null;
  headerLines: readonly { name: string; value: string }[];
  attachments: readonly FileNote[];
  isTruncated: boolean;
}

/** Loads the bytes of a message once there is capacity to read it. Resolves with null if they have been deleted. */
export type ReadBytes = () => Promise<Buffer | null>;

/**
 * Parses messages in isolation and with a time limit, so that a harmful message affects only its own parsing. Resolves
 * with null if the bytes were deleted or the message crashed its parser. Rejects with 503 if there is no capacity
 * within five seconds.
 */
export abstract class MailReading {
  abstract contents(environmentId: number, bytes: ReadBytes): Promise<MailContents | null>;

  /** `index` is the position in the list of attachments. Also resolves with null if there is no such file. */
  abstract attachment(
    environmentId: number,
    bytes: ReadBytes,
    index: number,
  ): Promise<{ note: FileNote; content: Uint8Array } | null>;
}
