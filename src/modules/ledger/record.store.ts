import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database.js';
import { booleanArray, floatArray, intArray, smallintArray, textArray, timestampArray, uuidArray } from '#kernel/pg-array.js';
import type { DeliveryResult } from './record.contract.js';
import { metricIncrements, pullItems, SETTLED } from './metric-increments.js';

const RESULT = 'r.status, r.reason, r.number, r.started_at, r.duration_ms, r.http_status, r.error, r.excerpt, r.pulled, r.counted';
const ROW = 'd.environment_id, d.event_id, d.ordinal, d.expires_on, d.target_id, d.endpoint_id, d.attempts, d.replayed, d.superseded, d.withdrawn';
const HELD = `d.environment_id = r.environment_id and d.event_id = r.event_id and d.ordinal = r.ordinal
  and d.claimed_by = r.claimed_by`;

const INPUT = `
  select * from unnest($1::int[], $2::uuid[], $3::smallint[], $4::uuid[], $5::text[], $6::text[], $7::float8[],
                       $8::boolean[], $9::smallint[], $10::smallint[], $11::timestamptz[], $12::int[], $13::smallint[],
                       $14::text[], $15::text[], $16::boolean[], $17::boolean[])
    as r(environment_id, event_id, ordinal, claimed_by, status, reason, due_in_ms, parked, attempts_used, number,
         started_at, duration_ms, http_status, error, excerpt, pulled, counted)`;
const ENDS = `(r.status <> 'retrying' or d.superseded or d.withdrawn is not null)`;
const ATTEMPT = 'environment_id, event_id, ordinal, number, expires_on, started_at, duration_ms, http_status, error, excerpt';
const MEASURE = `environment_id, case when counted then target_id end as key_id, endpoint_id as other_id, started_at as at, ${SETTLED} as what, duration_ms as ms`;

const WAITING = `
  waiting as (
    update due_deliveries d
    set due_at = now() + r.due_in_ms * interval '1 millisecond', claimed_by = null, parked = r.parked, attempts = coalesce(r.number, d.attempts),
        attempts_used = r.attempts_used, first_attempt_at = coalesce(d.first_attempt_at, r.started_at)
    from r where ${HELD} and not ${ENDS}
    returning ${ROW}, ${RESULT}
  ),`;

/** Every row of a group, whatever became of it. */
const rows = (columns: string, isRetrying: boolean): string =>
  `select ${columns} from ended${isRetrying ? ` union all select ${columns} from waiting` : ''}`;

/**
 * Writes a group of results where their claims still hold (due_deliveries_pkey): attempts, and either the settled
 * delivery in place of the due one, or the time of the next attempt. A superseded or withdrawn delivery is not retried.
 * A group without retries, or without what is pulled, is not asked for them: looking is most of the cost of a healthy one.
 */
const record = (isRetrying: boolean, isPulled: boolean): Statement => ({
  name: `ledger_record${isRetrying ? '_retrying' : ''}${isPulled ? '_pulled' : ''}`,
  text: `
    with r as (${INPUT}
    ), ended as (
      delete from due_deliveries d using r where ${HELD} ${isRetrying ? `and ${ENDS}` : ''} returning ${ROW}, ${RESULT}
    ), ${isRetrying ? WAITING : ''} settled as (
      insert into deliveries (environment_id, event_id, ordinal, expires_on, target_id, endpoint_id, status, reason, attempts,
                              replayed, superseded, settled_at)
      select environment_id, event_id, ordinal, expires_on, target_id, endpoint_id,
             case status when 'retrying' then 'failed' else status end,
             case when status <> 'retrying' then reason when superseded then 'superseded' else withdrawn end,
             coalesce(number, attempts), replayed, superseded, now()
      from ended
    ), logged as (
      insert into attempts (environment_id, event_id, ordinal, number, expires_on, started_at, duration_ms, status, error,
                            response_excerpt)
      select * from (${rows(ATTEMPT, isRetrying)}) attempt where number is not null
    ), ${isPulled ? `offered as (${pullItems(`ended where pulled and status = 'delivered'`)}),` : ''} counted as (${metricIncrements(rows(MEASURE, isRetrying))}
    )
    ${rows('event_id, ordinal', isRetrying)}`,
});

const RECORD = {
  healthy: { plain: record(false, false), pulled: record(false, true) },
  retrying: { plain: record(true, false), pulled: record(true, true) },
};

/** Statements that record. */
@Injectable()
export class RecordStore {
  constructor(private readonly database: Database) {}

  /** Writes the results; returns which of them held their claim, as `eventId/ordinal`. */
  async write(results: readonly DeliveryResult[]): Promise<Set<string>> {
    const kind = RECORD[results.some(({ status }) => status === 'retrying') ? 'retrying' : 'healthy'];
    const statement = kind[results.some(({ pulled }) => pulled) ? 'pulled' : 'plain'];
    const held = await this.database.hot<{ event_id: string; ordinal: number }>(statement, [
      intArray(results.map((result) => result.environmentId)),
      uuidArray(results.map((result) => result.eventId)),
      smallintArray(results.map((result) => result.ordinal)),
      uuidArray(results.map((result) => result.claimedBy)),
      textArray(results.map((result) => result.status)),
      textArray(results.map((result) => result.reason)),
      floatArray(results.map((result) => result.dueInMs)),
      booleanArray(results.map((result) => result.parked)),
      smallintArray(results.map((result) => result.attemptsUsed)),
      smallintArray(results.map((result) => result.attempt?.number ?? null)),
      timestampArray(results.map((result) => result.attempt?.startedAtMs ?? null)),
      intArray(results.map((result) => result.attempt && Math.round(result.attempt.durationMs))),
      smallintArray(results.map((result) => result.attempt?.httpStatus ?? null)),
      textArray(results.map((result) => result.attempt?.error ?? null)),
      textArray(results.map((result) => result.attempt?.excerpt ?? null)),
      booleanArray(results.map((result) => result.pulled)),
      booleanArray(results.map((result) => result.counted)),
    ]);
    return new Set(held.map(({ event_id, ordinal }) => `${event_id}/${ordinal}`));
  }
}
