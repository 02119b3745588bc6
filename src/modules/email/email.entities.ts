import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { EmailStatus, RecipientState } from '#engine/mail/recipient-state.js';
import type { Id } from '#kernel/ids.js';
import type { CompleteDraft, Tag } from './email-draft.js';

export interface StoredRecipient {
  /** The address as submitted. Empty once the email is erased. */
  address: string;
  kind: 'to' | 'cc' | 'bcc';
  state: RecipientState;
  /** Time at which the recipient entered this state, in RFC 3339. */
  at: string;
  /** Text of the latest reply or report, sanitized. */
  detail: string | null;
  /**
   * Reasons for which reports about this email have suppressed the address. A repeated report does not suppress it
   * again.
   */
  suppressedFor?: ('bounce' | 'complaint')[];
  /** Topic to which the recipient must be subscribed. Absent if the email has no topic. */
  topicId?: Id;
}

export interface TimelineItem {
  type: 'sent' | 'delivered' | 'bounced' | 'complained' | 'rejected' | 'canceled' | 'unsubscribed';
  subtype: string | null;
  at: string;
  detail: string | null;
  recipient: string;
}

export interface AttachmentNote {
  filename: string;
  content_type: string;
  size_bytes: number;
}

/** A sent email with the state of its recipients. Its event has the same id. */
@Entity('emails')
@Check(
  'emails_status_check',
  `status in ('sending', 'delivered', 'bounced', 'complained', 'suppressed', 'failed', 'canceled')`,
)
@Index('emails_status_idx', ['environmentId', 'status', 'id'])
@Index('emails_provider_message_id_idx', ['providerMessageId'], { where: 'provider_message_id is not null' })
export class EmailEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'emails_pkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'emails_pkey' })
  id: Id;

  /** Day on which the email's retention ends. The row is stored in that day's partition. */
  @PrimaryColumn('date', { name: 'expires_on', primaryKeyConstraintName: 'emails_pkey' })
  expiresOn: string;

  @Column('text')
  sender: string;

  @Column('text', { name: 'to_list', array: true })
  to: string[];

  @Column('text', { array: true })
  cc: string[];

  @Column('text', { array: true })
  bcc: string[];

  @Column('text', { name: 'reply_to', array: true })
  replyTo: string[];

  @Column('text')
  subject: string;

  /** Message-ID with its angle brackets. */
  @Column('text', { name: 'message_id' })
  messageId: string;

  @Column('text', { name: 'return_path_host', nullable: true })
  returnPathHost: string | null;

  /** True if the email is captured instead of sent, whichever transport is configured. */
  @Column('boolean', { name: 'is_captured' })
  isCaptured: boolean;

  @Column('jsonb')
  tags: Tag[];

  @Column('jsonb')
  attachments: AttachmentNote[];

  @Column('int', { name: 'size_bytes' })
  sizeBytes: number;

  @Column('jsonb')
  recipients: StoredRecipient[];

  @Column('jsonb')
  timeline: TimelineItem[];

  @Column('text')
  status: EmailStatus;

  /** True while at least one recipient has no final state. */
  @Column('boolean', { name: 'is_owed' })
  isOwed: boolean;

  /** Version for optimistic locking. */
  @Column('int')
  version: number;

  @Column('timestamptz', { name: 'erased_at', nullable: true })
  erasedAt: Date | null;

  /** Envelope sender of a forwarded message. Empty for the null sender. Null for an email that Posthorn composed. */
  @Column('text', { name: 'original_sender', nullable: true })
  originalSender: string | null;

  /**
   * DKIM-Signature fields of an email that a mail client submitted, with line ends. Empty until the email is signed.
   * Null if the stored message contains its signatures.
   */
  @Column('text', { nullable: true })
  signature: string | null;

  @Column('timestamptz', { name: 'scheduled_at', nullable: true })
  scheduledAt: Date | null;

  @Column('text', { name: 'provider_message_id', nullable: true })
  providerMessageId: string | null;

  /** Template from which the content was rendered. The template may have been deleted since. */
  @Column('uuid', { name: 'template_id', nullable: true })
  templateId: Id | null;

  @Column('int', { name: 'template_version', nullable: true })
  templateVersion: number | null;
}

/** An email that waits for its scheduled time. It then becomes a row of `emails`. */
@Entity('scheduled_emails')
@Index('scheduled_emails_due_at_idx', ['dueAt'])
@Index('scheduled_emails_try_at_idx', ['environmentId', 'tryAt'])
export class ScheduledEmailEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'scheduled_emails_pkey' })
  @ForeignKey('environments', { name: 'scheduled_emails_environment_id_fkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'scheduled_emails_pkey' })
  id: Id;

  @Column('timestamptz', { name: 'due_at' })
  dueAt: Date;

  /** Time of the next attempt to move the email to `emails`. */
  @Column('timestamptz', { name: 'try_at' })
  tryAt: Date;

  @Column('int')
  tries: number;

  @Column('text', { name: 'message_id' })
  messageId: string;

  @Column('boolean', { name: 'is_captured' })
  isCaptured: boolean;

  @Column('text')
  sender: string;

  @Column('text', { name: 'to_list', array: true })
  to: string[];

  @Column('text')
  subject: string;

  @Column('jsonb')
  draft: CompleteDraft;

  /** Attachments, encrypted. */
  @Column('bytea')
  files: Buffer;
}

/** A suppressed address, to which no email is sent. */
@Entity('suppressions')
@Check('suppressions_origin_check', `origin in ('bounce', 'complaint', 'manual', 'unsubscribe')`)
@Index('suppressions_address_idx', ['environmentId', 'address'], { unique: true })
@Index('suppressions_expires_at_idx', ['expiresAt'], { where: 'expires_at is not null' })
export class SuppressionEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'suppressions_pkey' })
  @ForeignKey('environments', { name: 'suppressions_environment_id_fkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'suppressions_pkey' })
  id: Id;

  /** The address in normalized form, for lookups (`suppressionKey`). */
  @Column('text')
  address: string;

  /** The address as originally written. */
  @Column('text')
  email: string;

  @Column('text')
  origin: 'bounce' | 'complaint' | 'manual' | 'unsubscribe';

  /** Email whose report or unsubscribe link suppressed the address. Null if the address was added manually. */
  @Column('uuid', { name: 'source_id', nullable: true })
  sourceId: Id | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  /** Null if the suppression never ends. */
  @Column('timestamptz', { name: 'expires_at', nullable: true })
  expiresAt: Date | null;
}
