import { Injectable } from '@nestjs/common';
import type { Columns } from '#kernel/database/column-names.js';
import { Database, type Statement } from '#kernel/database/database.js';
import {
  booleanArray,
  floatArray,
  intArray,
  smallintArray,
  textArray,
  timestampArray,
  uuidArray,
} from '#kernel/database/pg-array.js';
import type { DueDeliveryEntity } from './ledger.entities.js';
import { metricIncrements, pullItems, SETTLED } from './metric-increments.js';
import { isOpen } from './open-key.js';
import type { DeliveryResult } from './record.contract.js';

const RESULT =
  'r.status, r.reason, r.number, r.started_at, r.duration_ms, r.http_status, r.error, r.excerpt, r.pulled, r.counted';
const ROW =
  'd.environment_id, d.event_id, d.ordinal, d.expires_on, d.target_id, d.endpoint_id, d.attempts, d.replayed, d.superseded, d.withdrawn';
const HELD = `${isOpen('r')} and d.claimed_by = r.claimed_by`;

const input = (hasExchange: boolean): string => `
  select * from unnest($1::int[], $2::uuid[], $3::smallint[], $4::uuid[], $5::text[], $6::text[], $7::float8[],
                       $8::boolean[], $9::smallint[], $10::smallint[], $11::timestamptz[], $12::int[], $13::smallint[],
                       $14::text[], $15::text[], $16::boolean[], $17::boolean[]${hasExchange ? ', $18::text[]' : ''})
    as r(environment_id, event_id, ordinal, claimed_by, status, reason, due_in_ms, parked, attempts_used, number,
         started_at, duration_ms, http_status, error, excerpt, pulled, counted${hasExchange ? ', exchange' : ''})`;
const ENDS = `(r.status <> 'retrying' or d.superseded or d.withdrawn is not null)`;
const ATTEMPT =
  'environment_id, event_id, ordinal, number, expires_on, started_at, duration_ms, http_status, error, excerpt';
const MEASURE = `environment_id, case when counted then target_id end as key_id, endpoint_id as other_id, started_at as at, ${SETTLED} as what, duration_ms as ms`;

const waiting = (result: string): string => `
  waiting as (
    update due_deliveries d
    set due_at = now() + r.due_in_ms * interval '1 millisecond', claimed_by = null, parked = r.parked, attempts = coalesce(r.number, d.attempts),
        attempts_used = r.attempts_used, first_attempt_at = coalesce(d.first_attempt_at, r.started_at)
    from r where ${HELD} and not ${ENDS}
    returning ${ROW}, ${result}
  ),`;

const rows = (columns: string, isRetrying: boolean): string =>
  `select ${columns} from ended${isRetrying ? ` union all select ${columns} from waiting` : ''}`;

/**
 * Returns SQL that records the results of a group of attempts. Skips a result if the claim on its delivery is no longer
 * valid (due_deliveries_pkey). Moves each ended delivery to `deliveries`. For a delivery to retry, sets the time of the
 * next attempt. A superseded, canceled or erased delivery is not retried. The SQL for retries, pulled deliveries and
 * exchanges is expensive even without rows, so it is included only if the group has such rows.
 */
function record({ isRetrying, isPulled, hasExchange }: Shape): Statement {
  const result = `${RESULT}${hasExchange ? ', r.exchange' : ''}`;
  const name = `ledger_record${isRetrying ? '_retrying' : ''}${isPulled ? '_pulled' : ''}${hasExchange ? '_exchange' : ''}`;
  const text = `
    with r as (${input(hasExchange)}
    ), ended as (
      delete from due_deliveries d using r where ${HELD} ${isRetrying ? `and ${ENDS}` : ''} returning ${ROW}, ${result}
    ), ${isRetrying ? waiting(result) : ''} settled as (
      insert into deliveries (environment_id, event_id, ordinal, expires_on, target_id, endpoint_id, status, reason,
        attempts,
                              replayed, superseded, settled_at)
      select environment_id, event_id, ordinal, expires_on, target_id, endpoint_id,
             case status when 'retrying' then 'failed' else status end,
             case when status <> 'retrying' then reason when superseded then 'superseded' else withdrawn end,
             coalesce(number, attempts), replayed, superseded, now()
      from ended
    ), logged as (
      insert into attempts (environment_id, event_id, ordinal, number, expires_on, started_at, duration_ms, status,
        error,
                            response_excerpt${hasExchange ? ', exchange' : ''})
      select * from (${rows(`${ATTEMPT}${hasExchange ? ', exchange' : ''}`, isRetrying)}) attempt where number is not null
    ), ${isPulled ? `offered as (${pullItems(`ended where pulled and status = 'delivered'`)}),` : ''} counted as
      (${metricIncrements(rows(MEASURE, isRetrying))}
    )
    ${rows('event_id, ordinal', isRetrying)}`;
  return { name, text };
}

interface Shape {
  isRetrying: boolean;
  isPulled: boolean;
  hasExchange: boolean;
}

const BOTH = [false, true] as const;
const STATEMENTS = new Map(
  BOTH.flatMap((isRetrying) =>
    BOTH.flatMap((isPulled) =>
      BOTH.map((hasExchange): [string, Statement] => [
        `${isRetrying}${isPulled}${hasExchange}`,
        record({ isRetrying, isPulled, hasExchange }),
      ]),
    ),
  ),
);

function statementFor(results: readonly DeliveryResult[]): { statement: Statement; hasExchange: boolean } {
  const isRetrying = results.some(({ status }) => status === 'retrying');
  const hasExchange = results.some(({ attempt }) => attempt?.exchange != null);
  return {
    statement: STATEMENTS.get(`${isRetrying}${results.some(({ pulled }) => pulled)}${hasExchange}`) as Statement,
    hasExchange,
  };
}

@Injectable()
export class RecordStore {
  constructor(private readonly database: Database) {}

  /** Writes results. Returns the deliveries whose claim was still valid, as `eventId/ordinal`. */
  async write(results: readonly DeliveryResult[]): Promise<Set<string>> {
    const { statement, values } = this.statement(results);
    return heldOf(await this.database.queryPrepared<HeldRow>(statement, values));
  }

  /**
   * Returns the statement and the values with which `write` stores the results, so that the caller can run the
   * statement in its own commit. Pass the returned rows to `heldOf`.
   */
  statement(results: readonly DeliveryResult[]): { statement: Statement; values: unknown[] } {
    const { statement, hasExchange } = statementFor(results);
    const values = [
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
      ...(hasExchange ? [textArray(results.map((result) => result.attempt?.exchange ?? null))] : []),
    ];
    return { statement, values };
  }
}

export type HeldRow = Columns<Pick<DueDeliveryEntity, 'eventId' | 'ordinal'>>;

/** Returns the deliveries whose claim was still valid, as `eventId/ordinal`. */
export const heldOf = (rows: readonly HeldRow[]): Set<string> =>
  new Set(rows.map(({ event_id, ordinal }) => `${event_id}/${ordinal}`));
