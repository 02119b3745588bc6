import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { Id } from '#kernel/ids.js';
import type { Erased, JobKind, JobSelection, JobState } from './replay-job.js';

/** A job that resends, cancels, releases or erases many events. */
@Entity('replay_jobs')
@Check('replay_jobs_kind_check', `kind in ('range', 'recover', 'application', 'requests', 'erase', 'events')`)
@Check('replay_jobs_state_check', `state in ('pending', 'running', 'completed', 'stopped', 'failed')`)
@Index('replay_jobs_live_idx', ['environmentId', 'endpointId'], {
  unique: true,
  where: `state in ('pending', 'running')`,
})
@Index('replay_jobs_open_idx', ['createdAt'], { where: `state in ('pending', 'running')` })
export class ReplayJobEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'replay_jobs_pkey' })
  @ForeignKey('environments', { name: 'replay_jobs_environment_id_fkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'replay_jobs_pkey' })
  id: Id;

  @Column('uuid', { name: 'replay_id' })
  replayId: Id;

  /** Subject of the job: an inbound endpoint, application, endpoint of an application, destination, or hash of a filter. */
  @Column('uuid', { name: 'endpoint_id' })
  endpointId: Id;

  @Column('text')
  state: JobState;

  @Column('timestamptz', { nullable: true })
  since: Date | null;

  @Column('timestamptz', { nullable: true })
  until: Date | null;

  /** State of the events to send. Null for all states. */
  @Column('text', { nullable: true })
  status: string | null;

  @Column('uuid', { array: true, nullable: true })
  destinations: Id[] | null;

  @Column('uuid', { name: 'destinations_used', array: true })
  destinationsUsed: Id[];

  @Column('boolean', { name: 'stop_requested' })
  stopRequested: boolean;

  /** Exclusive upper bound of ids for the next page. */
  @Column('uuid', { name: 'before_id' })
  beforeId: Id;

  @Column('uuid', { name: 'from_id' })
  fromId: Id;

  @Column('int', { name: 'total_estimate' })
  totalEstimate: number;

  @Column('int')
  scanned: number;

  @Column('int')
  replayed: number;

  @Column('int')
  enqueued: number;

  @Column('int')
  skipped: number;

  @Column('int')
  excluded: number;

  /** Value of `scanned` when another process resumed the job. */
  @Column('int', { name: 'resumed_from', nullable: true })
  resumedFrom: number | null;

  @Column('text', { nullable: true })
  error: string | null;

  @Column('int')
  failures: number;

  @Column('uuid', { nullable: true })
  runner: Id | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'started_at', nullable: true })
  startedAt: Date | null;

  @Column('timestamptz', { name: 'page_at', nullable: true })
  pageAt: Date | null;

  @Column('timestamptz', { name: 'finished_at', nullable: true })
  finishedAt: Date | null;

  @Column('text', { default: 'range' })
  kind: JobKind;

  @Column('uuid', { name: 'application_id', nullable: true })
  applicationId: Id | null;

  @Column('uuid', { name: 'target_id', nullable: true })
  targetId: Id | null;

  @Column('boolean', { name: 'include_cancelled', default: false })
  includeCancelled: boolean;

  @Column('jsonb', { nullable: true })
  erased: Erased | null;

  @Column('jsonb', { nullable: true })
  selection: JobSelection | null;

  @Column('int', { default: 0 })
  cancelled: number;
}
