import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { Id } from '#kernel/ids.js';

/** A raw report about sent mail. Stored before it is parsed. */
@Entity('mail_reports')
@Check('mail_reports_source_check', `source in ('smtp', 'ses')`)
@Check('mail_reports_state_check', `state in ('waiting', 'recorded', 'unmatched', 'untrusted', 'ignored')`)
@Index('mail_reports_digest_idx', ['digest'], { unique: true })
@Index('mail_reports_email_idx', ['environmentId', 'emailId'])
@Index('mail_reports_environment_idx', ['environmentId', 'id'])
@Index('mail_reports_expires_at_idx', ['expiresAt'])
@Index('mail_reports_due_at_idx', ['dueAt'], { where: `state = 'waiting'` })
export class MailReportEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'mail_reports_pkey' })
  id: Id;

  /** Null if the report matches no email. */
  @Column('int', { name: 'environment_id', nullable: true })
  @ForeignKey('environments', { name: 'mail_reports_environment_id_fkey' })
  environmentId: number | null;

  @Column('uuid', { name: 'email_id', nullable: true })
  emailId: Id | null;

  @Column('text')
  source: 'smtp' | 'ses';

  @Column('text')
  recipient: string;

  @Column('text', { name: 'envelope_from' })
  envelopeFrom: string;

  @Column('text', { name: 'received_from' })
  receivedFrom: string;

  /** Digest that identifies repeated copies of a report. */
  @Column('bytea')
  digest: Buffer;

  @Column('bytea')
  raw: Buffer;

  @Column('int', { name: 'size_bytes' })
  sizeBytes: number;

  @Column('timestamptz', { name: 'received_at' })
  receivedAt: Date;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt: Date;

  @Column('text')
  state: 'waiting' | 'recorded' | 'unmatched' | 'untrusted' | 'ignored';

  @Column('text', { nullable: true })
  kind: string | null;

  @Column('text', { nullable: true })
  reason: string | null;

  @Column('timestamptz', { name: 'due_at' })
  dueAt: Date;

  @Column('int')
  failures: number;
}
