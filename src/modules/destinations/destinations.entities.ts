import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { LegacyScheme } from '#engine/legacy-signature.js';
import type { Id } from '#kernel/ids.js';

/**
 * `max_attempts` and `schedule` (seconds) as a caller gave them; what is left out has its default. Or the name of the policy
 * that is followed instead.
 */
export interface RetrySettings {
  policy?: string;
  max_attempts?: number;
  schedule?: number[];
}

/** A bound on deliveries to one destination, over all workers. */
export interface RateLimitSettings {
  per_second: number;
}

/** What the last check of a destination found. */
export type Validation = 'pending' | 'valid' | 'stale' | 'invalid';

/** One destination. The secrets and credentials are sealed. */
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

  /** The endpoint of an application that it belongs to; such a one is not in the list. */
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

  /** ASYMMETRIC is a reserved word of SQL. */
  @Column('boolean', { name: 'is_asymmetric', default: false })
  asymmetric: boolean;

  @Column('jsonb', { name: 'legacy_signature', nullable: true })
  legacySignature: LegacyScheme | null;

  @Column('text')
  validation: Validation;

  @Column('text')
  status: 'active' | 'disabled';

  @Column('text', { name: 'disabled_reason', nullable: true })
  disabledReason: string | null;

  /** Since when it takes no deliveries; null while it does. The store keeps it. */
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

  /** The seed of the ed25519 key; null unless `asymmetric`. */
  @Column('bytea', { name: 'private_key', nullable: true })
  privateKey: Buffer | null;

  /** The one before, until `previousSecretUntil` as well. */
  @Column('bytea', { name: 'previous_private_key', nullable: true })
  previousPrivateKey: Buffer | null;

  /** The key of `legacySignature`. */
  @Column('bytea', { name: 'legacy_secret', nullable: true })
  legacySecret: Buffer | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt: Date;
}

/** The circuit of a target that is not closed and clean; a target without a row is. */
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
