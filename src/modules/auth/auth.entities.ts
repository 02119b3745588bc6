import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, PrimaryGeneratedColumn, Unique } from 'typeorm';
import type { Id } from '#kernel/ids.js';
import type { Scope } from '#kernel/tenant.js';

@Entity('organizations')
@Unique('organizations_slug_key', ['slug'])
export class OrganizationEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'organizations_pkey' })
  id: Id;

  @Column('text')
  slug: string;

  @Column('text')
  name: string;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  /** Time at which the organization was removed. All access is rejected from then on. `null` if not removed. */
  @Column('timestamptz', { name: 'removed_at', nullable: true })
  removedAt: Date | null;

  /** Time at which the erasure of all configuration was complete. */
  @Column('timestamptz', { name: 'erased_at', nullable: true })
  erasedAt: Date | null;
}

/**
 * The live or the test environment of an organization. All other data belongs to an environment. Secrets are encrypted.
 */
@Entity('environments')
@Unique('environments_organization_id_mode_key', ['organizationId', 'mode'])
@Check('environments_mode_check', `mode in ('live', 'test')`)
export class EnvironmentEntity {
  @PrimaryGeneratedColumn('identity', {
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'environments_pkey',
  })
  id: number;

  @Column('uuid', { name: 'organization_id' })
  @ForeignKey(() => OrganizationEntity, { name: 'environments_organization_id_fkey' })
  organizationId: Id;

  @Column('text')
  mode: 'live' | 'test';

  @Column('int', { name: 'retention_days', default: 30 })
  retentionDays: number;

  /** Destination that receives the system events of the environment. */
  @Column('uuid', { name: 'system_destination_id', nullable: true })
  systemDestinationId: Id | null;

  @Column('bytea')
  secret: Buffer;

  @Column('bool', { name: 'public_event_catalog', default: false })
  publicEventCatalog: boolean;

  /** Origins that may show the customer portal in a frame. */
  @Column('text', { name: 'portal_origins', array: true, default: [] })
  portalOrigins: string[];

  @Column('bytea', { name: 'previous_secret', nullable: true })
  previousSecret: Buffer | null;

  @Column('timestamptz', { name: 'previous_secret_until', nullable: true })
  previousSecretUntil: Date | null;
}

/** An API key. Its text is not stored, only the SHA-256 and the first characters. */
@Entity('api_keys')
@Unique('api_keys_hash_key', ['hash'])
@Check('api_keys_scope_check', `scope in ('read', 'write', 'admin')`)
@Check('api_keys_source_check', `source in ('api', 'oauth', 'bootstrap')`)
@Index('api_keys_granter_member_idx', ['granterMemberId'], { where: 'granter_member_id is not null' })
@Index('api_keys_first_key_idx', ['environmentId', 'firstKeyId'], { where: 'first_key_id is not null' })
@Index('api_keys_granter_key_idx', ['environmentId', 'granterKeyId'], { where: 'granter_key_id is not null' })
export class ApiKeyEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'api_keys_pkey' })
  @ForeignKey(() => EnvironmentEntity, { name: 'api_keys_environment_id_fkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'api_keys_pkey' })
  id: Id;

  @Column('text')
  name: string;

  @Column('text')
  scope: Scope;

  @Column('text')
  source: 'api' | 'oauth' | 'bootstrap';

  @Column('text')
  prefix: string;

  @Column('bytea')
  hash: Buffer;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'last_used_at', nullable: true })
  lastUsedAt: Date | null;

  @Column('timestamptz', { name: 'expires_at', nullable: true })
  expiresAt: Date | null;

  @Column('timestamptz', { name: 'revoked_at', nullable: true })
  revokedAt: Date | null;

  @Column('text', { name: 'client_id', nullable: true })
  clientId: string | null;

  @Column('text', { name: 'client_name', nullable: true })
  clientName: string | null;

  @Column('text', { name: 'granted_by', nullable: true })
  grantedBy: string | null;

  /**
   * Member who approved the OAuth grant that created this key. Null if the approver signed in with an API key, which is
   * then in `granterKeyId`. Removing the approver revokes this key.
   */
  @Column('uuid', { name: 'granter_member_id', nullable: true })
  granterMemberId: Id | null;

  @Column('uuid', { name: 'granter_key_id', nullable: true })
  granterKeyId: Id | null;

  /**
   * First key of the OAuth grant, if this key was created by rotating that key. Revoking the grant revokes both keys.
   */
  @Column('uuid', { name: 'first_key_id', nullable: true })
  firstKeyId: Id | null;
}

/** A former slug of an organization. URLs with the slug continue to work, so no other organization can take it. */
@Entity('reserved_slugs')
export class ReservedSlugEntity {
  @PrimaryColumn('text', { primaryKeyConstraintName: 'reserved_slugs_pkey' })
  slug: string;

  @Column('uuid', { name: 'organization_id' })
  organizationId: Id;

  @Column('timestamptz', { name: 'given_up_at', default: () => 'now()' })
  givenUpAt: Date;
}

/** A member of an organization. The row of a removed member is kept for the audit log. */
@Entity('members')
@Check('members_role_check', `role in ('read', 'write', 'admin')`)
@Index('members_email_idx', ['email', 'organizationId'], { unique: true, where: 'removed_at is null' })
export class MemberEntity {
  @PrimaryColumn('uuid', { name: 'organization_id', primaryKeyConstraintName: 'members_pkey' })
  @ForeignKey(() => OrganizationEntity, { name: 'members_organization_id_fkey' })
  organizationId: Id;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'members_pkey' })
  id: Id;

  @Column('text')
  email: string;

  @Column('text')
  name: string;

  @Column('text')
  role: Scope;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'last_signed_in_at', nullable: true })
  lastSignedInAt: Date | null;

  @Column('timestamptz', { name: 'removed_at', nullable: true })
  removedAt: Date | null;
}

/** A session of the console. Belongs to a member, or to the key that opened it. */
@Entity('sessions')
@Unique('sessions_hash_key', ['hash'])
@Check('sessions_how_check', `how in ('key', 'code', 'oidc')`)
@ForeignKey(() => ApiKeyEntity, ['keyEnvironmentId', 'keyId'], ['environmentId', 'id'], { name: 'sessions_key_fkey' })
@ForeignKey(() => MemberEntity, ['organizationId', 'memberId'], ['organizationId', 'id'], {
  name: 'sessions_member_fkey',
})
@Check('sessions_owner_check', 'member_id is null <> key_id is null')
@Index('sessions_expires_at_idx', ['expiresAt'])
@Index('sessions_member_id_idx', ['organizationId', 'memberId'], { where: 'member_id is not null' })
@Index('sessions_key_id_idx', ['keyEnvironmentId', 'keyId'], { where: 'key_id is not null' })
export class SessionEntity {
  @PrimaryColumn('uuid', { name: 'organization_id', primaryKeyConstraintName: 'sessions_pkey' })
  @ForeignKey(() => OrganizationEntity, { name: 'sessions_organization_id_fkey' })
  organizationId: Id;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'sessions_pkey' })
  id: Id;

  /** SHA-256 of the token. */
  @Column('bytea')
  hash: Buffer;

  @Column('uuid', { name: 'member_id', nullable: true })
  memberId: Id | null;

  @Column('int', { name: 'key_environment_id', nullable: true })
  keyEnvironmentId: number | null;

  @Column('uuid', { name: 'key_id', nullable: true })
  keyId: Id | null;

  /** Sign-in method. */
  @Column('text')
  how: 'key' | 'code' | 'oidc';

  @Column('text')
  network: string;

  @Column('text', { name: 'user_agent' })
  userAgent: string;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'last_seen_at' })
  lastSeenAt: Date;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt: Date;

  @Column('timestamptz', { name: 'revoked_at', nullable: true })
  revokedAt: Date | null;
}
