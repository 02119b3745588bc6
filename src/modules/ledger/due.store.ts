import { Injectable } from '@nestjs/common';
import { requestLineOf } from '#engine/inbound/forwarded-url.js';
import type { Columns, OuterJoined } from '#kernel/database/column-names.js';
import { Database, type Statement } from '#kernel/database/database.js';
import { intArray, smallintArray, uuidArray } from '#kernel/database/pg-array.js';
import type { Id } from '#kernel/ids.js';
import type { ClaimedDelivery, DeliveryKey, TargetKey } from './claims.contract.js';
import { endedDeliveries } from './ended-deliveries.js';
import type { DueDeliveryEntity, EventEntity } from './ledger.entities.js';
import { isOpen } from './open-key.js';

const KEY = 'environment_id, event_id, ordinal';
const PICKED = `${KEY}, due_at, expires_on`;

/** Total payload bytes after which a claim takes no further delivery, so that a batch fits into memory. */
export const CLAIM_BYTES_MAX = 32 * 1024 * 1024;

/**
 * SQL that claims the deliveries in `picked` and reads the data for their attempts. Claims no further delivery once the
 * payloads add up to 32 MB. Returns the payload of a fan-out only with its first delivery, because a thousand copies
 * could take a gigabyte. Uses the indexes events_pkey and messages_pkey of one partition.
 */
const claim = (picked: string): string => `
  with picked as (${picked}), content as (
    select p.environment_id, p.event_id, p.ordinal, p.due_at, e.direction, e.event_type, e.message_id, e.body,
      case when e.direction = 'outbound' then e.url end as url, e.dropped is true as dropped,
      coalesce(e.headers, m.headers) as headers, coalesce(e.traceparent, m.traceparent) as traceparent,
      e.method, e.path, e.query, e.erased_at is not null or m.erased_at is not null as erased, e.payload,
      m.payload as shared_payload,
      sum(case when e.message_id is null then e.payload_bytes end)
        over (order by p.due_at, p.event_id, p.ordinal rows between unbounded preceding and 1 preceding) as bytes_before
    from picked p
    left join events e on e.environment_id = p.environment_id and e.id = p.event_id and e.expires_on = p.expires_on
    left join messages m on m.environment_id = e.environment_id and m.id = e.message_id and m.expires_on = e.expires_on
  ), claimed as (
    update due_deliveries d set claimed_by = $1 from content c
    where ${isOpen('c')} and coalesce(c.bytes_before, 0) < ${CLAIM_BYTES_MAX}
    returning d.*, c.direction, c.event_type, c.message_id, c.body, c.url, c.dropped, c.headers, c.traceparent, c.method,
      c.path, c.query, c.erased, c.payload, c.shared_payload
  )
  select environment_id, event_id, ordinal, claimed_by, target_id, attempts, attempts_used, first_attempt_at, replayed,
    withdrawn, direction, url, event_type, headers, traceparent, message_id, method, path, query, erased,
    case when not dropped then body end as body,
    case when message_id is null then case when not dropped then payload end
         when row_number() over (partition by message_id order by due_at, event_id) = 1 then shared_payload
           end as payload
  from claimed
  order by due_at, event_id`;

/** Claims the oldest rows, from the start of due_deliveries_due_at_idx. Skips rows that other workers are claiming. */
const CLAIM_DUE: Statement = {
  name: 'due_claim',
  text: claim(`
    select ${PICKED} from due_deliveries where claimed_by is null and not parked and due_at <= now()
    order by due_at limit $2 for update skip locked`),
};

/**
 * Claims the oldest rows, except those of some environments. Still scans the index entries of the excluded environments
 * in due_deliveries_due_at_idx.
 */
const CLAIM_BESIDE: Statement = {
  name: 'due_claim_beside',
  text: claim(`
    select ${PICKED} from due_deliveries where claimed_by is null and not parked and due_at <= now()
      and environment_id <> all ($3::int[])
    order by due_at limit $2 for update skip locked`),
};

/**
 * Finds the targets of all unclaimed deliveries. Needed after a start and after missed notifications. Scans all open
 * deliveries. An ad-hoc URL is not a stored destination, so its address is read from one event per target
 * (events_pkey).
 */
const WAITING_DESTINATIONS: Statement = {
  name: 'due_waiting_destinations',
  text: `
    with t as (
      select distinct on (environment_id, target_id) environment_id, target_id, event_id, expires_on from due_deliveries
      where claimed_by is null and (environment_id, target_id) > ($1::int, $2::uuid)
      order by environment_id, target_id limit 1000
    )
    select t.environment_id as "environmentId", t.target_id as "targetId", coalesce(e.direction = 'outbound'
      and e.url is not null, false) as "isAddress"
    from t left join events e on e.environment_id = t.environment_id and e.id = t.event_id
      and e.expires_on = t.expires_on
    order by t.environment_id, t.target_id`,
};

const FIRST: Id = '00000000-0000-0000-0000-000000000000';

/** Uses the index due_deliveries_pkey. */
const CLAIM_THESE: Statement = {
  name: 'due_claim_these',
  text: claim(`
    select d.environment_id, d.event_id, d.ordinal, d.due_at, d.expires_on
    from unnest($2::int[], $3::uuid[], $4::smallint[]) as k(environment_id, event_id, ordinal)
    join due_deliveries d on ${isOpen('k')}
    where d.claimed_by is null and not d.parked and d.due_at <= now() for update of d skip locked`),
};

export const [DUE, PARKED] = ['due', 'parked'];
/**
 * Two queries of the poller. `DUE_IN_MS` returns the time until the next unclaimed delivery is due
 * (due_deliveries_due_at_idx). `PARKED_IN_MS` returns 0 if an unclaimed delivery waits for a rate limit or an open
 * circuit (due_deliveries_parked_idx).
 */
export const DUE_IN_MS = `
  select extract(epoch from due_at - now()) * 1000 from due_deliveries where claimed_by is null and not parked
    order by due_at limit 1`;
export const PARKED_IN_MS = `
  select 0 from due_deliveries where claimed_by is null and parked order by environment_id, target_id limit 1`;

/** Claims the deliveries that have waited longest. Uses the index due_deliveries_parked_idx. */
const CLAIM_PARKED: Statement = {
  name: 'due_claim_parked',
  text: claim(`
    select ${PICKED} from due_deliveries where environment_id = $2 and target_id = $3 and claimed_by is null and parked
    order by due_at limit $4 for update skip locked`),
};

const CLAIM_HOLDS = `${isOpen('k')} and d.claimed_by = k.claimed_by`;

/**
 * Releases rows whose claim is still valid. Ends deliveries that were canceled or erased. Uses due_deliveries_pkey.
 */
const RELEASE: Statement = {
  name: 'due_release',
  text: `
    with k as (
      select * from unnest($1::int[], $2::uuid[], $3::smallint[], $4::uuid[]) as k(environment_id, event_id, ordinal,
        claimed_by)
    ), gone as (
      delete from due_deliveries d using k where ${CLAIM_HOLDS} and d.withdrawn is not null returning d.*
    ), ${endedDeliveries('withdrawn')}
    update due_deliveries d set claimed_by = null, parked = $5 from k where ${CLAIM_HOLDS} and d.withdrawn is null`,
};

/**
 * Finds targets with parked deliveries, which wait until the target accepts deliveries again. Uses a loose index scan:
 * one step in due_deliveries_parked_idx per target, regardless of how many deliveries the target has.
 */
const PARKED_TARGETS: Statement = {
  name: 'due_parked_targets',
  text: `
    with recursive t as (
      (select environment_id, target_id from due_deliveries where claimed_by is null and parked
       order by environment_id, target_id limit 1)
      union all
      select n.environment_id, n.target_id from t, lateral (
        select environment_id, target_id from due_deliveries
        where claimed_by is null and parked and (environment_id, target_id) > (t.environment_id, t.target_id)
        order by environment_id, target_id limit 1
      ) n
    )
    select environment_id, target_id from t limit 1000`,
};

/**
 * Parks deliveries until their target accepts deliveries again. Parks 5,000 per step, so that locks are brief. Uses the
 * index due_deliveries_due_at_idx.
 */
const PARK: Statement = {
  name: 'due_park',
  text: `
    with picked as (
      select ${KEY} from due_deliveries
      where claimed_by is null and not parked and due_at <= now() and environment_id = $1 and target_id = $2
      order by due_at limit 5000 for update skip locked
    ), moved as (
      update due_deliveries d set parked = true from picked p
      where ${isOpen('p')} returning 1
    )
    select count(*)::int as count from moved`,
};

/**
 * Ends deliveries to a target in steps of 1,000. Rarely used, so it scans the environment's rows in
 * due_deliveries_pkey.
 */
const FAIL_WAITING: Statement = {
  name: 'due_fail_waiting',
  text: `
    with picked as (
      select ${KEY} from due_deliveries where environment_id = $1 and target_id = $2 and claimed_by is null
      limit 1000 for update skip locked
    ), gone as (
      delete from due_deliveries d using picked p
      where ${isOpen('p')} returning d.*
    ), ${endedDeliveries('$3')}
    select count(*)::int as count from settled`,
};

/**
 * Reads the age of the oldest due delivery (due_deliveries_due_at_idx), and the planner's estimate of the number of
 * open deliveries. An exact count would be too slow for a request. The age includes deliveries that crashed workers
 * have claimed, until these claims are released.
 */
const BACKLOG: Statement = {
  name: 'due_backlog',
  text: `
    select greatest(0, (
             select extract(epoch from now() - due_at) * 1000 from due_deliveries
             where claimed_by is null and not parked and due_at <= now() order by due_at limit 1
           ), case when exists (select from workers where alive_until < now()) then (
             select extract(epoch from now() - min(d.due_at)) * 1000 from due_deliveries d
             join workers w on w.id = d.claimed_by and w.alive_until < now()
           ) end)::float8 as oldest_due_age_ms,
           greatest((select reltuples from pg_class where oid = 'due_deliveries'::regclass),
             0)::float8 as open_estimate`,
};

/**
 * Age of the oldest open transaction. A long transaction, such as a backup, slows down claims, because they must scan
 * dead index entries.
 */
const OLDEST_TRANSACTION: Statement = {
  name: 'due_oldest_transaction',
  text: `
    select coalesce(extract(epoch from max(now() - xact_start)), 0)::float8 as age_seconds from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`,
};

export interface Backlog {
  /** Age of the oldest due delivery that no running worker has claimed; 0 if there is none. */
  oldestDueAgeMs: number;
  /** Number of open deliveries, as estimated by PostgreSQL. */
  openEstimate: number;
}

type ClaimedRow = Columns<
  Pick<
    DueDeliveryEntity,
    | 'environmentId'
    | 'eventId'
    | 'ordinal'
    | 'targetId'
    | 'attempts'
    | 'attemptsUsed'
    | 'firstAttemptAt'
    | 'replayed'
    | 'withdrawn'
  > &
    OuterJoined<
      Pick<
        EventEntity,
        | 'direction'
        | 'messageId'
        | 'url'
        | 'eventType'
        | 'headers'
        | 'method'
        | 'path'
        | 'query'
        | 'traceparent'
        | 'payload'
        | 'body'
      >
    >
> & { claimed_by: Id; erased: boolean };

@Injectable()
export class DueStore {
  constructor(private readonly database: Database) {}

  claimDue(claimant: Id, limit: number): Promise<ClaimedDelivery[]> {
    return this.claim(CLAIM_DUE, [claimant, limit]);
  }

  claimBeside(claimant: Id, environmentIds: readonly number[], limit: number): Promise<ClaimedDelivery[]> {
    return this.claim(CLAIM_BESIDE, [claimant, limit, environmentIds]);
  }

  async waitingDestinations(after: TargetKey | null): Promise<{ targets: TargetKey[]; last: TargetKey | null }> {
    const rows = await this.database.query<
      Pick<DueDeliveryEntity, 'environmentId' | 'targetId'> & { isAddress: boolean }
    >(WAITING_DESTINATIONS, [after?.environmentId ?? -1, after?.targetId ?? FIRST]);
    const targets = rows
      .filter(({ isAddress }) => !isAddress)
      .map(({ environmentId, targetId }) => ({ environmentId, targetId }));
    return { targets, last: rows.at(-1) ?? null };
  }

  claimThese(claimant: Id, keys: readonly DeliveryKey[]): Promise<ClaimedDelivery[]> {
    return this.claim(CLAIM_THESE, [
      claimant,
      intArray(keys.map((key) => key.environmentId)),
      uuidArray(keys.map((key) => key.eventId)),
      smallintArray(keys.map((key) => key.ordinal)),
    ]);
  }

  claimParked(claimant: Id, environmentId: number, targetId: Id, limit: number): Promise<ClaimedDelivery[]> {
    return this.claim(CLAIM_PARKED, [claimant, environmentId, targetId, limit]);
  }

  async release(deliveries: readonly ClaimedDelivery[], parked: boolean): Promise<void> {
    await this.database.queryPrepared(RELEASE, [
      intArray(deliveries.map((delivery) => delivery.environmentId)),
      uuidArray(deliveries.map((delivery) => delivery.eventId)),
      smallintArray(deliveries.map((delivery) => delivery.ordinal)),
      uuidArray(deliveries.map((delivery) => delivery.claimedBy)),
      parked,
    ]);
  }

  async parkedTargets(): Promise<{ environmentId: number; targetId: Id }[]> {
    const rows = await this.database.queryPrepared<Columns<Pick<DueDeliveryEntity, 'environmentId' | 'targetId'>>>(
      PARKED_TARGETS,
      [],
    );
    return rows.map((row) => ({ environmentId: row.environment_id, targetId: row.target_id }));
  }

  /** Parks one batch of a target's deliveries until the target accepts deliveries again. Returns their number. */
  async park(environmentId: number, targetId: Id): Promise<number> {
    const [row] = await this.database.queryPrepared<{ count: number }>(PARK, [environmentId, targetId]);
    return row?.count ?? 0;
  }

  /** Ends one batch of a target's unclaimed deliveries as failed. Returns their number. */
  async failWaiting(environmentId: number, targetId: Id, reason: string): Promise<number> {
    const [row] = await this.database.queryPrepared<{ count: number }>(FAIL_WAITING, [environmentId, targetId, reason]);
    return row?.count ?? 0;
  }

  async backlog(): Promise<Backlog> {
    const [row] = await this.database.queryPrepared<{ oldest_due_age_ms: number; open_estimate: number }>(BACKLOG, []);
    return { oldestDueAgeMs: row?.oldest_due_age_ms ?? 0, openEstimate: row?.open_estimate ?? 0 };
  }

  async oldestTransactionAgeSeconds(): Promise<number> {
    const [row] = await this.database.query<{ age_seconds: number }>(OLDEST_TRANSACTION);
    return row?.age_seconds ?? 0;
  }

  private async claim(statement: Statement, values: unknown[]): Promise<ClaimedDelivery[]> {
    const payloads = new Map<Id, string>();
    return (await this.database.queryPrepared<ClaimedRow>(statement, values)).map((row) => claimed(row, payloads));
  }
}

/** Returns a claimed delivery. If the event's partition was dropped, the payload is null, and the attempt will fail. */
function claimed(row: ClaimedRow, payloads: Map<Id, string>): ClaimedDelivery {
  if (row.message_id !== null && row.payload !== null) payloads.set(row.message_id, row.payload);
  return {
    environmentId: row.environment_id,
    eventId: row.event_id,
    ordinal: row.ordinal,
    claimedBy: row.claimed_by,
    direction: row.direction ?? 'outbound',
    messageId: row.message_id,
    targetId: row.target_id,
    url: row.url,
    eventType: row.event_type ?? '',
    headers: row.headers,
    requestLine: requestLineOf(row),
    traceparent: row.traceparent,
    payload: row.message_id === null ? (row.payload ?? row.body) : (payloads.get(row.message_id) ?? null),
    cancelReason: row.withdrawn ?? (row.erased ? 'erased' : null),
    attempts: row.attempts,
    attemptsUsed: row.attempts_used,
    firstAttemptAtMs: row.first_attempt_at?.getTime() ?? null,
    replayed: row.replayed,
  };
}
