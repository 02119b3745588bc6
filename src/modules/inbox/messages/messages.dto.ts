import { ApiProperty } from '@nestjs/swagger';
import { cleanLine } from '#engine/mail/clean-text.js';
import { Examples } from '#http/openapi-examples.js';
import { idTimeMs, showId } from '#kernel/ids.js';
import type { AliasReplayed } from '../aliases/alias-replay.js';
import type { MessageRow } from './messages.store.js';

const STATES = ['received', 'processed', 'quarantined'] as const;
const STATUSES = ['delivered', 'failed', 'retrying', 'dlq'] as const;
const AUTH = ['pass', 'fail', 'none'];
const WORDS = ['pass', 'fail', 'softfail', 'neutral', 'policy', 'none', 'temperror', 'permerror'];
const SCANS = ['pass', 'fail', 'gray', 'disabled', 'processing_failed'];

/** Filters and paging of the list of messages. */
export class ReceivedMessageListQuery {
  /**
   * Returns only messages in this state. `received` messages have not been parsed yet. `quarantined` messages are not
   * delivered until they are released.
   */
  @ApiProperty({ required: false, enum: STATES, example: 'quarantined' })
  state?: (typeof STATES)[number];

  /** Returns only messages with this address in the From header or as the envelope sender. Case does not matter. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 320, example: 'customer@example.org' })
  from?: string;

  /** Returns only messages received at or after this time (RFC 3339). */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-20T00:00:00.000Z' })
  since?: string;

  /** Returns only messages received at or before this time (RFC 3339). */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-21T00:00:00.000Z' })
  until?: string;

  /** The `next_cursor` of the previous page, with the same filters. Omit it for the first page. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;

  /** Maximum number of messages to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/** A received message in a list. */
export class ReceivedMessageItem {
  /** Id of the message and of its event. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** Message-ID header. The sender chose it, so it need not be unique. Null if the message has none. */
  @ApiProperty({ type: String, nullable: true, example: '<4711@mail.example.com>' })
  message_id: string | null;

  /** From header. Until the message is parsed, this is the envelope sender. */
  @ApiProperty({ example: 'Ada <ada@example.com>' })
  from: string;

  /** Subject of the message. Null until the message is parsed. */
  @ApiProperty({ type: String, nullable: true, example: 'Order 42' })
  subject: string | null;

  /** Time when Posthorn accepted the message. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  received_at: string;

  /** Whether the From address is authentic: the result of DMARC. `none` if this cannot be determined. */
  @ApiProperty({ enum: AUTH, example: 'pass' })
  auth: string;

  /** `received` until the message is parsed, then `processed` or `quarantined`. */
  @ApiProperty({ enum: ['received', 'processed', 'quarantined'], example: 'processed' })
  state: string;

  /**
   * Reason for the quarantine: sender_not_allowed, too_large, from_missing, from_ambiguous, dmarc_failed, virus or
   * sender_unverified (name servers did not answer). Null for other messages, and after the message was released.
   */
  @ApiProperty({ type: String, nullable: true, example: null })
  reason: string | null;
}

/** One page of messages, newest first. */
export class ReceivedMessagePage {
  /** The messages of this page. */
  @ApiProperty({ type: [ReceivedMessageItem] })
  data: ReceivedMessageItem[];

  /** Pass this value as `cursor` to get the next page; null on the last page. */
  @ApiProperty({ type: String, nullable: true, example: null })
  next_cursor: string | null;
}

/** One header of a message. */
export class ReceivedHeaderItem {
  /** Name of the header, in lower case. */
  @ApiProperty({ example: 'x-mailer' })
  name: string;

  /** Value of the header, unfolded and otherwise unchanged. */
  @ApiProperty({ example: 'Example 1.0' })
  value: string;
}

/** A file in a message. */
export class ReceivedAttachmentItem {
  /** File name that the sender gave, sanitized and without a path. */
  @ApiProperty({ example: 'invoice.pdf' })
  filename: string;

  /** Content type that the sender declared. */
  @ApiProperty({ example: 'application/pdf' })
  content_type: string;

  /** Size of the decoded file in bytes. */
  @ApiProperty({ type: 'integer', example: 48213 })
  size_bytes: number;

  /** Content-ID by which the message's HTML refers to the file (`cid:`). Null if it has none. */
  @ApiProperty({ type: String, nullable: true, example: null })
  content_id: string | null;

  /** URL of the file's bytes. */
  @ApiProperty({
    example:
      'https://hooks.example.com/v1/aliases/al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1/messages/evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1/attachments/0',
  })
  url: string;
}

/** Results of the sender authentication and of the spam and virus checks. */
export class ReceivedVerdictsItem {
  /**
   * SPF result: whether the connecting client may send mail for the domain of the envelope sender. For a null sender,
   * the HELO domain is checked (RFC 7208).
   */
  @ApiProperty({ enum: WORDS, example: 'pass' })
  spf: string;

  /** Best result of the message's DKIM signatures (RFC 6376). */
  @ApiProperty({ enum: WORDS, example: 'pass' })
  dkim: string;

  /**
   * DMARC result: whether SPF or DKIM passed for the domain of the author (RFC 9989). `temperror` if name servers did
   * not answer a decisive query.
   */
  @ApiProperty({ enum: WORDS, example: 'pass' })
  dmarc: string;

  /** Result of checking the ARC headers that forwarders added (RFC 8617). For information only. */
  @ApiProperty({ enum: WORDS, example: 'none' })
  arc: string;

  /** Result of the spam check by rspamd. `disabled` if rspamd is not configured. */
  @ApiProperty({ enum: SCANS, example: 'disabled' })
  spam: string;

  /** Result of the virus check by clamd. `disabled` if clamd is not configured. */
  @ApiProperty({ enum: SCANS, example: 'disabled' })
  virus: string;

  /**
   * Policy that the author's domain publishes for mail that fails DMARC. Null if the domain has no DMARC record or name
   * servers did not answer.
   */
  @ApiProperty({ type: String, enum: ['none', 'quarantine', 'reject'], nullable: true, example: 'reject' })
  dmarc_policy: string | null;
}

/** A received message. It is also the body of its event. */
export class ReceivedMessageDetail {
  /** Id of the message. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** Message-ID header. Null if the message has none. */
  @ApiProperty({ type: String, nullable: true, example: '<4711@mail.example.com>' })
  message_id: string | null;

  /** Id of the event, equal to the message's id. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  event_id: string;

  /** Address of the alias that received the message. */
  @ApiProperty({ example: 'support.acme@in.example.com' })
  alias: string;

  /** Id of the alias. Event filters use it as `endpoint`. */
  @ApiProperty({ example: 'al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  endpoint_id: string;

  /** From header of the message. */
  @ApiProperty({ example: 'Ada <ada@example.com>' })
  from: string;

  /** Addresses of the To header, at most 1,000. */
  @ApiProperty({ type: [String], example: ['support.acme@in.example.com'] })
  to: string[];

  /** Addresses of the Cc header. */
  @ApiProperty({ type: [String], example: [] })
  cc: string[];

  /** Addresses of the Reply-To header. */
  @ApiProperty({ type: [String], example: [] })
  reply_to: string[];

  /** Envelope recipients that led to this alias, as the sending server gave them. A blind copy is visible only here. */
  @ApiProperty({ type: [String], example: ['support.acme+orders@in.example.com'] })
  recipients: string[];

  /** Subject of the message. */
  @ApiProperty({ example: 'Order 42' })
  subject: string;

  /** Time when Posthorn accepted the message. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  received_at: string;

  /** Time in the Date header. Null if it is not a valid time. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: '2026-11-21T09:29:58.000Z' })
  date: string | null;

  /** Text of the message, up to 1 MB (64 KB in the event). Null if the message has none. */
  @ApiProperty({ type: String, nullable: true, example: 'Where is it?' })
  text: string | null;

  /**
   * Unsanitized HTML of the message, up to 1 MB (64 KB in the event). Never show it without sanitizing it. Null if the
   * message has none.
   */
  @ApiProperty({ type: String, nullable: true, example: null })
  html: string | null;

  /** Whether the text, the HTML, the headers or a long list was truncated. `raw_url` has the whole message. */
  @ApiProperty({ example: false })
  truncated: boolean;

  /** Size of the whole message in bytes. */
  @ApiProperty({ type: 'integer', example: 2048 })
  size_bytes: number;

  /** Headers by name in lower case. Repeated headers are joined by line breaks. */
  @ApiProperty({ type: 'object', additionalProperties: { type: 'string' }, example: { subject: 'Order 42' } })
  headers: Record<string, string>;

  /** All headers in their original order, including repeated ones. */
  @ApiProperty({ type: [ReceivedHeaderItem] })
  header_lines: ReceivedHeaderItem[];

  /** Message-ID to which this message replies (In-Reply-To). Null if there is none. */
  @ApiProperty({ type: String, nullable: true, example: null })
  in_reply_to: string | null;

  /** Message-IDs of the thread (References), oldest first. */
  @ApiProperty({ type: [String], example: [] })
  references: string[];

  /** Whether the message was sent automatically (RFC 3834). Do not reply to an automatic message automatically. */
  @ApiProperty({ example: false })
  auto_submitted: boolean;

  /** Results of the sender authentication and of the spam and virus checks. */
  @ApiProperty({ type: ReceivedVerdictsItem })
  verdicts: ReceivedVerdictsItem;

  /**
   * State of the message's event: delivered, retrying, dlq, failed, ignored (the alias has no destination), parked (the
   * message could not be parsed) or quarantined. `received` until the message is parsed.
   */
  @ApiProperty({ example: 'delivered' })
  status: string;

  /** Reason for the quarantine. Null otherwise. */
  @ApiProperty({ type: String, nullable: true, example: null })
  reason: string | null;

  /** Whether the From address is authentic: the result of DMARC. `none` if this cannot be determined. */
  @ApiProperty({ enum: AUTH, example: 'pass' })
  auth: string;

  /** Reason why the message could not be parsed, as a sentence. Null if it could be parsed. */
  @ApiProperty({ type: String, nullable: true, example: null })
  parse_error: string | null;

  /** URL of the original message, byte for byte. */
  @ApiProperty({
    example:
      'https://hooks.example.com/v1/aliases/al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1/messages/evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1/raw',
  })
  raw_url: string;

  /** Attached files, in their original order. */
  @ApiProperty({ type: [ReceivedAttachmentItem] })
  attachments: ReceivedAttachmentItem[];
}

/** Selects the messages to replay. */
@Examples({
  all: { summary: 'Replay all messages received since a given time', value: { since: '2026-11-20T00:00:00.000Z' } },
  count: {
    summary: 'Only count the messages',
    value: { since: '2026-11-20T00:00:00.000Z', until: '2026-11-21T00:00:00.000Z', dry_run: true },
  },
})
export class AliasReplayBody {
  /** Selects only messages accepted at or after this time (RFC 3339). */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-20T00:00:00.000Z' })
  since?: string;

  /** Selects only messages accepted at or before this time (RFC 3339). */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-21T00:00:00.000Z' })
  until?: string;

  /** Selects only messages whose event is in this state. */
  @ApiProperty({ required: false, enum: STATUSES, example: 'dlq' })
  status?: (typeof STATUSES)[number];

  /** If true, only counts the messages and sends nothing. */
  @ApiProperty({ required: false, default: false, example: false })
  dry_run?: boolean;

  /** The `next_cursor` of the previous call, with the same other fields. Omit it for the first call. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;
}

/** Result of a replay of an alias. */
export class AliasReplayItem {
  /** Id of this replay call. */
  @ApiProperty({ example: 'rpl_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  replay_id: string;

  /** Id of the alias. */
  @ApiProperty({ example: 'al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  alias_id: string;

  /** Whether the call only counted messages. */
  @ApiProperty({ example: false })
  dry_run: boolean;

  /** Number of messages examined. */
  @ApiProperty({ type: 'integer', example: 3 })
  scanned: number;

  /** Number of messages that are sent again, or would be with `dry_run`. */
  @ApiProperty({ type: 'integer', example: 2 })
  replayed: number;

  /** Number of deliveries that are created, or would be with `dry_run`. Each message has one for each destination. */
  @ApiProperty({ type: 'integer', example: 2 })
  enqueued: number;

  /** Number of messages that are not sent, because the alias has no destination. */
  @ApiProperty({ type: 'integer', example: 0 })
  skipped: number;

  /** Number of messages that are never sent again, because they are quarantined, parked or erased. */
  @ApiProperty({ type: 'integer', example: 1 })
  excluded: number;

  /** Ids of the destinations to which the messages are sent. */
  @ApiProperty({ type: [String], example: ['dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'] })
  destinations: string[];

  /** Pass this value as `cursor` to process the next 1,000 messages; null if there are no more. */
  @ApiProperty({ type: String, nullable: true, example: null })
  next_cursor: string | null;
}

export function presentMessages({
  rows,
  nextCursor,
}: {
  rows: readonly MessageRow[];
  nextCursor: string | null;
}): ReceivedMessagePage {
  return { data: rows.map(presentMessage), next_cursor: nextCursor };
}

function presentMessage({
  id,
  messageId,
  sender,
  envelopeFrom,
  subject,
  auth,
  state,
  reason,
}: MessageRow): ReceivedMessageItem {
  return {
    id: showId('evt', id),
    message_id: messageId,
    from: sender ?? cleanLine(envelopeFrom, 1_024).text,
    subject,
    received_at: new Date(idTimeMs(id)).toISOString(),
    auth: auth ?? 'none',
    state,
    reason,
  };
}

export function presentReplay({
  replayId,
  aliasId,
  isDryRun,
  scanned,
  replayed,
  enqueued,
  skipped,
  excluded,
  destinations,
  nextCursor,
}: AliasReplayed): AliasReplayItem {
  return {
    replay_id: showId('rpl', replayId),
    alias_id: showId('al', aliasId),
    dry_run: isDryRun,
    scanned,
    replayed,
    enqueued,
    skipped,
    excluded,
    destinations: destinations.map((destination) => showId('dst', destination)),
    next_cursor: nextCursor,
  };
}
