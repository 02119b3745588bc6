import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import type { Id } from '#kernel/ids.js';
import type { Scope } from '#kernel/tenant.js';

/** An OAuth client that registered itself. It belongs to the installation, not to an environment. */
@Entity('oauth_clients')
@Index('oauth_clients_unapproved_idx', ['createdAt'], { where: 'approved_at is null' })
@Index('oauth_clients_network_idx', ['network', 'createdAt'], { where: 'approved_at is null' })
export class OAuthClientEntity {
  @PrimaryColumn('text', { primaryKeyConstraintName: 'oauth_clients_pkey' })
  id: string;

  @Column('text')
  name: string;

  @Column('text', { nullable: true })
  uri: string | null;

  @Column('text', { name: 'redirect_uris', array: true })
  redirectUris: string[];

  /** Network from which the client registered. */
  @Column('text')
  network: string;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'approved_at', nullable: true })
  approvedAt: Date | null;

  @Column('timestamptz', { name: 'shown_at', nullable: true })
  shownAt: Date | null;

  @Column('text', { name: 'grant_types', array: true, default: ['authorization_code'] })
  grantTypes: string[];
}

/** An authorization code of a client. */
@Entity('oauth_codes')
@Index('oauth_codes_hash_idx', ['hash'], { unique: true })
@Index('oauth_codes_expires_at_idx', ['expiresAt'])
export class OAuthCodeEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'oauth_codes_pkey' })
  @ForeignKey('environments', { name: 'oauth_codes_environment_id_fkey' })
  environmentId: number;

  /** SHA-256 of the code. */
  @PrimaryColumn('bytea', { primaryKeyConstraintName: 'oauth_codes_pkey' })
  hash: Buffer;

  @Column('text', { name: 'client_id' })
  clientId: string;

  @Column('text', { name: 'client_name' })
  clientName: string;

  @Column('text', { name: 'redirect_uri' })
  redirectUri: string;

  @Column('text', { name: 'code_challenge' })
  codeChallenge: string;

  @Column('int', { name: 'lifetime_seconds' })
  lifetimeSeconds: number;

  @Column('text', { name: 'granted_by' })
  grantedBy: string;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt: Date;

  @Column('timestamptz', { name: 'used_at', nullable: true })
  usedAt: Date | null;

  /** API key that was issued for the code. Null until the client exchanges the code. */
  @Column('uuid', { name: 'key_id', nullable: true })
  keyId: Id | null;

  /** Member who approved the grant, or null. */
  @Column('uuid', { name: 'granter_member_id', nullable: true })
  granterMemberId: Id | null;

  /** API key of the session that approved the grant, or null. */
  @Column('uuid', { name: 'granter_key_id', nullable: true })
  granterKeyId: Id | null;
}

/** A device that waits for a user's approval. It belongs to no environment until a user approves it. */
@Entity('oauth_devices')
@Check('oauth_devices_requested_scope_check', `requested_scope in ('read', 'write', 'admin')`)
@Check('oauth_devices_scope_check', `scope in ('read', 'write', 'admin')`)
@Check('oauth_devices_state_check', `state in ('pending', 'approved', 'denied', 'used')`)
@Unique('oauth_devices_user_code_key', ['userCodeHash'])
@Index('oauth_devices_expires_at_idx', ['expiresAt'])
export class OAuthDeviceEntity {
  /** SHA-256 of the device code. */
  @PrimaryColumn('bytea', { primaryKeyConstraintName: 'oauth_devices_pkey' })
  hash: Buffer;

  @Column('bytea', { name: 'user_code_hash' })
  userCodeHash: Buffer;

  @Column('text', { name: 'client_id' })
  clientId: string;

  @Column('text', { name: 'client_name' })
  clientName: string;

  @Column('text')
  address: string;

  @Column('text')
  state: 'pending' | 'approved' | 'denied' | 'used';

  @Column('int', { name: 'interval_seconds' })
  intervalSeconds: number;

  @Column('timestamptz', { name: 'polled_at', nullable: true })
  polledAt: Date | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt: Date;

  @Column('int', { name: 'granted_environment_id', nullable: true })
  @ForeignKey('environments', { name: 'oauth_devices_granted_environment_id_fkey' })
  grantedEnvironmentId: number | null;

  @Column('text', { nullable: true })
  scope: Scope | null;

  @Column('int', { name: 'lifetime_seconds', nullable: true })
  lifetimeSeconds: number | null;

  @Column('text', { name: 'granted_by', nullable: true })
  grantedBy: string | null;

  /** Member who approved the grant, or null. */
  @Column('uuid', { name: 'granter_member_id', nullable: true })
  granterMemberId: Id | null;

  /** API key of the session that approved the grant, or null. */
  @Column('uuid', { name: 'granter_key_id', nullable: true })
  granterKeyId: Id | null;

  @Column('text', { name: 'requested_scope', nullable: true })
  requestedScope: Scope | null;

  @Column('text', { name: 'device_name', nullable: true })
  deviceName: string | null;
}
