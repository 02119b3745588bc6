import type { Disposition } from '#engine/inbound/disposition.js';
import { cleanText } from '#engine/mail/clean-text.js';
import type { EmailStatus } from '#engine/mail/recipient-state.js';
import { type Id, showId } from '#kernel/ids.js';
import type { HeaderLine } from '../reading/parsed-message.js';
import type { Decided, WaitingMessage } from '../reading/waiting-messages.store.js';
import type { StoredDetail } from './message-detail.js';
import type { MessageLinks } from './signed-links.js';

/** Maximum size of the text, and of the HTML, in an event. The stored message is not truncated to this size. */
const EVENT_BODY_BYTES_MAX = 64 * 1024;
const EVENT_HEADERS_BYTES_MAX = 32 * 1024;

export interface Shown extends Pick<Decided, 'auth' | 'spf' | 'dkim' | 'dmarc' | 'dmarcPolicy' | 'spam' | 'virus'> {
  id: Id;
  aliasId: Id;
  address: string;
  messageId: string | null;
  receivedAt: Date;
  sizeBytes: number;
  envelopeTo: readonly string[];
  status: string;
  reason: string | null;
  detail: StoredDetail;
  inReplyToEmailId: Id | null;
}

/** A copy of a message for a forward address, with its current state. */
export interface ShownForward {
  address: string;
  emailId: Id | null;
  status: EmailStatus | 'pending' | 'skipped';
  detail: string | null;
}

export function messageView(
  shown: Shown,
  links: MessageLinks,
  forwards: readonly ShownForward[] = plannedForwards(shown.detail),
): Record<string, unknown> {
  const { id, aliasId, address, detail } = shown;
  const eventId = showId('evt', id);
  return {
    id: eventId,
    message_id: shown.messageId,
    event_id: eventId,
    alias: address,
    endpoint_id: showId('al', aliasId),
    from: detail.from,
    to: detail.to,
    cc: detail.cc,
    reply_to: detail.replyTo,
    recipients: shown.envelopeTo,
    subject: detail.subject,
    received_at: shown.receivedAt.toISOString(),
    date: detail.date,
    text: detail.text,
    text_from_html: detail.isTextFromHtml ?? false,
    reply_text: detail.replyText ?? detail.text?.trim() ?? null,
    signature: detail.signature ?? null,
    html: detail.html,
    truncated: detail.isTruncated,
    charset_guessed: detail.isCharsetGuessed ?? false,
    size_bytes: shown.sizeBytes,
    headers: joined(detail.headerLines),
    header_lines: detail.headerLines,
    in_reply_to: detail.inReplyTo,
    references: detail.references,
    in_reply_to_email_id: emailIdOf(shown.inReplyToEmailId),
    auto_submitted: detail.autoSubmitted,
    verdicts: {
      spf: shown.spf,
      dkim: shown.dkim,
      dmarc: shown.dmarc,
      arc: detail.arc,
      spam: shown.spam,
      virus: shown.virus,
      dmarc_policy: shown.dmarcPolicy,
    },
    status: shown.status,
    reason: shown.reason,
    auth: shown.auth,
    parse_error: detail.parseError,
    forwards: forwards.map(({ emailId, ...rest }) => ({ ...rest, email_id: emailIdOf(emailId) })),
    auto_reply: detail.autoReply
      ? { email_id: emailIdOf(detail.autoReply.emailId), detail: detail.autoReply.detail }
      : null,
    raw_url: links.raw,
    attachments: detail.attachments.map((note, index) => ({ ...note, url: links.attachment(index) })),
    links_expire_at: links.expiresAt && links.expiresAt.toISOString(),
  };
}

const emailIdOf = (id: Id | null): string | null => id && showId('evt', id);

/** Returns the copies for the forward addresses, as decided when the message was parsed. */
export function plannedForwards(detail: StoredDetail | null): ShownForward[] {
  return (detail?.forwards ?? []).map(({ isPending, ...forward }) => ({
    ...forward,
    status: forward.emailId !== null ? 'sending' : isPending ? 'pending' : 'skipped',
  }));
}

/** Returns the event's payload: the message as the API shows it, with truncated texts. */
export function eventBody(
  message: WaitingMessage,
  decided: Decided,
  set: Disposition | null,
  links: MessageLinks,
): string {
  const { detail } = decided;
  const cut = (text: string | null): { text: string | null; isTruncated: boolean } =>
    text === null ? { text, isTruncated: false } : cleanText(text, EVENT_BODY_BYTES_MAX);
  const [text, html, reply] = [cut(detail.text), cut(detail.html), cut(detail.replyText ?? null)];
  const signature = cut(detail.signature ?? null);
  const headerLines = fewHeaders(detail.headerLines);
  const isTruncated =
    detail.isTruncated ||
    [text, html, reply, signature].some((each) => each.isTruncated) ||
    headerLines.length < detail.headerLines.length;
  const few = {
    ...detail,
    text: text.text,
    html: html.text,
    replyText: reply.text,
    signature: signature.text,
    headerLines,
    isTruncated,
  };
  return JSON.stringify(messageView({ ...message, ...decided, status: set ?? 'retrying', detail: few }, links));
}

/**
 * Returns headers by name. Joins the values of repeated headers, so that a forged value cannot hide the genuine one.
 */
function joined(lines: readonly HeaderLine[]): Record<string, string> {
  const headers = new Map<string, string>();
  for (const { name, value } of lines) headers.set(name, headers.has(name) ? `${headers.get(name)}\n${value}` : value);
  return Object.fromEntries(headers);
}

function fewHeaders(lines: readonly HeaderLine[]): HeaderLine[] {
  let left = EVENT_HEADERS_BYTES_MAX;
  const upTo = lines.findIndex(({ name, value }) => (left -= name.length + value.length) < 0);
  return upTo < 0 ? [...lines] : lines.slice(0, upTo);
}
