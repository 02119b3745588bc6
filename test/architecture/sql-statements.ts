import { types } from 'node:util';
import type pg from 'pg';
import type { Logger } from 'typeorm';
import { dataSource } from '../../src/bootstrap/data-source.js';
import type { Clock } from '../../src/kernel/clock.js';
import type { Config } from '../../src/kernel/config/config.js';
import { Database, type Statement } from '../../src/kernel/database/database.js';
import type { Notifications } from '../../src/kernel/database/notifications.js';
import type { Id } from '../../src/kernel/ids.js';
import { ApplicationEndpointsStore } from '../../src/modules/applications/application-endpoints.store.js';
import { ApplicationsStore } from '../../src/modules/applications/applications.store.js';
import { OrgsStore } from '../../src/modules/auth/organizations/organizations.store.js';
import { DestinationsStore } from '../../src/modules/destinations/destinations.store.js';
import { EmailsStore } from '../../src/modules/email/emails.store.js';
import { EndpointsStore } from '../../src/modules/endpoints/endpoints.store.js';
import {
  countStatement,
  type EventFilter,
  listStatement,
  windowStatement,
} from '../../src/modules/events/event-lists.js';
import { PartitionsStore } from '../../src/modules/ledger/partitions.store.js';
import { valuesOf } from './module-values.js';
import { isStatement } from './sql-literals.js';

/** A complete SQL statement, with the file and line that declare it, or the method that makes it. */
export interface PlacedStatement {
  place: string;
  text: string;
}

const ID: Id = '00000000-0000-4000-8000-000000000000';
const NONE = {} as never;
const CLOCK = { now: () => new Date(0) } as Clock;
const NOTIFICATIONS = { announce: () => Promise.resolve() } as unknown as Notifications;

/** Returns the statements that files declare as constants, including constants that are lists or maps of statements. */
export async function declaredStatements(
  files: readonly string[],
): Promise<{ statements: PlacedStatement[]; texts: PlacedStatement[] }> {
  const values = [...(await valuesOf(files))].flatMap(([file, declared]) =>
    declared.map((each) => ({ place: `${file}:${each.line}`, ...each })),
  );
  return {
    statements: values.flatMap(({ place, value }) => statementsIn(value).map((text) => ({ place, text }))),
    texts: values.flatMap(({ place, value }) =>
      typeof value === 'string' && isStatement(value) ? [{ place, text: value }] : [],
    ),
  };
}

function statementsIn(value: unknown, seen = new Set<unknown>()): string[] {
  if (typeof value !== 'object' || value === null || seen.has(value)) return [];
  seen.add(value);
  const { name, text } = value as Record<string, unknown>;
  if (typeof name === 'string' && typeof text === 'string') return [text];
  return [...(types.isMap(value) ? value.values() : Object.values(value))].flatMap((each) => statementsIn(each, seen));
}

/** Returns the statements of the lists of events, for each filter alone and for each pair of filters. */
export function listsOfEvents(): PlacedStatement[] {
  const states: Partial<EventFilter>[] = [
    {},
    ...(['retrying', 'delivered', 'dlq', 'failed', 'quarantined', 'parked', 'ignored'] as const).map((status) => ({
      status,
    })),
    { statuses: ['failed', 'dlq'] },
    { statuses: ['failed', 'retrying', 'dlq'] },
    { statuses: ['delivered', 'failed'] },
    { statuses: ['dlq', 'quarantined', 'parked', 'ignored'] },
  ];
  const filters: Partial<EventFilter>[] = [
    { eventType: 'type' },
    { targetId: ID },
    { endpointId: ID },
    { messageId: ID },
    { destinationId: ID },
    { applicationId: ID },
    { direction: 'inbound' },
    { error: 'tls' },
    { dedupeId: 'id' },
  ];
  const combinations = [{}, ...filters.flatMap((one, n) => filters.slice(n).map((other) => ({ ...one, ...other })))];
  const given = states.flatMap((state) => combinations.map((combination) => ({ ...state, ...combination })));
  const statements = given.flatMap((filter) => [
    listStatement(filter),
    countStatement(filter),
    windowStatement(filter),
  ]);
  const texts = new Set(statements.flatMap((statement) => (statement === null ? [] : [statement.text])));
  return [...texts].map((text) => ({ place: 'src/modules/events/event-lists.ts', text }));
}

/** Records the statements of stores, and runs them. */
class RecordingDatabase extends Database {
  readonly recorded: string[] = [];

  override query<R>(statement: Statement, values: readonly unknown[] = []): Promise<R[]> {
    this.recorded.push(statement.text);
    return super.query(statement, values);
  }

  override readPrepared<R>(statement: Statement, values: unknown[]): Promise<R[]> {
    this.recorded.push(statement.text);
    return super.readPrepared(statement, values);
  }
}

/** Matches statements that PREPARE supports. TypeORM writes keywords in capitals. */
const PREPARABLE = /^[\s(]*(select|insert|update|delete|merge|with)\b/i;

type Method = [place: string, call: (database: Database) => Promise<unknown>];

/** Methods whose statements are not constants, because the method or TypeORM composes them. */
const METHODS: Method[] = [
  ['ApplicationsStore.page', (db) => new ApplicationsStore(db, NONE, NONE).page(0, { search: 'a' }, 1)],
  ['EndpointsStore.page', (db) => new EndpointsStore(db, NONE, NONE).page(0, { search: 'a' }, 1)],
  ...(['open', 'closed'] as const).map((circuit): Method => [
    'DestinationsStore.page',
    (db) => new DestinationsStore(db, NONE, NONE, NONE, NONE).page(0, { search: 'a', circuit }, 1),
  ]),
  [
    'DestinationsStore.update',
    (db) => new DestinationsStore(db, NOTIFICATIONS, CLOCK, NONE, NONE).update(0, ID, { status: 'disabled' }),
  ],
  ['ApplicationEndpointsStore.registered', (db) => new ApplicationEndpointsStore(db, NONE, NONE).registered(0, ID)],
  ['EmailsStore.orphans', (db) => new EmailsStore(db).orphans(0, ID, ID, 1)],
  ['OrgsStore.erase', (db) => new OrgsStore(db).erase(ID)],
  ['PartitionsStore.hasPassed', (db) => new PartitionsStore(db).hasPassed()],
];

/** Returns the statements of `METHODS`. A statement that fails is returned, too. */
export async function builtStatements(url: string): Promise<PlacedStatement[]> {
  const source = await dataSource(url, 1).initialize();
  const database = new RecordingDatabase(source, { databaseUrl: url } as Config);
  const recording: Partial<Logger> = {
    logQuery: (text) => void (PREPARABLE.test(text) && database.recorded.push(text)),
  };
  source.logger = { ...source.logger, ...recording };
  const built: PlacedStatement[] = [];
  try {
    for (const [place, call] of METHODS) {
      await call(database).catch(() => undefined);
      built.push(...database.recorded.splice(0).map((text) => ({ place, text })));
    }
  } finally {
    await database.close();
  }
  return built;
}

/** A statement that PostgreSQL rejects, with PostgreSQL's message. */
export interface Rejection {
  place: string;
  message: string;
}

/**
 * Has PostgreSQL parse a statement without running it. Returns the rejection, or null. Statements that PREPARE does not
 * support run in a transaction that is rolled back.
 */
export async function rejectionOf(client: pg.Client, { place, text }: PlacedStatement): Promise<Rejection | null> {
  const isPreparable = PREPARABLE.test(text);
  const prefix = isPreparable ? 'prepare checked as ' : 'begin; ';
  try {
    await client.query(prefix + text);
    await client.query(isPreparable ? 'deallocate checked' : 'rollback');
    return null;
  } catch (error) {
    if (!isPreparable) await client.query('rollback');
    const { message, position } = error as pg.DatabaseError;
    const at = position === undefined ? 0 : Number(position) - 1 - prefix.length;
    return {
      place,
      message: `${message}, at: ${text
        .slice(at, at + 60)
        .replaceAll(/\s+/g, ' ')
        .trim()}`,
    };
  }
}
