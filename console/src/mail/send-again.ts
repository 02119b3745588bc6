import type { Schemas } from '../api/client';

type Email = Schemas['EmailDetail'];
type File = Schemas['EmailFileItem'];

/** How an email is sent again: by a replay of its event, or as a new email to the listed recipients. */
export type SendAgain = { kind: 'replay' } | { kind: 'copy'; to: string[] };

/**
 * Returns how an email can be sent again, or null. A replay reaches recipients whose server deferred or refused the
 * message. It does not reach recipients that bounced or are suppressed, so these get a new email.
 */
export function sendAgainOf(
  email: Pick<Email, 'status' | 'recipients' | 'erased_at' | 'html' | 'text'>,
): SendAgain | null {
  if (email.erased_at !== undefined) return null;
  if (email.status === 'failed' || email.status === 'dlq') return { kind: 'replay' };
  if (email.status !== 'bounced' && email.status !== 'suppressed') return null;
  const to = email.recipients
    .filter(({ status }) => status === 'bounced' || status === 'suppressed')
    .map(({ address }) => address);
  return to.length > 0 && to.every(Boolean) ? { kind: 'copy', to } : null;
}

/** An attachment with its bytes. */
export interface LoadedFile {
  file: Pick<File, 'filename' | 'content_type' | 'content_id'>;
  bytes: Uint8Array;
}

/** Returns a new email with the content of a sent one, for some of its recipients. */
export function copyOf(
  email: Pick<Email, 'from' | 'reply_to' | 'subject' | 'html' | 'text' | 'tags'>,
  to: string[],
  files: readonly LoadedFile[],
): Schemas['EmailBody'] {
  const { from, reply_to: replyTo, subject, html, text, tags } = email;
  return {
    from,
    to,
    subject,
    ...(replyTo.length > 0 && { reply_to: replyTo }),
    ...(typeof html === 'string' && { html }),
    text: text ?? '',
    ...(tags.length > 0 && { tags }),
    ...(files.length > 0 && {
      attachments: files.map(({ file, bytes }) => ({
        filename: file.filename,
        content_type: file.content_type,
        content: base64Of(bytes),
        ...(file.content_id !== null && { content_id: file.content_id }),
      })),
    }),
  };
}

/** Encodes in steps, because `String.fromCharCode` accepts a limited number of arguments. */
function base64Of(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 8_192) text += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return btoa(text);
}
