import { SetMetadata } from '@nestjs/common';
import type { DueWork } from './due-work-poller.js';
import type { LoopDelay } from './loop.js';

interface JobOptions {
  /** Name of the job's loop in logs, readiness and metrics. */
  name: string;
  /** Runs the job only in processes that deliver. By default, every process runs it. */
  runsOn?: 'worker';
  /**
   * Skips all turns while `RetentionGate` pauses the removal of old data. Required for jobs whose only effect is to
   * remove data by age.
   */
  removesByAge?: true;
  /**
   * SQL expression with which `DueWorkPoller` detects due work and then wakes the job. While these polls succeed, the
   * job itself runs less often than its interval when it finds no work.
   */
  dueWork?: Pick<DueWork, 'name' | 'inMs'>;
}

/** A background job, as `BackgroundJobs` finds it on a method. */
export interface Job extends JobOptions {
  everyMs: number;
}

/**
 * One turn (one execution) of a job. Resolves to the delay before the next turn. If it resolves to undefined, the delay
 * is the job's interval.
 */
export type JobTurn = () => Promise<LoopDelay | void>;

type JobDecorator = <T extends JobTurn>(target: object, key: string, descriptor: TypedPropertyDescriptor<T>) => void;

/** Metadata key of a `Job`. */
export const JOB = Symbol('job');

/**
 * Runs the method of a provider in the background: once after the start, and then `everyMs` after each turn. `Loop`
 * logs and retries a turn that throws. A failed turn never affects readiness. ADR 39 explains why jobs are timers.
 */
export const Every = (everyMs: number, options: JobOptions): JobDecorator =>
  SetMetadata<symbol, Job>(JOB, { ...options, everyMs });
