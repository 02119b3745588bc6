import pg from 'pg';
import { createDatabase, type TestDatabase } from '../support/database.js';

/**
 * Number of events. Event 0 is the oldest. 3 of every 23 events have a pending delivery. The others have a finished
 * one.
 */
export const EVENTS = 1_150_000;
export const TARGETS = 1_000;
export const TYPES = 50;
export const ENVIRONMENT = 1;
/**
 * Id of an inbound endpoint whose events all have the disposition `parked`, and of an application with as many
 * messages. So few events per day have this id that PostgreSQL keeps no separate statistics about it.
 */
export const SET_ASIDE = 'ffffffff-0000-0000-0000-000000000001';
/** Number of targets whose pending deliveries wait for a rate limit or a circuit breaker. */
export const GATED = 50;

const DAYS = 30;
const DAY_MS = 86_400_000;

/**
 * A database with a month of events: a million finished events in 34 partitions, and 150,000 with a pending delivery.
 */
export interface FilledLedger {
  database: TestDatabase;
  /** Milliseconds since the epoch. The newest event is right before this time. */
  nowMs: number;
}

/** Returns SQL columns of event `i`. The event's id is a ULID of its time. The other columns are computed from `i`. */
const columns = (nowMs: number): string => {
  const firstMs = nowMs - DAYS * DAY_MS;
  const timeMs = `(${firstMs} + i * ${(DAYS * DAY_MS - 60_000) / EVENTS})::bigint`;
  return `
    ${ENVIRONMENT} as environment_id,
    (lpad(to_hex(${timeMs}), 12, '0') || substr(md5(i::text), 1, 20))::uuid as id,
    (to_timestamp(${timeMs} / 1000.0) at time zone 'utc')::date + ${DAYS} as expires_on,
    lpad(to_hex(i % ${TARGETS}), 32, '0')::uuid as target_id,
    'type.' || i % ${TYPES} as event_type,
    to_timestamp(${timeMs} / 1000.0) as at`;
};

const STATUS = `case when i::bigint * 7919 % 10007 % 100 < 2 then 'dlq' when i::bigint * 7919 % 10007 % 100 = 2 then 'failed' else 'delivered' end`;

const fill = (nowMs: number): string[] => [
  `create temporary table made as
   select i, i % 23 < 3 as open, ${columns(nowMs)} from generate_series(0, ${EVENTS} - 1) i`,
  `insert into events (environment_id, id, expires_on, target_id, direction, event_type, payload_bytes, payload)
   select environment_id, id, expires_on, target_id, 'outbound', event_type, 2, '{}' from made order by i`,
  `insert into deliveries (environment_id, event_id, ordinal, expires_on, target_id, status, attempts, replayed, superseded, settled_at)
   select environment_id, id, 0, expires_on, target_id, ${STATUS}, 1, false, false, at from made where not open order by i`,
  `insert into attempts (environment_id, event_id, ordinal, number, expires_on, started_at, duration_ms, status, response_excerpt)
   select environment_id, id, 0, 1, expires_on, at, 42, 200, 'ok' from made where not open order by i`,
  `insert into due_deliveries (environment_id, event_id, ordinal, expires_on, target_id, due_at, parked, attempts, attempts_used,
                               first_attempt_at, replayed, superseded)
   select environment_id, id, 0, expires_on,
          case when i % 23 = 2 then lpad(to_hex(i / 23 % ${GATED}), 32, '0')::uuid else target_id end,
          at, i % 23 = 2, 1, 1, at, false, false
   from made where open order by i`,
  `create temporary table aside as
   select ${columns(nowMs)
     .replace('md5(i::text)', "md5('aside' || i)")
     .replace(
       /lpad\(to_hex\(i % \d+\), 32, '0'\)::uuid as target_id/,
       `'${SET_ASIDE}'::uuid as target_id`,
     )} from generate_series(0, ${EVENTS} - 1, 1500) i`,
  `insert into events (environment_id, id, expires_on, target_id, direction, event_type, payload_bytes, payload, disposition, dropped)
   select environment_id, id, expires_on, target_id, 'inbound', event_type, 2, '{}', 'parked', true from aside`,
  `insert into requests (environment_id, id, expires_on, endpoint_id, method, url, path, query, headers, size_bytes, ip, verification)
   select environment_id, id, expires_on, target_id, 'POST', 'https://example.com/in', '', '', '[]', 2, '203.0.113.7', 'none' from aside`,
  `insert into messages (environment_id, id, expires_on, application_id, event_type, payload_bytes, payload, fanout)
   select environment_id, id, expires_on, target_id, event_type, 2, '{}', 1 from aside`,
  'drop table made, aside',
  'analyze events, deliveries, attempts, due_deliveries, idempotency_keys',
];

/** Creates and fills a database. This takes about half a minute. */
export async function fillLedger(): Promise<FilledLedger> {
  const database = await createDatabase('migrated');
  const nowMs = Date.now();
  const client = new pg.Client({
    connectionString: database.url,
    options: '-c synchronous_commit=off -c maintenance_work_mem=256MB',
  });
  await client.connect();
  try {
    for (const statement of [...partitions(nowMs), ...fill(nowMs)]) await client.query(statement);
  } finally {
    await client.end();
  }
  return { database, nowMs };
}

export const ENDPOINT = '00000000-0000-0000-0000-0000000000e1';
export const ROUTED_TARGET = '00000000-0000-0000-0000-0000000000d1';
export const APPLICATION = '00000000-0000-0000-0000-0000000000a1';

/** The id that the provider gave to a third of its deliveries. */
export const REPEATED_ID = 'the same id';

/** Adds 30,000 received events, and 2,000 messages of an application with ten endpoints each. */
export async function addReceived({ database, nowMs }: FilledLedger): Promise<void> {
  const client = new pg.Client({ connectionString: database.url, options: '-c synchronous_commit=off' });
  await client.connect();
  const fanned = `(substr(id::text, 1, 32) || lpad(to_hex(n), 4, '0'))::uuid`;
  try {
    for (const statement of [
      `create temporary table made as
       select m.*, (substr(id::text, 1, 24) || substr(md5('r' || i), 1, 12))::uuid as received_id
       from (select i, i % 100 = 7 as open, ${columns(nowMs)} from generate_series(5, ${EVENTS} - 1, 38) i) m`,
      `insert into events (environment_id, id, expires_on, target_id, url, direction, event_type, payload_bytes, payload)
       select environment_id, received_id, expires_on, '${ENDPOINT}', 'a/b', 'inbound', event_type, 2, '{}' from made order by i`,
      `insert into deliveries (environment_id, event_id, ordinal, expires_on, target_id, endpoint_id, status, attempts, replayed, superseded, settled_at)
       select environment_id, received_id, 0, expires_on, '${ROUTED_TARGET}', '${ENDPOINT}', ${STATUS}, 1, false, false, at
       from made where not open order by i`,
      `insert into due_deliveries (environment_id, event_id, ordinal, expires_on, target_id, endpoint_id, due_at, parked, attempts, attempts_used, replayed, superseded)
       select environment_id, received_id, 0, expires_on, '${ROUTED_TARGET}', '${ENDPOINT}', at, false, 0, 0, false, false
       from made where open order by i`,
      `insert into requests (environment_id, id, expires_on, endpoint_id, method, url, path, query, headers, size_bytes, ip, verification, dedupe_id)
       select environment_id, received_id, expires_on, '${ENDPOINT}', 'POST', 'https://a.example/in/a/b', '', '', '[]', 2, '203.0.113.7', 'none',
              case when i % 3 = 0 then '${REPEATED_ID}' else 'delivery-' || i end from made order by i`,
      `create temporary table sent as select environment_id, (substr(id::text, 1, 24) || substr(md5('m' || i), 1, 8) || '0000')::uuid as id, expires_on, event_type, at from made where i % 15 = 0`,
      `insert into messages (environment_id, id, expires_on, application_id, event_type, payload_bytes, payload, fanout)
       select environment_id, id, expires_on, '${APPLICATION}', event_type, 2, '{}', 10 from sent`,
      `insert into events (environment_id, id, expires_on, target_id, direction, event_type, payload_bytes, message_id)
       select environment_id, ${fanned}, expires_on, ${fanned}, 'outbound', event_type, 2, id from sent, generate_series(1, 10) n`,
      `insert into deliveries (environment_id, event_id, ordinal, expires_on, target_id, status, attempts, replayed, superseded, settled_at)
       select environment_id, ${fanned}, 0, expires_on, ${fanned}, 'delivered', 1, false, false, at from sent, generate_series(1, 10) n`,
      'analyze events, deliveries, due_deliveries, messages',
      // Sets only the row counts that the planner uses. Column statistics are missing, as in a partition of the
      // service.
      'reindex table requests',
    ])
      await client.query(statement);
  } finally {
    await client.end();
  }
}

/** An alias that received nine of ten messages, and an alias that received one message in a hundred. */
export const ALIAS = '00000000-0000-0000-0000-0000000000b1';
export const SELDOM_ALIAS = '00000000-0000-0000-0000-0000000000b2';

/** Adds mail: 100,000 sent emails, 100,000 received messages and 2,000 scheduled emails. */
export async function addMail({ database, nowMs }: FilledLedger): Promise<void> {
  const client = new pg.Client({ connectionString: database.url, options: '-c synchronous_commit=off' });
  await client.connect();
  try {
    for (const statement of [
      `insert into organizations values ('00000000-0000-0000-0000-000000000001', 'a', 'A', now())`,
      `insert into environments (organization_id, mode, secret) values ('00000000-0000-0000-0000-000000000001', 'live', '\\x00')`,
      `create temporary table mailed as select i, ${columns(nowMs)} from generate_series(0, ${EVENTS} - 1, 11) i`,
      `insert into emails (environment_id, id, expires_on, sender, to_list, cc, bcc, reply_to, subject, message_id, is_captured, tags, attachments, size_bytes, recipients, timeline, status, is_owed, version, provider_message_id)
       select environment_id, id, expires_on, 'a@b.example', '{c@d.example}', '{}', '{}', '{}', 'Subject', '<a@b>', false, '[{"name": "kind", "value": "order"}]', '[]', 1000,
              '[{"address": "c@d.example", "kind": "to", "state": "delivered", "at": "2026-11-21T09:30:00.000Z", "detail": null}]', '[]',
              (array['delivered', 'delivered', 'delivered', 'bounced', 'complained', 'suppressed', 'failed', 'sending'])[1 + i % 8], i % 8 = 7, 1, case when i % 10 = 0 then '0100-' || i end from mailed order by i`,
      `insert into inbox_messages (environment_id, id, expires_on, alias_id, state, envelope_from, envelope_to, client_ip, helo, size_bytes, sha256, raw, received_at, tries, from_address, subject, detail, in_reply_to_email_id)
       select environment_id, id, expires_on, case when i % 100 = 0 then '${SELDOM_ALIAS}' when i % 10 = 1 then target_id else '${ALIAS}' end::uuid, 'processed',
              'ada@b.example', '{support@c.example}', '203.0.113.7', 'b.example', 1000, decode(md5(i::text), 'hex'), decode(repeat(md5(i::text), 30), 'hex'), at, 1, 'ada@b.example', 'Subject', '{"from": "Ada <ada@b.example>"}', case when i % 10 = 0 then id end
       from mailed order by i`,
      `insert into scheduled_emails select environment_id, id, now(), now(), 0, '<a@b>', false, 'a@b.example', '{c@d.example}', 'Subject', '{"tags": [], "to": ["c@d.example"], "cc": [], "bcc": []}', '' from mailed where i % 50 = 0`,
      `insert into applications (environment_id, id, name, metadata, created_at, updated_at) values (${ENVIRONMENT}, '${APPLICATION}', 'A', '{}', now(), now())`,
      `insert into application_endpoints (environment_id, id, application_id, destination_id, description, event_types, channels, metadata, status, created_at, updated_at)
       select environment_id, id, '${APPLICATION}', id, '', array['invoice.*', event_type], '{}', '{}', 'active', at, at from mailed order by i`,
      'drop table mailed',
      'analyze emails, inbox_messages, scheduled_emails, application_endpoints',
    ])
      await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Returns SQL for one partition per day, as the retention job creates them. */
function partitions(nowMs: number): string[] {
  const today = Math.floor(nowMs / DAY_MS);
  return Array.from({ length: DAYS + 6 }, (_, i) => today + i - 1).flatMap((day) =>
    ['events', 'deliveries', 'attempts', 'requests', 'pull_items', 'messages', 'emails', 'inbox_messages'].map(
      (table) =>
        `create table ${table}_p${iso(day).replaceAll('-', '')} partition of ${table} for values from ('${iso(day)}') to ('${iso(day + 1)}')`,
    ),
  );
}

const iso = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);
