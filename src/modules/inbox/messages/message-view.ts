import type { Disposition } from '#engine/inbound/disposition.js';
import { cleanText } from '#engine/mail/clean-text.js';
import { type Id, showId } from '#kernel/ids.js';
import type { HeaderLine } from '../reading/parsed-message.js';
import type { Decided, WaitingMessage } from '../reading/waiting-messages.store.js';
import type { StoredDetail } from './message-detail.js';

/** Maximum size of the text, and of the HTML, in an event. The stored message is complete. */
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
}

export function messageView(shown: Shown, baseUrl: string): Record<string, unknown> {
  const { id, aliasId, address, detail } = shown;
  const eventId = showId('evt', id);
  const self = `${baseUrl}/v1/aliases/${showId('al', aliasId)}/messages/${eventId}`;
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
    html: detail.html,
    truncated: detail.isTruncated,
    size_bytes: shown.sizeBytes,
    headers: joined(detail.headerLines),
    header_lines: detail.headerLines,
    in_reply_to: detail.inReplyTo,
    references: detail.references,
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
    raw_url: `${self}/raw`,
    attachments: detail.attachments.map((note, index) => ({ ...note, url: `${self}/attachments/${index}` })),
  };
}

/** Builds the event's payload: the message's API form with shortened texts. */
export function eventBody(message: WaitingMessage, decided: Decided, set: Disposition | null, baseUrl: string): string {
  const { detail } = decided;
  const cut = (text: string | null): { text: string | null; isTruncated: boolean } =>
    text === null ? { text, isTruncated: false } : cleanText(text, EVENT_BODY_BYTES_MAX);
  const [text, html, headerLines] = [cut(detail.text), cut(detail.html), fewHeaders(detail.headerLines)];
  const isTruncated =
    detail.isTruncated || text.isTruncated || html.isTruncated || headerLines.length < detail.headerLines.length;
  const few = { ...detail, text: text.text, html: html.text, headerLines, isTruncated };
  return JSON.stringify(messageView({ ...message, ...decided, status: set ?? 'retrying', detail: few }, baseUrl));
}

/** Joins repeated headers with line breaks, in order. If only the last was kept, a stranger could override one. */
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
