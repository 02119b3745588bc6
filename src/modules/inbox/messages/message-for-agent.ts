import { answerBytes, partOf } from '#modules/agents/answer-size.contract.js';
import type { ApiObject } from '#modules/agents/contract.js';
import type { ReceivedMessageDetail } from './messages.dto.js';

const BODY_PAGE = 6_000;
const BODY_BYTES_MAX = 12_000;
/** Maximum size in bytes of the result without its `body`. */
const REST_BYTES_MAX = 11_000;
const ADDRESSES_SHOWN = 5;
const FILES_SHOWN = 10;

/**
 * Returns a message for an AI agent: a page of its text or HTML, and its other fields, shortened if they are too long.
 */
export function messageForAgent(message: ApiObject, body: 'text' | 'reply_text' | 'html', offset: number): ApiObject {
  const detail = message as unknown as ReceivedMessageDetail;
  const { text, nextOffset } = partOf(detail[body] ?? '', offset, BODY_PAGE, BODY_BYTES_MAX);
  const [wide, narrow] = [restOf(detail, 300), restOf(detail, 40)];
  return {
    ...(answerBytes(wide) <= REST_BYTES_MAX ? wide : narrow),
    has_text: detail.text !== null,
    has_html: detail.html !== null,
    body: detail[body] === null ? null : text,
    body_next_offset: nextOffset,
  };
}

function restOf(detail: ReceivedMessageDetail, charactersMax: number): ApiObject {
  const cut = (text: string): string => (text.length <= charactersMax ? text : `${text.slice(0, charactersMax)}…`);
  const few = (texts: readonly string[]): string[] => [
    ...texts.slice(0, ADDRESSES_SHOWN).map(cut),
    ...(texts.length > ADDRESSES_SHOWN ? [`… (${texts.length} in all)`] : []),
  ];
  const orNull = (text: string | null): string | null => (text === null ? null : cut(text));
  const {
    id,
    alias,
    received_at,
    date,
    status,
    reason,
    auth,
    verdicts,
    auto_submitted,
    size_bytes,
    truncated,
    parse_error,
    raw_url,
    attachments,
  } = detail;
  return {
    id,
    alias,
    received_at,
    status,
    reason,
    auth,
    verdicts,
    auto_submitted,
    parse_error,
    from: cut(detail.from),
    to: few(detail.to),
    cc: few(detail.cc),
    reply_to: few(detail.reply_to),
    recipients: few(detail.recipients),
    subject: cut(detail.subject),
    date,
    message_id: orNull(detail.message_id),
    in_reply_to: orNull(detail.in_reply_to),
    size_bytes,
    truncated,
    attachments: attachments.slice(0, FILES_SHOWN).map(({ filename, content_type, size_bytes: size }, index) => ({
      index,
      filename: cut(filename),
      content_type: cut(content_type),
      size_bytes: size,
    })),
    attachments_in_all: attachments.length,
    raw_url,
  };
}
