import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { Forwarding } from '#engine/inbound/forwarded-url.js';
import type { LegacyScheme } from '#engine/legacy-signature.js';
import type { Id } from '#kernel/ids.js';

/** Retry settings: numbers with defaults for omitted fields (`schedule` in seconds), or the name of a retry policy. */
export interface RetrySettings {
  policy?: string;
  max_attempts?: number;
  schedule?: number[];
}

/** Rate limit that all workers share. */
export interface RateLimitSettings {
  per_second: number;
}

export type Validation = 'pending' | 'valid' | 'stale' | 'invalid';

/** A destination. Its secrets and credentials are stored encrypted. */
@Entity('destinations')
@Index('destinations_listed_idx', ['environmentId', 'id'], { where: 'owner_id is null' })
@Index('destinations_owner_id_idx', ['environmentId', 'ownerId'], { where: 'owner_id is not null' })
@Index('destinations_disabled_at_idx', ['environmentId', 'disabledAt'], { where: "status = 'disabled'" })
@Index('destinations_name_idx', { synchronize: false })
@Check('destinations_validation_check', `validation in ('pending', 'valid', 'stale', 'invalid')`)
@Check('destinations_status_check', `status in ('active', 'disabled')`)
export class DestinationEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'destinations_pkey' })
  @ForeignKey('environments', { name: 'destinations_environment_id_fkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'destinations_pkey' })
  id: Id;

  /** Application that owns the destination. Destinations with an owner do not appear in the list. */
  @Column('uuid', { name: 'owner_id', nullable: true })
  ownerId: Id | null;

  @Column('text')
  name: string;

  @Column('text')
  type: string;

  @Column('text', { nullable: true })
  url: string | null;

  @Column('jsonb')
  config: Record<string, unknown>;

  @Column('bytea', { nullable: true })
  credentials: Buffer | null;

  @Column('jsonb')
  headers: Record<string, string>;

  @Column('jsonb', { nullable: true })
  retry: RetrySettings | null;

  @Column('jsonb', { name: 'rate_limit', nullable: true })
  rateLimit: RateLimitSettings | null;

  @Column('int', { name: 'timeout_ms' })
  timeoutMs: number;

  @Column('int', { nullable: true })
  concurrency: number | null;

  /** The column is not called `asymmetric`, because ASYMMETRIC is a reserved word in SQL. */
  @Column('boolean', { name: 'is_asymmetric', default: false })
  asymmetric: boolean;

  @Column('jsonb', { name: 'legacy_signature', nullable: true })
  legacySignature: LegacyScheme | null;

  /** Parts of a received request that deliveries copy. `null` for the defaults. */
  @Column('jsonb', { nullable: true })
  forward: Forwarding | null;

  @Column('text')
  validation: Validation;

  @Column('text')
  status: 'active' | 'disabled';

  @Column('text', { name: 'disabled_reason', nullable: true })
  disabledReason: string | null;

  /** `null` while the destination is active. Set only by `DestinationsStore`. */
  @Column('timestamptz', { name: 'disabled_at', nullable: true })
  disabledAt?: Date | null;

  @Column('int')
  version: number;

  @Column('bytea')
  secret: Buffer;

  @Column('bytea', { name: 'previous_secret', nullable: true })
  previousSecret: Buffer | null;

  @Column('timestamptz', { name: 'previous_secret_until', nullable: true })
  previousSecretUntil: Date | null;

  /** Seed of the ed25519 key. `null` unless `asymmetric` is set. */
  @Column('bytea', { name: 'private_key', nullable: true })
  privateKey: Buffer | null;

  /** Previous seed of the ed25519 key, which also signs until `previousSecretUntil`. */
  @Column('bytea', { name: 'previous_private_key', nullable: true })
  previousPrivateKey: Buffer | null;

  @Column('bytea', { name: 'legacy_secret', nullable: true })
  legacySecret: Buffer | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt: Date;
}

/** The circuit of a target. A target without a row has a closed circuit without failures. */
@Entity('circuits')
@Index('circuits_changed_at_idx', ['changedAt'])
@Index('circuits_shut_idx', ['environmentId', 'targetId'], { where: "state <> 'closed'" })
@Check('circuits_state_check', `state in ('closed', 'open', 'half_open')`)
export class CircuitEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'circuits_pkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { name: 'target_id', primaryKeyConstraintName: 'circuits_pkey' })
  targetId: Id;

  @Column('text')
  state: 'closed' | 'open' | 'half_open';

  @Column('int', { name: 'consecutive_failures' })
  consecutiveFailures: number;

  @Column('timestamptz', { name: 'opened_at', nullable: true })
  openedAt: Date | null;

  @Column('timestamptz', { name: 'probe_at', nullable: true })
  probeAt: Date | null;

  @Column('int')
  probes: number;

  @Column('timestamptz', { name: 'changed_at', default: () => 'now()' })
  changedAt: Date;
}
