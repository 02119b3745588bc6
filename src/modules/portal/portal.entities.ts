import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import type { Id } from '#kernel/ids.js';
import type { PortalPermission } from '#kernel/tenant.js';
import type { PortalTheme } from './portal-theme.js';

/** A session of the customers' portal. */
@Entity('portal_sessions')
@Unique('portal_sessions_hash_key', ['hash'])
@Unique('portal_sessions_id_key', ['id'])
@Check('portal_sessions_kind_check', `kind in ('customer', 'preview')`)
@Index('portal_sessions_expires_at_idx', ['expiresAt'])
export class PortalSessionEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'portal_sessions_pkey' })
  @ForeignKey('environments', { name: 'portal_sessions_environment_id_fkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { name: 'application_id', primaryKeyConstraintName: 'portal_sessions_pkey' })
  applicationId: Id;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'portal_sessions_pkey' })
  id: Id;

  /** SHA-256 of the token. */
  @Column('bytea')
  hash: Buffer;

  @Column('text')
  kind: 'customer' | 'preview';

  @Column('text', { array: true })
  permissions: PortalPermission[];

  @Column('jsonb')
  theme: PortalTheme;

  @Column('text')
  locale: string;

  @Column('text', { name: 'return_url', nullable: true })
  returnUrl: string | null;

  @Column('text', { name: 'opened_by' })
  openedBy: string;

  @Column('uuid', { name: 'key_id', nullable: true })
  keyId: Id | null;

  @Column('uuid', { name: 'member_id', nullable: true })
  memberId: Id | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt: Date;

  @Column('timestamptz', { name: 'revoked_at', nullable: true })
  revokedAt: Date | null;
}
