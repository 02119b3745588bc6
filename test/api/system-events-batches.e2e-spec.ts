import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { dataSource } from '../../src/bootstrap/data-source.js';
import type { Config } from '../../src/kernel/config/config.js';
import { Database } from '../../src/kernel/database/database.js';
import type { Id } from '../../src/kernel/ids.js';
import type { Batch } from '../../src/modules/system-events/batches.store.js';
import { BatchesStore } from '../../src/modules/system-events/batches.store.js';
import type { SystemEventType } from '../../src/modules/system-events/contract.js';
import { SignalsStore } from '../../src/modules/system-events/signals.store.js';
import { explain, recorder } from '../architecture/plans.js';
import type { TestDatabase } from '../support/database.js';
import { createDatabase } from '../support/database.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { until } from './polling.js';
import type { Sql, Targets } from './scene.js';
import {
  destinationAt,
  expectStatus,
  openSql,
  RARE_RETRIES,
  sendMany,
  startTargets,
  uuidOf,
  WITHIN_MS,
} from './scene.js';
import { countOf, endWindows, flushSignals, listen } from './system-event-target.js';

const TYPE: SystemEventType = 'circuit.opened';
const [ONE, OTHER] = ['019a9f65-0000-7000-8000-000000000001', '019a9f65-0000-7000-8000-000000000002'] as const;

/** Inserts the rows that are stored when circuits open: `each` rows for each of `subjects` destinations. */
async function addSignals(sql: Sql, subjects: number, each: number): Promise<void> {
  await sql.rows(
    `
    insert into system_signals (environment_id, type, subject, details, count, first_at, last_at)
    select (select min(id) from environments), '${TYPE}', lpad(to_hex(i % $1), 32, '0')::uuid,
           jsonb_build_object('destination', 'dst_' || lpad((i % $1)::text, 26, '0'), 'name', 'One of many'), 1, now(), now()
    from generate_series(0, $1::int * $2::int - 1) i`,
    [subjects, each],
  );
}

describe('signals in the database', () => {
  let database: TestDatabase;
  let sql: Sql;
  let databases: Database[];

  beforeEach(async () => {
    database = await createDatabase();
    sql = openSql({ databaseUrl: database.url });
    databases = await Promise.all(
      [1, 2, 3].map(async () => {
        const source = await dataSource(database.url, 2).initialize();
        return new Database(source, { databaseUrl: database.url } as Config);
      }),
    );
  });

  afterEach(async () => {
    await Promise.all(databases.map((each) => each.close()));
    await sql.close();
    await database.drop();
  });

  const signalsOf = (): SignalsStore[] => databases.map((each) => new SignalsStore(each));
  const batchesOf = (): BatchesStore[] => databases.map((each) => new BatchesStore(each));
  const note = (store: SignalsStore, subject: Id = ONE, count = 1): Promise<void> =>
    store.insert({ environmentId: 1, type: TYPE, subject, details: { name: subject }, count });
  const batch = (id: Id, type: SystemEventType = TYPE): Batch => ({
    environmentId: 1,
    type,
    id,
    destinationId: null,
    expiresOnDay: 20_000,
    failures: 0,
  });
  const sums = async (): Promise<{ rows: number; count: number }> =>
    (
      await sql.rows<{ rows: number; count: number }>(
        'select count(*)::int as rows, coalesce(sum(count), 0)::int as count from system_signals',
      )
    )[0] ?? { rows: 0, count: 0 };

  it('are stored if and only if their transaction commits', async () => {
    const [own] = databases as [Database];
    const store = new SignalsStore(own);

    await own.transaction(async () => {
      await note(store);
      await own.transaction(() => note(store));
    });
    const rolledBack = own.transaction(async () => {
      await note(store);
      throw new Error('No.');
    });

    await expect(rolledBack).rejects.toThrow('No.');
    expect(await sums()).toEqual({ rows: 2, count: 2 });
  });

  it('three concurrent folds, with concurrent inserts and a batch, neither lose nor double a count', async () => {
    const [[noting, ...folding], [batches]] = [
      signalsOf() as [SignalsStore, ...SignalsStore[]],
      batchesOf() as [BatchesStore],
    ];
    const noteMany = async (subject: Id): Promise<void> => {
      for (let i = 0; i < 300; i += 1) await note(noting, subject, 3);
    };
    const foldMany = async (store: SignalsStore): Promise<void> => {
      for (let i = 0; i < 60; i += 1) await store.fold();
    };
    const take = async (): Promise<void> => {
      await until(
        () => batches.ready(),
        (ready) => ready.length > 0,
      );
      await batches.begin(batch(ONE));
    };

    await Promise.all([noteMany(ONE), noteMany(OTHER), ...folding.map(foldMany), take()]);
    while ((await noting.fold()) > 0);

    const after = await sums();
    expect(after.count).toBe(1_800);
    expect(after.rows).toBeLessThan(600);
  });

  it('are folded to one per subject, with the sum, the first and last time, and the latest details', async () => {
    const [store] = signalsOf() as [SignalsStore];
    for (const count of [1, 2, 3])
      await store.insert({ environmentId: 1, type: TYPE, subject: ONE, details: { said: count }, count });
    await store.insert({ environmentId: 2, type: TYPE, subject: ONE, details: {} });
    await store.insert({ environmentId: 1, type: 'circuit.closed', subject: ONE, details: {} });
    const [span] = await sql.rows(
      'select min(first_at) as first_at, max(last_at) as last_at from system_signals where environment_id = 1 and type = $1',
      [TYPE],
    );

    expect(await store.fold()).toBe(3);

    const rows = await sql.rows('select details, count::int, first_at, last_at from system_signals order by id desc');
    expect(rows).toHaveLength(3);
    expect(rows[0]).toEqual({ details: { said: 3 }, count: 6, ...span });
    expect(await store.fold()).toBe(0);
  });

  it('of a type are taken by one of many processes as one batch at a time, the next one a minute later', async () => {
    const [store] = signalsOf() as [SignalsStore];
    const stores = batchesOf();
    await note(store);
    const begun = await Promise.all(
      stores.map((each, i) => each.begin(batch(`019a9f65-0000-7000-8000-0000000000a${i}`))),
    );
    await note(store, OTHER);

    expect(begun.filter(Boolean)).toHaveLength(1);
    const [winner, loser] = [begun.indexOf(true), begun.indexOf(false)];
    const taken = batch(`019a9f65-0000-7000-8000-0000000000a${winner}`);
    expect((await stores[0]?.read(taken, null))?.map(({ subject }) => subject)).toEqual([ONE]);
    expect(await stores[0]?.read(batch(`019a9f65-0000-7000-8000-0000000000a${loser}`), null)).toEqual([]);
    await stores[0]?.end(taken);
    expect(await stores[0]?.ready()).toEqual([]);
    await sql.rows(`update system_tellings set opened_at = now() - interval '59 seconds'`);
    expect(await stores[0]?.ready()).toEqual([]);
    await sql.rows(`update system_tellings set opened_at = now() - interval '61 seconds'`);
    expect(await stores[0]?.ready()).toEqual([{ environmentId: 1, type: TYPE }]);
  });

  it('taken by a process that died can be taken by another one once its lease has expired, not before', async () => {
    const [[store], [first, second]] = [signalsOf() as [SignalsStore], batchesOf() as [BatchesStore, BatchesStore]];
    await note(store);
    await first.begin(batch(OTHER));

    expect(await second.claim()).toEqual([]);
    await sql.rows(`update system_tellings set claimed_until = now() - interval '1 second'`);

    expect(await second.claim()).toEqual([batch(OTHER)]);
    expect(await first.claim()).toEqual([]);
  });

  it('an empty batch does not delay the next signal', async () => {
    const [[store], [batches]] = [signalsOf() as [SignalsStore], batchesOf() as [BatchesStore]];
    await batches.begin(batch(ONE));
    await batches.end(batch(ONE));

    await note(store);

    expect(await batches.ready()).toEqual([{ environmentId: 1, type: TYPE }]);
  });

  it('a batch shows a hundred subjects, and counts all of them', async () => {
    const [[store], [batches]] = [signalsOf() as [SignalsStore], batchesOf() as [BatchesStore]];
    await sql.rows(`
      insert into system_signals (environment_id, type, subject, details, count, first_at, last_at)
      select 1, '${TYPE}', lpad(to_hex(i), 32, '0')::uuid, '{}', i, now(), now() from generate_series(1, 250) i`);
    await note(store, OTHER, 1_000);
    await batches.begin(batch(ONE));

    const [all, but] = [await batches.read(batch(ONE), null), await batches.read(batch(ONE), OTHER)];

    expect([all.length, all[0]?.subject, all[0]?.total, all[0]?.subjects]).toEqual([
      100,
      OTHER,
      1_000 + (250 * 251) / 2,
      251,
    ]);
    expect([but.length, but[0]?.count, but[0]?.total, but[0]?.subjects]).toEqual([100, 250, (250 * 251) / 2, 250]);
  });

  it('a batch about recipients has the first hundred signals one by one, and the next one can start at once', async () => {
    const [[store], [batches]] = [signalsOf() as [SignalsStore], batchesOf() as [BatchesStore]];
    const type = 'email.unsubscribed';
    await sql.rows(`
      insert into system_signals (environment_id, type, subject, details, count, first_at, last_at)
      select 1, '${type}', '${ONE}', jsonb_build_object('recipient', i), 1, now(), now() from generate_series(1, 150) i`);
    const read = async (id: string): Promise<unknown[]> => {
      await batches.begin({ ...batch(id), type });
      const items = await batches.read({ ...batch(id), type }, null);
      await batches.end({ ...batch(id), type });
      return items.map(({ details, count, at, total }) => [details['recipient'], count, at instanceof Date, total]);
    };

    expect(await store.fold()).toBe(0);
    expect(await read(ONE)).toEqual(Array.from({ length: 100 }, (_, i) => [i + 1, 1, true, 100]));
    expect(await batches.ready()).toEqual([{ environmentId: 1, type }]);
    expect(await read(OTHER)).toEqual(Array.from({ length: 50 }, (_, i) => [i + 101, 1, true, 50]));
    expect(await batches.ready()).toEqual([]);
  });

  it('statements use the indexes named in their comments', async () => {
    const asked: [string, (signals: SignalsStore, batches: BatchesStore) => Promise<unknown>, string][] = [
      ['unknown', (signals) => signals.unknown(), 'system_signals_unknown_idx'],
      ['describe', (signals) => signals.describe(1, new Map([[ONE, {}]])), 'system_signals_unknown_idx'],
      ['drop', (signals) => signals.drop(1, [ONE]), 'system_signals_unknown_idx'],
      ['ready', (_signals, batches) => batches.ready(), 'system_signals_waiting_idx'],
      ['read', (_signals, batches) => batches.read(batch(ONE), null), 'system_signals_batch_idx'],
      ['end', (_signals, batches) => batches.end(batch(ONE)), 'system_signals_batch_idx'],
    ];
    await sql.rows(`
      insert into system_signals (environment_id, type, subject, details, count, first_at, last_at, batch)
      select i % 3, 'circuit.opened', gen_random_uuid(), case when i % 50 > 0 then '{}'::jsonb end, 1, now(), now(), case when i % 2 = 0 and i % 50 > 0 then gen_random_uuid() end
      from generate_series(1, 30000) i`);
    await sql.rows(
      `insert into system_tellings select i, '${TYPE}', now(), null, null, null, null, 0 from generate_series(1, 3000) i`,
    );
    await sql.rows('vacuum analyze system_signals');
    await sql.rows('analyze system_tellings');
    const pool = new pg.Pool({ connectionString: database.url, max: 1 });
    const client = await pool.connect();
    try {
      for (const [what, ask, index] of asked) {
        const { database: recording, recorded } = recorder();
        await ask(new SignalsStore(recording), new BatchesStore(recording));

        const { indexes, scanned } = await explain(client, recorded[0] as (typeof recorded)[number], 'custom');

        expect({ what, indexes, scanned: scanned.filter((table) => table !== 'system_tellings') }).toEqual({
          what,
          indexes: expect.arrayContaining([index]),
          scanned: [],
        });
      }
    } finally {
      client.release();
      await pool.end();
    }
  });
});

describe('sending system events, with workers beside an api process', () => {
  let targets: Targets;
  let server: PosthornServer;
  let sql: Sql;
  const workers: PosthornServer[] = [];

  const startWorker = async (): Promise<PosthornServer> => {
    const worker = await startServer({ ...server.env, ROLE: 'worker' });
    workers.push(worker);
    return worker;
  };

  beforeAll(async () => {
    [server, targets] = await Promise.all([startServer({ ROLE: 'api' }), startTargets()]);
    sql = openSql(server);
  });

  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop().catch(() => undefined)));
    await sql.rows('truncate system_signals, system_tellings');
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
    await targets?.close();
  });

  const eventIds = async (): Promise<string[]> =>
    (await sql.rows<{ id: string }>('select id from events where event_type = $1', [TYPE])).map(({ id }) => id);

  it('20,000 destinations at once give one event that shows a hundred of them; the api process takes no part', async () => {
    const systemTarget = await listen(server, targets);
    await addSignals(sql, 20_000, 1);

    const worker = await startWorker();

    const [payload] = await systemTarget.waitFor(TYPE, undefined, 60_000);
    expect(payload?.data).toMatchObject({ count: 20_000, items_truncated: true });
    expect(payload?.data.items).toHaveLength(100);
    await flushSignals(sql);
    expect(systemTarget.received(TYPE)).toHaveLength(1);
    const count = async ({ url }: PosthornServer): Promise<string | undefined> =>
      /^posthorn_system_events_told_total\{type="circuit.opened"\} (\d+)$/m.exec(
        await (await fetch(`${url}/metrics`)).text(),
      )?.[1];
    expect([await count(server), await count(worker)]).toEqual([undefined, '1']);
  });

  it('two workers send everything once', async () => {
    const systemTarget = await listen(server, targets);
    await Promise.all([startWorker(), startWorker()]);

    for (let round = 1; round <= 5; round += 1) {
      await addSignals(sql, 10, 7);
      await flushSignals(sql);
      await systemTarget.waitFor(TYPE, (payloads) => countOf(payloads) >= round * 70);
    }

    expect(countOf(systemTarget.received(TYPE))).toBe(350);
  });

  it('if a process dies before or after the event is accepted, another one sends it once', async () => {
    const before = await eventIds();
    const systemTarget = await listen(server, targets);
    await sql.rows(
      `insert into system_tellings select min(id), '${TYPE}', now(), null, null, null, null, 0 from environments`,
    );
    await startWorker();
    // In the second iteration, the batch is inserted again, as if the process had died before it deleted the batch.
    for (let death = 1; death <= 2; death += 1) {
      await addSignals(sql, 3, 2);
      await sql.rows(
        `
        with marked as (update system_signals set batch = $1)
        update system_tellings set batch = $1, destination_id = $2, expires_on = current_date + 30, claimed_until = now()`,
        [ONE, uuidOf(systemTarget.destination)],
      );
      await until(
        () => sql.rows('select from system_signals'),
        (rows) => rows.length === 0,
        WITHIN_MS,
      );

      expect((await systemTarget.waitFor(TYPE)).map(({ data }) => data.count)).toEqual([6]);
      expect((await eventIds()).filter((id) => !before.includes(id))).toEqual([ONE]);
    }
  });

  it('with repeated kill -9, every event arrives once, and every signal is in exactly one', async () => {
    const before = await eventIds();
    const systemTarget = await listen(server, targets);
    let noted = 0;
    for (let kill = 0; kill < 4; kill += 1) {
      const worker = await startWorker();
      await addSignals(sql, 50, 20);
      noted += 1_000;
      await endWindows(sql);
      await until(
        () =>
          sql.rows("select from system_tellings where batch is not null or opened_at > now() - interval '30 minutes'"),
        (rows) => rows.length > 0,
        WITHIN_MS,
      );
      workers.pop();
      await worker.kill('SIGKILL');
      await sql.rows('update system_tellings set claimed_until = now() where batch is not null');
    }
    await startWorker();

    await flushSignals(sql);
    const ids = async (): Promise<Set<unknown>> =>
      new Set(systemTarget.target.posts().map(({ headers }) => headers['webhook-id']));
    const events = (await eventIds()).filter((id) => !before.includes(id));
    await until(ids, (known) => known.size === events.length, 40_000);
    const once = new Map(
      systemTarget.target
        .posts()
        .map((post) => [
          post.headers['webhook-id'],
          JSON.parse(post.rawBody.toString()) as { data: { count: number } },
        ]),
    );
    expect([...once.values()].reduce((sum, { data }) => sum + data.count, 0)).toBe(noted);
  });
});

describe('sending system events, in one process', () => {
  let targets: Targets;
  let sql: Sql;
  let server: PosthornServer;

  beforeEach(async () => {
    targets = await startTargets();
  });

  afterEach(async () => {
    await sql?.close();
    await server?.stop().catch(() => undefined);
    await targets.close();
  });

  const begin = async (env: Record<string, string> = {}): Promise<void> => {
    server = await startServer(env);
    sql = openSql(server);
  };

  it('300 dead letters and 25 opened circuits at once cause a few system events, whose counts add up exactly', async () => {
    await begin();
    const systemTarget = await listen(server, targets);
    const broken = targets.open(() => ({ status: 500 }));
    const once = { ...RARE_RETRIES, retry: { max_attempts: 1 } };
    const dead = await Promise.all(Array.from({ length: 20 }, () => destinationAt(server, broken.url, once)));
    const open = await Promise.all(
      Array.from({ length: 25 }, () =>
        destinationAt(server, broken.url, {
          retry: { schedule: [0, 36_000] },
          config: { circuit_breaker: { failure_threshold: 1 } },
        }),
      ),
    );

    await Promise.all([...dead.map((id) => sendMany(server, id, 15)), ...open.map((id) => sendMany(server, id, 2))]);
    const dlq = `select count(*)::int as n from deliveries where status = 'dlq'`;
    await until(
      () => sql.rows<{ n: number }>(dlq),
      ([row]) => row?.n === 300,
      WITHIN_MS,
    );
    await until(
      () => sql.rows(`select from circuits where state = 'open'`),
      (rows) => rows.length === 25,
      WITHIN_MS,
    );
    await until(
      () => sql.rows('select from rollup_parts'),
      (rows) => rows.length === 0,
      WITHIN_MS,
    );
    await systemTarget.waitFor('event.dead_lettered');
    await endWindows(sql);

    const letters = await systemTarget.waitFor('event.dead_lettered', (payloads) => countOf(payloads) >= 300);
    const circuits = await systemTarget.waitFor('circuit.opened', (payloads) => countOf(payloads) >= 25);
    expect([countOf(letters), countOf(circuits)]).toEqual([300, 25]);
    expect(letters.length).toBeLessThanOrEqual(2);
    expect(circuits.length).toBeLessThanOrEqual(2);
    const perTarget = new Map<string, number>();
    for (const item of letters.flatMap(({ data }) => data.items)) {
      perTarget.set(
        item['destination'] as string,
        (perTarget.get(item['destination'] as string) ?? 0) + (item['count'] as number),
      );
    }
    expect(perTarget).toEqual(new Map(dead.map((id) => [id, 15])));
  });

  it('calls the listeners of extensions, with and without a destination, and again if they fail', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'posthorn-listener-'));
    const root = path.resolve(import.meta.dirname, '..', '..');
    mkdirSync(path.join(folder, 'node_modules', '@nestjs'), { recursive: true });
    symlinkSync(root, path.join(folder, 'node_modules', 'posthorn'));
    symlinkSync(
      path.join(root, 'node_modules', '@nestjs', 'common'),
      path.join(folder, 'node_modules', '@nestjs', 'common'),
    );
    const file = path.join(folder, 'index.mjs');
    writeFileSync(file, LISTENER);
    const listenerTarget = targets.open((_post, index) => ({ status: index < 2 ? 500 : 200 }));
    try {
      await begin({ EXTENSIONS: file, LISTENER_URL: listenerTarget.url });
      const destination = await destinationAt(server, targets.open().url, { name: 'Orders' });

      expectStatus(await server.api('PATCH', `/v1/destinations/${destination}`, { status: 'disabled' }), 200);

      const posts = await listenerTarget.arrived(3);
      await until(
        () => sql.rows('select from system_signals'),
        (rows) => rows.length === 0,
        WITHIN_MS,
      );
      const events = posts.map(({ rawBody }) => JSON.parse(rawBody.toString()) as object);
      expect(events).toEqual(Array(3).fill(events[0]));
      expect(events[0]).toMatchObject({
        type: 'destination.disabled',
        environmentId: expect.any(Number),
        id: expect.any(String),
        timestamp: expect.any(String),
        data: { count: 1, items: [{ destination, name: 'Orders', by: 'api', count: 1 }], items_truncated: false },
      });
      expect(await sql.rows(`select from events where event_type = 'destination.disabled'`)).toEqual([]);
      expect(listenerTarget.posts()).toHaveLength(3);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

/** Code of an extension, as an author without TypeScript writes it. */
const LISTENER = `
import { Inject, Module } from '@nestjs/common';
import { SystemEvents } from 'posthorn';

class Listening {
  constructor(events) {
    events.on('destination.disabled', async (event) => {
      const { ok } = await fetch(process.env.LISTENER_URL, { method: 'POST', body: JSON.stringify(event) });
      if (!ok) throw new Error('Not now.');
    });
  }
}
Inject(SystemEvents)(Listening, undefined, 0);

export default class ListenerExtension {}
Module({ providers: [Listening] })(ListenerExtension);
`;
