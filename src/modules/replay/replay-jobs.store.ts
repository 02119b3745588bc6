import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import { conflict } from '#kernel/errors.js';
import { type Id, showId } from '#kernel/ids.js';
import type { ReplayJobEntity } from './replay.entities.js';
import { FORGOTTEN_MS, type NewReplayJob, type ReplayJob, subjectOf, SUBJECTS } from './replay-job.js';

const COLUMNS = `
  environment_id as "environmentId", id, kind, application_id as "applicationId", target_id as "targetId",
  include_cancelled as "includeCancelled", replay_id as "replayId", endpoint_id as "endpointId", state, since, until, status,
  destinations, destinations_used as "destinationsUsed", stop_requested as "stopRequested", before_id as "beforeId",
  from_id as "fromId", total_estimate as "totalEstimate", scanned, replayed, enqueued, skipped, excluded, erased, selection, cancelled,
  resumed_from as "resumedFrom", error, failures, runner, created_at as "createdAt", started_at as "startedAt",
  page_at as "pageAt", finished_at as "finishedAt"`;

/**
 * Inserts a job, unless an unfinished job has the same `endpointId` (`replay_jobs_live_idx`). Does not raise an error
 * in that case, because an error would abort the transaction.
 */
const INSERT: Statement = {
  name: 'replay_jobs_insert',
  text: `
    insert into replay_jobs (environment_id, id, replay_id, endpoint_id, state, since, until, status, destinations,
      destinations_used, stop_requested, before_id, from_id, total_estimate, scanned, replayed, enqueued, skipped,
        excluded,
      failures, created_at, kind, application_id, target_id, include_cancelled, selection)
    values ($1, $2, $3, $4, 'pending', $5, $6, $7, $8::uuid[], $9::uuid[], false, $10, $11, $12, 0, 0, 0, 0, 0, 0,
      $13, $14, $15, $16, $17, $18::jsonb)
    on conflict (environment_id, endpoint_id) where state in ('pending', 'running') do nothing
    returning ${COLUMNS}`,
};

/** Uses the index `replay_jobs_live_idx`. */
const LIVE: Statement = {
  name: 'replay_jobs_live',
  text: `select id from replay_jobs where environment_id = $1 and endpoint_id = $2 and state in ('pending', 'running')`,
};

/** Uses the index `replay_jobs_pkey`. */
const FIND: Statement = {
  name: 'replay_jobs_find',
  text: `select ${COLUMNS} from replay_jobs where environment_id = $1 and id = $2`,
};

/**
 * Locks a job. Waits until a concurrent transaction has committed a page of the job, or has stopped it. With `SKIP
 * LOCKED`, a running job would not be found.
 */
const LOCK: Statement = { name: 'replay_jobs_lock', text: `${FIND.text} for update` };

/** Selects jobs, newest first. Reads the index `replay_jobs_pkey` in descending order. */
const PAGE: Statement = {
  name: 'replay_jobs_page',
  text: `
    select ${COLUMNS} from replay_jobs
    where environment_id = $1 and ($2::uuid is null or id < $2) and ($3::uuid is null or endpoint_id = $3)
      and ($4::text is null or state = $4)
    order by id desc limit $5`,
};

/** Stops a job. A job that has not started ends immediately. Ended jobs stay unchanged. */
const STOP: Statement = {
  name: 'replay_jobs_stop',
  text: `
    update replay_jobs
    set stop_requested = true,
        state = case when state = 'pending' then 'stopped' else state end,
        finished_at = case when state = 'pending' then $3 else finished_at end
    where environment_id = $1 and id = $2 returning ${COLUMNS}`,
};

const UPDATE: Statement = {
  name: 'replay_jobs_update',
  text: `
    update replay_jobs
    set state = $3, before_id = $4, scanned = $5, replayed = $6, enqueued = $7, skipped = $8, excluded = $9,
        resumed_from = $10, error = $11, failures = $12, runner = $13, started_at = $14, page_at = $15,
          finished_at = $16,
        destinations_used = $17::uuid[], from_id = $18, erased = $19::jsonb, cancelled = $20
    where environment_id = $1 and id = $2`,
};

/** Selects abandoned jobs, whose process no longer commits pages. Uses the index `replay_jobs_open_idx`. */
const FORGOTTEN: Statement = {
  name: 'replay_jobs_forgotten',
  text: `
    select environment_id as "environmentId", id from replay_jobs
    where state in ('pending', 'running') and coalesce(page_at, started_at, created_at) < $1 order by created_at
      limit 100`,
};

/** Query for the poller. Returns the time until the next job counts as abandoned. Uses `replay_jobs_open_idx`. */
export const FORGOTTEN_IN_MS = `
  select min(extract(epoch from coalesce(page_at, started_at, created_at) - now())) * 1000 + ${FORGOTTEN_MS}
    from replay_jobs
  where state in ('pending', 'running')`;

@Injectable()
export class ReplayJobsStore {
  constructor(private readonly database: Database) {}

  /**
   * Inserts a job, in the transaction that stores the call's idempotency key. Throws 409 if an unfinished job has the
   * same `endpointId`.
   */
  async insert(job: NewReplayJob): Promise<ReplayJob> {
    const values = [
      job.environmentId,
      job.id,
      job.replayId,
      job.endpointId,
      job.since,
      job.until,
      job.status,
      job.destinations,
      job.destinationsUsed,
      job.beforeId,
      job.fromId,
      job.totalEstimate,
      job.createdAt,
      job.kind,
      job.applicationId,
      job.targetId,
      job.includeCancelled,
      job.selection ? JSON.stringify(job.selection) : null,
    ];
    const [row] = await this.database.transaction(() => this.database.query<ReplayJobEntity>(INSERT, values));
    if (row) return row;
    const [live] = await this.database.query<{ id: Id }>(LIVE, [job.environmentId, job.endpointId]);
    const what = job.selection ? 'job over these events' : `replay of this ${SUBJECTS[subjectOf(job)]}`;
    throw conflict(`Another ${what} is live. Wait for it, or stop it.`, {
      reason: 'replay_live',
      ...(live && { replay: showId('rpj', live.id) }),
    });
  }

  async find(environmentId: number, id: Id): Promise<ReplayJob | null> {
    const [row] = await this.database.query<ReplayJobEntity>(FIND, [environmentId, id]);
    return row ?? null;
  }

  /** Returns the job, locked in the caller's transaction, or `null` if it no longer exists. */
  async lock(environmentId: number, id: Id): Promise<ReplayJob | null> {
    const [row] = await this.database.query<ReplayJobEntity>(LOCK, [environmentId, id]);
    return row ?? null;
  }

  page(
    environmentId: number,
    filter: { beforeId?: Id; endpointId?: Id; state?: string },
    limit: number,
  ): Promise<ReplayJob[]> {
    return this.database.query(PAGE, [
      environmentId,
      filter.beforeId ?? null,
      filter.endpointId ?? null,
      filter.state ?? null,
      limit,
    ]);
  }

  async requestStop(environmentId: number, id: Id, at: Date): Promise<ReplayJob | null> {
    const [row] = await this.database.query<ReplayJobEntity>(STOP, [environmentId, id, at]);
    return row ?? null;
  }

  async update(job: ReplayJob): Promise<void> {
    await this.database.query(UPDATE, [
      job.environmentId,
      job.id,
      job.state,
      job.beforeId,
      job.scanned,
      job.replayed,
      job.enqueued,
      job.skipped,
      job.excluded,
      job.resumedFrom,
      job.error,
      job.failures,
      job.runner,
      job.startedAt,
      job.pageAt,
      job.finishedAt,
      job.destinationsUsed,
      job.fromId,
      job.erased && JSON.stringify(job.erased),
      job.cancelled,
    ]);
  }

  forgotten(before: Date): Promise<{ environmentId: number; id: Id }[]> {
    return this.database.query(FORGOTTEN, [before]);
  }
}
