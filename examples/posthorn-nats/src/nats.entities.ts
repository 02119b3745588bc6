import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Number of messages that one environment published to one subject within one hour. */
@Entity('nats_subject_hours')
export class NatsSubjectHourEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'nats_subject_hours_pkey' })
  environmentId: number;

  /** Start of the hour. */
  @PrimaryColumn('timestamptz', { primaryKeyConstraintName: 'nats_subject_hours_pkey' })
  hour: Date;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'nats_subject_hours_pkey' })
  stream: string;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'nats_subject_hours_pkey' })
  subject: string;

  /** A bigint, which the driver returns as a string. */
  @Column('bigint')
  messages: string;

  @Column('bigint')
  bytes: string;
}
