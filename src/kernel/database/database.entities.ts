import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** A timeline of a PostgreSQL cluster. Transaction ids can only be compared within the same timeline. */
@Entity('cluster_epochs')
export class ClusterEpochEntity {
  @PrimaryColumn('int', { primaryKeyConstraintName: 'cluster_epochs_pkey' })
  epoch: number;

  /** Identifier of the PostgreSQL cluster: a 64-bit integer, as a decimal string. */
  @Column('bigint', { name: 'system_identifier' })
  systemIdentifier: string;

  @Column('int', { name: 'timeline_id' })
  timelineId: number;
}

/** The last reading of the PostgreSQL clock. The table has one row. */
@Entity('seen_clock')
@Check('seen_clock_id_check', 'id = 1')
export class SeenClockEntity {
  @PrimaryColumn('smallint', { default: 1, primaryKeyConstraintName: 'seen_clock_pkey' })
  id: number;

  @Column('timestamptz', { name: 'seen_at' })
  seenAt: Date;

  /** Time that the clock showed before it jumped ahead. Null while it runs normally. */
  @Column('timestamptz', { name: 'leapt_from', nullable: true })
  leaptFrom: Date | null;

  @Column('bigint', { name: 'waited_ms', default: 0 })
  waitedMs: string;
}
