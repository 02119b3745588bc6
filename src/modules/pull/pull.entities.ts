import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { Id } from '#kernel/ids.js';

/** An item of a pull destination. Items are ordered by their transactions. */
@Entity('pull_items')
export class PullItemEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'pull_items_pkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { name: 'target_id', primaryKeyConstraintName: 'pull_items_pkey' })
  targetId: Id;

  /** Epoch of the database in which `xid` was assigned (`cluster_epochs`). */
  @PrimaryColumn('int', { primaryKeyConstraintName: 'pull_items_pkey' })
  epoch: number;

  /** Id of the PostgreSQL transaction: a 64-bit integer as a decimal string. */
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

  /** Id of the destination, or of the endpoint whose events are pulled from it. */
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
