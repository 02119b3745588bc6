import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database.js';
import { dateArray, uuidArray } from '#kernel/pg-array.js';
import { lowestIdAt, type Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import type { AttemptRow, Redelivered, Redelivery } from './accept.contract.js';

const STEP = 1_000;
const DAY_MS = 86_400_000;

/**
 * Makes a new delivery for each picked (environment, event, target), numbered behind the event's others. What was
 * there for that target is superseded: it no longer counts for the event's status; an open one ends here, or with the
 * attempt that it is in.
 */
const renew = (picked: string): string => `
  with picked as (${picked}), settled as (
    update deliveries d set superseded = true from picked p
    where d.environment_id = p.environment_id and d.event_id = p.event_id and d.target_id = p.target_id
      and d.expires_on = p.expires_on and not d.superseded
    returning 1
  ), attempted as (
    update due_deliveries d set superseded = true from picked p
    where d.environment_id = p.environment_id and d.event_id = p.event_id and d.target_id = p.target_id
      and d.claimed_by is not null and not d.superseded
    returning 1
  ), waiting as (
    delete from due_deliveries d using picked p
    where d.environment_id = p.environment_id and d.event_id = p.event_id and d.target_id = p.target_id
      and d.claimed_by is null
    returning d.*
  ), ended as (
    insert into deliveries (environment_id, event_id, ordinal, expires_on, target_id, endpoint_id, status, reason, attempts,
                            replayed, superseded, settled_at)
    select environment_id, event_id, ordinal, expires_on, target_id, endpoint_id, 'failed', 'superseded', attempts, replayed,
           true, now()
    from waiting returning 1
  ), numbered as (
    select p.*, row_number() over (partition by p.environment_id, p.event_id order by p.target_id) + greatest(
      (select coalesce(max(ordinal), -1) from deliveries d
       where d.environment_id = p.environment_id and d.event_id = p.event_id and d.expires_on = p.expires_on),
      (select coalesce(max(ordinal), -1) from due_deliveries d
       where d.environment_id = p.environment_id and d.event_id = p.event_id)
    ) as ordinal from picked p
  ), made as (
    insert into due_deliveries (environment_id, event_id, ordinal, expires_on, target_id, endpoint_id, due_at, claimed_by,
                                parked, attempts, attempts_used, first_attempt_at, replayed, superseded)
    select environment_id, event_id, ordinal, expires_on, target_id, endpoint_id,
           now() + position * interval '1 microsecond', null, false, 0, 0, null, true, false
    from numbered returning 1
  )
  select count(*)::int as count from made`;

/** To wherever it went: by events_pkey, due_deliveries_pkey and deliveries_pkey. */
const ONE: Statement = {
  name: 'redeliver_one',
  text: renew(`
    select e.environment_id, e.id as event_id, e.expires_on, t.target_id, t.endpoint_id, 0 as position
    from events e cross join lateral (
      select target_id, endpoint_id from due_deliveries o
      where o.environment_id = e.environment_id and o.event_id = e.id and not o.superseded
      union
      select target_id, endpoint_id from deliveries s
      where s.environment_id = e.environment_id and s.event_id = e.id and s.expires_on = e.expires_on and not s.superseded
    ) t
    where e.environment_id = $1 and e.id = $2`),
};

/** To the given targets, due in the given order. */
const TO: Statement = {
  name: 'redeliver_to',
  text: renew(`
    select $1::int as environment_id, event_id, expires_on, target_id, endpoint_id, position::int
    from unnest($2::uuid[], $3::date[], $4::uuid[], $5::uuid[]) with ordinality as p(event_id, expires_on, target_id, endpoint_id, position)`),
};

/**
 * Two replays of one event at the same moment would take the same number: they stand in line. What follows is a few keys
 * in tables of any size, and the connection is an ordinary one: until its end the transaction is planned for that.
 */
const LOCK: Statement = {
  name: 'redeliver_lock',
  text: `
    select pg_advisory_xact_lock(hashtextextended($1, 0)), set_config('enable_seqscan', 'off', true),
           set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
           set_config('enable_bitmapscan', 'off', true)`,
};

/** By deliveries_status_idx, oldest first, a step at a time. */
const DEAD_LETTERS: Statement = {
  name: 'redeliver_dead_letters',
  text: renew(`
    select environment_id, event_id, expires_on, target_id, endpoint_id, 0 as position from deliveries
    where environment_id = $1 and status = 'dlq' and not superseded and event_id >= $2
      and ($3::uuid is null or target_id = $3) and ($4::uuid is null or endpoint_id = $4)
    order by event_id limit ${STEP} for update`),
};

/** By attempts_pkey. */
const FIRST_ATTEMPT: Statement = {
  name: 'redeliver_first_attempt',
  text: `
    select number, status, error, duration_ms as "durationMs", started_at as "startedAt", response_excerpt as excerpt
    from attempts where environment_id = $1 and event_id = $2 order by ordinal, number limit 1`,
};

/** Statements that send again. */
@Injectable()
export class RedeliverStore {
  constructor(private readonly database: Database) {}

  one(tenant: Tenant, eventId: Id): Promise<number> {
    return this.database.transaction(async () => {
      await this.standInLine(tenant.environmentId);
      const [row] = await this.database.query<{ count: number }>(ONE, [tenant.environmentId, eventId]);
      return row?.count ?? 0;
    });
  }

  /** Inside the caller's transaction. */
  async to(environmentId: number, picked: readonly Redelivered[]): Promise<number> {
    await this.standInLine(environmentId);
    const [row] = await this.database.query<{ count: number }>(TO, [
      environmentId,
      uuidArray(picked.map(({ eventId }) => eventId)),
      dateArray(picked.map(({ expiresOn }) => Date.parse(expiresOn) / DAY_MS)),
      uuidArray(picked.map(({ targetId }) => targetId)),
      uuidArray(picked.map(({ endpointId }) => endpointId)),
    ]);
    return row?.count ?? 0;
  }

  /** All dead letters of a selection, in steps of a thousand that commit one by one. */
  async deadLetters(tenant: Tenant, selection: Redelivery): Promise<number> {
    const from = lowestIdAt(selection.sinceMs ?? 0);
    let total = 0;
    for (;;) {
      const [row] = await this.database.hot<{ count: number }>(DEAD_LETTERS, [
        tenant.environmentId,
        from,
        selection.targetId ?? null,
        selection.endpointId ?? null,
      ]);
      total += row?.count ?? 0;
      if ((row?.count ?? 0) < STEP) return total;
    }
  }

  /** Runs `work` once what was made is committed. */
  afterCommit(work: () => void): void {
    this.database.afterCommit(work);
  }

  async firstAttempt(tenant: Tenant, eventId: Id): Promise<AttemptRow | null> {
    const rows = await this.database.query<AttemptRow>(FIRST_ATTEMPT, [tenant.environmentId, eventId]);
    return rows[0] ?? null;
  }

  /** Until the end of the caller's transaction no other replay of the environment makes deliveries. */
  async standInLine(environmentId: number): Promise<void> {
    await this.database.query(LOCK, [`redeliver ${environmentId}`]);
  }
}
