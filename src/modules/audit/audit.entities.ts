import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { AuditActor } from '#kernel/audit.js';
import type { Id } from '#kernel/ids.js';

/** An entry of the append-only audit log. Partitioned by month. */
@Entity('audit_log')
@Check('audit_log_actor_kind_check', `actor_kind in ('key', 'member', 'operator', 'token', 'unknown', 'portal')`)
@Index('audit_log_actor_id_idx', ['organizationId', 'actorId', 'id'])
@Index('audit_log_resource_id_idx', ['organizationId', 'resourceId', 'id'])
export class AuditLogEntity {
  /** Organization of the entry. All zeros if the entry belongs to no organization. */
  @PrimaryColumn('uuid', {
    name: 'organization_id',
    default: '00000000-0000-0000-0000-000000000000',
    primaryKeyConstraintName: 'audit_log_pkey',
  })
  organizationId: Id;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'audit_log_pkey' })
  id: Id;

  /** Day of `at`. The row is stored in the partition of that day's month. */
  @PrimaryColumn('date', { name: 'on_day', primaryKeyConstraintName: 'audit_log_pkey' })
  onDay: string;

  @Column('timestamptz')
  at: Date;

  @Column('int', { name: 'environment_id', nullable: true })
  environmentId: number | null;

  @Column('text', { name: 'actor_kind' })
  actorKind: AuditActor['kind'];

  @Column('text', { name: 'actor_id', nullable: true })
  actorId: string | null;

  @Column('text', { name: 'actor_name', nullable: true })
  actorName: string | null;

  @Column('text', { name: 'actor_source', nullable: true })
  actorSource: string | null;

  @Column('text')
  action: string;

  @Column('text', { name: 'resource_type', nullable: true })
  resourceType: string | null;

  @Column('text', { name: 'resource_id', nullable: true })
  resourceId: string | null;

  @Column('text', { nullable: true })
  ip: string | null;

  @Column('text', { name: 'user_agent', nullable: true })
  userAgent: string | null;

  @Column('text', { name: 'request_id', nullable: true })
  requestId: string | null;

  @Column('jsonb', { nullable: true })
  before: Record<string, unknown> | null;

  @Column('jsonb', { nullable: true })
  after: Record<string, unknown> | null;

  @Column('text', { name: 'actor_session', nullable: true })
  actorSession: string | null;
}
