import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { Id } from '#kernel/ids.js';

/** A customer of the caller, with its own endpoints. */
@Entity('applications')
@Index('applications_uid_idx', ['environmentId', 'uid'], { unique: true, where: 'uid is not null' })
@Index('applications_name_idx', { synchronize: false })
@Index('applications_uid_prefix_idx', { synchronize: false })
export class ApplicationEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'applications_pkey' })
  @ForeignKey('environments', { name: 'applications_environment_id_fkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'applications_pkey' })
  id: Id;

  @Column('text', { nullable: true })
  uid: string | null;

  @Column('text')
  name: string;

  @Column('jsonb')
  metadata: Record<string, string>;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt: Date;
}

/** An endpoint of an application: its event filters, and the destination of the events that match. */
@Entity('application_endpoints')
@ForeignKey(() => ApplicationEntity, ['environmentId', 'applicationId'], ['environmentId', 'id'], {
  name: 'application_endpoints_application_fkey',
  onDelete: 'CASCADE',
})
@Index('application_endpoints_application_id_idx', ['environmentId', 'applicationId', 'id'])
@Index('application_endpoints_uid_idx', ['environmentId', 'applicationId', 'uid'], {
  unique: true,
  where: 'uid is not null',
})
@Index('application_endpoints_destination_id_idx', ['environmentId', 'destinationId'], {
  where: 'destination_id <> id',
})
@Index('application_endpoints_disabled_idx', ['environmentId', 'updatedAt'], {
  where: "status = 'disabled' and destination_id <> id",
})
@Check('application_endpoints_status_check', `status in ('active', 'disabled')`)
export class ApplicationEndpointEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'application_endpoints_pkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'application_endpoints_pkey' })
  id: Id;

  @Column('uuid', { name: 'application_id' })
  applicationId: Id;

  /** Id of the destination that the endpoint uses. For an endpoint with its own URL, this is the endpoint's own id. */
  @Column('uuid', { name: 'destination_id' })
  destinationId: Id;

  @Column('text', { nullable: true })
  uid: string | null;

  @Column('text')
  description: string;

  /** Exact types and `prefix.*`; empty for all types. */
  @Column('text', { name: 'event_types', array: true })
  eventTypes: string[];

  @Column('text', { array: true })
  channels: string[];

  /** Condition in the grammar of route filters; null matches all messages. */
  @Column('jsonb', { nullable: true })
  filter: Record<string, unknown> | null;

  @Column('jsonb')
  metadata: Record<string, string>;

  /**
   * Status of an endpoint that uses a destination of the environment. For an endpoint with its own URL, the status of
   * the destination for this URL applies instead.
   */
  @Column('text')
  status: 'active' | 'disabled';

  @Column('text', { name: 'disabled_reason', nullable: true })
  disabledReason: string | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt: Date;
}
