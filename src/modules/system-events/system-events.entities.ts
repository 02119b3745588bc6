import { Column, Entity, Index, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import type { Id } from '#kernel/ids.js';
import type { SystemEventType } from './contract.js';

/** Signals of one kind about one subject, which wait for the next system event. */
@Entity('system_signals')
@Index('system_signals_waiting_idx', ['environmentId', 'type', 'subject'], {
  where: 'batch is null and details is not null',
})
@Index('system_signals_unknown_idx', ['environmentId', 'subject'], { where: 'details is null' })
@Index('system_signals_batch_idx', ['environmentId', 'batch'], { where: 'batch is not null' })
export class SystemSignalEntity {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
    primaryKeyConstraintName: 'system_signals_pkey',
  })
  id: string;

  @Column('int', { name: 'environment_id' })
  environmentId: number;

  @Column('text')
  type: SystemEventType;

  @Column('uuid')
  subject: Id;

  /** Null until the details are added from other tables. */
  @Column('jsonb', { nullable: true })
  details: Record<string, unknown> | null;

  /** Number of signals: a 64-bit integer as a decimal string. */
  @Column('bigint')
  count: string;

  @Column('timestamptz', { name: 'first_at' })
  firstAt: Date;

  @Column('timestamptz', { name: 'last_at' })
  lastAt: Date;

  /** Batch that sends the signals. */
  @Column('uuid', { nullable: true })
  batch: Id | null;
}

/** The current time window for one type of system event in an environment. */
@Entity('system_tellings')
@Index('system_tellings_batch_idx', ['claimedUntil'], { where: 'batch is not null' })
export class SystemTellingEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'system_tellings_pkey' })
  environmentId: number;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'system_tellings_pkey' })
  type: SystemEventType;

  @Column('timestamptz', { name: 'opened_at' })
  openedAt: Date;

  /** Batch that is being sent, or null. */
  @Column('uuid', { nullable: true })
  batch: Id | null;

  @Column('uuid', { name: 'destination_id', nullable: true })
  destinationId: Id | null;

  @Column('date', { name: 'expires_on', nullable: true })
  expiresOn: string | null;

  /** End of the lease of the process that works on the row. Null while no process works on it. */
  @Column('timestamptz', { name: 'claimed_until', nullable: true })
  claimedUntil: Date | null;

  @Column('int')
  failures: number;
}
