import { Inject, Injectable } from '@nestjs/common';
import { sealNamed } from '#kernel/crypto/sealed-headers.js';
import { Vault } from '#kernel/crypto/vault.js';
import { Database, type PiggybackStatement, type Statement } from '#kernel/database/database.js';
import {
  byteaArray,
  dateArray,
  floatArray,
  intArray,
  jsonbArray,
  smallintArray,
  textArray,
  uuidArray,
} from '#kernel/database/pg-array.js';
import type { Id } from '#kernel/ids.js';
import type { Arrival, ReceivedEvent } from './accept.contract.js';
import { FIRST_OF_KEY, KEY_COLUMNS, keyValues, leftOut, storedBut, takeKeys } from './idempotency-keys.js';
import type { Admission } from './local-scheduler.contract.js';
import {
  COUNTED_ELSEWHERE,
  DELIVERED,
  metricIncrements,
  pullItems,
  RECEIVED,
  receivedIncrement,
} from './metric-increments.js';

export interface Received {
  event: ReceivedEvent;
  admissions: readonly (Admission | 'pull')[];
}

const INPUT = `
  unnest($1::int[], $2::uuid[], $3::date[], $4::uuid[], $5::text[], $6::text[], $7::jsonb[], $8::text[],
         $9::int[], $10::text[], $11::bytea[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[],
         $17::jsonb[], $18::bytea[], $19::int[], $20::text[], $21::text[], $22::text[], $23::text[], $24::uuid[], $33::jsonb[], $34::text[],
         $35::jsonb[])`;
const COLUMNS = `environment_id, id, expires_on, endpoint_id, endpoint_path, event_type, headers, traceparent, payload_bytes,
  payload, body, disposition, method, url, path, query, request_headers, request_body, size_bytes, ip, verification, dedupe_id,
  note, replay_of, answer, forwarded_query, logs`;
const DELIVERIES = `
  select * from unnest($25::int[], $26::uuid[], $27::smallint[], $28::date[], $29::uuid[], $30::uuid[], $31::text[])
    as d(environment_id, event_id, ordinal, expires_on, endpoint_id, target_id, admission)`;

/** SQL that records deliveries to pull targets as delivered as soon as consumers can pull them. */
const SETTLED_AT_ONCE = `
  p as (
    insert into deliveries (environment_id, event_id, ordinal, expires_on, target_id, endpoint_id, status, reason, attempts,
                            replayed, superseded, settled_at)
    select environment_id, event_id, ordinal, expires_on, target_id, endpoint_id, 'delivered', null, 0, false, false, now()
    from d where admission = 'pull'
  ), o as (${pullItems(`(select *, false as replayed from d where admission = 'pull') offered`)}
  ),`;

const PULLED_INCREMENTS = `
    union all select ${receivedIncrement('endpoint_id', 'null', String(DELIVERED))} from d where admission = 'pull'`;

/**
 * SQL that inserts received events with their requests (`i`), and their deliveries (`d`). The part for pull targets is
 * slow, so it is included only if `isPulled` is true.
 */
const inserts = (isPulled: boolean): string => `
  e as (
    insert into events (environment_id, id, expires_on, target_id, url, direction, event_type, headers, traceparent,
                        payload_bytes, payload, body, disposition, dropped, method, path, query)
    select environment_id, id, expires_on, endpoint_id, endpoint_path, 'inbound', event_type, headers, traceparent,
           payload_bytes, payload, body, case disposition when 'dropped' then 'ignored' else disposition end, disposition = 'dropped',
           method, path, coalesce(forwarded_query, query) from i
  ), r as (
    insert into requests (environment_id, id, expires_on, endpoint_id, method, url, path, query, headers, body, size_bytes,
                          ip, verification, dedupe_id, note, replay_of, answer, logs)
    select environment_id, id, expires_on, endpoint_id, method, url, path, query, request_headers, request_body, size_bytes,
           ip, verification, dedupe_id, note, replay_of, answer, logs from i
  ),${isPulled ? SETTLED_AT_ONCE : ''} m as (${metricIncrements(`
    select ${receivedIncrement('endpoint_id', 'null', String(RECEIVED))} from i
    union all
    select ${receivedIncrement('target_id', 'null', isPulled ? `case admission when 'pull' then ${COUNTED_ELSEWHERE + RECEIVED + DELIVERED} else ${COUNTED_ELSEWHERE + RECEIVED} end` : String(COUNTED_ELSEWHERE + RECEIVED))} from d
    ${isPulled ? PULLED_INCREMENTS : ''}`)}
  )`;

const due = (isPulled: boolean): string => `
  insert into due_deliveries (environment_id, event_id, ordinal, expires_on, target_id, endpoint_id, due_at,
    claimed_by, parked,
                              attempts, attempts_used, first_attempt_at, replayed, superseded)
  select environment_id, event_id, ordinal, expires_on, target_id, endpoint_id, now(), case when admission = 'run'
    then $32::uuid end,
         admission = 'park', 0, 0, null, false, false
  from d ${isPulled ? `where admission <> 'pull'` : ''}`;

/** Inserts the events, requests and deliveries of a group in one statement, and therefore in one commit. */
const receive = (isPulled: boolean): Statement => ({
  name: `ledger_receive${isPulled ? '_pulled' : ''}`,
  text: `with i as (select * from ${INPUT} as i(${COLUMNS})), d as (${DELIVERIES}), ${inserts(isPulled)} ${due(isPulled)}`,
});

/**
 * Inserts received events with idempotency keys. Skips each event whose key already exists and has not expired, and
 * returns the positions of the skipped events. The comment on `FAN_OUT_ONCE` in fan-out.store.ts explains `is true`.
 */
const receiveOnce = (isPulled: boolean): Statement => ({
  name: `ledger_receive_once${isPulled ? '_pulled' : ''}`,
  text: `
    with input as (
      select * from ${INPUT.replace('$35::jsonb[]', '$35::jsonb[], $36::text[], $37::uuid[], $38::bytea[], $39::smallint[], $40::text[], $41::text[], $42::float8[]')}
        with ordinality as i(${COLUMNS}, ${KEY_COLUMNS}, ttl_ms, n)
    ), k as (${takeKeys('ttl_ms')}
    ), i as (
      select * from input where ${FIRST_OF_KEY}
    ), d as (
      ${DELIVERIES} where (event_id in (select id from i)) is true
    ), ${inserts(isPulled)}, w as (${due(isPulled)})
    ${leftOut('i')}`,
});

const [RECEIVE, RECEIVE_PULLED] = [receive(false), receive(true)];
const [RECEIVE_ONCE, RECEIVE_ONCE_PULLED] = [receiveOnce(false), receiveOnce(true)];

@Injectable()
export class ReceiveStore {
  constructor(
    private readonly database: Database,
    @Inject(Vault) private readonly vault: Pick<Vault, 'seal'>,
  ) {}

  /**
   * Returns the positions of stored events. Skips events whose idempotency key is in use. `keyTtlMs` is the default
   * lifetime of keys.
   */
  async insert(
    group: readonly Received[],
    claimant: Id | null,
    keyTtlMs: number,
    piggybackStatement: PiggybackStatement | 'within' | null,
  ): Promise<Set<number> | 'all'> {
    const events = group.map(({ event }) => event);
    const requests = events.map(({ request }) => request);
    const values: unknown[] = [
      intArray(events.map((event) => event.environmentId)),
      uuidArray(events.map((event) => event.id)),
      dateArray(events.map((event) => event.expiresOnDay)),
      uuidArray(events.map((event) => event.endpointId)),
      textArray(events.map((event) => event.endpointPath)),
      textArray(events.map((event) => event.eventType)),
      jsonbArray(
        events.map(({ headers, environmentId, id }) =>
          JSON.stringify(sealNamed(this.vault, { table: 'events', environmentId, id }, headers)),
        ),
      ),
      textArray(events.map((event) => event.traceparent)),
      intArray(events.map((event) => event.payloadBytes)),
      textArray(events.map((event) => (typeof event.payload === 'string' ? event.payload : null))),
      byteaArray(events.map((event) => (typeof event.payload === 'string' ? null : event.payload))),
      textArray(events.map((event) => event.disposition)),
      textArray(requests.map((request) => request.method)),
      textArray(requests.map((request) => request.url)),
      textArray(requests.map((request) => request.path)),
      textArray(requests.map((request) => request.query)),
      jsonbArray(requests.map((request) => JSON.stringify(request.headers))),
      byteaArray(requests.map((request) => request.body)),
      intArray(requests.map((request) => request.sizeBytes)),
      textArray(requests.map((request) => request.ip)),
      textArray(requests.map((request) => request.verification)),
      textArray(requests.map((request) => request.dedupeId)),
      textArray(requests.map((request) => request.note)),
      uuidArray(requests.map((request) => request.replayOf)),
      ...deliveryValues(group),
      claimant,
      jsonbArray(requests.map((request) => request.answer)),
      // Sends null for an event's query that equals the raw request's query, to transfer the query only once.
      textArray(
        events.map(({ requestLine, request }) => (requestLine.query === request.query ? null : requestLine.query)),
      ),
      jsonbArray(requests.map((request) => request.logs)),
    ];
    const isPulled = group.some(({ admissions }) => admissions.includes('pull'));
    if (events.every(({ idempotency }) => idempotency === null)) {
      await this.database.queryPrepared(isPulled ? RECEIVE_PULLED : RECEIVE, values, piggybackStatement);
      return 'all';
    }
    values.push(...keyValues(events), floatArray(events.map((event) => event.keyTtlMs ?? keyTtlMs)));
    const rows = await this.database.queryPrepared<{ n: number }>(
      isPulled ? RECEIVE_ONCE_PULLED : RECEIVE_ONCE,
      values,
      piggybackStatement,
    );
    return storedBut(rows, group.length);
  }
}

function deliveryValues(group: readonly Received[]): Buffer[] {
  const deliveries = group.flatMap(({ event, admissions }) =>
    event.deliveries.map((arrival: Arrival, ordinal) => ({
      event,
      arrival,
      ordinal,
      admission: admissions[ordinal] ?? 'leave',
    })),
  );
  return [
    intArray(deliveries.map(({ event }) => event.environmentId)),
    uuidArray(deliveries.map(({ event }) => event.id)),
    smallintArray(deliveries.map(({ ordinal }) => ordinal)),
    dateArray(deliveries.map(({ event }) => event.expiresOnDay)),
    uuidArray(deliveries.map(({ event }) => event.endpointId)),
    uuidArray(deliveries.map(({ arrival }) => arrival.targetId)),
    textArray(deliveries.map(({ admission }) => admission)),
  ];
}
