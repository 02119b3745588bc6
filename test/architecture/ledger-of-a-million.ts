import pg from 'pg';
import { createDatabase, type TestDatabase } from '../support/database.js';

/** Events are numbered from 0, the oldest; every 23rd but three is settled. */
export const EVENTS = 1_150_000;
export const TARGETS = 1_000;
export const TYPES = 50;
export const ENVIRONMENT = 1;
/** Targets whose open deliveries wait behind their gate. */
export const GATED = 50;

const DAYS = 30;
const DAY_MS = 86_400_000;

/**
 * A database as it looks after a month of 38,000 events a day: a million settled events in 34 partitions, each with
 * its delivery and attempt, 2 % dead letters and 1 % failed; and 150,000 open ones, of which 100,000 are due and
 * 50,000 parked behind fifty gates.
 */
export interface FilledLedger {
  database: TestDatabase;
  /** Milliseconds since the epoch: the newest event is right before it. */
  nowMs: number;
}

/** Columns of event `i`: its id is a ULID of its time, the others follow from its number. */
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
  'drop table made',
  'analyze events, deliveries, attempts, due_deliveries, idempotency_keys',
];

/** Makes and fills a database; about half a minute. */
export async function fillLedger(): Promise<FilledLedger> {
  const database = await createDatabase();
  const nowMs = Date.now();
  const client = new pg.Client({ connectionString: database.url, options: '-c synchronous_commit=off -c maintenance_work_mem=256MB' });
  await client.connect();
  try {
    for (const statement of [...partitions(nowMs), ...fill(nowMs)]) await client.query(statement);
  } finally {
    await client.end();
  }
  return { database, nowMs };
}

/** A partition a day, from the first one that holds an event to four days ahead of need, as retention keeps them. */
function partitions(nowMs: number): string[] {
  const today = Math.floor(nowMs / DAY_MS);
  return Array.from({ length: DAYS + 6 }, (_, i) => today + i - 1).flatMap((day) =>
    ['events', 'deliveries', 'attempts', 'requests', 'pull_items', 'messages'].map(
      (table) => `create table ${table}_p${iso(day).replaceAll('-', '')} partition of ${table} for values from ('${iso(day)}') to ('${iso(day + 1)}')`,
    ),
  );
}

const iso = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);
