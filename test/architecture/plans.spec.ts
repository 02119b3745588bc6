import type pg from 'pg';
import type { DataSource } from 'typeorm';
import { dataSource } from '../../src/bootstrap/data-source.js';
import { DueWorkPoller } from '../../src/kernel/concurrency/due-work-poller.js';
import type { Config } from '../../src/kernel/config/config.js';
import type { Vault } from '../../src/kernel/crypto/vault.js';
import { Database } from '../../src/kernel/database/database.js';
import type { PlannedPool } from '../../src/kernel/database/planned-pool.js';
import type { IdempotentRequest } from '../../src/kernel/idempotency.js';
import { lowestIdAt } from '../../src/kernel/ids.js';
import type { Tenant } from '../../src/kernel/tenant.js';
import { CHECK_IN_MS } from '../../src/modules/domains/domains.store.js';
import { SCHEDULED_IN_MS } from '../../src/modules/email/scheduled-emails.store.js';
import { AttemptLogStore, type AttemptRange } from '../../src/modules/events/attempts/attempt-log.store.js';
import { ApplicationErasureStore } from '../../src/modules/events/erasure/application-erasure.store.js';
import { EraseStore } from '../../src/modules/events/erasure/erase.store.js';
import { type EventFilter, windowRows } from '../../src/modules/events/event-lists.js';
import type { EventRow } from '../../src/modules/events/event-rows.js';
import { EventsStore } from '../../src/modules/events/events.store.js';
import { RequestsStore } from '../../src/modules/events/requests.store.js';
import { SentStore } from '../../src/modules/events/sent.store.js';
import { SetAsideStore } from '../../src/modules/events/set-aside.store.js';
import { WaitingStore } from '../../src/modules/events/waiting.store.js';
import { REPORT_IN_MS } from '../../src/modules/feedback/reports.store.js';
import { CONFIRMATION_IN_MS } from '../../src/modules/inbox/actions/forward-addresses.store.js';
import type { NewEvent, NewMessage } from '../../src/modules/ledger/accept.contract.js';
import { AcceptStore } from '../../src/modules/ledger/accept.store.js';
import { CancelStore } from '../../src/modules/ledger/cancel.store.js';
import type { ClaimedDelivery } from '../../src/modules/ledger/claims.contract.js';
import { DUE_IN_MS, DueStore, PARKED_IN_MS } from '../../src/modules/ledger/due.store.js';
import { FailedStore } from '../../src/modules/ledger/failed.store.js';
import { type AdmittedMessage, FanOutStore } from '../../src/modules/ledger/fan-out.store.js';
import { type Received, ReceiveStore } from '../../src/modules/ledger/receive.store.js';
import type { DeliveryResult } from '../../src/modules/ledger/record.contract.js';
import { RecordStore } from '../../src/modules/ledger/record.store.js';
import { RedeliverStore } from '../../src/modules/ledger/redeliver.store.js';
import type { Redelivered } from '../../src/modules/ledger/redelivery.contract.js';
import { FailingApplicationsStore } from '../../src/modules/metrics/failing-applications.store.js';
import { PARTS_IN_MS } from '../../src/modules/metrics/rollups.store.js';
import { FORGOTTEN_IN_MS } from '../../src/modules/replay/replay-jobs.store.js';
import { SIGNALS_IN_MS } from '../../src/modules/system-events/batches.store.js';
import {
  addMail,
  addReceived,
  APPLICATION,
  ENDPOINT,
  ENVIRONMENT,
  type FilledLedger,
  fillLedger,
  REPEATED_ID,
  ROUTED_TARGET,
  SET_ASIDE,
} from './ledger-of-a-million.js';
import {
  AIMS,
  boundFor,
  indexFor,
  LISTS,
  LISTS_BY_DEDUPE_ID,
  PAGES_MAX,
  REST,
  STATES,
  STATES_OF,
  TARGET,
  TYPE,
} from './lists-of-events.js';
import { LISTS_OF_MAIL } from './lists-of-mail.js';
import { explain, type Plan, type Recorded, recorder } from './plans.js';

const TENANT = { environmentId: ENVIRONMENT } as Tenant;
const WORKER = '0190f0a0-0000-0000-0000-00000000000c';
const DAY_MS = 86_400_000;
/**
 * Maximum number of pages for each listed event: its row, its state and its last attempt, each through an index with
 * three levels.
 */
const PAGES_A_ROW = 40;

let ledger: FilledLedger;
let source: DataSource;
let database: Database;
let clients: Record<Recorded['pool'], pg.PoolClient>;
let open: ClaimedDelivery[];
let settled: EventRow;

beforeAll(async () => {
  ledger = await fillLedger();
  source = await dataSource(ledger.database.url, 1).initialize();
  database = new Database(source, { databaseUrl: ledger.database.url } as Config);
  // The service's own connection pools. Their settings determine how PostgreSQL plans the statements.
  const { preparedPool, readPool } = database as unknown as Record<'preparedPool' | 'readPool', PlannedPool>;
  const { master } = source.driver as unknown as { master: pg.Pool };
  clients = {
    hot: await preparedPool.pool.connect(),
    reads: await readPool.pool.connect(),
    ordinary: await master.connect(),
  };
  const due = await clients.ordinary.query<Pick<ClaimedDelivery, 'eventId' | 'targetId'>>(`
    select event_id as "eventId", target_id as "targetId" from due_deliveries where not parked order by md5(event_id::text) limit 256`);
  open = due.rows.map(
    (row) => ({ ...row, environmentId: ENVIRONMENT, ordinal: 0, claimedBy: WORKER }) as ClaimedDelivery,
  );
  const events = await clients.ordinary.query<EventRow>(`
    select event_id as id, expires_on::text as "expiresOn" from deliveries where status = 'dlq' order by md5(event_id::text) limit 1`);
  settled = events.rows[0] as EventRow;
}, 240_000);

afterAll(async () => {
  for (const client of Object.values(clients ?? {})) client.release();
  await database?.close();
  await ledger?.database.drop();
});

/**
 * Runs the query with which DueWorkPoller finds the next due work of all background loops. Omits received mail, because
 * the index for received mail depends on the day.
 */
async function lookAll(db: Database): Promise<void> {
  const dueWork = new DueWorkPoller(db, { nowMs: () => 0, monotonicMs: () => 0 });
  const watched = [
    DUE_IN_MS,
    PARKED_IN_MS,
    PARTS_IN_MS,
    REPORT_IN_MS,
    SIGNALS_IN_MS,
    SCHEDULED_IN_MS,
    CONFIRMATION_IN_MS,
    CHECK_IN_MS,
    FORGOTTEN_IN_MS,
  ];
  for (const [n, inMs] of watched.entries()) dueWork.register({ name: `w${n}`, inMs, wake: () => undefined });
  await dueWork.onApplicationShutdown();
  await dueWork.poll();
}

/** Returns the last statement that `ask` runs. */
async function asked(ask: (recording: Database) => Promise<unknown>): Promise<Recorded> {
  const { database: recording, recorded } = recorder();
  await ask(recording);
  const last = recorded.at(-1);
  if (!last) throw new Error('Nothing was asked.');
  return { ...last, before: recorded.slice(0, -1).filter(({ pool }) => pool === 'ordinary') };
}

/** Returns the plan on a connection of the pool that the statement uses. */
async function plan(recorded: Recorded, mode?: 'generic' | 'custom'): Promise<Plan> {
  return explain(clients[recorded.pool], recorded, mode);
}

function event(n: number, idempotency: NewEvent['idempotency'] = null): NewEvent {
  return {
    environmentId: ENVIRONMENT,
    id: lowestIdAt(ledger.nowMs + n),
    expiresOnDay: Math.floor(ledger.nowMs / DAY_MS) + 30,
    targetId: TARGET,
    url: null,
    eventType: TYPE,
    headers: { 'x-a': 'b' },
    traceparent: null,
    payload: '{"a":1}',
    payloadBytes: 7,
    pulled: n % 10 === 0,
    ratePerSecond: null,
    concurrency: null,
    idempotency,
  };
}

/** Returns one message with ten events, one for each of ten endpoints. */
function fanOut(
  n: number,
  admission: AdmittedMessage['admissions'][number],
  key: NewMessage['idempotency'] = null,
): AdmittedMessage {
  const { environmentId, id, expiresOnDay, payload, payloadBytes } = event(n);
  // No list in these tests filters by this event type. Such a list would also read the dead rows that this insert
  // leaves after its rollback.
  const eventType = 'fanned.out';
  const events = Array.from({ length: 10 }, (_, i) => ({
    environmentId,
    messageId: id,
    eventId: lowestIdAt(n * 20 + i),
    endpointId: TARGET,
    targetId: TARGET,
    payload,
    pulled: false,
    ratePerSecond: null,
    concurrency: null,
    refused: false,
  }));
  const message = {
    environmentId,
    id,
    expiresOnDay,
    applicationId: TARGET,
    eventType,
    channels: [],
    headers: null,
    traceparent: null,
    payload,
    payloadBytes,
    events,
    idempotency: key,
  };
  return { message, admissions: events.map(() => admission) };
}

const request = (n: number): IdempotentRequest => ({
  environmentId: ENVIRONMENT,
  route: 'POST /v1/send',
  key: lowestIdAt(n),
  fingerprint: Buffer.alloc(32, 1),
});

const once = (n: number): NewEvent['idempotency'] => ({ request: request(n), status: 202, body: '{}' });

function result(held: ClaimedDelivery, n: number): DeliveryResult {
  const retrying = n % 2 === 0;
  const { environmentId, eventId, ordinal, claimedBy } = held;
  return {
    environmentId,
    eventId,
    ordinal,
    claimedBy,
    status: retrying ? 'retrying' : 'delivered',
    reason: null,
    dueInMs: retrying ? 5_000 : null,
    parked: false,
    pulled: false,
    counted: true,
    attemptsUsed: 2,
    attempt: { number: 2, startedAtMs: ledger.nowMs, durationMs: 42, httpStatus: 200, error: null, excerpt: 'ok' },
  };
}

const admitted = (n: number, how: NewEvent['idempotency'] = null) => {
  const one = event(n, how);
  return { event: one, admission: one.pulled ? ('pull' as const) : ('run' as const) };
};
/** Returns a received request for two destinations, one of which is a pull destination. */
function received(n: number, idempotency: NewEvent['idempotency'] = null): Received {
  const { environmentId, id, expiresOnDay, payload, payloadBytes, eventType } = event(n);
  const arrival = { environmentId, targetId: TARGET, payload, pulled: false, ratePerSecond: null, concurrency: null };
  return {
    admissions: ['run', 'pull'],
    event: {
      environmentId,
      id,
      expiresOnDay,
      eventType,
      payload,
      payloadBytes,
      endpointId: TARGET,
      endpointPath: 'a/b',
      headers: {},
      requestLine: { method: 'POST', path: '', query: '' },
      traceparent: null,
      disposition: null,
      deliveries: [arrival, { ...arrival, pulled: true }],
      idempotency,
      keyTtlMs: null,
      request: {
        method: 'POST',
        url: 'http://a/in/a/b',
        path: '',
        query: '',
        headers: [['a', 'b']],
        body: null,
        sizeBytes: 7,
        ip: '127.0.0.1',
        verification: 'none',
        dedupeId: null,
        note: null,
        logs: null,
        replayOf: null,
        answer: null,
      },
    },
  };
}

const toTarget = ({ id, expiresOn }: EventRow): Redelivered => ({
  eventId: id,
  expiresOn,
  targetId: TARGET,
  endpointId: null,
});
/** A placeholder, since the headers of these tests do not use the vault. */
const VAULT = {} as Vault;
const setAside = <S extends 'parked' | 'dropped'>(status: S) => ({
  ...{ environmentId: ENVIRONMENT, endpointId: SET_ASIDE, status },
  ...{ fromId: lowestIdAt(0), beforeId: lowestIdAt(ledger.nowMs) },
});
const hundred = Array.from({ length: 100 }, (_, n) => n);

/**
 * For each statement: its name, a call that runs it, the indexes that its comment names, and the maximum number of
 * pages.
 */
const HOT: [string, (recording: Database) => Promise<unknown>, string[], number][] = [
  [
    'claimDue, 500',
    (db) => new DueStore(db).claimDue(WORKER, 500),
    ['due_deliveries_due_at_idx', 'due_deliveries_pkey', 'events_pkey'],
    500 * 40,
  ],
  [
    'claimDue, 1',
    (db) => new DueStore(db).claimDue(WORKER, 1),
    ['due_deliveries_due_at_idx', 'due_deliveries_pkey', 'events_pkey'],
    200,
  ],
  [
    'claimThese, 100',
    (db) => new DueStore(db).claimThese(WORKER, open.slice(0, 100)),
    ['due_deliveries_pkey', 'events_pkey'],
    100 * 40,
  ],
  [
    'claimParked, 100',
    (db) => new DueStore(db).claimParked(WORKER, ENVIRONMENT, TARGET, 100),
    ['due_deliveries_parked_idx', 'due_deliveries_pkey', 'events_pkey'],
    100 * 40,
  ],
  ['release, 100', (db) => new DueStore(db).release(open.slice(0, 100), true), ['due_deliveries_pkey'], 100 * 40],
  ['parkedTargets', (db) => new DueStore(db).parkedTargets(), ['due_deliveries_parked_idx'], 1_000],
  ['backlog', (db) => new DueStore(db).backlog(), ['due_deliveries_due_at_idx'], 200],
  [
    'the lookout',
    (db) => lookAll(db),
    [
      'domains_next_check_at_idx',
      'due_deliveries_due_at_idx',
      'due_deliveries_parked_idx',
      'forward_addresses_send_at_idx',
      'mail_reports_due_at_idx',
      'replay_jobs_open_idx',
      'rollup_parts_pkey',
      'scheduled_emails_due_at_idx',
      'system_signals_pkey',
      'system_tellings_batch_idx',
    ],
    200,
  ],
  ['record, 256', (db) => new RecordStore(db).write(open.map(result)), ['due_deliveries_pkey'], 256 * 60],
  ['record, 1', (db) => new RecordStore(db).write(open.slice(0, 1).map(result)), ['due_deliveries_pkey'], 200],
  [
    'accept, 100',
    (db) =>
      new AcceptStore(db, VAULT).insert(
        hundred.map((n) => admitted(n)),
        WORKER,
        1,
        null,
      ),
    ['cluster_epochs_pkey'],
    100 * 60,
  ],
  [
    'accept with keys, 100',
    (db) =>
      new AcceptStore(db, VAULT).insert(
        hundred.map((n) => admitted(n, once(n))),
        WORKER,
        86_400_000,
        null,
      ),
    ['cluster_epochs_pkey', 'idempotency_keys_pkey'],
    100 * 80,
  ],
  [
    'fan out, 100 to 10',
    (db) =>
      new FanOutStore(db, VAULT).insert(
        hundred.map((n) => fanOut(n, 'leave')),
        WORKER,
        1,
        null,
      ),
    [],
    1000 * 60,
  ],
  [
    'fan out with keys, 100 to 10',
    (db) =>
      new FanOutStore(db, VAULT).insert(
        hundred.map((n) => fanOut(n, 'pull', once(n))),
        WORKER,
        86_400_000,
        null,
      ),
    ['cluster_epochs_pkey', 'idempotency_keys_pkey'],
    1000 * 80,
  ],
  [
    'receive, 100',
    (db) =>
      new ReceiveStore(db, VAULT).insert(
        hundred.map((n) => received(n)),
        WORKER,
        1,
        null,
      ),
    ['cluster_epochs_pkey'],
    100 * 80,
  ],
  [
    'receive with keys, 100',
    (db) =>
      new ReceiveStore(db, VAULT).insert(
        hundred.map((n) => received(n, once(n))),
        WORKER,
        86_400_000,
        null,
      ),
    ['cluster_epochs_pkey', 'idempotency_keys_pkey'],
    100 * 100,
  ],
  ['targets with marked deliveries', (db) => new CancelStore(db).held(null), ['due_deliveries_withdrawn_idx'], 20],
  [
    'the mark of a delivery',
    (db) => new CancelStore(db).reasonOf({ environmentId: ENVIRONMENT, eventId: open[0]?.eventId ?? '', ordinal: 0 }),
    ['due_deliveries_pkey'],
    20,
  ],
  [
    'cancel what waits of 100 events',
    (db) =>
      new CancelStore(db).ofEvents(
        ENVIRONMENT,
        open.slice(0, 100).map(({ eventId }) => eventId),
        'cancelled',
      ),
    ['due_deliveries_pkey'],
    100 * 40,
  ],
  [
    'cancel what waits of 100 events for a target',
    (db) =>
      new CancelStore(db).ofEvents(
        ENVIRONMENT,
        open.slice(0, 100).map(({ eventId }) => eventId),
        'cancelled',
        TARGET,
      ),
    ['due_deliveries_pkey'],
    100 * 40,
  ],
  [
    'cancel what waits for a target',
    (db) =>
      new CancelStore(db).ofTarget(
        {
          environmentId: ENVIRONMENT,
          targetId: TARGET,
          endpointId: null,
          eventType: null,
          beforeId: lowestIdAt(ledger.nowMs),
        },
        'cancelled',
      ),
    ['due_deliveries_pkey'],
    200_000,
  ],
  ['erase an event', (db) => new EraseStore(db).event(ENVIRONMENT, settled.id), ['events_pkey'], PAGES_MAX],
  ['the events of a message', (db) => new EraseStore(db).members(ENVIRONMENT, settled.id), ['events_pkey'], PAGES_MAX],
  ['the answer of a key', (db) => new AcceptStore(db, VAULT).answerOf(request(1)), ['idempotency_keys_pkey'], 20],
];

/** Expects that no large table is scanned, and that fewer than `pagesMax` pages are read. */
function expectBounded({ scanned, pages }: { scanned: string[]; pages: number }, pagesMax: number): void {
  expect(scanned).toEqual([]);
  expect(pages).toBeLessThan(pagesMax);
}

describe('with a million settled deliveries and 150,000 open ones', () => {
  it.each(HOT)(
    '%s: uses the index that its comment names, makes no scan, and reads a bounded number of pages',
    async (_what, ask, indexes, pagesMax) => {
      // Gives the rows the claim that the tested statement requires, as the service does before it releases or records
      // them.
      await clients.ordinary.query('update due_deliveries set claimed_by = $1 where event_id = any ($2::uuid[])', [
        /release|record/.test(_what) ? WORKER : null,
        open.map(({ eventId }) => eventId),
      ]);
      const made = await plan(await asked(ask));

      expect(made.indexes).toEqual(indexes);
      expectBounded(made, pagesMax);
    },
  );

  it.each<[string, (recording: Database) => Promise<unknown>, string[]]>([
    [
      'find',
      (db) => new EventsStore(db, VAULT).find(TENANT, settled.id),
      ['deliveries_pkey', 'due_deliveries_pkey', 'events_pkey'],
    ],
    [
      'find on its day',
      (db) => new EventsStore(db, VAULT).findOn(TENANT, settled.id, Date.parse(settled.expiresOn) / DAY_MS),
      ['deliveries_pkey', 'due_deliveries_pkey', 'events_pkey'],
    ],
    [
      'deliveries',
      (db) => new EventsStore(db, VAULT).deliveries(TENANT, settled),
      ['deliveries_pkey', 'due_deliveries_pkey'],
    ],
    ['attempts', (db) => new EventsStore(db, VAULT).attempts(TENANT, settled), ['attempts_pkey']],
  ])('%s: by its key', async (_what, ask, indexes) => {
    const made = await plan(await asked(ask));

    expect(made.indexes).toEqual(indexes);
    expectBounded(made, PAGES_MAX);
  });

  it.each<[string, Partial<AttemptRange>]>([
    ['', {}],
    [' that failed', { status: 'failed' }],
    [' of a type that it never gets', { eventType: 'none' }],
  ])(
    'attempts at a target%s: events by their index, attempts by their keys, in bounded work',
    async (_what, filter) => {
      const range: AttemptRange = {
        environmentId: ENVIRONMENT,
        targetId: TARGET,
        before: { eventId: lowestIdAt(ledger.nowMs), ordinal: 0, number: 0 },
        fromId: lowestIdAt(0),
        status: null,
        eventType: null,
        ...filter,
      };
      const [floor, page] = [
        await plan(await asked((db) => new AttemptLogStore(db).floor(range, 500))),
        await plan(await asked((db) => new AttemptLogStore(db).page(range, 51))),
      ];

      expect(floor.indexes).toEqual(['events_target_id_idx']);
      expect(page.indexes).toEqual(expect.arrayContaining(['events_target_id_idx']));
      expect(['attempts_pkey', 'deliveries_pkey', 'due_deliveries_pkey', 'events_target_id_idx']).toEqual(
        expect.arrayContaining(page.indexes),
      );
      expect([...floor.scanned, ...page.scanned]).toEqual([]);
      expect(floor.pages + page.pages).toBeLessThan(500 * 40);
    },
  );

  it("deliveries that wait for a target: by its indexes, independent of other targets' deliveries", async () => {
    const made = await plan(await asked((db) => new WaitingStore(db).count(ENVIRONMENT, TARGET, null)));

    // A delivery of this target can be in two indexes, so the page limit allows two pages per delivery.
    const own = await clients.ordinary.query(
      'select from due_deliveries where environment_id = $1 and target_id = $2',
      [ENVIRONMENT, TARGET],
    );
    expect(made.indexes).toEqual(['due_deliveries_parked_idx', 'due_deliveries_retries_idx']);
    expectBounded(made, 2 * (own.rowCount ?? 0) + 100);
  });

  describe.each<['generic' | 'custom']>([['generic'], ['custom']])(
    'on a %s plan, since these statements run on ordinary connections',
    (mode) => {
      it.each<[string, (recording: Database) => Promise<unknown>, string[]]>([
        ['the first attempt', (db) => new AttemptLogStore(db).first(TENANT, settled.id), ['attempts_pkey']],
        [
          'where an event went',
          (db) => new RedeliverStore(db).ofEvent(TENANT, settled.id),
          ['deliveries_pkey', 'due_deliveries_pkey', 'events_pkey'],
        ],
        [
          'redeliver an event to a target',
          (db) => new RedeliverStore(db).to(ENVIRONMENT, [toTarget(settled)]),
          ['deliveries_pkey', 'due_deliveries_pkey'],
        ],
      ])('%s: by its key', async (_what, ask, indexes) => {
        const made = await plan(await asked(ask), mode);

        expect(made.indexes).toEqual(indexes);
        expectBounded(made, PAGES_MAX);
      });

      it.each([['failed'], ['dlq'], [null]])(
        'a page of 1000 failures at a target (%s): by deliveries_target_id_idx',
        async (status) => {
          const range = {
            environmentId: ENVIRONMENT,
            targetIds: [TARGET],
            beforeId: lowestIdAt(ledger.nowMs),
            fromId: lowestIdAt(0),
            status,
          };
          const made = await plan(
            await asked((db) => new FailedStore(db, new RedeliverStore(db)).page(range, 1_000)),
            mode,
          );

          // Ignores deliveries_status_idx, because on a day with almost no rows the planner uses it only sometimes.
          expect(made.indexes.filter((name) => name !== 'deliveries_status_idx')).toEqual([
            'deliveries_target_id_idx',
            'events_pkey',
          ]);
          expectBounded(made, 1_000 * 10);
        },
      );

      it('a page of 1000 events that endpoints were sent: by events_target_id_idx', async () => {
        const range = {
          environmentId: ENVIRONMENT,
          endpointIds: [TARGET, WORKER],
          beforeId: lowestIdAt(ledger.nowMs),
          fromId: lowestIdAt(0),
        };
        const made = await plan(await asked((db) => new SentStore(db).page(range, 1_000)), mode);

        expect(made.indexes).toContain('events_target_id_idx');
        // Allows two indexes on messages. On a day with almost no rows, the sampled statistics decide which of them is
        // used.
        expect(['events_target_id_idx', 'messages_pkey', 'messages_application_id_idx']).toEqual(
          expect.arrayContaining(made.indexes),
        );
        expectBounded(made, 1_000 * 20);
      });

      it.each([
        ['parked', 'events_set_aside_idx'],
        ['dropped', 'events_dropped_idx'],
      ] as const)('%s events: by %s', async (status, index) => {
        const made = await plan(await asked((db) => new SetAsideStore(db).page(setAside(status), 100)), mode);

        expect(made).toMatchObject({ indexes: expect.arrayContaining([index]), scanned: [] });
        expect(made.pages).toBeLessThan(PAGES_MAX);
      });

      it('requests with the status of parked events: by events_set_aside_idx', async () => {
        const list = (db: Database): Promise<unknown> =>
          new RequestsStore(db, VAULT).page(ENVIRONMENT, SET_ASIDE, setAside('parked'), 51);
        const made = await plan(await asked(list), mode);

        expect(made).toMatchObject({ indexes: expect.arrayContaining(['events_set_aside_idx']), scanned: [] });
        expect(made.pages).toBeLessThan(PAGES_MAX);
      });

      it('failing applications: by rollups_pkey for each endpoint', async () => {
        const made = await plan(
          await asked((db) => new FailingApplicationsStore(db).failing(ENVIRONMENT, new Date(ledger.nowMs), 50)),
          mode,
        );

        expectBounded(made, PAGES_MAX);
      });

      it('a step of an erasure: by messages_application_id_idx, and by the keys of the erased rows', async () => {
        const placed = [{ id: lowestIdAt(ledger.nowMs - DAY_MS), expiresOn: settled.expiresOn }];
        const range = {
          environmentId: ENVIRONMENT,
          applicationId: SET_ASIDE,
          fromId: lowestIdAt(0),
          beforeId: lowestIdAt(ledger.nowMs),
        };
        const asks: [(store: ApplicationErasureStore) => Promise<unknown>, string | null][] = [
          // null: the table has no statistics, so only the number of pages is checked.
          [(store) => store.page(range, 500), null],
          [(store) => store.events(ENVIRONMENT, placed), 'events_pkey'],
          [(store) => store.erase(ENVIRONMENT, placed), null],
          [(store) => store.eraseExcerpts(ENVIRONMENT, placed), 'attempts_pkey'],
          [(store) => store.isOpen(ENVIRONMENT, placed), 'due_deliveries_pkey'],
        ];

        for (const [ask, index] of asks) {
          const made = await plan(await asked((db) => ask(new ApplicationErasureStore(db))), mode);
          if (index !== null) expect(made.indexes).toContain(index);
          expectBounded(made, PAGES_MAX);
        }
      });

      it.each([[false], [true]])(
        'where the 1000 events of a page of a job went, only where they failed (%s): by the keys of each',
        async (isUndelivered) => {
          const { rows } = await clients.ordinary.query<EventRow>(
            'select id, expires_on::text as "expiresOn" from events where environment_id = $1 order by md5(id::text) limit 1000',
            [ENVIRONMENT],
          );
          const made = await plan(
            await asked((db) =>
              new RedeliverStore(db).whereabouts(ENVIRONMENT, rows, {
                isUndelivered,
                includesCancelled: false,
                targetId: null,
              }),
            ),
            mode,
          );

          // Ignores two indexes on deliveries, because the planner may find failures by either of them. Ignores the
          // indexes on messages, because that table is empty.
          const among = made.indexes.filter(
            (name) => !['deliveries_status_idx', 'deliveries_pkey'].includes(name) && !name.startsWith('messages_'),
          );
          expect(among).toEqual(isUndelivered ? ['events_pkey'] : ['due_deliveries_pkey', 'events_pkey']);
          expectBounded(made, 1_000 * 40);
        },
      );

      it('a step of 1000 dead letters: by deliveries_status_idx', async () => {
        const made = await plan(
          await asked((db) =>
            new RedeliverStore(db).deadLetters(TENANT, { sinceMs: ledger.nowMs - 20 * DAY_MS }, null),
          ),
          mode,
        );

        expect(made.indexes).toContain('deliveries_status_idx');
        expectBounded(made, 1_000 * 80);
      });
    },
  );

  it.each(LISTS)(
    'list of %s: uses its index, makes no scan, and reads the first and later pages of 50 rows with bounded work',
    async (_what, filter) => {
      for (const untilMs of [ledger.nowMs, ledger.nowMs - 15 * DAY_MS]) {
        const page: EventFilter = { ...filter, beforeId: lowestIdAt(untilMs), fromId: lowestIdAt(0) };
        const made = await plan(await asked((db) => new EventsStore(db, VAULT).list(TENANT, page, 51)));

        expect(made.indexes).toContain(indexFor(filter) ?? made.indexes[0]);
        expectBounded(made, boundFor(filter));
      }
    },
  );

  describe("with a month of mail, and customers' endpoints", () => {
    beforeAll(() => addMail(ledger), 120_000);

    it.each(LISTS_OF_MAIL)(
      '%s: its index, no scan, at most the pages that one page of a list may read, first and later',
      async (_what, ask, indexes, pagesMax) => {
        for (const untilMs of [ledger.nowMs, ledger.nowMs - 15 * DAY_MS]) {
          const made = await plan(
            await asked((db) =>
              ask(db, { environmentId: ENVIRONMENT, beforeId: lowestIdAt(untilMs), fromId: lowestIdAt(0) }),
            ),
          );

          expect(made.indexes).toEqual(expect.arrayContaining(indexes));
          expectBounded(made, pagesMax);
        }
      },
    );
  });

  describe('with received events and fan-outs', () => {
    beforeAll(() => addReceived(ledger), 120_000);

    const ROUTED = { destinationId: ROUTED_TARGET };
    const OPEN = ['due_deliveries_pkey', 'events_target_id_idx'];
    it.each<[string, Partial<EventFilter>, string[]]>([
      ['of a destination', ROUTED, ['deliveries_routed_idx', ...OPEN]],
      [
        'of a destination, delivered, of a type',
        { ...ROUTED, status: 'delivered', eventType: 'type.15' },
        ['deliveries_routed_idx', ...OPEN],
      ],
      ['of a destination, dead letters', { ...ROUTED, status: 'dlq' }, ['deliveries_target_id_idx']],
      ['of a destination, of an endpoint', { ...ROUTED, endpointId: ENDPOINT }, ['deliveries_routed_idx', ...OPEN]],
      ['of a destination with directly sent events', { destinationId: TARGET }, OPEN],
      ['of an application', { applicationId: APPLICATION }, ['messages_application_id_idx', 'events_pkey']],
      [
        'of an application, delivered, of a type',
        { applicationId: APPLICATION, status: 'delivered', eventType: 'type.15' },
        ['messages_application_id_idx', 'events_pkey'],
      ],
    ])('list %s: its index, no scan, a page of 50 in bounded work, first and later', async (_what, filter, indexes) => {
      for (const untilMs of [ledger.nowMs, ledger.nowMs - 15 * DAY_MS]) {
        const page: EventFilter = { ...filter, beforeId: lowestIdAt(untilMs), fromId: lowestIdAt(0) };
        const made = await plan(await asked((db) => new EventsStore(db, VAULT).list(TENANT, page, 51)));

        expect(made.indexes).toEqual(expect.arrayContaining(indexes));
        expect(made.scanned).toEqual([]);
        // Only one event in 25 has the type of the filter, so a list reads about 25 rows to find one event.
        expect(made.pages).toBeLessThan(filter.eventType ? 10 * PAGES_MAX : 2 * PAGES_MAX);
      }
    });

    it.each<[string, Partial<EventFilter>]>([
      ['of a destination without events', { destinationId: lowestIdAt(1) }],
      [
        'of a destination whose events all wait, behind the backlog of other destinations',
        { destinationId: ROUTED_TARGET, status: 'retrying' },
      ],
      ['of received events of an endpoint, retrying', { endpointId: ENDPOINT, status: 'retrying' }],
    ])(
      'list %s: reads a window of the open deliveries, and the next page reads the next window',
      async (_what, aim) => {
        const store = new EventsStore(database, VAULT);
        const filter: EventFilter = { ...aim, beforeId: lowestIdAt(ledger.nowMs), fromId: lowestIdAt(0) };
        const end = (await store.windowEnd(TENANT, filter)) ?? '';

        const [window, page] = [
          await plan(await asked((db) => new EventsStore(db, VAULT).windowEnd(TENANT, filter))),
          await plan(await asked((db) => new EventsStore(db, VAULT).list(TENANT, { ...filter, fromId: end }, 51))),
        ];

        expect(window.indexes).toEqual(['due_deliveries_pkey']);
        expect([...window.scanned, ...page.scanned]).toEqual([]);
        expect(window.pages + page.pages).toBeLessThan(2 * PAGES_MAX);
        expect(end < filter.beforeId && end > filter.fromId).toBe(true);
        expect((await store.windowEnd(TENANT, { ...filter, beforeId: end })) ?? '').not.toBe(end);
      },
    );

    it.each(LISTS_BY_DEDUPE_ID)(
      "list by the provider's delivery id: %s: requests_dedupe_id_idx, no scan, a page and its window in bounded work",
      async (_what, dedupeId, more) => {
        const range = { beforeId: lowestIdAt(ledger.nowMs), fromId: lowestIdAt(0) };
        const filter: EventFilter = { ...more, dedupeId, ...range };
        const end = await new EventsStore(database, VAULT).windowEnd(TENANT, filter);
        const bounded = { ...filter, fromId: end ?? filter.fromId };
        const plans = [
          await plan(await asked((db) => new EventsStore(db, VAULT).windowEnd(TENANT, filter))),
          await plan(await asked((db) => new EventsStore(db, VAULT).list(TENANT, bounded, 51))),
        ];

        expect(end === null).toBe(dedupeId !== REPEATED_ID);
        for (const made of plans) {
          expect(made.indexes).toContain('requests_dedupe_id_idx');
          expect(made.indexes).not.toContain('requests_pkey');
          expect(made.scanned).toEqual([]);
          expect(made.pages).toBeLessThan(end === null ? PAGES_MAX : windowRows(filter) * PAGES_A_ROW);
        }
      },
    );

    it('list of an application, of a type that none of its messages has: reads its messages and no events', async () => {
      const filter: EventFilter = {
        applicationId: APPLICATION,
        eventType: 'type.none',
        beforeId: lowestIdAt(ledger.nowMs),
        fromId: lowestIdAt(0),
      };
      const made = await plan(await asked((db) => new EventsStore(db, VAULT).list(TENANT, filter, 51)));

      // Reading the 2,000 messages of the application costs fewer pages than reading their 20,000 events.
      expect(made.pages).toBeLessThan(5_000);
      expect(made.indexes).toContain('messages_application_id_idx');
      // Ignores messages_pkey, because on a day with almost no rows the planner uses it only sometimes.
      expect(made.indexes.filter((name) => name !== 'messages_pkey')).toEqual(['messages_application_id_idx']);
      expect(made.scanned).toEqual([]);
    });

    it.each(
      STATES.flatMap(([state, status]) =>
        AIMS.map(([where, aim]): [string, string, Partial<EventFilter>] => [state, where, { ...status, ...aim }]),
      ),
    )(
      'list of %s, %s, with and without type, direction and error: no scan, bounded work within its window; the same for the window and the count',
      async (_state, _where, filter) => {
        for (const rest of REST) {
          const given: EventFilter = { ...filter, ...rest, beforeId: lowestIdAt(ledger.nowMs), fromId: lowestIdAt(0) };
          // Skips an error filter together with statuses that no event with this error has. The service never runs such
          // a query.
          if (given.error && !STATES_OF[given.error]?.includes(String(given.status ?? given.statuses))) continue;
          // Skips combinations that match nothing: an event with the status `parked` has no destination and belongs to
          // no application.
          if (
            (given.destinationId || given.applicationId) &&
            (given.status === 'parked' || given.statuses?.includes('parked'))
          )
            continue;
          const rows = windowRows(given);
          const end = await new EventsStore(database, VAULT).windowEnd(TENANT, given);
          const bounded = end === null ? given : { ...given, fromId: end };
          const plans = [
            await plan(await asked((db) => new EventsStore(db, VAULT).list(TENANT, bounded, 51))),
            await plan(await asked((db) => new EventsStore(db, VAULT).count(TENANT, bounded, 10_001))),
          ];
          if (end !== null)
            plans.push(await plan(await asked((db) => new EventsStore(db, VAULT).windowEnd(TENANT, given))));

          expect({ given, scanned: plans.flatMap(({ scanned }) => scanned) }).toEqual({ given, scanned: [] });
          for (const { pages } of plans) expect(pages).toBeLessThan(rows * PAGES_A_ROW);
        }
      },
      120_000,
    );

    it('the progress of fifty events: by their keys', async () => {
      const events = await new EventsStore(database, VAULT).list(
        TENANT,
        { beforeId: lowestIdAt(ledger.nowMs), fromId: lowestIdAt(0) },
        50,
      );
      const made = await plan(await asked((db) => new EventsStore(db, VAULT).progress(TENANT, events)));

      expect(made.indexes).toEqual(['attempts_pkey', 'deliveries_pkey', 'due_deliveries_pkey']);
      expectBounded(made, PAGES_MAX);
    });
  });
});
