import { htmlToText } from '#engine/mail/html-text.js';
import type { EmailDraft } from './email-draft.js';

/** Maximum length of HTML from which a text part is derived. The conversion blocks the event loop for up to 0.1 s. */
const DERIVED_HTML_CHARACTERS_MAX = 128 * 1024;

/**
 * Returns the text part of an email. Derives a missing text from the HTML, because spam filters and text-only clients
 * expect a text part. If the caller sets the text to an empty string and there is HTML, the email gets no text part.
 */
export function textPartOf({ html, text }: Pick<EmailDraft, 'html' | 'text'>): string | null {
  if (html === null) return text;
  if (text !== null) return text === '' ? null : text;
  const derived = html.length > DERIVED_HTML_CHARACTERS_MAX ? null : htmlToText(html);
  return derived === null || derived.trim() === '' ? null : derived;
}
