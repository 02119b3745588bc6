import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { Id } from '#kernel/ids.js';

/**
 * An address that mail is received under. The row of a removed one stays for as long as messages that came to it are
 * kept.
 */
@Entity('aliases')
@Check('aliases_kind_check', `kind in ('platform', 'custom')`)
@Check('aliases_domain_check', `(kind = 'custom') = (domain_id is not null)`)
@Index('aliases_address_idx', ['environmentId', 'address'], { unique: true, where: 'removed_at is null' })
@Index('aliases_platform_idx', ['address'], { unique: true, where: `removed_at is null and kind = 'platform'` })
@Index('aliases_host_idx', ['address'], { where: 'removed_at is null' })
@Index('aliases_domain_id_idx', ['environmentId', 'domainId'], { where: 'removed_at is null' })
export class AliasEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'aliases_pkey' })
  @ForeignKey('environments', { name: 'aliases_environment_id_fkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'aliases_pkey' })
  id: Id;

  @Column('text')
  kind: 'platform' | 'custom';

  /** Null for a platform alias. */
  @Column('uuid', { name: 'domain_id', nullable: true })
  domainId: Id | null;

  /** As it was asked for, in lower case: `support`, or `*` for everything that no other alias of the domain takes. */
  @Column('text', { name: 'local_part' })
  localPart: string;

  /** In lower case, the domain in A-labels; that of a platform alias has the slug that its organization had then. */
  @Column('text')
  address: string;

  @Column('uuid', { name: 'destination_ids', array: true })
  destinationIds: Id[];

  /** Which of its mail goes to a destination, by the destination's id; one that is not there gets all of it. */
  @Column('jsonb', { default: {} })
  filters: Record<Id, Record<string, unknown>>;

  /** `a@d`, `@d` or `*.d`, in lower case and A-labels; none admits everybody. */
  @Column('text', { name: 'allowed_senders', array: true })
  allowedSenders: string[];

  /** Null for what the listener takes at most. */
  @Column('int', { name: 'max_size_bytes', nullable: true })
  maxSizeBytes: number | null;

  @Column('int')
  version: number;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt: Date;

  /** From then on mail to it is refused, and it is in no list. */
  @Column('timestamptz', { name: 'removed_at', nullable: true })
  removedAt: Date | null;
}
