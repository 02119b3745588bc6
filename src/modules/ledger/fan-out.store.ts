import { Inject, Injectable } from '@nestjs/common';
import { sealNamed } from '#kernel/crypto/sealed-headers.js';
import { Vault } from '#kernel/crypto/vault.js';
import { Database, type PiggybackStatement, type Statement } from '#kernel/database/database.js';
import { dateArray, intArray, jsonbArray, smallintArray, textArray, uuidArray } from '#kernel/database/pg-array.js';
import type { Id } from '#kernel/ids.js';
import type { NewMessage } from './accept.contract.js';
import { FIRST_OF_KEY, KEY_COLUMNS, keyValues, leftOut, storedBut, takeKeys } from './idempotency-keys.js';
import type { Admission } from './local-scheduler.contract.js';
import {
  DELIVERED,
  FAILED_INCREMENT,
  metricIncrements,
  pullItems,
  RECEIVED,
  receivedIncrement,
} from './metric-increments.js';

export interface AdmittedMessage {
  message: NewMessage;
  admissions: readonly (Admission | 'pull' | 'refuse' | 'undecided')[];
}

const MESSAGE_COLUMNS = `environment_id, id, expires_on, application_id, event_type, channels, headers, traceparent, payload_bytes,
  payload, fanout`;
const MESSAGES = `
  unnest($1::int[], $2::uuid[], $3::date[], $4::uuid[], $5::text[], $6::jsonb[], $7::jsonb[], $8::text[], $9::int[], $10::text[],
         $11::smallint[])`;
const EVENT_COLUMNS =
  'n, environment_id, event_id, message_id, expires_on, endpoint_id, target_id, event_type, payload_bytes, admission';
const EVENTS = `
  unnest($12::int[], $13::int[], $14::uuid[], $15::uuid[], $16::date[], $17::uuid[], $18::uuid[], $19::text[], $20::int[], $21::text[])
  as d(${EVENT_COLUMNS})`;

const UNMATCHED = `
    union all
    select environment_id, id, expires_on, application_id, null, 'outbound', event_type, null, null, payload_bytes,
      null, id, 'ignored'
    from m where fanout = 0`;

const SETTLED_AT_ONCE = `
  p as (
    insert into deliveries (environment_id, event_id, ordinal, expires_on, target_id, endpoint_id, status, reason, attempts,
                            replayed, superseded, settled_at)
    select environment_id, event_id, 0, expires_on, target_id, nullif(endpoint_id, target_id),
           case admission when 'pull' then 'delivered' else 'failed' end, case admission when 'refuse' then 'target_disabled' when 'undecided' then 'filter_undecided' end,
           0, false, false, now()
    from d where admission in ('pull', 'refuse', 'undecided')
  ), o as (${pullItems(`(
    select environment_id, target_id, event_id, 0 as ordinal, expires_on, nullif(endpoint_id, target_id) as endpoint_id, false as replayed
    from d where admission = 'pull') offered`)}
  ),`;

const REFUSED_INCREMENTS = `
    union all
    select ${FAILED_INCREMENT} from (select environment_id, target_id, nullif(endpoint_id, target_id) as endpoint_id
      from d where admission in ('refuse', 'undecided')) r`;

/**
 * SQL that inserts messages (`m`) and their events (`d`). The payload is stored once, in the message. A message without
 * a matching endpoint becomes one event. An endpoint with its own URL is also the target of its deliveries, so its
 * metrics are counted only once. `isPlain` omits the SQL for pulled, refused and unmatched events.
 */
const inserts = (isPlain: boolean): string => `
  s as (insert into messages (${MESSAGE_COLUMNS}) select ${MESSAGE_COLUMNS} from m),
  e as (
    insert into events (environment_id, id, expires_on, target_id, url, direction, event_type, headers, traceparent, payload_bytes,
                        payload, message_id, disposition)
    select environment_id, event_id, expires_on, endpoint_id, null::text, 'outbound', event_type, null::jsonb, null::text, payload_bytes, null::text, message_id, null::text
    from d${isPlain ? '' : UNMATCHED}
  ),${isPlain ? '' : SETTLED_AT_ONCE} c as (${metricIncrements(`
    select ${receivedIncrement('target_id', 'nullif(endpoint_id, target_id)', isPlain ? String(RECEIVED) : `case admission when 'pull' then ${RECEIVED + DELIVERED} else ${RECEIVED} end`)} from d
    ${isPlain ? '' : REFUSED_INCREMENTS}`)}
  )`;

const due = (claimant: string): string => `
  insert into due_deliveries (environment_id, event_id, ordinal, expires_on, target_id, endpoint_id, due_at,
    claimed_by, parked,
                              attempts, attempts_used, first_attempt_at, replayed, superseded)
  select environment_id, event_id, 0, expires_on, target_id, nullif(endpoint_id, target_id), now(),
         case when admission = 'run' then ${claimant}::uuid end, admission = 'park', 0, 0, null, false, false
  from d where admission not in ('pull', 'refuse', 'undecided')`;

/** Inserts the messages, events and deliveries of a group in one statement, and therefore in one commit. */
const fanOut = (isPlain: boolean): Statement => ({
  name: `ledger_fan_out${isPlain ? '_plain' : ''}`,
  text: `
    with m as (select * from ${MESSAGES} as m(${MESSAGE_COLUMNS})), d as (select * from ${EVENTS}),
      ${inserts(isPlain)} ${due('$22')}`,
});

const [FAN_OUT, FAN_OUT_PLAIN] = [fanOut(false), fanOut(true)];

/**
 * Inserts messages with idempotency keys. Skips each message whose key already exists and has not expired, and returns
 * the positions of the skipped messages. A hashed subselect excludes the events of skipped messages. `is true` keeps
 * the planner from turning the subselect into a join.
 */
const FAN_OUT_ONCE: Statement = {
  name: 'ledger_fan_out_once',
  text: `
    with input as (
      select * from ${MESSAGES.replace('$11::smallint[]', '$11::smallint[], $23::text[], $24::uuid[], $25::bytea[], $26::smallint[], $27::text[], $28::text[]')}
        with ordinality as i(${MESSAGE_COLUMNS}, ${KEY_COLUMNS}, n)
    ), k as (${takeKeys('$29')}
    ), m as (
      select * from input where ${FIRST_OF_KEY}
    ), d as (
      select * from ${EVENTS} where (n in (select n from m)) is true
    ), ${inserts(false)}, w as (${due('$22')})
    ${leftOut('m')}`,
};

@Injectable()
export class FanOutStore {
  constructor(
    private readonly database: Database,
    @Inject(Vault) private readonly vault: Pick<Vault, 'seal'>,
  ) {}

  /** Returns the positions of the stored messages. Messages whose idempotency key is already in use are not stored. */
  async insert(
    group: readonly AdmittedMessage[],
    claimant: Id | null,
    keyTtlMs: number,
    how: PiggybackStatement | 'within' | null,
  ): Promise<Set<number> | 'all'> {
    const messages = group.map(({ message }) => message);
    const values: unknown[] = [...messageValues(messages, this.vault), ...eventValues(group), claimant];
    if (messages.every(({ idempotency }) => idempotency === null)) {
      const isPlain = group.every(
        ({ admissions }) =>
          admissions.length > 0 &&
          !admissions.some((each) => each === 'pull' || each === 'refuse' || each === 'undecided'),
      );
      await this.database.queryPrepared(isPlain ? FAN_OUT_PLAIN : FAN_OUT, values, how);
      return 'all';
    }
    values.push(...keyValues(messages), keyTtlMs);
    const rows = await this.database.queryPrepared<{ n: number }>(FAN_OUT_ONCE, values, how);
    return storedBut(rows, group.length);
  }
}

function messageValues(messages: readonly NewMessage[], vault: Pick<Vault, 'seal'>): Buffer[] {
  return [
    intArray(messages.map((message) => message.environmentId)),
    uuidArray(messages.map((message) => message.id)),
    dateArray(messages.map((message) => message.expiresOnDay)),
    uuidArray(messages.map((message) => message.applicationId)),
    textArray(messages.map((message) => message.eventType)),
    jsonbArray(messages.map(({ channels }) => (channels.length === 0 ? null : JSON.stringify(channels)))),
    jsonbArray(
      messages.map(
        ({ headers, environmentId, id }) =>
          headers && JSON.stringify(sealNamed(vault, { table: 'messages', environmentId, id }, headers)),
      ),
    ),
    textArray(messages.map((message) => message.traceparent)),
    intArray(messages.map((message) => message.payloadBytes)),
    textArray(messages.map((message) => message.payload)),
    smallintArray(messages.map(({ events }) => events.length)),
  ];
}

/** Returns one row per event. `n` is the position of the event's message, starting at 1. */
function eventValues(group: readonly AdmittedMessage[]): Buffer[] {
  const rows = group.flatMap(({ message, admissions }, i) =>
    message.events.map((event, at) => ({ n: i + 1, message, event, admission: admissions[at] ?? 'leave' })),
  );
  return [
    intArray(rows.map(({ n }) => n)),
    intArray(rows.map(({ message }) => message.environmentId)),
    uuidArray(rows.map(({ event }) => event.eventId)),
    uuidArray(rows.map(({ message }) => message.id)),
    dateArray(rows.map(({ message }) => message.expiresOnDay)),
    uuidArray(rows.map(({ event }) => event.endpointId)),
    uuidArray(rows.map(({ event }) => event.targetId)),
    textArray(rows.map(({ message }) => message.eventType)),
    intArray(rows.map(({ message }) => message.payloadBytes)),
    textArray(rows.map(({ admission }) => admission)),
  ];
}
