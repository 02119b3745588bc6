import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import { WorkerRegistry } from './worker-registry.contract.js';

/** Timeout of a heartbeat. The next heartbeat starts after 2 s and can still renew the lease, which lasts 10 s. */
const BEAT_DEADLINE_MS = 4_000;

const REGISTER: Statement = {
  name: 'presence_register',
  deadlineMs: BEAT_DEADLINE_MS,
  text: `
    insert into workers (id, host, pid, started_at, alive_until)
    values ($1, $2, $3, now(), now() + $4 * interval '1 millisecond')`,
};

const RENEW: Statement = {
  name: 'presence_renew',
  deadlineMs: BEAT_DEADLINE_MS,
  text: `update workers set alive_until = now() + $2 * interval '1 millisecond' where id = any($1::uuid[]) returning id`,
};

/**
 * Releases the claims of all workers without a valid lease. Includes workers that are no longer in the table, because a
 * worker may commit claims after its row was deleted. Scans all open deliveries, which takes a few milliseconds for
 * 100,000 deliveries.
 */
const REAP: Statement = {
  name: 'presence_reap',
  text: `
    with dead as (delete from workers where alive_until < now() returning id), freed as (
      update due_deliveries d set claimed_by = null
      where claimed_by is not null
        and not exists (select from workers w where w.id = d.claimed_by and w.alive_until >= now())
      returning 1
    )
    select count(*)::int as count from freed`,
};

const LEAVE: Statement = {
  name: 'presence_leave',
  text: `
    with gone as (delete from workers where id = $1)
    update due_deliveries set claimed_by = null where claimed_by = $1`,
};

@Injectable()
export class WorkerRegistryStore extends WorkerRegistry {
  private readonly registered = new Set<Id>();

  constructor(private readonly database: Database) {
    super();
  }

  async beat({
    ids,
    host,
    pid,
    leaseMs,
  }: {
    ids: readonly Id[];
    host: string;
    pid: number;
    leaseMs: number;
  }): Promise<ReadonlySet<Id>> {
    const known = ids.filter((id) => this.registered.has(id));
    const renewed = known.length > 0 ? await this.database.heartbeatQuery<{ id: Id }>(RENEW, [known, leaseMs]) : [];
    const alive = new Set(renewed.map(({ id }) => id));
    for (const id of ids.filter((each) => !this.registered.has(each))) {
      await this.database.heartbeatQuery(REGISTER, [id, host, pid, leaseMs]);
      this.registered.add(id);
      alive.add(id);
    }
    return alive;
  }

  async reap(): Promise<number> {
    const [row] = await this.database.heartbeatQuery<{ count: number }>(REAP, []);
    return row?.count ?? 0;
  }

  async remove(id: Id): Promise<void> {
    await this.database.heartbeatQuery(LEAVE, [id]);
    this.registered.delete(id);
  }
}
