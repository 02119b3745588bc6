import { ApiProperty } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsString,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { MAIL_HEADERS_RULE } from '#engine/mail/header-rules.js';
import { recipientStatus } from '#engine/mail/recipient-state.js';
import { SCHEDULE_RULE } from '#engine/mail/schedule.js';
import { Examples } from '#http/openapi-examples.js';
import { AllowUnknownFields } from '#http/unknown-fields.js';
import {
  CanBeNull,
  CanBeOmitted,
  IsArrayOf,
  IsDateTime,
  IsObjectOf,
  IsStringMap,
  MatchesSchema,
} from '#http/validation.js';
import type { StoredAnswer } from '#kernel/idempotency.js';
import { type Id, idTimeMs, parseId, showId } from '#kernel/ids.js';
import type { AttemptRow } from '#modules/events/attempts.contract.js';
import type { AcceptedEmail } from './accept-email.js';
import { ATTACHMENTS_MAX } from './attachment-draft.js';
import { RECIPIENTS_MAX, SUBJECT_CHARACTERS_MAX, TAGS_MAX } from './email-draft.js';
import type { EmailView } from './emails.service.js';
import { type EmailRow, SHOWN_STATUSES } from './emails.store.js';
import type { BatchOutcome } from './send-emails.js';

const ACCEPTED_STATUS = 202;
const ID = 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';

const ONE_OR_MANY = {
  oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, maxItems: RECIPIENTS_MAX }],
};

/** An attachment of an email: either its bytes, or a URL to fetch them from. */
@AllowUnknownFields()
export class EmailAttachmentBody {
  /** File name of the attachment. Defaults to the last path segment of `url`. */
  @ApiProperty({ example: 'invoice.pdf' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(255)
  filename?: string;

  /** Media type of the attachment. Defaults to the content type that the server of `url` returns. */
  @ApiProperty({ example: 'application/pdf' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(255)
  content_type?: string;

  /** Alias of `content_type`. */
  @ApiProperty({ example: 'application/pdf' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(255)
  contentType?: string;

  /** The bytes of the file in base64 (RFC 4648), with padding and without line breaks. */
  @ApiProperty({ example: 'SGVsbG8=' })
  @CanBeOmitted()
  @IsString()
  content?: string;

  /**
   * A public https URL to fetch the file from. It is fetched while the request is handled, within ten seconds;
   * redirects are not followed.
   */
  @ApiProperty({ example: 'https://example.com/invoice.pdf' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(2048)
  url?: string;

  /** Alias of `url`. */
  @ApiProperty({ example: 'https://example.com/invoice.pdf' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(2048)
  path?: string;

  /** Content-ID that `cid:` URLs in the HTML refer to. The file is then shown inline. */
  @ApiProperty({ example: 'logo' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(128)
  content_id?: string;

  /** Alias of `content_id`. */
  @ApiProperty({ example: 'logo' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(128)
  contentId?: string;
}

/** A custom tag on an email. */
export class EmailTag {
  /** Name of the tag: 1 to 256 letters, digits, `_` or `-`. */
  @ApiProperty({ example: 'campaign' })
  @IsString()
  @Matches(/^[A-Za-z0-9_-]{1,256}$/u)
  name: string;

  /** Value of the tag: 1 to 256 letters, digits, `_` or `-`. */
  @ApiProperty({ example: 'welcome' })
  @IsString()
  @Matches(/^[A-Za-z0-9_-]{1,256}$/u)
  value: string;
}

/** An example email that needs no domain and fills every field that the email operations return. */
const SIMULATED = {
  from: 'Shop <shop@simulator.localhost>',
  to: 'delivered@simulator.localhost',
  subject: 'Your order',
  html: '<p>It is on its way.</p>',
  text: 'It is on its way.',
  attachments: [{ filename: 'order.txt', content: 'T3JkZXIgNDcxMQo=' }],
};

/**
 * The email to send. Unknown fields, such as those of other email services, are ignored; `template` and `topic_id`,
 * which would change the content, are rejected with 422.
 */
@AllowUnknownFields()
@Examples({
  simulator: {
    summary: 'To the simulator, which acts as the recipient. No domain is needed',
    value: SIMULATED,
  },
  scheduled: {
    summary: 'The same email, sent in an hour. It can be cancelled until then',
    value: { ...SIMULATED, scheduled_at: 'in 1 hour' },
  },
  html: {
    summary: 'From a verified domain, with html and a reply address',
    value: {
      from: 'Shop <shop@example.com>',
      to: ['customer@example.org'],
      reply_to: 'support@example.com',
      subject: 'Your order',
      html: '<p>It is on its way.</p>',
      text: 'It is on its way.',
      tags: [{ name: 'kind', value: 'order' }],
    },
  },
})
export class EmailBody {
  /** The sender: one mailbox, optionally with a display name. Its domain must be verified and enabled for sending. */
  @ApiProperty({ example: 'Shop <shop@example.com>' })
  @IsString()
  @MaxLength(1024)
  from: string;

  /** Recipients: one address or a list. At most 50 recipients in total, including cc and bcc. */
  @ApiProperty({ example: ['customer@example.org'] })
  @MatchesSchema(ONE_OR_MANY)
  to: string | string[];

  /** Recipients of a copy, visible to all recipients. */
  @ApiProperty({ example: ['accounts@example.org'] })
  @CanBeOmitted()
  @MatchesSchema(ONE_OR_MANY)
  cc?: string | string[];

  /** Recipients of a blind copy. No header shows them. */
  @ApiProperty({ example: ['archive@example.com'] })
  @CanBeOmitted()
  @MatchesSchema(ONE_OR_MANY)
  bcc?: string | string[];

  /** Addresses to which replies are sent. */
  @ApiProperty({ example: 'support@example.com' })
  @CanBeOmitted()
  @MatchesSchema(ONE_OR_MANY)
  reply_to?: string | string[];

  /** Alias of `reply_to`. */
  @ApiProperty({ example: 'support@example.com' })
  @CanBeOmitted()
  @MatchesSchema(ONE_OR_MANY)
  replyTo?: string | string[];

  /** The subject, without line breaks. */
  @ApiProperty({ example: 'Your order' })
  @IsString()
  @MaxLength(SUBJECT_CHARACTERS_MAX)
  subject: string;

  /**
   * HTML body, at most 1 MB. At least one of `html` and `text` is required. If both are given, the recipient's mail
   * client chooses.
   */
  @ApiProperty({ example: '<p>It is on its way.</p>' })
  @CanBeOmitted()
  @IsString()
  html?: string;

  /** Plain-text body, at most 1 MB. */
  @ApiProperty({ example: 'It is on its way.' })
  @CanBeOmitted()
  @IsString()
  text?: string;

  /** Custom headers. */
  @ApiProperty({ description: `Custom headers. ${MAIL_HEADERS_RULE}`, example: { 'X-Entity-Ref-ID': 'order-4711' } })
  @CanBeOmitted()
  @IsStringMap()
  headers?: Record<string, string>;

  /** Attachments: at most 20, with at most 10 MB in total after decoding. */
  @CanBeOmitted()
  @IsArrayOf(() => EmailAttachmentBody)
  @ArrayMaxSize(ATTACHMENTS_MAX)
  attachments?: EmailAttachmentBody[];

  /** Custom tags, at most 20. They are not sent with the email. */
  @CanBeOmitted()
  @IsArrayOf(() => EmailTag)
  @ArrayMaxSize(TAGS_MAX)
  tags?: EmailTag[];

  /** Time to send the email. Defaults to now. */
  @ApiProperty({
    description: `Time to send the email. Defaults to now. ${SCHEDULE_RULE} Not allowed in a batch.`,
    example: 'in 5 minutes',
  })
  @CanBeOmitted()
  @IsString()
  @MaxLength(64)
  scheduled_at?: string;

  /** Alias of `scheduled_at`. */
  @ApiProperty({ example: 'in 5 minutes' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(64)
  scheduledAt?: string;
}

/** Complete batches that can be sent unchanged, by example name. */
export const BATCH_EXAMPLES = {
  two: {
    summary: 'Two emails',
    value: {
      emails: ['delivered', 'bounced'].map((part) => ({ ...SIMULATED, to: `${part}@simulator.localhost` })),
    },
  },
};

/** Independent emails to send in one request. A bare JSON array of emails is also accepted. */
export class EmailBatchBody {
  /** The emails, 1 to 100. */
  @IsArrayOf(() => EmailBody)
  @ArrayMinSize(1)
  @ArrayMaxSize(100)
  emails: EmailBody[];
}

/** An accepted email. */
export class EmailAccepted {
  /** The email's id. It is also the id of the email's event. */
  @ApiProperty({ example: ID })
  @IsString()
  id: string;

  /** `sending`; `scheduled` if the email is sent later; `suppressed` if every recipient is on the suppression list. */
  @ApiProperty({ example: 'sending' })
  @IsIn(['sending', 'scheduled', 'suppressed'])
  status: string;
}

/** The reason why an email of a batch was not sent. */
export class EmailBatchError {
  /**
   * Error type, as in a single request's error response; `suppressed` if every recipient is on the suppression list.
   */
  @ApiProperty({ example: 'validation_failed' })
  @IsString()
  type: string;

  /** Reason for the error, and how to fix it. */
  @ApiProperty({ example: 'to.0: An address has exactly one "@", as in name@example.com.' })
  @IsString()
  message: string;
}

/** The result for one email of a batch. */
export class EmailBatchItem {
  /** The email's id; `null` if the email was not accepted. */
  @ApiProperty({ example: ID })
  @CanBeNull()
  @IsString()
  id: string | null;

  /** Why the email was rejected; absent if it was accepted. */
  @CanBeOmitted()
  @IsObjectOf(() => EmailBatchError)
  error?: EmailBatchError;
}

/** The results of a batch. */
export class EmailBatchAccepted {
  /** One result for each email, in the order of the request. */
  @IsArrayOf(() => EmailBatchItem)
  data: EmailBatchItem[];
}

/** Filters of the email list. */
export class EmailListQuery {
  /** Returns only emails with this status. */
  @ApiProperty({ example: 'bounced' })
  @CanBeOmitted()
  @IsIn(SHOWN_STATUSES)
  status?: (typeof SHOWN_STATUSES)[number];

  /** Returns only emails accepted at or after this time (RFC 3339). */
  @ApiProperty({ example: '2026-11-20T00:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  since?: string;

  /** Returns only emails accepted at or before this time (RFC 3339). */
  @ApiProperty({ example: '2026-11-21T00:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  until?: string;

  /** Returns only emails with this tag, given as `name` or `name:value`. */
  @ApiProperty({ example: 'campaign:welcome' })
  @CanBeOmitted()
  @IsString()
  @Matches(/^[A-Za-z0-9_-]{1,256}(:[A-Za-z0-9_-]{1,256})?$/u)
  tag?: string;

  /** Returns only emails to this address in `to`, `cc` or `bcc`. Case-insensitive. */
  @ApiProperty({ example: 'customer@example.org' })
  @CanBeOmitted()
  @IsString()
  @Length(1, 320)
  recipient?: string;

  /** The `next_cursor` of the previous page. The filters must stay the same. */
  @ApiProperty({ example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(1024)
  cursor?: string;

  /** Maximum number of emails to return. */
  @ApiProperty({ default: 50, example: 50 })
  @CanBeOmitted()
  @IsInt()
  @Min(1)
  @Max(100)
  limit?: number;
}

/** An email in a list. */
export class EmailItem {
  /** The email's id. It is also the id of the email's event. */
  @ApiProperty({ example: ID })
  @IsString()
  id: string;

  /** Sender of the email. */
  @ApiProperty({ example: 'Shop <shop@example.com>' })
  @IsString()
  from: string;

  /** The addresses in the `to` field. */
  @ApiProperty({ example: ['customer@example.org'] })
  @IsArray()
  @IsString({ each: true })
  to: string[];

  /** Subject of the email. */
  @ApiProperty({ example: 'Your order' })
  @IsString()
  subject: string;

  /**
   * The worst status among the recipients, in the order complained, bounced, dlq (all retries are used up), failed,
   * sending, delivered. `suppressed` if every recipient is suppressed; `scheduled` until the scheduled time.
   */
  @ApiProperty({ example: 'delivered' })
  @IsIn(SHOWN_STATUSES)
  status: string;

  /** Time at which the email was accepted. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  created_at: string;

  /** When the email is or was scheduled to be sent; absent if it was not scheduled. */
  @ApiProperty({ example: '2026-11-21T10:30:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  scheduled_at?: string;
}

/** One page of emails, newest first. */
export class EmailPage {
  /** The emails of this page. */
  @IsArrayOf(() => EmailItem)
  data: EmailItem[];

  /**
   * Pass this value as `cursor` to get the next page; `null` on the last page. With a status filter, a page can be
   * short without being the last.
   */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;
}

/** One attempt to hand an email to the mail transport. */
export class EmailAttempt {
  /** Number of the attempt within its delivery, starting at 1. */
  @ApiProperty({ example: 1 })
  @IsInt()
  number: number;

  /** SMTP reply code; `null` if there was no reply. */
  @ApiProperty({ example: 250 })
  @CanBeNull()
  @IsInt()
  status: number | null;

  /** Duration of the attempt in milliseconds. */
  @ApiProperty({ example: 42 })
  @IsInt()
  duration_ms: number;

  /** Time at which the attempt started. */
  @ApiProperty({ example: '2026-11-21T09:30:00.120Z' })
  @IsDateTime()
  at: string;

  /** Last line of the SMTP reply, at most 1 KB. */
  @ApiProperty({ example: '250 2.0.0 OK' })
  @CanBeNull()
  @IsString()
  response_excerpt: string | null;
}

/** A delivery event of an email, concerning one recipient. */
export class EmailFactItem {
  /**
   * `sent` (handed to the transport), `delivered`, `bounced`, `complained`, or `rejected` (the message was refused, or
   * its recipient is suppressed).
   */
  @ApiProperty({ example: 'delivered' })
  @IsIn(['sent', 'delivered', 'bounced', 'complained', 'rejected'])
  type: string;

  /** More specific type: an enhanced status code (RFC 3463), `suppressed`, or a word chosen by the source. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  subtype: string | null;

  /** When Posthorn recorded the event. */
  @ApiProperty({ example: '2026-11-21T09:30:00.120Z' })
  @IsDateTime()
  at: string;

  /** Text of the server's reply or report. */
  @ApiProperty({ example: '250 2.0.0 OK' })
  @CanBeNull()
  @IsString()
  detail: string | null;

  /** The recipient that the event concerns. */
  @ApiProperty({ example: 'customer@example.org' })
  @IsString()
  recipient: string;
}

/** The state of an email for one recipient. */
export class EmailRecipientItem {
  /** The address. */
  @ApiProperty({ example: 'customer@example.org' })
  @IsString()
  address: string;

  /** Status for this recipient, with the same values as an email's status. */
  @ApiProperty({ example: 'delivered' })
  @IsIn(SHOWN_STATUSES)
  status: string;

  /** When the recipient reached this status. */
  @ApiProperty({ example: '2026-11-21T09:30:00.120Z' })
  @IsDateTime()
  at: string;

  /** Text of the latest server reply or report. */
  @ApiProperty({ example: '250 2.0.0 OK' })
  @CanBeNull()
  @IsString()
  detail: string | null;
}

/** An attachment of a sent email. */
export class EmailAttachmentItem {
  /** File name of the attachment. */
  @ApiProperty({ example: 'invoice.pdf' })
  @IsString()
  filename: string;

  /** Media type of the attachment. */
  @ApiProperty({ example: 'application/pdf' })
  @IsString()
  content_type: string;

  /** Size of the attachment in bytes. */
  @ApiProperty({ example: 48_213 })
  @IsInt()
  size_bytes: number;
}

/** An email with its recipients, attempts and timeline. */
export class EmailDetail extends EmailItem {
  /** Addresses in the `cc` field. */
  @ApiProperty({ example: [] })
  @IsArray()
  @IsString({ each: true })
  cc: string[];

  /** Addresses in the `bcc` field, which receive a blind copy. */
  @ApiProperty({ example: [] })
  @IsArray()
  @IsString({ each: true })
  bcc: string[];

  /** Addresses to which replies are sent. */
  @ApiProperty({ example: ['support@example.com'] })
  @IsArray()
  @IsString({ each: true })
  reply_to: string[];

  /** The Message-ID (RFC 5322), identical on every attempt. */
  @ApiProperty({ example: `<${ID}@example.com>` })
  @IsString()
  message_id: string;

  /** All recipients, each listed once. */
  @IsArrayOf(() => EmailRecipientItem)
  recipients: EmailRecipientItem[];

  /** Attempts to hand the email to the mail transport, oldest first. */
  @IsArrayOf(() => EmailAttempt)
  attempts: EmailAttempt[];

  /** Delivery events of the email, oldest first. */
  @IsArrayOf(() => EmailFactItem)
  timeline: EmailFactItem[];

  /** Custom tags. */
  @IsArrayOf(() => EmailTag)
  tags: EmailTag[];

  /** Attachments of the email. */
  @IsArrayOf(() => EmailAttachmentItem)
  attachments: EmailAttachmentItem[];

  /** Size of the sent message in bytes; 0 until a scheduled email is composed. */
  @ApiProperty({ example: 1_482 })
  @IsInt()
  size_bytes: number;

  /** `true` if the email is captured instead of sent: in the test environment, and from the simulator's addresses. */
  @ApiProperty({ example: false })
  @IsBoolean()
  captured: boolean;

  /** When the email was erased; absent if it was not. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  erased_at?: string;
}

export function presentAccepted({ id, status }: AcceptedEmail): EmailAccepted {
  return { id: showId('evt', id), status };
}

/** Converts an accepted email to the answer that is stored for its idempotency key, and back. */
export const KEPT = {
  keep: (email: AcceptedEmail): StoredAnswer => ({
    status: ACCEPTED_STATUS,
    body: JSON.stringify(presentAccepted(email)),
  }),
  read: ({ body }: StoredAnswer): AcceptedEmail => {
    const { id, status } = JSON.parse(body) as { id: string; status: AcceptedEmail['status'] };
    return { id: parseId('evt', id) as Id, status };
  },
};

export function presentBatch(outcomes: readonly BatchOutcome[]): EmailBatchAccepted {
  return { data: outcomes.map(presentOutcome) };
}

function presentOutcome(outcome: BatchOutcome): EmailBatchItem {
  if ('error' in outcome) {
    const { type, message } = outcome.error;
    return { id: null, error: { type: type === 'unavailable' ? 'internal' : type, message } };
  }
  const id = showId('evt', outcome.email.id);
  if (outcome.email.status !== 'suppressed') return { id };
  return { id, error: { type: 'suppressed', message: 'Every recipient is on the suppression list: nothing is sent.' } };
}

export function presentPage({ rows, nextCursor }: { rows: EmailRow[]; nextCursor: string | null }): EmailPage {
  return { data: rows.map(presentItem), next_cursor: nextCursor };
}

export function presentEmail({ email, attempts }: EmailView): EmailDetail {
  return {
    ...presentItem(email),
    cc: email.cc,
    bcc: email.bcc,
    reply_to: email.replyTo,
    message_id: email.messageId,
    recipients: email.recipients.map(({ address, state, at, detail }) => ({
      address,
      status: email.status === 'scheduled' ? email.status : recipientStatus(state, email.handingOver),
      at,
      detail,
    })),
    attempts: attempts.map(presentAttempt),
    timeline: email.timeline,
    tags: email.tags,
    attachments: email.attachments,
    size_bytes: email.sizeBytes,
    captured: email.isCaptured,
    ...(email.erasedAt !== null && { erased_at: email.erasedAt.toISOString() }),
  };
}

/** The response that the `resend` package expects after a cancellation. */
export class EmailCancelled {
  /** Always `email`. */
  @ApiProperty({ example: 'email' })
  @IsIn(['email'])
  object: 'email';

  /** The email's id. */
  @ApiProperty({ example: ID })
  @IsString()
  id: string;
}

export function presentCancelled(id: Id): EmailCancelled {
  return { object: 'email', id: showId('evt', id) };
}

function presentItem({ id, sender, to, subject, status, scheduledAt }: EmailRow): EmailItem {
  return {
    id: showId('evt', id),
    from: sender,
    to,
    subject,
    status,
    created_at: new Date(idTimeMs(id)).toISOString(),
    ...(scheduledAt !== null && { scheduled_at: scheduledAt.toISOString() }),
  };
}

function presentAttempt({ number, status, durationMs, startedAt, excerpt }: AttemptRow): EmailAttempt {
  return { number, status, duration_ms: durationMs, at: startedAt.toISOString(), response_excerpt: excerpt };
}
