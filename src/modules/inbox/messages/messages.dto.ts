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

/** Which page of messages. */
export class ReceivedMessageListQuery {
  /** Only messages in this state: `received` has not been looked at yet, `quarantined` goes nowhere until it is released. */
  @ApiProperty({ required: false, enum: STATES, example: 'quarantined' })
  state?: (typeof STATES)[number];

  /** Only messages from this address, which they say they are from or their envelope has; whatever its case. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 320, example: 'customer@example.org' })
  from?: string;

  /** Only messages that came at or after this time (RFC 3339). */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-20T00:00:00.000Z' })
  since?: string;

  /** Only messages that came at or before this time (RFC 3339). */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-21T00:00:00.000Z' })
  until?: string;

  /** Where to go on: the `next_cursor` of the page before, with the same filters. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;

  /** How many to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/** A received message in a list. */
export class ReceivedMessageItem {
  /** The message's id, and that of its event. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** Its Message-ID header, which its sender chose: it need not be unique. Null without one. */
  @ApiProperty({ type: String, nullable: true, example: '<4711@mail.example.com>' })
  message_id: string | null;

  /** Whom it says it is from; the sender of the envelope until it was read. */
  @ApiProperty({ example: 'Ada <ada@example.com>' })
  from: string;

  /** Its subject; null until it was read. */
  @ApiProperty({ type: String, nullable: true, example: 'Order 42' })
  subject: string | null;

  /** When it was taken. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  received_at: string;

  /** Whether it is from whom it says it is: what DMARC says; `none` where nobody can tell. */
  @ApiProperty({ enum: AUTH, example: 'pass' })
  auth: string;

  /** `received` until it was read, then `processed` or `quarantined`. */
  @ApiProperty({ enum: ['received', 'processed', 'quarantined'], example: 'processed' })
  state: string;

  /** Why it is quarantined: sender_not_allowed, too_large, from_missing, from_ambiguous, dmarc_failed, virus or sender_unverified (name servers did not answer); null otherwise, and once it was released. */
  @ApiProperty({ type: String, nullable: true, example: null })
  reason: string | null;
}

/** One page of messages, newest first. */
export class ReceivedMessagePage {
  /** The messages of this page. */
  @ApiProperty({ type: [ReceivedMessageItem] })
  data: ReceivedMessageItem[];

  /** Pass it as `cursor` for the next page; null on the last one. */
  @ApiProperty({ type: String, nullable: true, example: null })
  next_cursor: string | null;
}

/** One header of a message. */
export class ReceivedHeaderItem {
  /** In lower case. */
  @ApiProperty({ example: 'x-mailer' })
  name: string;

  /** Unfolded, otherwise as it came. */
  @ApiProperty({ example: 'Example 1.0' })
  value: string;
}

/** A file in a message. */
export class ReceivedAttachmentItem {
  /** What its sender calls it, made safe: without a path. */
  @ApiProperty({ example: 'invoice.pdf' })
  filename: string;

  /** What its sender says it is. */
  @ApiProperty({ example: 'application/pdf' })
  content_type: string;

  /** Decoded. */
  @ApiProperty({ type: 'integer', example: 48213 })
  size_bytes: number;

  /** How the message's HTML names it (`cid:`); null for none. */
  @ApiProperty({ type: String, nullable: true, example: null })
  content_id: string | null;

  /** Where its bytes are. */
  @ApiProperty({
    example:
      'https://hooks.example.com/v1/aliases/al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1/messages/evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1/attachments/0',
  })
  url: string;
}

/** What was found out about whom a message is from, and whether it does harm. */
export class ReceivedVerdictsItem {
  /** Whether the sender of the envelope (of a null sender, the HELO) may send from that address (RFC 7208). */
  @ApiProperty({ enum: WORDS, example: 'pass' })
  spf: string;

  /** The best of its signatures (RFC 6376). */
  @ApiProperty({ enum: WORDS, example: 'pass' })
  dkim: string;

  /** Whether one of the two belongs to the domain of its author (RFC 9989). `temperror` when name servers did not answer for what would have decided that. */
  @ApiProperty({ enum: WORDS, example: 'pass' })
  dmarc: string;

  /** What forwarders say of it (RFC 8617); only told. */
  @ApiProperty({ enum: WORDS, example: 'none' })
  arc: string;

  /** What rspamd says; `disabled` without one. */
  @ApiProperty({ enum: SCANS, example: 'disabled' })
  spam: string;

  /** What clamd says; `disabled` without one. */
  @ApiProperty({ enum: SCANS, example: 'disabled' })
  virus: string;

  /** What the domain of its author asks for when DMARC fails; null without a record, and when name servers did not answer for it. */
  @ApiProperty({ type: String, enum: ['none', 'quarantine', 'reject'], nullable: true, example: 'reject' })
  dmarc_policy: string | null;
}

/** A received message, which is also the body of its event. */
export class ReceivedMessageDetail {
  /** The message's id. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** Its Message-ID header; null without one. */
  @ApiProperty({ type: String, nullable: true, example: '<4711@mail.example.com>' })
  message_id: string | null;

  /** Its event: the same id. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  event_id: string;

  /** The address of the alias that it came to. */
  @ApiProperty({ example: 'support.acme@in.example.com' })
  alias: string;

  /** The id of the alias: what events are filtered by as `endpoint`. */
  @ApiProperty({ example: 'al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  endpoint_id: string;

  /** Whom it says it is from. */
  @ApiProperty({ example: 'Ada <ada@example.com>' })
  from: string;

  /** Whom it says it is for: at most 1,000. */
  @ApiProperty({ type: [String], example: ['support.acme@in.example.com'] })
  to: string[];

  /** Who has a copy. */
  @ApiProperty({ type: [String], example: [] })
  cc: string[];

  /** Where answers are to go. */
  @ApiProperty({ type: [String], example: [] })
  reply_to: string[];

  /** The recipients that led to this alias, as the sending server gave them: a blind copy stands nowhere else. */
  @ApiProperty({ type: [String], example: ['support.acme+orders@in.example.com'] })
  recipients: string[];

  /** Its subject. */
  @ApiProperty({ example: 'Order 42' })
  subject: string;

  /** When it was taken. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  received_at: string;

  /** When its sender says it was written; null for what is no time. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: '2026-11-21T09:29:58.000Z' })
  date: string | null;

  /** Its text, up to 1 MB (64 KB in the event); null without one. */
  @ApiProperty({ type: String, nullable: true, example: 'Where is it?' })
  text: string | null;

  /** Its HTML as it came, up to 1 MB (64 KB in the event): never show it without cleaning it. Null without one. */
  @ApiProperty({ type: String, nullable: true, example: null })
  html: string | null;

  /** Whether something was cut: the text, the HTML, headers, or a long list. `raw_url` has all of it. */
  @ApiProperty({ example: false })
  truncated: boolean;

  /** Of the whole message. */
  @ApiProperty({ type: 'integer', example: 2048 })
  size_bytes: number;

  /** Its headers by their names in lower case; repeated ones are joined by line ends. */
  @ApiProperty({ type: 'object', additionalProperties: { type: 'string' }, example: { subject: 'Order 42' } })
  headers: Record<string, string>;

  /** Its headers in their order, repeated ones too. */
  @ApiProperty({ type: [ReceivedHeaderItem] })
  header_lines: ReceivedHeaderItem[];

  /** The Message-ID that it answers; null for none. */
  @ApiProperty({ type: String, nullable: true, example: null })
  in_reply_to: string | null;

  /** The Message-IDs of its thread, oldest first. */
  @ApiProperty({ type: [String], example: [] })
  references: string[];

  /** Whether a machine sent it by itself (RFC 3834): such a message is not to be answered by another one. */
  @ApiProperty({ example: false })
  auto_submitted: boolean;

  /** What was found out about it. */
  @ApiProperty({ type: ReceivedVerdictsItem })
  verdicts: ReceivedVerdictsItem;

  /** Of its event: delivered, retrying, dlq, failed, ignored (the alias leads nowhere), parked (it could not be read) or quarantined; `received` until it was read. */
  @ApiProperty({ example: 'delivered' })
  status: string;

  /** Why it is quarantined; null otherwise. */
  @ApiProperty({ type: String, nullable: true, example: null })
  reason: string | null;

  /** Whether it is from whom it says it is: what DMARC says; `none` where nobody can tell. */
  @ApiProperty({ enum: AUTH, example: 'pass' })
  auth: string;

  /** Why it could not be read, in a sentence; null for one that could. */
  @ApiProperty({ type: String, nullable: true, example: null })
  parse_error: string | null;

  /** Where it is byte for byte. */
  @ApiProperty({
    example:
      'https://hooks.example.com/v1/aliases/al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1/messages/evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1/raw',
  })
  raw_url: string;

  /** Its files, in their order. */
  @ApiProperty({ type: [ReceivedAttachmentItem] })
  attachments: ReceivedAttachmentItem[];
}

/** Which messages to send again. */
@Examples({
  all: { summary: 'Everything that came since a time', value: { since: '2026-11-20T00:00:00.000Z' } },
  count: {
    summary: 'Only count',
    value: { since: '2026-11-20T00:00:00.000Z', until: '2026-11-21T00:00:00.000Z', dry_run: true },
  },
})
export class AliasReplayBody {
  /** Only messages that were taken at or after this time (RFC 3339). */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-20T00:00:00.000Z' })
  since?: string;

  /** Only messages that were taken at or before this time (RFC 3339). */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-21T00:00:00.000Z' })
  until?: string;

  /** Only messages whose event is in this state. */
  @ApiProperty({ required: false, enum: STATUSES, example: 'dlq' })
  status?: (typeof STATUSES)[number];

  /** Only count. */
  @ApiProperty({ required: false, default: false, example: false })
  dry_run?: boolean;

  /** Where to go on: the `next_cursor` of the call before, with the same fields. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;
}

/** What a replay of an alias came to. */
export class AliasReplayItem {
  /** Id of this call. */
  @ApiProperty({ example: 'rpl_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  replay_id: string;

  /** The alias. */
  @ApiProperty({ example: 'al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  alias_id: string;

  /** Whether it only counted. */
  @ApiProperty({ example: false })
  dry_run: boolean;

  /** Messages that were looked at. */
  @ApiProperty({ type: 'integer', example: 3 })
  scanned: number;

  /** Messages that are sent again, or would be. */
  @ApiProperty({ type: 'integer', example: 2 })
  replayed: number;

  /** Deliveries that are made for them, or would be: one for each destination. */
  @ApiProperty({ type: 'integer', example: 2 })
  enqueued: number;

  /** Messages that go nowhere, since the alias has no destination. */
  @ApiProperty({ type: 'integer', example: 0 })
  skipped: number;

  /** Messages that are never sent again: quarantined, parked or erased. */
  @ApiProperty({ type: 'integer', example: 1 })
  excluded: number;

  /** Where they go. */
  @ApiProperty({ type: [String], example: ['dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'] })
  destinations: string[];

  /** Pass it as `cursor` for the next 1,000; null when there are no more. */
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
