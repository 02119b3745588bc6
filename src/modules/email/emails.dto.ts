import { ApiProperty } from '@nestjs/swagger';
import { MAIL_HEADERS_RULE } from '#engine/mail/header-rules.js';
import { recipientStatus } from '#engine/mail/recipient-state.js';
import { SCHEDULE_RULE } from '#engine/mail/schedule.js';
import { Examples } from '#http/openapi-examples.js';
import { AllowUnknownFields } from '#http/unknown-fields.js';
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

/** A file that goes with an email: its bytes, or where to fetch them. */
@AllowUnknownFields()
export class EmailAttachmentBody {
  /** What the file is called; of a `url` its last segment when left out. */
  @ApiProperty({ required: false, maxLength: 255, example: 'invoice.pdf' })
  filename?: string;

  /** Its media type; of a `url` what its server says when left out. */
  @ApiProperty({ required: false, maxLength: 255, example: 'application/pdf' })
  content_type?: string;

  /** The same as `content_type`. */
  @ApiProperty({ required: false, maxLength: 255, example: 'application/pdf' })
  contentType?: string;

  /** The bytes in base64 (RFC 4648), with padding and without line breaks. */
  @ApiProperty({ required: false, example: 'SGVsbG8=' })
  content?: string;

  /** A public https URL that the file is fetched from now, within ten seconds; redirects are not followed. */
  @ApiProperty({ required: false, maxLength: 2048, example: 'https://example.com/invoice.pdf' })
  url?: string;

  /** The same as `url`. */
  @ApiProperty({ required: false, maxLength: 2048, example: 'https://example.com/invoice.pdf' })
  path?: string;

  /** What `cid:` in the html refers to: the file is shown there. */
  @ApiProperty({ required: false, maxLength: 128, example: 'logo' })
  content_id?: string;

  /** The same as `content_id`. */
  @ApiProperty({ required: false, maxLength: 128, example: 'logo' })
  contentId?: string;
}

/** A mark of your own on an email. */
export class EmailTag {
  /** Letters, digits, "_" and "-". */
  @ApiProperty({ pattern: '^[A-Za-z0-9_-]{1,256}$', example: 'campaign' })
  name: string;

  /** Letters, digits, "_" and "-". */
  @ApiProperty({ pattern: '^[A-Za-z0-9_-]{1,256}$', example: 'welcome' })
  value: string;
}

/** An email that needs no domain, with everything that the operations on an email show. */
const SIMULATED = {
  from: 'Shop <shop@simulator.localhost>',
  to: 'delivered@simulator.localhost',
  subject: 'Your order',
  html: '<p>It is on its way.</p>',
  text: 'It is on its way.',
  attachments: [{ filename: 'order.txt', content: 'T3JkZXIgNDcxMQo=' }],
};

/** The email to send. Fields of other services that are not known here are passed over; `template` and `topic_id`, which would change what is sent, are 422. */
@AllowUnknownFields()
@Examples({
  simulator: {
    summary: 'To the simulator, which plays the recipient. Needs no domain',
    value: SIMULATED,
  },
  scheduled: {
    summary: 'The same in an hour. Until then it can be cancelled',
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
  /** One mailbox, with a name if you like; its domain is a verified one that sends. */
  @ApiProperty({ maxLength: 1024, example: 'Shop <shop@example.com>' })
  from: string;

  /** Who gets it: an address, or a list. At most 50 recipients, those of cc and bcc included. */
  @ApiProperty({ ...ONE_OR_MANY, example: ['customer@example.org'] })
  to: string | string[];

  /** Who gets a copy that everybody sees. */
  @ApiProperty({ ...ONE_OR_MANY, required: false, example: ['accounts@example.org'] })
  cc?: string | string[];

  /** Who gets a copy that nobody sees: it is in no header. */
  @ApiProperty({ ...ONE_OR_MANY, required: false, example: ['archive@example.com'] })
  bcc?: string | string[];

  /** Where answers go. */
  @ApiProperty({ ...ONE_OR_MANY, required: false, example: 'support@example.com' })
  reply_to?: string | string[];

  /** The same as `reply_to`. */
  @ApiProperty({ ...ONE_OR_MANY, required: false, example: 'support@example.com' })
  replyTo?: string | string[];

  /** The subject, without line breaks. */
  @ApiProperty({ maxLength: SUBJECT_CHARACTERS_MAX, example: 'Your order' })
  subject: string;

  /** The message as html, at most 1 MB. One of `html` and `text` is needed; with both, clients choose. */
  @ApiProperty({ required: false, example: '<p>It is on its way.</p>' })
  html?: string;

  /** The message as text, at most 1 MB. */
  @ApiProperty({ required: false, example: 'It is on its way.' })
  text?: string;

  /** Headers of your own. */
  @ApiProperty({
    description: `Headers of your own. ${MAIL_HEADERS_RULE}`,
    selfRequired: false,
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { 'X-Entity-Ref-ID': 'order-4711' },
  })
  headers?: Record<string, string>;

  /** Files, at most 20 with 10 MB together once they are decoded. */
  @ApiProperty({ required: false, type: [EmailAttachmentBody], maxItems: ATTACHMENTS_MAX })
  attachments?: EmailAttachmentBody[];

  /** Marks of your own, which are not sent; at most 20. */
  @ApiProperty({ required: false, type: [EmailTag], maxItems: TAGS_MAX })
  tags?: EmailTag[];

  /** When it is to leave; at once when left out. */
  @ApiProperty({
    required: false,
    maxLength: 64,
    description: `When it is to leave; at once when left out. ${SCHEDULE_RULE} Not in a batch.`,
    example: 'in 5 minutes',
  })
  scheduled_at?: string;

  /** The same as `scheduled_at`. */
  @ApiProperty({ required: false, maxLength: 64, example: 'in 5 minutes' })
  scheduledAt?: string;
}

/** Whole batches that can be sent as they are, by name. */
export const BATCH_EXAMPLES = {
  two: {
    summary: 'Two emails',
    value: {
      emails: ['delivered', 'bounced'].map((part) => ({ ...SIMULATED, to: `${part}@simulator.localhost` })),
    },
  },
};

/** Many emails that have nothing to do with each other; a bare list of them is taken, too. */
export class EmailBatchBody {
  /** The emails, 1 to 100. */
  @ApiProperty({ type: [EmailBody], minItems: 1, maxItems: 100 })
  emails: EmailBody[];
}

/** An email that was accepted. */
export class EmailAccepted {
  /** The email's id, which is that of its event. */
  @ApiProperty({ example: ID })
  id: string;

  /** `sending`; `scheduled` when it leaves later, `suppressed` when nobody may be sent to. */
  @ApiProperty({ enum: ['sending', 'scheduled', 'suppressed'], example: 'sending' })
  status: string;
}

/** Why an email of a batch was not sent. */
export class EmailBatchError {
  /** A type of an error, as in an answer of its own; `suppressed` when every recipient is. */
  @ApiProperty({ example: 'validation_failed' })
  type: string;

  /** What happened, and what to do. */
  @ApiProperty({ example: 'to.0: An address has exactly one "@", as in name@example.com.' })
  message: string;
}

/** What became of one email of a batch. */
export class EmailBatchItem {
  /** The email's id; null when it was not accepted. */
  @ApiProperty({ type: String, nullable: true, example: ID })
  id: string | null;

  /** Why it is not sent; absent when it is. */
  @ApiProperty({ required: false, type: EmailBatchError })
  error?: EmailBatchError;
}

/** What became of a batch. */
export class EmailBatchAccepted {
  /** One entry for each email, in the order of the request. */
  @ApiProperty({ type: [EmailBatchItem] })
  data: EmailBatchItem[];
}

/** Filters of the list of emails. */
export class EmailListQuery {
  /** Only emails in this state. */
  @ApiProperty({ required: false, enum: SHOWN_STATUSES, example: 'bounced' })
  status?: (typeof SHOWN_STATUSES)[number];

  /** Only emails accepted at or after this time (RFC 3339). */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-20T00:00:00.000Z' })
  since?: string;

  /** Only emails accepted at or before this time (RFC 3339). */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-21T00:00:00.000Z' })
  until?: string;

  /** Only emails with this tag: its name, or `name:value`. */
  @ApiProperty({
    required: false,
    pattern: '^[A-Za-z0-9_-]{1,256}(:[A-Za-z0-9_-]{1,256})?$',
    example: 'campaign:welcome',
  })
  tag?: string;

  /** Only emails to this address, in `to`, `cc` or `bcc`; whatever its case. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 320, example: 'customer@example.org' })
  recipient?: string;

  /** Where to go on: the `next_cursor` of the page before, with the same filters. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;

  /** How many to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/** An email in a list. */
export class EmailItem {
  /** The email's id, which is that of its event. */
  @ApiProperty({ example: ID })
  id: string;

  /** Who sent it. */
  @ApiProperty({ example: 'Shop <shop@example.com>' })
  from: string;

  /** Whom it was addressed to. */
  @ApiProperty({ type: [String], example: ['customer@example.org'] })
  to: string[];

  /** Its subject. */
  @ApiProperty({ example: 'Your order' })
  subject: string;

  /** The worst that happened to a recipient: complained, bounced, dlq (the retries are used up), failed, sending, delivered; suppressed when all are, and scheduled before it leaves. */
  @ApiProperty({ enum: SHOWN_STATUSES, example: 'delivered' })
  status: string;

  /** When it was accepted. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  created_at: string;

  /** When it leaves, or was to leave; absent where nobody said so. */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-21T10:30:00.000Z' })
  scheduled_at?: string;
}

/** One page of emails, newest first. */
export class EmailPage {
  /** The emails of this page. */
  @ApiProperty({ type: [EmailItem] })
  data: EmailItem[];

  /** Pass it as `cursor` for the next page; null on the last one. A page of one status may be short and not the last. */
  @ApiProperty({ type: String, nullable: true, example: null })
  next_cursor: string | null;
}

/** One try to hand an email over. */
export class EmailAttempt {
  /** Counts the tries from 1. */
  @ApiProperty({ type: 'integer', example: 1 })
  number: number;

  /** The SMTP code of the answer; null when there was none. */
  @ApiProperty({ type: 'integer', nullable: true, example: 250 })
  status: number | null;

  /** How long it took, in milliseconds. */
  @ApiProperty({ type: 'integer', example: 42 })
  duration_ms: number;

  /** When it started. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.120Z' })
  at: string;

  /** The last line of the answer, at most 1 KB. */
  @ApiProperty({ type: String, nullable: true, example: '250 2.0.0 OK' })
  response_excerpt: string | null;
}

/** Something that became known of an email. */
export class EmailFactItem {
  /** `sent` (handed over), `delivered`, `bounced`, `complained`, or `rejected` (the message was refused, or its recipient is suppressed). */
  @ApiProperty({ enum: ['sent', 'delivered', 'bounced', 'complained', 'rejected'], example: 'delivered' })
  type: string;

  /** What kind of it: an enhanced status code (RFC 3463), `suppressed`, or a word of the source. */
  @ApiProperty({ type: String, nullable: true, example: null })
  subtype: string | null;

  /** When it became known. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.120Z' })
  at: string;

  /** What was said. */
  @ApiProperty({ type: String, nullable: true, example: '250 2.0.0 OK' })
  detail: string | null;

  /** Whom it is about. */
  @ApiProperty({ example: 'customer@example.org' })
  recipient: string;
}

/** Where an email stands with one recipient. */
export class EmailRecipientItem {
  /** The address. */
  @ApiProperty({ example: 'customer@example.org' })
  address: string;

  /** As of an email. */
  @ApiProperty({ enum: SHOWN_STATUSES, example: 'delivered' })
  status: string;

  /** Since when. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.120Z' })
  at: string;

  /** What was said last. */
  @ApiProperty({ type: String, nullable: true, example: '250 2.0.0 OK' })
  detail: string | null;
}

/** A file that went with an email. */
export class EmailAttachmentItem {
  /** What it is called. */
  @ApiProperty({ example: 'invoice.pdf' })
  filename: string;

  /** Its media type. */
  @ApiProperty({ example: 'application/pdf' })
  content_type: string;

  /** Its size. */
  @ApiProperty({ type: 'integer', example: 48_213 })
  size_bytes: number;
}

/** An email with its recipients, attempts and timeline. */
export class EmailDetail extends EmailItem {
  /** Who got a copy. */
  @ApiProperty({ type: [String], example: [] })
  cc: string[];

  /** Who got a copy that nobody saw. */
  @ApiProperty({ type: [String], example: [] })
  bcc: string[];

  /** Where answers go. */
  @ApiProperty({ type: [String], example: ['support@example.com'] })
  reply_to: string[];

  /** Its Message-ID (RFC 5322), the same on every attempt. */
  @ApiProperty({ example: `<${ID}@example.com>` })
  message_id: string;

  /** Each recipient, once. */
  @ApiProperty({ type: [EmailRecipientItem] })
  recipients: EmailRecipientItem[];

  /** The tries to hand it over, oldest first. */
  @ApiProperty({ type: [EmailAttempt] })
  attempts: EmailAttempt[];

  /** What became known of it, oldest first. */
  @ApiProperty({ type: [EmailFactItem] })
  timeline: EmailFactItem[];

  /** Marks of your own. */
  @ApiProperty({ type: [EmailTag] })
  tags: EmailTag[];

  /** Files that went with it. */
  @ApiProperty({ type: [EmailAttachmentItem] })
  attachments: EmailAttachmentItem[];

  /** How large the message is as it is sent; 0 before a scheduled one is composed. */
  @ApiProperty({ type: 'integer', example: 1_482 })
  size_bytes: number;

  /** True where nothing leaves: in the test environment, and from the simulator's addresses. */
  @ApiProperty({ example: false })
  captured: boolean;

  /** When it was erased; absent while it is there. */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  erased_at?: string;
}

export function presentAccepted({ id, status }: AcceptedEmail): EmailAccepted {
  return { id: showId('evt', id), status };
}

/** What an idempotency key keeps of an accepted email, and the way back. */
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

/** What the `resend` package reads when it cancels. */
export class EmailCancelled {
  /** Always `email`. */
  @ApiProperty({ enum: ['email'], example: 'email' })
  object: 'email';

  /** The email's id. */
  @ApiProperty({ example: ID })
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
