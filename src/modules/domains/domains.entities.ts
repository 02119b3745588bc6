import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { DomainKind, Judgement } from '#engine/mail/dns-records.js';
import type { DkimAlgorithm, DomainKeyState } from '#engine/mail/domain-keys.js';
import type { Reputation, ReputationCause, ReputationThresholds } from '#engine/mail/domain-reputation.js';
import type { DomainState } from '#engine/mail/domain-state.js';
import type { Id } from '#kernel/ids.js';

/** Result of the last check of a record, and whether any check found the record correct. */
export type StoredJudgement = Judgement & { wasRight?: boolean };

/** A customer's domain. */
@Entity('domains')
@Check('domains_kind_check', `kind in ('webhook', 'email', 'email-send')`)
@Check('domains_dkim_signer_check', `dkim_signer in ('platform', 'domain')`)
@Check('domains_reputation_check', `reputation in ('healthy', 'at_risk', 'paused')`)
@Check('domains_state_check', `state in ('pending-dns', 'verified', 'failed')`)
@Index('domains_host_idx', ['environmentId', 'host'], { unique: true })
@Index('domains_owner_idx', ['host'], { unique: true, where: 'is_owner' })
@Index('domains_next_check_at_idx', ['nextCheckAt'])
@Index('domains_reputation_idx', ['environmentId', 'id'], { where: `reputation <> 'healthy'` })
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

  /** True if this domain's environment was the first in the installation to prove ownership of the host. */
  @Column('boolean', { name: 'is_owner' })
  isOwner: boolean;

  @Column('boolean', { name: 'sending_enabled' })
  isSending: boolean;

  @Column('boolean', { name: 'receiving_enabled' })
  isReceiving: boolean;

  /** True if the records of the domain's own return path were found. Bounces are then sent to that return path. */
  @Column('boolean', { name: 'return_path_seen' })
  isReturnPathSeen: boolean;

  /**
   * Result of the last check of each record. Each key consists of the record's purpose and name, for example `dkim
   * ph1._domainkey.example.com`.
   */
  @Column('jsonb')
  judged: Record<string, StoredJudgement>;

  /** Seconds for which required records have been missing without interruption. Excludes time without DNS responses. */
  @Column('int', { name: 'missing_seconds' })
  missingSeconds: number;

  /** Time of the last check, if it found that a required record is missing. Otherwise null. */
  @Column('timestamptz', { name: 'missing_seen_at', nullable: true })
  missingSeenAt: Date | null;

  /** Number of checks since the state or the kind last changed. */
  @Column('int')
  checks: number;

  @Column('timestamptz', { name: 'checked_at', nullable: true })
  checkedAt: Date | null;

  @Column('timestamptz', { name: 'next_check_at' })
  nextCheckAt: Date;

  /** End of the lease of the process that checks the domain. */
  @Column('timestamptz', { name: 'claimed_until', nullable: true })
  claimedUntil: Date | null;

  /** Incremented when the kind changes. The result of a check is discarded if it is for an older version. */
  @Column('int')
  version: number;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt: Date;

  @Column('timestamptz', { name: 'verified_at', nullable: true })
  verifiedAt: Date | null;

  /** Owner of the keys that sign the domain's mail, or that will sign it once the domain can send. */
  @Column('text', { name: 'dkim_signer', default: 'platform' })
  dkimSigner: 'platform' | 'domain';

  /** Time until which the records of the platform's key must stay published, for mail that this key signed. */
  @Column('timestamptz', { name: 'platform_dkim_until', nullable: true })
  platformDkimUntil: Date | null;

  @Column('text', { default: 'healthy' })
  reputation: Reputation;

  /** Rate that caused the reputation. Null while the reputation is `healthy`. */
  @Column('text', { name: 'reputation_cause', nullable: true })
  reputationCause: ReputationCause | null;

  /** Time of the last change of the reputation. */
  @Column('timestamptz', { name: 'reputation_at', nullable: true })
  reputationAt: Date | null;

  /**
   * Time at which sending was last resumed after a pause. Only mail after this time counts for the reputation. Null if
   * the domain was never resumed.
   */
  @Column('timestamptz', { name: 'counts_since', nullable: true })
  countsSince: Date | null;

  /** Thresholds of the domain. Null if the default thresholds apply. */
  @Column('jsonb', { nullable: true })
  thresholds: ReputationThresholds | null;
}

/**
 * Numbers of recipients of a domain's mail in one hour. If a paused domain is resumed within the hour, the counts start
 * again in a new row.
 */
@Entity('domain_mail_counts')
@ForeignKey('domains', ['environmentId', 'domainId'], ['environmentId', 'id'], {
  name: 'domain_mail_counts_domain_fkey',
  onDelete: 'CASCADE',
})
@Index('domain_mail_counts_start_idx', ['start'])
export class DomainMailCountsEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'domain_mail_counts_pkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { name: 'domain_id', primaryKeyConstraintName: 'domain_mail_counts_pkey' })
  domainId: Id;

  @PrimaryColumn('timestamptz', { primaryKeyConstraintName: 'domain_mail_counts_pkey' })
  start: Date;

  @Column('int')
  sent: number;

  @Column('int')
  delivered: number;

  @Column('int')
  bounced: number;

  @Column('int')
  complained: number;
}

/** A DKIM key of one domain. A domain has at most two keys of each algorithm, one per selector. */
@Entity('domain_dkim_keys')
@ForeignKey('domains', ['environmentId', 'domainId'], ['environmentId', 'id'], {
  name: 'domain_dkim_keys_domain_fkey',
  onDelete: 'CASCADE',
})
@Check('domain_dkim_keys_algorithm_check', `algorithm in ('rsa-2048', 'ed25519')`)
@Check('domain_dkim_keys_state_check', `state in ('pending', 'signing', 'retiring')`)
export class DomainDkimKeyEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'domain_dkim_keys_pkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { name: 'domain_id', primaryKeyConstraintName: 'domain_dkim_keys_pkey' })
  domainId: Id;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'domain_dkim_keys_pkey' })
  selector: string;

  @Column('text')
  algorithm: DkimAlgorithm;

  /** Value of `p=` in the key's record. */
  @Column('text', { name: 'public_key' })
  publicKey: string;

  /** Private key in PKCS #8, encrypted. */
  @Column('bytea', { name: 'private_key' })
  privateKey: Buffer;

  @Column('text')
  state: DomainKeyState;

  /** Time for which the record of the previous key must stay published after this key starts to sign. */
  @Column('int', { name: 'grace_seconds' })
  graceSeconds: number;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  /** Time until which the record of a retiring key must stay published. Null if the key is not retiring. */
  @Column('timestamptz', { name: 'required_until', nullable: true })
  requiredUntil: Date | null;
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
