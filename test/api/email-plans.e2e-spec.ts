import pg from 'pg';
import { dataSource } from '../../src/bootstrap/data-source.js';
import { EMAIL_STATUSES } from '../../src/engine/mail/recipient-state.js';
import type { Config } from '../../src/kernel/config/config.js';
import { Database } from '../../src/kernel/database/database.js';
import type { PlannedPool } from '../../src/kernel/database/planned-pool.js';
import { type Id, lowestIdAt } from '../../src/kernel/ids.js';
import { CanceledEmailsStore } from '../../src/modules/email/canceled-emails.store.js';
import { emailTargetId } from '../../src/modules/email/email-destination.js';
import {
  type EmailChange,
  type EmailPlace,
  EmailsStore,
  type EmailState,
  type NewEmail,
} from '../../src/modules/email/emails.store.js';
import { ScheduledEmailsStore } from '../../src/modules/email/scheduled-emails.store.js';
import { SuppressionsStore } from '../../src/modules/email/suppressions.store.js';
import { explain, type Plan, type Recorded, recorder } from '../architecture/plans.js';
import { createDatabase, type TestDatabase } from '../support/database.js';

const DAY_MS = 86_400_000;
const DAYS = 35;
const EMAILS = 90_000;
const SUPPRESSIONS = 50_000;
const SCHEDULED = 20_000;
const ENVIRONMENT = 1;
const TARGET = emailTargetId(ENVIRONMENT);
/** Statuses that only one email in a hundred has. A list of these emails must not scan the other emails. */
const RARE = ['bounced', 'complained', 'suppressed', 'failed', 'sending'] as const;

const iso = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

/**
 * Returns SQL for the id of email `i`. The id is a ULID that encodes the email's time. The emails are spread evenly
 * over thirty days from `firstMs`.
 */
const id = (firstMs: number): string =>
  `(lpad(to_hex((${firstMs} + i * ${Math.floor((30 * DAY_MS) / EMAILS)}::bigint)), 12, '0') || substr(md5(i::text), 1, 20))::uuid`;

function fill(nowMs: number): string[] {
  const [today, firstMs] = [Math.floor(nowMs / DAY_MS), nowMs - 30 * DAY_MS];
  const partitions = Array.from({ length: DAYS + 1 }, (_, i) => today + i).flatMap((day) =>
    ['emails', 'events', 'deliveries', 'attempts'].map(
      (table) =>
        `create table ${table}_p${iso(day).replaceAll('-', '')} partition of ${table} for values from ('${iso(day)}') to ('${iso(day + 1)}')`,
    ),
  );
  const status = `case when i % 100 < ${RARE.length} then (array['${RARE.join("','")}'])[i % 100 + 1] else 'delivered' end`;
  return [
    ...partitions,
    `insert into organizations values ('00000000-0000-0000-0000-000000000001', 'a', 'A', now())`,
    `insert into environments (organization_id, mode, secret) select '00000000-0000-0000-0000-000000000001', mode, '\\x00' from unnest(array['live', 'test']) mode`,
    `create temporary table made as
     select i, ${id(firstMs)} as id, date '${iso(today)}' + (i * 30.0 / ${EMAILS})::int as expires_on, ${status} as status from generate_series(0, ${EMAILS} - 1) i`,
    `insert into emails (environment_id, id, expires_on, sender, to_list, cc, bcc, reply_to, subject, message_id, is_captured, tags, attachments, size_bytes, recipients, timeline, status, is_owed, version)
     select ${ENVIRONMENT}, id, expires_on, 'a@b.example', '{c@d.example}', '{}', '{}', '{}', 'Subject', '<a@b>', false, '[]', '[]', 1000,
            '[{"address": "c@d.example", "kind": "to", "state": "sending", "at": "2026-11-21T09:30:00.000Z", "detail": null}]', '[]', status, status = 'sending', 1 from made order by i`,
    // One email in a thousand has no event, because it was never accepted.
    `insert into events (environment_id, id, expires_on, target_id, direction, event_type, payload_bytes, payload)
     select ${ENVIRONMENT}, id, expires_on, '${TARGET}', 'outbound', 'email.send', 2, '{}' from made where i % 1000 <> 7 order by i`,
    `insert into deliveries (environment_id, event_id, ordinal, expires_on, target_id, status, attempts, replayed, superseded, settled_at)
     select ${ENVIRONMENT}, id, 0, expires_on, '${TARGET}', case when status = 'sending' then 'dlq' when status = 'delivered' then 'delivered' else 'failed' end, 1, false, false, now()
     from made where status <> 'sending' or i % 200 = 4 order by i`,
    `insert into due_deliveries (environment_id, event_id, ordinal, expires_on, target_id, due_at, parked, attempts, attempts_used, replayed, superseded)
     select ${ENVIRONMENT}, id, 0, expires_on, '${TARGET}', now(), false, 0, 0, false, false from made where status = 'sending' and i % 200 <> 4`,
    `insert into suppressions select ${ENVIRONMENT}, ${id(firstMs)}, 'a' || i || '@x.example', 'a' || i || '@x.example', (array['bounce', 'complaint', 'manual'])[i % 3 + 1], null, now()
     from generate_series(0, ${SUPPRESSIONS} - 1) i`,
    `insert into scheduled_emails select ${ENVIRONMENT}, ${id(firstMs)}, now() + (i - 100) * interval '1 minute', now() + (i - 100) * interval '1 minute', 0, '<a@b>', false, 'a@b.example',
     '{c@d.example}', 'Subject', '{"attachments": []}', '' from generate_series(0, ${SCHEDULED} - 1) i`,
    'drop table made',
    'analyze emails, events, deliveries, due_deliveries, suppressions, scheduled_emails',
  ];
}

/** Checks that each statement of the email stores uses the index that its comment names. */
describe('email, with a month of 90,000 emails, 50,000 suppressions and 20,000 scheduled emails', () => {
  let database: TestDatabase;
  let kernel: Database;
  let clients: Record<Recorded['pool'], pg.PoolClient>;
  let nowMs: number;
  let some: { id: Id; expiresOn: string };
  let scheduled: Id;

  beforeAll(async () => {
    database = await createDatabase('migrated');
    nowMs = Date.now();
    const source = await dataSource(database.url, 1).initialize();
    kernel = new Database(source, { databaseUrl: database.url } as Config);
    const { preparedPool, readPool } = kernel as unknown as Record<'preparedPool' | 'readPool', PlannedPool>;
    const { master } = source.driver as unknown as { master: pg.Pool };
    clients = {
      hot: await preparedPool.pool.connect(),
      reads: await readPool.pool.connect(),
      ordinary: await master.connect(),
    };
    for (const statement of fill(nowMs)) await clients.ordinary.query(statement);
    const first = async (text: string): Promise<Record<string, string>> =>
      (await clients.ordinary.query<Record<string, string>>(text)).rows[0] ?? {};
    // Selects an email without a due delivery, because the tested statement reads finished deliveries only for such an
    // email.
    some = (await first(`
      select id, expires_on::text as "expiresOn" from emails where status = 'sending' and id not in (select event_id from due_deliveries) order by md5(id::text) limit 1`)) as never;
    scheduled = (await first('select id from scheduled_emails order by md5(id::text) limit 1'))['id'] ?? '';
  });

  afterAll(async () => {
    for (const client of Object.values(clients ?? {})) client.release();
    await kernel?.close();
    await database?.drop();
  });

  /**
   * Returns the query plans of the statement that `ask` runs. A prepared statement has two plans, generic and custom.
   * Other statements have one plan.
   */
  async function plansOf(ask: (recording: Database) => Promise<unknown>): Promise<Plan[]> {
    const { database: recording, recorded } = recorder();
    await ask(recording);
    const [asked] = recorded;
    if (!asked) throw new Error('Nothing was asked.');
    if (asked.pool !== 'ordinary') return [await explain(clients[asked.pool], asked)];
    return [await explain(clients.ordinary, asked, 'generic'), await explain(clients.ordinary, asked, 'custom')];
  }

  async function expectPlans(
    ask: (recording: Database) => Promise<unknown>,
    indexes: string[],
    pagesMax: number,
  ): Promise<void> {
    for (const plan of await plansOf(ask)) {
      expect(plan.indexes).toEqual(indexes);
      expect(plan.scanned).toEqual([]);
      expect(plan.pages).toBeLessThan(pagesMax);
    }
  }

  const range = (untilMs = nowMs) => ({
    environmentId: ENVIRONMENT,
    beforeId: lowestIdAt(untilMs),
    fromId: lowestIdAt(0),
    targetId: TARGET,
  });
  const orphansDay = (): number => Math.floor(nowMs / DAY_MS) + 30;
  const orphansOfAnHour = (db: Database): Promise<unknown> =>
    new EmailsStore(db).orphans(orphansDay(), lowestIdAt(nowMs - 2 * 3_600_000), lowestIdAt(nowMs - 3_600_000), 500);
  const changed = (): EmailChange => ({
    environmentId: ENVIRONMENT,
    state: { ...some, version: 1 } as EmailState,
    after: added(),
  });
  const place = (): EmailPlace => ({
    environmentId: ENVIRONMENT,
    id: some.id,
    expiresOnDay: Date.parse(some.expiresOn) / DAY_MS,
  });
  const added = (): NewEmail => ({
    environmentId: ENVIRONMENT,
    id: lowestIdAt(nowMs),
    expiresOnDay: Math.floor(nowMs / DAY_MS) + 30,
    sender: 'a@b.example',
    to: ['c@d.example'],
    cc: [],
    bcc: [],
    replyTo: [],
    subject: 'a',
    messageId: '<a@b>',
    returnPathHost: null,
    originalSender: null,
    signature: null,
    isCaptured: false,
    tags: [],
    attachments: [],
    sizeBytes: 1,
    recipients: [],
    timeline: [],
    status: 'sending',
    isOwed: true,
    scheduledAt: null,
    templateId: null,
    templateVersion: null,
  });
  const KEYS = ['deliveries_pkey', 'due_deliveries_pkey', 'emails_pkey', 'events_pkey'];

  it.each<[string, (db: Database) => Promise<unknown>, string[], number]>([
    [
      'insert with events',
      (db) => {
        const { statement, values } = new EmailsStore(db).insertOf([
          added(),
          { ...added(), id: lowestIdAt(nowMs + 1) },
        ]);
        return db.queryPrepared(statement, [...values]);
      },
      [],
      500,
    ],
    ['insert in a transaction', (db) => new EmailsStore(db).insert(added()), [], 500],
    [
      'states, on the days encoded in the ids',
      (db) => new EmailsStore(db).statesAt([place(), place()]),
      ['emails_pkey', 'suppressions_address_idx'],
      30,
    ],
    [
      'state, in any partition',
      (db) => new EmailsStore(db).state(ENVIRONMENT, some.id),
      ['emails_pkey', 'suppressions_address_idx'],
      DAYS * 6,
    ],
    ['change', (db) => new EmailsStore(db).change([changed(), changed()], false), ['emails_pkey'], 100],
    ['change in a transaction', (db) => new EmailsStore(db).change([changed()], true), ['emails_pkey'], 100],
    [
      'sign',
      (db) =>
        new EmailsStore(db).sign([
          { environmentId: ENVIRONMENT, id: some.id, expiresOn: some.expiresOn, signature: 'a' },
        ]),
      ['emails_pkey'],
      100,
    ],
    ['taken as', (db) => new EmailsStore(db).takenAs(ENVIRONMENT, some, 'a'), ['emails_pkey'], 100],
    [
      'environment, on the day encoded in the id',
      (db) => new EmailsStore(db).environmentOf(some.id),
      ['emails_pkey'],
      30,
    ],
    [
      'canceled among',
      (db) => new CanceledEmailsStore(db).among(ENVIRONMENT, [{ eventId: some.id, expiresOn: some.expiresOn }]),
      ['emails_status_idx'],
      100,
    ],
    ['erase', (db) => new EmailsStore(db).erase(ENVIRONMENT, some.id), ['emails_pkey'], DAYS * 8],
    ['find', (db) => new EmailsStore(db).find(ENVIRONMENT, some.id), KEYS, DAYS * 12],
    ['orphans of one hour', (db) => orphansOfAnHour(db), ['emails_pkey', 'environments_pkey', 'events_pkey'], 3_000],
    ['drop', (db) => new EmailsStore(db).drop(ENVIRONMENT, some.id), ['emails_pkey'], DAYS * 6],
  ])('emails: %s', (_what, ask, indexes, pagesMax) => expectPlans(ask, indexes, pagesMax));

  it('emails: the search for orphans of a day locks one partition each of emails and events, so that other partitions can be dropped', async () => {
    const { database: recording, recorded } = recorder();
    await orphansOfAnHour(recording);
    const [{ statement, values }] = recorded as [Recorded];
    const { reads } = clients;
    await reads.query('begin');
    try {
      await reads.query(statement.text, [...values]);
      const { rows } = await reads.query<{ name: string }>(`
        select c.relname as name from pg_locks l join pg_class c on c.oid = l.relation
        where l.pid = pg_backend_pid() and c.relkind = 'r' and c.relname ~ '^(emails|events)_p' order by 1`);

      expect(rows.map(({ name }) => name)).toEqual(
        ['emails', 'events'].map((table) => `${table}_p${iso(orphansDay()).replaceAll('-', '')}`),
      );
    } finally {
      await reads.query('rollback');
    }
  });

  it.each([
    ['now', 0],
    ['the middle of the month', 15 * DAY_MS],
  ])('emails: a page of any status, from %s', async (_from, agoMs) => {
    const [plan] = await plansOf((db) => new EmailsStore(db).list(range(nowMs - agoMs), 51));

    expect(plan?.indexes).toEqual(expect.arrayContaining(['emails_pkey', 'events_pkey', 'scheduled_emails_pkey']));
    expect(plan?.scanned).toEqual([]);
    expect(plan?.pages).toBeLessThan(3_000);
  });

  it.each([
    ['the start', 30 * DAY_MS],
    ['the middle of the month', 15 * DAY_MS],
  ])('emails: a page of any status, oldest first, from %s', async (_from, agoMs) => {
    const newer = { ...range(), fromId: lowestIdAt(nowMs - agoMs), isAscending: true };

    const [plan] = await plansOf((db) => new EmailsStore(db).list(newer, 51));

    expect(plan?.indexes).toEqual(expect.arrayContaining(['emails_pkey', 'events_pkey', 'scheduled_emails_pkey']));
    expect(plan?.scanned).toEqual([]);
    expect(plan?.pages).toBeLessThan(3_000);
  });

  it.each([undefined, 'bounced', 'dlq', 'scheduled'] as const)(
    'emails: a page for a tag and a recipient without matches reads at most a thousand candidates (%s)',
    async (status) => {
      const [plan] = await plansOf((db) =>
        new EmailsStore(db).withTraits(
          { ...range(), status, tag: { name: 'a' }, recipient: 'nobody@d.example' },
          1_000,
        ),
      );

      expect(plan?.indexes).toContain(
        status === 'dlq'
          ? 'deliveries_target_id_idx'
          : status === 'scheduled'
            ? 'scheduled_emails_pkey'
            : status === undefined
              ? 'emails_pkey'
              : 'emails_status_idx',
      );
      expect(plan?.scanned).toEqual([]);
      expect(plan?.pages).toBeLessThan(8_000);
    },
  );

  it.each(EMAIL_STATUSES)(
    'emails: a page of %s reads a thousand candidates, regardless of the number of other emails',
    async (status) => {
      const [plan] = await plansOf((db) => new EmailsStore(db).listOf(status, range(), 1_000));

      expect(plan?.indexes).toContain(status === 'dlq' ? 'deliveries_target_id_idx' : 'emails_status_idx');
      expect(plan?.scanned).toEqual([]);
      expect(plan?.pages).toBeLessThan(1_000 * 40);
    },
  );

  it.each<[string, (db: Database) => Promise<unknown>, string[], number]>([
    ['a page', (db) => new EmailsStore(db).listScheduled(range(), 51), ['scheduled_emails_pkey'], 200],
    ['find', (db) => new ScheduledEmailsStore(db).find(ENVIRONMENT, scheduled), ['scheduled_emails_pkey'], 20],
    [
      'due',
      (db) => new ScheduledEmailsStore(db).due(20, 200),
      ['scheduled_emails_due_at_idx', 'scheduled_emails_try_at_idx'],
      200,
    ],
    [
      'claim',
      (db) => new ScheduledEmailsStore(db).claim({ environmentId: ENVIRONMENT, id: scheduled }),
      ['scheduled_emails_pkey'],
      20,
    ],
    ['take', (db) => new ScheduledEmailsStore(db).take(ENVIRONMENT, scheduled), ['scheduled_emails_pkey'], 50],
    [
      'reschedule',
      (db) => new ScheduledEmailsStore(db).reschedule(ENVIRONMENT, scheduled, new Date(nowMs)),
      ['scheduled_emails_pkey'],
      50,
    ],
    ['remove', (db) => new ScheduledEmailsStore(db).remove(ENVIRONMENT, scheduled), ['scheduled_emails_pkey'], 50],
    ['postpone', (db) => new ScheduledEmailsStore(db).postpone(ENVIRONMENT, scheduled), ['scheduled_emails_pkey'], 50],
    ['overdue', (db) => new ScheduledEmailsStore(db).overdueSeconds(), ['scheduled_emails_due_at_idx'], 20],
  ])('scheduled emails: %s', (_what, ask, indexes, pagesMax) => expectPlans(ask, indexes, pagesMax));

  it.each<[string, (db: Database) => Promise<unknown>, string[], number]>([
    [
      'add',
      (db) =>
        new SuppressionsStore(db).add(
          { environmentId: ENVIRONMENT, origin: 'complaint', sourceId: null, forDays: null },
          { id: lowestIdAt(nowMs), key: 'a7@x.example', email: 'a7@x.example' },
        ),
      ['environments_pkey', 'organizations_pkey', 'suppressions_address_idx'],
      100,
    ],
    [
      'among fifty',
      (db) =>
        new SuppressionsStore(db).among(
          ENVIRONMENT,
          Array.from({ length: 50 }, (_, i) => `a${i * 997}@x.example`),
        ),
      ['suppressions_address_idx'],
      400,
    ],
  ])('suppressions: %s', (_what, ask, indexes, pagesMax) => expectPlans(ask, indexes, pagesMax));
});
