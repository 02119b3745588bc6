import { ApiProperty } from '@nestjs/swagger';
import { IsArray, IsBoolean, IsIn, IsInt, IsString, Length, Max, MaxLength, Min } from 'class-validator';
import { cleanLine } from '#engine/mail/clean-text.js';
import { Examples } from '#http/openapi-examples.js';
import { CanBeNull, CanBeOmitted, IsArrayOf, IsDateTime, IsObjectOf, IsStringMap } from '#http/validation.js';
import { idTimeMs, showId } from '#kernel/ids.js';
import type { AliasReplayed } from '../aliases/alias-replay.js';
import { AutoReplyItem, ForwardedMessageItem } from './message-links.dto.js';
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
  @ApiProperty({ example: 'quarantined' })
  @CanBeOmitted()
  @IsIn(STATES)
  state?: (typeof STATES)[number];

  /** Returns only messages with this address in the From header or as the envelope sender. Case does not matter. */
  @ApiProperty({ example: 'customer@example.org' })
  @CanBeOmitted()
  @IsString()
  @Length(1, 320)
  from?: string;

  /** Returns only replies to this sent email. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B2' })
  @CanBeOmitted()
  @IsString()
  @Length(1, 64)
  email_id?: string;

  /** Returns only messages received at or after this time (RFC 3339). */
  @ApiProperty({ example: '2026-11-20T00:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  since?: string;

  /** Returns only messages received at or before this time (RFC 3339). */
  @ApiProperty({ example: '2026-11-21T00:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  until?: string;

  /** The `next_cursor` of the previous page, with the same filters. Omit it for the first page. */
  @ApiProperty({ example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(1024)
  cursor?: string;

  /** Maximum number of messages to return. */
  @ApiProperty({ default: 50, example: 50 })
  @CanBeOmitted()
  @IsInt()
  @Min(1)
  @Max(100)
  limit?: number;
}

/** A received message in a list. */
export class ReceivedMessageItem {
  /** Id of the message and of its event. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /** Message-ID header. The sender chose it, so it need not be unique. Null if the message has none. */
  @ApiProperty({ example: '<4711@mail.example.com>' })
  @CanBeNull()
  @IsString()
  message_id: string | null;

  /** From header. Until the message is parsed, this is the envelope sender. */
  @ApiProperty({ example: 'Ada <ada@example.com>' })
  @IsString()
  from: string;

  /** Subject of the message. Null until the message is parsed. */
  @ApiProperty({ example: 'Order 42' })
  @CanBeNull()
  @IsString()
  subject: string | null;

  /** Time when Posthorn accepted the message. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  received_at: string;

  /** Whether the From address is authentic: the result of DMARC. `none` if this cannot be determined. */
  @ApiProperty({ example: 'pass' })
  @IsIn(AUTH)
  auth: string;

  /** `received` until the message is parsed, then `processed` or `quarantined`. */
  @ApiProperty({ example: 'processed' })
  @IsIn(['received', 'processed', 'quarantined'])
  state: string;

  /**
   * Reason for the quarantine: sender_not_allowed, too_large, from_missing, from_ambiguous, dmarc_failed, virus or
   * sender_unverified (name servers did not answer). Null for other messages, and after the release of the message.
   */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  reason: string | null;
}

/** One page of messages, newest first. */
export class ReceivedMessagePage {
  /** The messages of this page. */
  @IsArrayOf(() => ReceivedMessageItem)
  data: ReceivedMessageItem[];

  /** Pass this value as `cursor` to get the next page; null on the last page. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;
}

/** One header of a message. */
export class ReceivedHeaderItem {
  /** Name of the header, in lower case. */
  @ApiProperty({ example: 'x-mailer' })
  @IsString()
  name: string;

  /** Value of the header, unfolded and otherwise unchanged. */
  @ApiProperty({ example: 'Example 1.0' })
  @IsString()
  value: string;
}

/** A file in a message. */
export class ReceivedAttachmentItem {
  /** File name that the sender gave, sanitized and without a path. */
  @ApiProperty({ example: 'invoice.pdf' })
  @IsString()
  filename: string;

  /** Content type that the sender declared. */
  @ApiProperty({ example: 'application/pdf' })
  @IsString()
  content_type: string;

  /** Size of the decoded file in bytes. */
  @ApiProperty({ example: 48213 })
  @IsInt()
  size_bytes: number;

  /** Content-ID by which the message's HTML refers to the file (`cid:`). Null if it has none. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  content_id: string | null;

  /** URL of the file's bytes. */
  @ApiProperty({
    example:
      'https://hooks.example.com/v1/aliases/al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1/messages/evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1/attachments/0',
  })
  @IsString()
  url: string;
}

/** Results of the sender authentication and of the spam and virus checks. */
export class ReceivedVerdictsItem {
  /**
   * SPF result: whether the connecting client may send mail for the domain of the envelope sender. If the envelope
   * sender is empty, the HELO domain is checked (RFC 7208).
   */
  @ApiProperty({ example: 'pass' })
  @IsIn(WORDS)
  spf: string;

  /** Best result of the message's DKIM signatures (RFC 6376). */
  @ApiProperty({ example: 'pass' })
  @IsIn(WORDS)
  dkim: string;

  /**
   * DMARC result: whether SPF or DKIM passed for the domain of the author (RFC 9989). `temperror` if name servers did
   * not answer a decisive query.
   */
  @ApiProperty({ example: 'pass' })
  @IsIn(WORDS)
  dmarc: string;

  /** Result of checking the ARC headers that forwarders added (RFC 8617). This result does not affect other results. */
  @ApiProperty({ example: 'none' })
  @IsIn(WORDS)
  arc: string;

  /** Result of the spam check by rspamd. `disabled` if rspamd is not configured. */
  @ApiProperty({ example: 'disabled' })
  @IsIn(SCANS)
  spam: string;

  /** Result of the virus check by clamd. `disabled` if clamd is not configured. */
  @ApiProperty({ example: 'disabled' })
  @IsIn(SCANS)
  virus: string;

  /**
   * Policy that the author's domain publishes for mail that fails DMARC. Null if the domain has no DMARC record or name
   * servers did not answer.
   */
  @ApiProperty({ example: 'reject' })
  @CanBeNull()
  @IsIn(['none', 'quarantine', 'reject'])
  dmarc_policy: string | null;
}

/** A received message. Its event has the same contents as payload. */
export class ReceivedMessageDetail {
  /** Id of the message. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /** Message-ID header. Null if the message has none. */
  @ApiProperty({ example: '<4711@mail.example.com>' })
  @CanBeNull()
  @IsString()
  message_id: string | null;

  /** Id of the event, equal to the message's id. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  event_id: string;

  /** Address of the alias that received the message. */
  @ApiProperty({ example: 'support.acme@in.example.com' })
  @IsString()
  alias: string;

  /** Id of the alias. Event filters use it as `endpoint`. */
  @ApiProperty({ example: 'al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  endpoint_id: string;

  /** From header of the message. */
  @ApiProperty({ example: 'Ada <ada@example.com>' })
  @IsString()
  from: string;

  /** Addresses of the To header, at most 1,000. */
  @ApiProperty({ example: ['support.acme@in.example.com'] })
  @IsArray()
  @IsString({ each: true })
  to: string[];

  /** Addresses of the Cc header. */
  @ApiProperty({ example: [] })
  @IsArray()
  @IsString({ each: true })
  cc: string[];

  /** Addresses of the Reply-To header. */
  @ApiProperty({ example: [] })
  @IsArray()
  @IsString({ each: true })
  reply_to: string[];

  /**
   * Envelope recipients that led to this alias, as the sending server gave them. Blind-copy recipients appear only
   * here.
   */
  @ApiProperty({ example: ['support.acme+orders@in.example.com'] })
  @IsArray()
  @IsString({ each: true })
  recipients: string[];

  /** Subject of the message. */
  @ApiProperty({ example: 'Order 42' })
  @IsString()
  subject: string;

  /** Time when Posthorn accepted the message. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  received_at: string;

  /** Time in the Date header. Null if it is not a valid time. */
  @ApiProperty({ example: '2026-11-21T09:29:58.000Z' })
  @CanBeNull()
  @IsDateTime()
  date: string | null;

  /**
   * Text of the message, up to 1 MB (64 KB in the event). If the message has only HTML, this is the HTML converted to
   * text (`text_from_html`). Null if the message has neither.
   */
  @ApiProperty({ example: 'Where is it?' })
  @CanBeNull()
  @IsString()
  text: string | null;

  /** Whether the text is, or contains, text that Posthorn converted from HTML. At most 256 KB of HTML are converted. */
  @ApiProperty({ example: false })
  @IsBoolean()
  text_from_html: boolean;

  /**
   * Text without quoted messages and without the signature. Both are recognized by the patterns of common email
   * clients in 31 languages, so this text may contain too much or too little. If a message consists only of quotes,
   * this is the whole text. `text` is complete. Null if `text` is null.
   */
  @ApiProperty({ example: 'Where is it?' })
  @CanBeNull()
  @IsString()
  reply_text: string | null;

  /** Signature at the end of the text, without its separator. Null if none was recognized. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  signature: string | null;

  /**
   * Unsanitized HTML of the message, up to 1 MB (64 KB in the event). Never show it without sanitizing it. Null if the
   * message has none.
   */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  html: string | null;

  /** Whether the text, the HTML, the headers or a long list was truncated. `raw_url` returns the complete message. */
  @ApiProperty({ example: false })
  @IsBoolean()
  truncated: boolean;

  /**
   * Whether a text, a name or a header contains bytes that are not UTF-8, without a declared character set. Posthorn
   * then guesses the character set, so some characters may be wrong.
   */
  @ApiProperty({ example: false })
  @IsBoolean()
  charset_guessed: boolean;

  /** Size of the whole message in bytes. */
  @ApiProperty({ example: 2048 })
  @IsInt()
  size_bytes: number;

  /** Headers by name in lower case. Repeated headers are joined by line breaks. */
  @ApiProperty({ example: { subject: 'Order 42' } })
  @IsStringMap()
  headers: Record<string, string>;

  /** All headers in their original order, including repeated ones. */
  @IsArrayOf(() => ReceivedHeaderItem)
  header_lines: ReceivedHeaderItem[];

  /** Message-ID to which this message replies (In-Reply-To). Null if there is none. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  in_reply_to: string | null;

  /** Message-IDs of the thread (References), oldest first. */
  @ApiProperty({ example: [] })
  @IsArray()
  @IsString({ each: true })
  references: string[];

  /**
   * Id of the sent email that this message replies to, found by `in_reply_to` and `references`. Null if the environment
   * sent no such email, or if the email's retention has ended.
   */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  in_reply_to_email_id: string | null;

  /** Whether the message was sent automatically (RFC 3834). Do not send automatic replies to such a message. */
  @ApiProperty({ example: false })
  @IsBoolean()
  auto_submitted: boolean;

  /** Results of the sender authentication and of the spam and virus checks. */
  @IsObjectOf(() => ReceivedVerdictsItem)
  verdicts: ReceivedVerdictsItem;

  /**
   * State of the message's event: delivered, retrying, dlq, failed, ignored (the alias has no destination), parked (the
   * message could not be parsed) or quarantined. `received` until the message is parsed.
   */
  @ApiProperty({ example: 'delivered' })
  @IsString()
  status: string;

  /** Reason for the quarantine. Null otherwise. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  reason: string | null;

  /** Whether the From address is authentic: the result of DMARC. `none` if this cannot be determined. */
  @ApiProperty({ example: 'pass' })
  @IsIn(AUTH)
  auth: string;

  /** Sentence that describes why the message could not be parsed completely. Null if it was parsed completely. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  parse_error: string | null;

  /** URL of the original message, byte for byte. */
  @ApiProperty({
    example:
      'https://hooks.example.com/v1/aliases/al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1/messages/evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1/raw',
  })
  @IsString()
  raw_url: string;

  /** Attached files, in their original order. */
  @IsArrayOf(() => ReceivedAttachmentItem)
  attachments: ReceivedAttachmentItem[];

  /** Time after which the URLs of this message no longer work. Null if the URLs need an API key and do not expire. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsDateTime()
  links_expire_at: string | null;

  /** Copies for the forward addresses of the alias. Empty if the alias does not forward. */
  @IsArrayOf(() => ForwardedMessageItem)
  forwards: ForwardedMessageItem[];

  /** Automatic reply of the alias. Null if the alias does not reply automatically. */
  @CanBeNull()
  @IsObjectOf(() => AutoReplyItem)
  auto_reply: AutoReplyItem | null;
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
  /** Selects only messages accepted at or after this time (RFC 3339). Required if `until` and `dry_run` are omitted. */
  @ApiProperty({ example: '2026-11-20T00:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  since?: string;

  /** Selects only messages accepted up to this time (RFC 3339). Required if `since` and `dry_run` are omitted. */
  @ApiProperty({ example: '2026-11-21T00:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  until?: string;

  /** Selects only messages whose event is in this state. */
  @ApiProperty({ example: 'dlq' })
  @CanBeOmitted()
  @IsIn(STATUSES)
  status?: (typeof STATUSES)[number];

  /** If true, only counts the messages and sends nothing. */
  @ApiProperty({ default: false, example: false })
  @CanBeOmitted()
  @IsBoolean()
  dry_run?: boolean;

  /** The `next_cursor` of the previous call. Repeat all other fields unchanged. Omit it for the first call. */
  @ApiProperty({ example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(1024)
  cursor?: string;
}

/** Result of replaying messages of an alias. */
export class AliasReplayItem {
  /** Id of this replay call. */
  @ApiProperty({ example: 'rpl_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  replay_id: string;

  /** Id of the alias. */
  @ApiProperty({ example: 'al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  alias_id: string;

  /** Whether the call only counted messages. */
  @ApiProperty({ example: false })
  @IsBoolean()
  dry_run: boolean;

  /** Number of messages examined. */
  @ApiProperty({ example: 3 })
  @IsInt()
  scanned: number;

  /** Number of messages that are sent again. With `dry_run`, the number that would be sent again. */
  @ApiProperty({ example: 2 })
  @IsInt()
  replayed: number;

  /**
   * Number of deliveries created, one for each message and destination. With `dry_run`, the number that would be
   * created.
   */
  @ApiProperty({ example: 2 })
  @IsInt()
  enqueued: number;

  /** Number of messages that are not sent, because the alias has no destination. */
  @ApiProperty({ example: 0 })
  @IsInt()
  skipped: number;

  /** Number of quarantined, parked and erased messages in the time range. A replay does not send them. */
  @ApiProperty({ example: 1 })
  @IsInt()
  excluded: number;

  /** Ids of the destinations to which the messages are sent. */
  @ApiProperty({ example: ['dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'] })
  @IsArray()
  @IsString({ each: true })
  destinations: string[];

  /** Pass this value as `cursor` to process the next 1,000 messages; null if there are no more. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
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

export function presentMessage({
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
