import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { type CursorQuery, Cursors } from '#kernel/cursors.js';
import { Database } from '#kernel/database/database.js';
import { noSuch } from '#kernel/errors.js';
import { type Id, parseId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { SystemEvents } from '#modules/system-events/contract.js';
import { endOf, type ReplayJob } from './replay-job.js';
import { ReplayJobsStore } from './replay-jobs.store.js';

const LIMIT_DEFAULT = 50;

@Injectable()
export class ReplayJobs {
  constructor(
    private readonly store: ReplayJobsStore,
    private readonly cursors: Cursors,
    private readonly clock: Clock,
    private readonly database: Database,
    private readonly systemEvents: SystemEvents,
  ) {}

  async list(
    tenant: Tenant,
    query: { endpoint?: string; state?: string; cursor?: string; limit?: number },
  ): Promise<{ rows: ReplayJob[]; nextCursor: string | null }> {
    const { cursor, limit = LIMIT_DEFAULT, ...filters } = query;
    const list: CursorQuery = { list: 'replays', filters };
    const beforeId = cursor === undefined ? undefined : this.cursors.read(tenant, list, cursor);
    const endpointId =
      filters.endpoint === undefined
        ? undefined
        : (parseId('ep', filters.endpoint) ?? parseId('dst', filters.endpoint) ?? parseId('app', filters.endpoint));
    if (endpointId === null) return { rows: [], nextCursor: null };
    const rows = await this.store.page(tenant.environmentId, { beforeId, endpointId, state: filters.state }, limit + 1);
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return { rows: page, nextCursor: rows.length > limit && last ? this.cursors.issue(tenant, list, last.id) : null };
  }

  /** Returns a job. Throws 404 if the job does not exist. */
  async find(tenant: Tenant, id: Id): Promise<ReplayJob> {
    const job = await this.store.find(tenant.environmentId, id);
    if (job === null) throw noSuch('replay job');
    return job;
  }

  /** Stops a running job after its current page, and any other job immediately. Throws 404 for an unknown job. */
  stop(tenant: Tenant, id: Id): Promise<ReplayJob> {
    return this.database.transaction(async () => {
      const before = await this.store.lock(tenant.environmentId, id);
      const job = before && (await this.store.requestStop(tenant.environmentId, id, this.clock.now()));
      if (!job) throw noSuch('replay job');
      if (before.state === 'pending') await this.systemEvents.note(endOf(job));
      return job;
    });
  }
}
