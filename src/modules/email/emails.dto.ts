import { ApiProperty } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
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
import { RoundsNumbers } from '#http/schemas.js';
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
import type { AcceptedEmail } from './accept-email.js';
import { ATTACHMENTS_MAX } from './attachment-draft.js';
import { EmailAttachmentBody } from './email-attachment-body.dto.js';
import { EmailAttempt, presentAttempt } from './email-attempt.dto.js';
import type { EmailBodies } from './email-contents.js';
import { RECIPIENTS_MAX, SUBJECT_CHARACTERS_MAX, TAGS_MAX } from './email-draft.js';
import { EmailTemplateBody, EmailTemplateItem, presentTemplate } from './email-template.dto.js';
import type { EmailRows, EmailView } from './emails.service.js';
import { type EmailRow, SHOWN_STATUSES } from './emails.store.js';
import { UnsubscribeFieldsBody } from './unsubscribe.dto.js';

const ACCEPTED_STATUS = 202;
const ID = 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';

const LAST_EVENTS = [
  'queued',
  'scheduled',
  'sent',
  'delivery_delayed',
  'delivered',
  'bounced',
  'complained',
  'suppressed',
  'failed',
  'canceled',
];

const ONE_OR_MANY = {
  oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, maxItems: RECIPIENTS_MAX }],
};

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

/** Example of an email that requires no domain. Uses every field that responses about emails contain. */
export const SIMULATED = {
  from: 'Shop <shop@simulator.localhost>',
  to: 'delivered@simulator.localhost',
  subject: 'Your order',
  html: '<p>It is on its way.</p>',
  text: 'It is on its way.',
  attachments: [{ filename: 'order.txt', content: 'T3JkZXIgNDcxMQo=' }],
};

/** The email to send. Unknown fields, such as those of other email services, are ignored. */
@AllowUnknownFields()
@Examples({
  simulator: {
    summary: 'To the simulator, which acts as the recipient. No domain is needed',
    value: SIMULATED,
  },
  scheduled: {
    summary: 'The same email, sent in an hour. It can be canceled until then',
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
export class EmailBody extends UnsubscribeFieldsBody {
  /**
   * The sender: one mailbox, optionally with a display name. Its domain must be verified and enabled for sending.
   * Required unless the template specifies a sender.
   */
  @ApiProperty({ example: 'Shop <shop@example.com>' })
  @IsOptional()
  @IsString()
  @MaxLength(1024)
  from?: string | null;

  /** Recipients: one address or a list. At most 50 recipients in total, including cc and bcc. */
  @ApiProperty({ example: ['customer@example.org'] })
  @MatchesSchema(ONE_OR_MANY)
  to: string | string[];

  /** Recipients of a copy. They are visible to all recipients. */
  @ApiProperty({ example: ['accounts@example.org'] })
  @IsOptional()
  @MatchesSchema(ONE_OR_MANY)
  cc?: string | string[] | null;

  /** Recipients of a blind copy. They are not visible to other recipients. */
  @ApiProperty({ example: ['archive@example.com'] })
  @IsOptional()
  @MatchesSchema(ONE_OR_MANY)
  bcc?: string | string[] | null;

  /** Addresses to which replies are sent. */
  @ApiProperty({ example: 'support@example.com' })
  @IsOptional()
  @MatchesSchema(ONE_OR_MANY)
  reply_to?: string | string[] | null;

  /** Alias of `reply_to`. */
  @ApiProperty({ example: 'support@example.com' })
  @IsOptional()
  @MatchesSchema(ONE_OR_MANY)
  replyTo?: string | string[] | null;

  /** The subject, without line breaks. Required unless the template specifies a subject. */
  @ApiProperty({ example: 'Your order' })
  @IsOptional()
  @IsString()
  @MaxLength(SUBJECT_CHARACTERS_MAX)
  subject?: string | null;

  /**
   * A published template that provides the content instead of `html` and `text`. `from`, `subject` and `reply_to` of
   * the email override those of the template.
   */
  @IsOptional()
  @IsObjectOf(() => EmailTemplateBody)
  template?: EmailTemplateBody | null;

  /**
   * HTML body, at most 1 MB. Without a template, `html` or `text` is required. At least one must not be blank, unless the email
   * has attachments. If both are given, the recipient's mail client chooses which one to show.
   */
  @ApiProperty({ example: '<p>It is on its way.</p>' })
  @IsOptional()
  @IsString()
  html?: string | null;

  /**
   * Plain-text body, at most 1 MB. If omitted, it is derived from the HTML, unless the HTML exceeds 128 KB. An empty
   * string means that the email has no plain-text body.
   */
  @ApiProperty({ example: 'It is on its way.' })
  @IsOptional()
  @IsString()
  text?: string | null;

  /** Custom headers. */
  @ApiProperty({ description: `Custom headers. ${MAIL_HEADERS_RULE}`, example: { 'X-Entity-Ref-ID': 'order-4711' } })
  @IsOptional()
  @IsStringMap()
  headers?: Record<string, string> | null;

  /** Attachments: at most 20, with at most 10 MB in total after decoding. */
  // Accepts inexact numbers, so that megabytes of content are not searched for them. The bytes in a `Buffer` are exact.
  @RoundsNumbers()
  @IsOptional()
  @IsArrayOf(() => EmailAttachmentBody)
  @ArrayMaxSize(ATTACHMENTS_MAX)
  attachments?: EmailAttachmentBody[] | null;

  /** Custom tags, at most 20. They are not sent with the email. */
  @IsOptional()
  @IsArrayOf(() => EmailTag)
  @ArrayMaxSize(TAGS_MAX)
  tags?: EmailTag[] | null;

  /** Time at which to send the email. Defaults to now. */
  @ApiProperty({
    description: `Time to send the email. Defaults to now. ${SCHEDULE_RULE} Not allowed in a batch.`,
    example: 'in 5 minutes',
  })
  @IsOptional()
  @IsString()
  @MaxLength(64)
  scheduled_at?: string | null;

  /** Alias of `scheduled_at`. */
  @ApiProperty({ example: 'in 5 minutes' })
  @IsOptional()
  @IsString()
  @MaxLength(64)
  scheduledAt?: string | null;
}

/** An accepted email. */
export class EmailAccepted {
  /** The email's id. It is also the id of the email's event. */
  @ApiProperty({ example: ID })
  @IsString()
  id: string;

  /**
   * `sending`, `scheduled` if the email is sent later, or `suppressed` if every recipient is on the suppression list or
   * not subscribed to the email's topic.
   */
  @ApiProperty({ example: 'sending' })
  @IsIn(['sending', 'scheduled', 'suppressed'])
  status: string;
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

  /** Returns only emails with this address in `to`, `cc` or `bcc`. Case-insensitive. */
  @ApiProperty({ example: 'customer@example.org' })
  @CanBeOmitted()
  @IsString()
  @Length(1, 320)
  recipient?: string;

  /** Cursor of the page to return: the `next_cursor` of the previous page, requested with the same filters. */
  @ApiProperty({ example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(1024)
  cursor?: string;

  /** Id of an email. Returns only older emails. Cannot be combined with `cursor`. */
  @ApiProperty({ example: ID })
  @CanBeOmitted()
  @IsString()
  @MaxLength(64)
  after?: string;

  /**
   * Id of an email. Returns the page of newer emails that directly precedes this email in the list, newest first. Can
   * be combined only with `limit`, `since` and `until`.
   */
  @ApiProperty({ example: ID })
  @CanBeOmitted()
  @IsString()
  @MaxLength(64)
  before?: string;

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

  /** The Message-ID (RFC 5322), which is the same on every attempt. */
  @ApiProperty({ example: `<${ID}@example.com>` })
  @IsString()
  message_id: string;

  /**
   * The worst status among the recipients. From worst to best: `complained`, `bounced`, `dlq` (all retries failed),
   * `failed`, `sending`, `delivered`. Also `suppressed` if every recipient is suppressed, `scheduled` until the
   * scheduled time, and `canceled` if the email was canceled before that time.
   */
  @ApiProperty({ example: 'delivered' })
  @IsIn(SHOWN_STATUSES)
  status: string;

  /**
   * The status in the terms of the `resend` package. `failed` replaces `dlq`. `sending` is replaced by `queued` (no
   * attempt has succeeded yet), `sent` (accepted by a provider that reports the delivery later) or `delivery_delayed`
   * (deferred, and will be retried).
   */
  @ApiProperty({ example: 'delivered' })
  @IsIn(LAST_EVENTS)
  last_event: string;

  /** Time at which the email was accepted. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  created_at: string;

  /** Time for which the email is or was scheduled. Absent if it was not scheduled. */
  @ApiProperty({ example: '2026-11-21T10:30:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  scheduled_at?: string;
}

/** One page of emails, newest first. */
export class EmailPage {
  /** Always `list`. */
  @ApiProperty({ example: 'list' })
  @IsIn(['list'])
  object: 'list';

  /** The emails of this page. */
  @IsArrayOf(() => EmailItem)
  data: EmailItem[];

  /**
   * Pass this value as `cursor` to get the next page. `null` on the last page. With a filter, a page can have fewer
   * items than `limit` although more pages follow.
   */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;

  /** `true` if there are more emails: older ones or, for a page with `before`, newer ones. */
  @ApiProperty({ example: false })
  @IsBoolean()
  has_more: boolean;
}

/** A delivery event of an email for one recipient. */
export class EmailFactItem {
  /**
   * `sent` (passed to the mail transport), `delivered`, `bounced`, `complained`, `rejected` (the message was rejected,
   * or its recipient is suppressed), `canceled`, or `unsubscribed` (with the email's unsubscribe link).
   */
  @ApiProperty({ example: 'delivered' })
  @IsIn(['sent', 'delivered', 'bounced', 'complained', 'rejected', 'canceled', 'unsubscribed'])
  type: string;

  /**
   * Details of the type: an enhanced status code (RFC 3463), `suppressed`, `unsubscribed`, the key of a topic, or a
   * word from the source of the event.
   */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  subtype: string | null;

  /** Time at which Posthorn recorded the event. */
  @ApiProperty({ example: '2026-11-21T09:30:00.120Z' })
  @IsDateTime()
  at: string;

  /** Text of the server's reply or report. */
  @ApiProperty({ example: '250 2.0.0 OK' })
  @CanBeNull()
  @IsString()
  detail: string | null;

  /** Address of the recipient. */
  @ApiProperty({ example: 'customer@example.org' })
  @IsString()
  recipient: string;
}

/** The state of an email for one recipient. */
export class EmailRecipientItem {
  /** Address of the recipient. */
  @ApiProperty({ example: 'customer@example.org' })
  @IsString()
  address: string;

  /** Status for this recipient. Has the same values as the status of an email. */
  @ApiProperty({ example: 'delivered' })
  @IsIn(SHOWN_STATUSES)
  status: string;

  /** Time at which the recipient reached this status. */
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

/** Query parameters for reading an email. */
export class EmailDetailQuery {
  /** `false` omits `html` and `text`. The response is faster, because the message is not parsed. */
  @ApiProperty({ default: true, example: true })
  @CanBeOmitted()
  @IsBoolean()
  content?: boolean;
}

/** An email with its recipients, attempts and timeline. */
export class EmailDetail extends EmailItem {
  /** Always `email`. */
  @ApiProperty({ example: 'email' })
  @IsIn(['email'])
  object: 'email';

  /** HTML body, up to 1 MB. `null` if the email has no HTML body, or was canceled or erased. */
  @ApiProperty({ example: '<p>It is on its way.</p>' })
  @IsOptional()
  @IsString()
  html?: string | null;

  /** Plain-text body, up to 1 MB. `null` if the email has no text body, or was canceled or erased. */
  @ApiProperty({ example: 'It is on its way.' })
  @IsOptional()
  @IsString()
  text?: string | null;

  /** Addresses in the `cc` field. */
  @ApiProperty({ example: [] })
  @IsArray()
  @IsString({ each: true })
  cc: string[];

  /** Addresses in the `bcc` field. */
  @ApiProperty({ example: [] })
  @IsArray()
  @IsString({ each: true })
  bcc: string[];

  /** Addresses to which replies are sent. */
  @ApiProperty({ example: ['support@example.com'] })
  @IsArray()
  @IsString({ each: true })
  reply_to: string[];

  /** All recipients, each listed once. */
  @IsArrayOf(() => EmailRecipientItem)
  recipients: EmailRecipientItem[];

  /** Attempts to pass the email to the mail transport, oldest first. */
  @IsArrayOf(() => EmailAttempt)
  attempts: EmailAttempt[];

  /** Delivery events of the email, oldest first. */
  @IsArrayOf(() => EmailFactItem)
  timeline: EmailFactItem[];

  /** Tags that the sender attached to the email. */
  @IsArrayOf(() => EmailTag)
  tags: EmailTag[];

  /** Attachments of the email. */
  @IsArrayOf(() => EmailAttachmentItem)
  attachments: EmailAttachmentItem[];

  /** The template from which the content was rendered. `null` if no template was used. */
  @CanBeNull()
  @IsObjectOf(() => EmailTemplateItem)
  template: EmailTemplateItem | null;

  /** Size of the sent message in bytes. 0 until a scheduled email is composed. */
  @ApiProperty({ example: 1_482 })
  @IsInt()
  size_bytes: number;

  /**
   * `true` if the email is captured instead of sent. This applies to the test environment, and to emails from simulator
   * addresses.
   */
  @ApiProperty({ example: false })
  @IsBoolean()
  captured: boolean;

  /** Time at which the email was erased. Absent if it was not erased. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  erased_at?: string;
}

export function presentAccepted({ id, status }: AcceptedEmail): EmailAccepted {
  return { id: showId('evt', id), status };
}

/** Converts an accepted email to the response that is stored with the idempotency key, and the stored response back. */
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

export function presentPage({ rows, nextCursor, hasMore }: EmailRows): EmailPage {
  return { object: 'list', data: rows.map(presentItem), next_cursor: nextCursor, has_more: hasMore };
}

export function presentEmail({ email, attempts }: EmailView, bodies: Partial<EmailBodies>): EmailDetail {
  return {
    object: 'email',
    ...presentItem(email),
    ...bodies,
    cc: email.cc,
    bcc: email.bcc,
    reply_to: email.replyTo,
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
    template: presentTemplate(email),
    size_bytes: email.sizeBytes,
    captured: email.isCaptured,
    ...(email.erasedAt !== null && { erased_at: email.erasedAt.toISOString() }),
  };
}

/** Response to a cancellation, as the `resend` package expects it. */
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

function presentItem({ id, sender, to, subject, messageId, status, progress, scheduledAt }: EmailRow): EmailItem {
  return {
    id: showId('evt', id),
    from: sender,
    to,
    subject,
    message_id: messageId,
    status,
    last_event: lastEvent(status, progress),
    created_at: new Date(idTimeMs(id)).toISOString(),
    ...(scheduledAt !== null && { scheduled_at: scheduledAt.toISOString() }),
  };
}

function lastEvent(status: EmailRow['status'], progress: EmailRow['progress']): string {
  if (status === 'sending') return progress ?? 'queued';
  return status === 'dlq' ? 'failed' : status;
}
