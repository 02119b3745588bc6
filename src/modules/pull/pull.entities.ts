import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { Id } from '#kernel/ids.js';

/** An item of a pull destination, in the order of transactions. */
@Entity('pull_items')
export class PullItemEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'pull_items_pkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { name: 'target_id', primaryKeyConstraintName: 'pull_items_pkey' })
  targetId: Id;

  /** Timeline in which `xid` is valid (`cluster_epochs`). */
  @PrimaryColumn('int', { primaryKeyConstraintName: 'pull_items_pkey' })
  epoch: number;

  /** Transaction id, a decimal number of 64 bits. */
  @PrimaryColumn('bigint', { primaryKeyConstraintName: 'pull_items_pkey' })
  xid: string;

  @PrimaryColumn('uuid', { name: 'event_id', primaryKeyConstraintName: 'pull_items_pkey' })
  eventId: Id;

  @PrimaryColumn('smallint', { primaryKeyConstraintName: 'pull_items_pkey' })
  ordinal: number;

  /** Day on which retention ends. The row is stored in the partition of this day. */
  @PrimaryColumn('date', { name: 'expires_on', primaryKeyConstraintName: 'pull_items_pkey' })
  expiresOn: string;

  @Column('uuid', { name: 'endpoint_id', nullable: true })
  endpointId: Id | null;

  @Column('boolean')
  replayed: boolean;
}

/** The position up to which a consumer has committed items. */
@Entity('pull_positions')
@Index('pull_positions_target_id_idx', ['environmentId', 'targetId', 'keyId'])
export class PullPositionEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'pull_positions_pkey' })
  environmentId: number;

  /** The destination, or the endpoint that reads it. */
  @PrimaryColumn('uuid', { name: 'key_id', primaryKeyConstraintName: 'pull_positions_pkey' })
  keyId: Id;

  @PrimaryColumn('uuid', { name: 'target_id', primaryKeyConstraintName: 'pull_positions_pkey' })
  targetId: Id;

  @Column('int')
  epoch: number;

  @Column('bigint')
  xid: string;

  @Column('uuid', { name: 'event_id' })
  eventId: Id;

  @Column('smallint')
  ordinal: number;

  @Column('timestamptz', { name: 'committed_at' })
  committedAt: Date;
}
