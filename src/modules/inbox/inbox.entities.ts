import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { Id } from '#kernel/ids.js';

/** An address that receives mail. The row of a removed alias is kept for as long as its messages are stored. */
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

  /** Domain of a custom alias. Null for a platform alias. */
  @Column('uuid', { name: 'domain_id', nullable: true })
  domainId: Id | null;

  /** Local part in lower case: `support`, or `*` for all mail to the domain that no other alias receives. */
  @Column('text', { name: 'local_part' })
  localPart: string;

  /** Address in lower case, domain in A-labels. A platform alias keeps the organization's slug of its creation time. */
  @Column('text')
  address: string;

  @Column('uuid', { name: 'destination_ids', array: true })
  destinationIds: Id[];

  /** Filters by destination id. A destination without a filter gets all mail. */
  @Column('jsonb', { default: {} })
  filters: Record<Id, Record<string, unknown>>;

  /** Patterns `a@d`, `@d` or `*.d`, in lower case and A-labels. An empty list accepts every sender. */
  @Column('text', { name: 'allowed_senders', array: true })
  allowedSenders: string[];

  /** Maximum message size in bytes. Null for the listener's own limit. */
  @Column('int', { name: 'max_size_bytes', nullable: true })
  maxSizeBytes: number | null;

  @Column('int')
  version: number;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt: Date;

  /** Time of the removal. From then on mail is rejected, and no list shows the alias. */
  @Column('timestamptz', { name: 'removed_at', nullable: true })
  removedAt: Date | null;
}
