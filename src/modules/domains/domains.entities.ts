import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { DomainKind, Judgement } from '#engine/mail/dns-records.js';
import type { DomainState } from '#engine/mail/domain-state.js';
import type { Id } from '#kernel/ids.js';

/** A domain that an environment wants to use, and what was seen of it. Its records follow from these columns. */
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

  /** In lower case and A-labels. */
  @Column('text')
  host: string;

  @Column('text')
  kind: DomainKind;

  @Column('text')
  state: DomainState;

  /** What the ownership record says: nobody else has it. */
  @Column('text')
  token: string;

  /** Whether the ownership record was seen here first, of all environments of the installation. */
  @Column('boolean', { name: 'is_owner' })
  isOwner: boolean;

  @Column('boolean', { name: 'sending_enabled' })
  isSending: boolean;

  @Column('boolean', { name: 'receiving_enabled' })
  isReceiving: boolean;

  /** Whether bounces find their way through the domain's own return path. */
  @Column('boolean', { name: 'return_path_seen' })
  isReturnPathSeen: boolean;

  /** What the last check came to, by record: `dkim ph1._domainkey.example.com`. */
  @Column('jsonb')
  judged: Record<string, Judgement>;

  /** For how long something required has been missing in a row, time without answers not counted. */
  @Column('int', { name: 'missing_seconds' })
  missingSeconds: number;

  /** When the last check saw that; null when it did not. */
  @Column('timestamptz', { name: 'missing_seen_at', nullable: true })
  missingSeenAt: Date | null;

  /** Checks since the state or the kind changed. */
  @Column('int')
  checks: number;

  @Column('timestamptz', { name: 'checked_at', nullable: true })
  checkedAt: Date | null;

  @Column('timestamptz', { name: 'next_check_at' })
  nextCheckAt: Date;

  /** Until then one process checks it, and no other; it is long over when that one died. */
  @Column('timestamptz', { name: 'claimed_until', nullable: true })
  claimedUntil: Date | null;

  /** Rises with every change of the kind: a check of what it was before is void. */
  @Column('int')
  version: number;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt: Date;

  @Column('timestamptz', { name: 'verified_at', nullable: true })
  verifiedAt: Date | null;
}
