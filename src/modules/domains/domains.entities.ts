import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { DomainKind, Judgement } from '#engine/mail/dns-records.js';
import type { DomainState } from '#engine/mail/domain-state.js';
import type { Id } from '#kernel/ids.js';

/** A customer's domain. Its DNS records are derived from these columns. */
@Entity('domains')
@Check('domains_kind_check', `kind in ('webhook', 'email', 'email-send')`)
@Check('domains_state_check', `state in ('pending-dns', 'verified', 'failed')`)
@Index('domains_host_idx', ['environmentId', 'host'], { unique: true })
@Index('domains_owner_idx', ['host'], { unique: true, where: 'is_owner' })
@Index('domains_next_check_at_idx', ['nextCheckAt'])
@Index('domains_webhook_idx', ['environmentId', 'id'], { where: `kind = 'webhook'` })
export class DomainEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'domains_pkey' })
  @ForeignKey('environments', { name: 'domains_environment_id_fkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'domains_pkey' })
  id: Id;

  /** Host name in lower case, in A-labels. */
  @Column('text')
  host: string;

  @Column('text')
  kind: DomainKind;

  @Column('text')
  state: DomainState;

  /** Unique value of the ownership record. */
  @Column('text')
  token: string;

  /** True if this environment was the first one of the installation to prove ownership of the host. */
  @Column('boolean', { name: 'is_owner' })
  isOwner: boolean;

  @Column('boolean', { name: 'sending_enabled' })
  isSending: boolean;

  @Column('boolean', { name: 'receiving_enabled' })
  isReceiving: boolean;

  /** Whether bounces can use the domain's own return path. */
  @Column('boolean', { name: 'return_path_seen' })
  isReturnPathSeen: boolean;

  /** Result of the last check for each record, by a key such as `dkim ph1._domainkey.example.com`. */
  @Column('jsonb')
  judged: Record<string, Judgement>;

  /** Uninterrupted time in seconds during which a required record was missing. Excludes time without DNS answers. */
  @Column('int', { name: 'missing_seconds' })
  missingSeconds: number;

  /** Null if the last check found all required records. */
  @Column('timestamptz', { name: 'missing_seen_at', nullable: true })
  missingSeenAt: Date | null;

  /** Number of checks since the state or the kind changed. */
  @Column('int')
  checks: number;

  @Column('timestamptz', { name: 'checked_at', nullable: true })
  checkedAt: Date | null;

  @Column('timestamptz', { name: 'next_check_at' })
  nextCheckAt: Date;

  /** End of the lease of the process that checks the domain. The lease expires if that process dies. */
  @Column('timestamptz', { name: 'claimed_until', nullable: true })
  claimedUntil: Date | null;

  /** Increases when the kind changes. Results of checks for an older version are discarded. */
  @Column('int')
  version: number;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt: Date;

  @Column('timestamptz', { name: 'verified_at', nullable: true })
  verifiedAt: Date | null;
}

/** A DKIM key of the installation. The private key is encrypted. */
@Entity('dkim_keys')
@Check('dkim_keys_state_check', `state in ('current', 'idle', 'next')`)
@Index('dkim_keys_current_idx', ['state'], { unique: true, where: `state = 'current'` })
export class DkimKeyEntity {
  @PrimaryColumn('text', { primaryKeyConstraintName: 'dkim_keys_pkey' })
  selector: string;

  @Column('text', { name: 'public_key' })
  publicKey: string;

  @Column('bytea', { name: 'private_key' })
  privateKey: Buffer;

  @Column('text')
  state: 'current' | 'idle' | 'next';

  @Column('timestamptz', { name: 'made_at' })
  madeAt: Date;
}
