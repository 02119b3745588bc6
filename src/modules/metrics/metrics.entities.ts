import { Check, Column, Entity, Index, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import type { Id } from '#kernel/ids.js';

/**
 * Metric increments that were written in the commit of events or delivery results. A job folds them into rollups,
 * usually after about a second.
 */
@Entity('rollup_parts')
export class RollupPartEntity {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
    primaryKeyConstraintName: 'rollup_parts_pkey',
  })
  id: string;

  @Column('int', { name: 'environment_id' })
  environmentId: number;

  @Column('uuid', { name: 'key_id', nullable: true })
  keyId: Id | null;

  /** Time of the counts in the older format, which has one count per column. Null in the format with arrays. */
  @Column('timestamptz', { nullable: true })
  minute: Date | null;

  @Column('int', { nullable: true })
  received: number | null;

  @Column('int', { nullable: true })
  delivered: number | null;

  @Column('int', { nullable: true })
  failed: number | null;

  @Column('int', { nullable: true })
  retried: number | null;

  @Column('int', { nullable: true })
  dlq: number | null;

  @Column('int', { name: 'latencies_ms', array: true, nullable: true })
  latenciesMs: number[] | null;

  @Column('timestamptz', { name: 'added_at', default: () => 'now()' })
  addedAt: Date;

  @Column('uuid', { name: 'key_ids', array: true, nullable: true })
  keyIds: Id[] | null;

  @Column('uuid', { name: 'other_ids', array: true, nullable: true })
  otherIds: Id[] | null;

  @Column('timestamptz', { array: true, nullable: true })
  ats: Date[] | null;

  /**
   * Flags of each increment in the arrays, as a sum of bits such as `RECEIVED` (modules/ledger/metric-increments.ts).
   */
  @Column('smallint', { array: true, nullable: true })
  whats: number[] | null;

  @Column('int', { name: 'durations_ms', array: true, nullable: true })
  durationsMs: number[] | null;
}

/** Counts and the latency histogram of a time window. */
@Entity('rollups')
@Check('rollups_resolution_check', `resolution in ('1m', '1h', '1d')`)
@Index('rollups_start_idx', ['resolution', 'start'])
@Index('rollups_failing_idx', ['environmentId', 'resolution', 'start', 'keyId'], { where: 'is_failing' })
export class RollupEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'rollups_pkey' })
  environmentId: number;

  /** Id of a destination, endpoint or application. `ffffffff-ffff-ffff-ffff-ffffffffffff` for the whole environment. */
  @PrimaryColumn('uuid', { name: 'key_id', primaryKeyConstraintName: 'rollups_pkey' })
  keyId: Id;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'rollups_pkey' })
  resolution: '1m' | '1h' | '1d';

  @PrimaryColumn('timestamptz', { primaryKeyConstraintName: 'rollups_pkey' })
  start: Date;

  @Column('bigint')
  received: string;

  @Column('bigint')
  delivered: string;

  @Column('bigint')
  failed: string;

  @Column('bigint')
  retried: string;

  @Column('bigint')
  dlq: string;

  @Column('bigint')
  attempts: string;

  @Column('int', { array: true })
  histogram: number[];

  /** True if deliveries failed in the window. */
  @Column('boolean', { name: 'is_failing', default: false })
  isFailing: boolean;
}
