import { Inject, Injectable } from '@nestjs/common';
import type { IdempotencyKeyEntity } from '#http/idempotency.entities.js';
import { sealNamed } from '#kernel/crypto/sealed-headers.js';
import { Vault } from '#kernel/crypto/vault.js';
import { type BoundStatement, Database, type PiggybackStatement, type Statement } from '#kernel/database/database.js';
import { dateArray, intArray, jsonbArray, textArray, uuidArray } from '#kernel/database/pg-array.js';
import type { IdempotentRequest } from '#kernel/idempotency.js';
import type { Id } from '#kernel/ids.js';
import type { AccompanyingInserts, NewEvent } from './accept.contract.js';
import { FIRST_OF_KEY, KEY_COLUMNS, keyValues, leftOut, storedBut, takeKeys } from './idempotency-keys.js';
import type { Admission } from './local-scheduler.contract.js';
import { DELIVERED, metricIncrements, pullItems, RECEIVED, receivedIncrement } from './metric-increments.js';

export interface Admitted {
  event: NewEvent;
  admission: Admission | 'pull';
}

const EVENTS = `
  insert into events (environment_id, id, expires_on, target_id, url, direction, event_type, headers, traceparent,
                      payload_bytes, payload)
  select environment_id, id, expires_on, target_id, url, 'outbound', event_type, headers, traceparent, payload_bytes,
    payload
  from i`;

const PULLED = `
  insert into deliveries (environment_id, event_id, ordinal, expires_on, target_id, status, reason, attempts, replayed,
                          superseded, settled_at)
  select environment_id, id, 0, expires_on, target_id, 'delivered', null, 0, false, false, now() from i
  where admission = 'pull'`;

const OFFERED = pullItems(`(
  select environment_id, target_id, id as event_id, 0 as ordinal, expires_on, null::uuid as endpoint_id, false as replayed
  from i where admission = 'pull') offered`);

/**
 * Returns SQL that counts each event in the metrics of its environment and of its target. An ad-hoc URL has no metrics.
 */
const counted = (what: string): string =>
  metricIncrements(`
  select ${receivedIncrement('case when url is null then target_id end', 'null', what)} from i`);

/**
 * SQL that inserts the events from the CTE `i`, and their metrics. The part for pull targets is slow, so it is included
 * only if `isPulled` is true.
 */
const inserts = (isPulled: boolean): string =>
  isPulled
    ? `e as (${EVENTS}), p as (${PULLED}), o as (${OFFERED}), m as (${counted(`case admission when 'pull' then ${RECEIVED + DELIVERED} else ${RECEIVED} end`)})`
    : `e as (${EVENTS}), m as (${counted(String(RECEIVED))})`;

const due = (isPulled: boolean): string => `
  insert into due_deliveries (environment_id, event_id, ordinal, expires_on, target_id, due_at, claimed_by, parked,
                              attempts, attempts_used, first_attempt_at, replayed, superseded)
  select environment_id, id, 0, expires_on, target_id, now(), case when admission = 'run' then $12::uuid end,
         admission = 'park', 0, 0, null, false, false
  from i ${isPulled ? `where admission <> 'pull'` : ''}`;

const INPUT = `
  unnest($1::int[], $2::uuid[], $3::date[], $4::uuid[], $5::text[], $6::text[], $7::jsonb[], $8::text[], $9::int[],
         $10::text[], $11::text[])`;
const COLUMNS =
  'environment_id, id, expires_on, target_id, url, event_type, headers, traceparent, payload_bytes, payload, admission';

/** Inserts the events and due deliveries of a group in one statement, and therefore in one commit. */
const accept = (isPulled: boolean): Statement => ({
  name: `ledger_accept${isPulled ? '_pulled' : ''}`,
  text: `with i as (select * from ${INPUT} as i(${COLUMNS})), ${inserts(isPulled)} ${due(isPulled)}`,
});

/**
 * Inserts events with idempotency keys (idempotency_keys_pkey). Skips each event whose key already exists and has not
 * expired, and returns the positions of the skipped events.
 */
const acceptOnce = (isPulled: boolean): Statement => ({
  name: `ledger_accept_once${isPulled ? '_pulled' : ''}`,
  text: `
    with input as (
      select * from ${INPUT.replace('$11::text[]', '$11::text[], $13::text[], $14::uuid[], $15::bytea[], $16::smallint[], $17::text[], $18::text[]')}
        with ordinality as i(${COLUMNS}, ${KEY_COLUMNS}, n)
    ), k as (${takeKeys('$19')}
    ), i as (
      select * from input where ${FIRST_OF_KEY}
    ), ${inserts(isPulled)}, d as (${due(isPulled)})
    ${leftOut('i')}`,
});

const [ACCEPT, ACCEPT_PULLED] = [accept(false), accept(true)];
const [ACCEPT_ONCE, ACCEPT_ONCE_PULLED] = [acceptOnce(false), acceptOnce(true)];

@Injectable()
export class AcceptStore {
  constructor(
    private readonly database: Database,
    @Inject(Vault) private readonly vault: Pick<Vault, 'seal'>,
  ) {}

  /**
   * Stores the events, and the rows of other contexts that belong to them. Returns the positions of the stored events.
   * Events whose idempotency key is already in use are not stored.
   */
  async insert(
    group: readonly Admitted[],
    claimant: Id | null,
    keyTtlMs: number,
    piggybackStatement: PiggybackStatement | 'within' | null,
  ): Promise<Set<number> | 'all'> {
    const events = group.map(({ event }) => event);
    const values = this.values(group, claimant);
    const isPulled = group.some(({ admission }) => admission === 'pull');
    const rowInserts = rowInsertsOf(events);
    if (events.every((event) => event.idempotency === null)) {
      await this.database.queryPrepared(isPulled ? ACCEPT_PULLED : ACCEPT, values, piggybackStatement, rowInserts);
      return 'all';
    }
    values.push(...keyValues(events), keyTtlMs);
    const rows = await this.database.queryPrepared<{ n: number }>(
      isPulled ? ACCEPT_ONCE_PULLED : ACCEPT_ONCE,
      values,
      piggybackStatement,
      rowInserts,
    );
    return storedBut(rows, group.length);
  }

  private values(group: readonly Admitted[], claimant: Id | null): unknown[] {
    const events = group.map(({ event }) => event);
    return [
      intArray(events.map((event) => event.environmentId)),
      uuidArray(events.map((event) => event.id)),
      dateArray(events.map((event) => event.expiresOnDay)),
      uuidArray(events.map((event) => event.targetId)),
      textArray(events.map((event) => event.url)),
      textArray(events.map((event) => event.eventType)),
      jsonbArray(
        events.map(
          ({ headers, environmentId, id }) =>
            headers && JSON.stringify(sealNamed(this.vault, { table: 'events', environmentId, id }, headers)),
        ),
      ),
      textArray(events.map((event) => event.traceparent)),
      intArray(events.map((event) => event.payloadBytes)),
      textArray(events.map((event) => event.payload)),
      textArray(group.map(({ admission }) => admission)),
      claimant,
    ];
  }

  /** Returns the stored answer of a key; null if the key no longer exists. Uses the index idempotency_keys_pkey. */
  async answerOf({
    environmentId,
    route,
    key,
  }: IdempotentRequest): Promise<Pick<IdempotencyKeyEntity, 'fingerprint' | 'status' | 'body'> | null> {
    const rows = await this.database.queryPrepared<Pick<IdempotencyKeyEntity, 'fingerprint' | 'status' | 'body'>>(
      {
        name: 'ledger_answer_of',
        text: 'select fingerprint, status, body from idempotency_keys where environment_id = $1 and route = $2 and key = $3',
      },
      [environmentId, route, key],
    );
    return rows[0] ?? null;
  }
}

/** Returns the statements that insert the rows of the events, with one call for all rows of a kind. */
function rowInsertsOf(events: readonly NewEvent[]): BoundStatement[] {
  const byInserts = new Map<AccompanyingInserts, unknown[]>();
  for (const { row: given } of events) {
    if (given === undefined) continue;
    const rows = byInserts.get(given.inserts);
    if (rows === undefined) byInserts.set(given.inserts, [given.row]);
    else rows.push(given.row);
  }
  return [...byInserts].flatMap(([inserts, rows]) => inserts.insertsOf(rows));
}
