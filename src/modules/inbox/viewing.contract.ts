import type { Id } from '#kernel/ids.js';

export interface ViewedMessage {
  environmentId: number;
  /** Id of the message's event. */
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

export interface FileNote {
  filename: string;
  content_type: string;
  size_bytes: number;
  /** Content-ID by which the HTML refers to the file (`cid:`), without angle brackets. Null if there is none. */
  content_id: string | null;
  content_disposition: 'inline' | 'attachment';
}

export interface MailContents {
  text: string | null;
  html: string | null;
  headerLines: readonly { name: string; value: string }[];
  attachments: readonly FileNote[];
  isTruncated: boolean;
}

/** Loads the bytes of a message once there is capacity to read them. Resolves with null if the bytes were deleted. */
export type ReadBytes = () => Promise<Buffer | null>;
