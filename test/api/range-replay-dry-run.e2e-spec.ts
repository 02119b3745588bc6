import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { as, createKey, expectRefusal } from './answers.js';
import {
  askReplay,
  backlog,
  dryRun,
  enqueued,
  inletTo,
  older,
  receive,
  replayed,
  reroute,
  watchReplays,
} from './replaying.js';
import type { Sql, Targets } from './scene.js';
import { destinationAt, expectStatus, openSql, startTargets, uuidOf } from './scene.js';

/** Filter for the events with n below 100, which are the oldest 99 events of a backlog. */
const BELOW_100 = { path: '$.n', op: 'lt', value: '100' };

describe('POST /v1/endpoints/{id}/replay with dry_run', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;
  let destinations: string[];

  beforeAll(async () => {
    targets = await startTargets();
    server = await startServer();
    sql = openSql(server);
    await watchReplays(sql);
    destinations = [await destinationAt(server, targets.open().url), await destinationAt(server, targets.open().url)];
  });

  afterAll(async () => {
    await sql.close();
    await server.stop();
    await targets.close();
  });

  it('200: without filters the counts are exact for the whole range, next_cursor is null, and nothing is enqueued', async () => {
    const { inlet, uuids } = await backlog(server, sql, destinations, 12_001);
    const first = (await receive(inlet, { n: -1 })) ?? '';
    await older(sql, first, 0);
    await sql.rows(`update events set disposition = 'quarantined' where id = any ($1)`, [uuids.slice(0, 3)]);
    await sql.rows(`update events set disposition = 'parked' where id = any ($1)`, [uuids.slice(3, 7)]);

    const answer = await askReplay(server, inlet, { dry_run: true });

    expect(expectStatus(answer, 200).json).toEqual({
      replay_id: expect.stringMatching(/^rpl_[0-9A-HJKMNP-TV-Z]{26}$/),
      dry_run: true,
      scanned: 12_002,
      replayed: 11_995,
      enqueued: 23_990,
      skipped: 0,
      excluded: 7,
      destinations,
      next_cursor: null,
    });
    expect(await enqueued(sql, inlet)).toEqual([]);
    expect((await server.api('GET', `/v1/replays?endpoint=${inlet.id}`)).json.data).toEqual([]);
  });

  it('200: with a filter each call examines 5,000 events, newest first, and next_cursor gives the next page', async () => {
    const [filtered, open] = destinations as [string, string];
    const { inlet } = await backlog(server, sql, [{ destination: filtered, filter: BELOW_100 }], 12_000);

    const pages = [await dryRun(server, inlet)];
    for (let cursor = pages[0].next_cursor; cursor !== null; cursor = pages.at(-1).next_cursor)
      pages.push(await dryRun(server, inlet, { cursor }));

    expect(pages.map(({ scanned, replayed: hits, enqueued: made, skipped }) => [scanned, hits, made, skipped])).toEqual(
      [
        [5_000, 0, 0, 5_000],
        [5_000, 0, 0, 5_000],
        [2_000, 99, 99, 1_901],
      ],
    );
    expect(pages.map(({ next_cursor: cursor }) => typeof cursor)).toEqual(['string', 'string', 'object']);
    expect(pages.every((each) => each.destinations.join() === filtered)).toBe(true);
    await reroute(server, inlet, [{ destination: filtered, filter: BELOW_100 }, open]);
    expect(await dryRun(server, inlet)).toMatchObject({
      scanned: 5_000,
      replayed: 5_000,
      enqueued: 5_000,
      skipped: 0,
      destinations: [filtered, open],
    });
    expect(await enqueued(sql, inlet)).toEqual([]);
  });

  it('200: the counts of a dry run are the counts of the real replay', async () => {
    const [filtered, open] = destinations as [string, string];
    const { inlet, uuids } = await backlog(server, sql, [{ destination: filtered, filter: BELOW_100 }, open], 300);
    await sql.rows(`update events set disposition = 'parked' where id = any ($1)`, [uuids.slice(0, 5)]);

    const {
      replay_id: _call,
      dry_run: _dry,
      destinations: used,
      next_cursor: cursor,
      ...counts
    } = await dryRun(server, inlet);
    const job = await replayed(server, inlet);

    expect(cursor).toBeNull();
    expect(counts).toEqual({ scanned: 300, replayed: 295, enqueued: 295 + 94, skipped: 0, excluded: 5 });
    expect(job).toMatchObject({ ...counts, destinations_used: used });
    expect(await enqueued(sql, inlet)).toHaveLength(counts.enqueued);
  });

  it('200: since, until, status and destinations narrow the range, with and without a filter', async () => {
    const [filtered, open] = destinations as [string, string];
    const { inlet, uuids } = await backlog(server, sql, [{ destination: filtered, filter: BELOW_100 }, open], 200);
    await sql.rows(`update events set disposition = 'ignored' where id = any ($1)`, [uuids.slice(0, 20)]);
    const times = await sql.rows<{ ms: string }>(
      `select ('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint as ms from unnest($1::uuid[]) id order by id`,
      [uuids],
    );
    const at = (n: number): string => new Date(Number(times[n - 1]?.ms)).toISOString();

    expect(await dryRun(server, inlet, { since: at(50), until: at(149) })).toMatchObject({
      scanned: 100,
      replayed: 100,
      enqueued: 150,
    });
    expect(await dryRun(server, inlet, { since: at(50), until: at(149), destinations: [open] })).toMatchObject({
      scanned: 100,
      enqueued: 100,
      destinations: [open],
    });
    expect(await dryRun(server, inlet, { since: at(50), until: at(149), destinations: [filtered] })).toMatchObject({
      scanned: 100,
      replayed: 50,
      skipped: 50,
    });
    expect(await dryRun(server, inlet, { status: 'ignored' })).toMatchObject({
      scanned: 20,
      replayed: 20,
      enqueued: 40,
    });
    expect(await dryRun(server, inlet, { status: 'ignored', destinations: [open] })).toMatchObject({
      scanned: 20,
      enqueued: 20,
    });
    expect(await dryRun(server, inlet, { status: 'dlq' })).toMatchObject({ scanned: 0, replayed: 0, enqueued: 0 });
  });

  it('200: without a route all events are skipped', async () => {
    const { inlet } = await backlog(server, sql, [], 10);

    expect(await dryRun(server, inlet)).toMatchObject({
      scanned: 10,
      replayed: 0,
      enqueued: 0,
      skipped: 10,
      destinations: [],
      next_cursor: null,
    });
  });

  it('200: also for a paused endpoint, and during a running replay, because it sends nothing', async () => {
    const inlet = await inletTo(server, destinations);
    expectStatus(await server.api('PATCH', `/v1/endpoints/${inlet.id}`, { status: 'paused' }), 200);
    await sql.rows(
      `
      insert into replay_jobs (environment_id, id, replay_id, endpoint_id, state, destinations_used, stop_requested, before_id, from_id, total_estimate,
        scanned, replayed, enqueued, skipped, excluded, failures, created_at, started_at, page_at)
      select environment_id, gen_random_uuid(), gen_random_uuid(), id, 'running', '{}', false, id, id, 0, 0, 0, 0, 0, 0, 0, now(), now(), now()
      from endpoints where id = $1`,
      [uuidOf(inlet.id)],
    );

    expect(await dryRun(server, inlet)).toMatchObject({ scanned: 0, destinations });
  });

  it('400: a cursor of another range, of another endpoint, of another tenant, and an invalid one', async () => {
    const aims = [{ destination: destinations[0] as string, filter: BELOW_100 }];
    const [mine, other] = [await backlog(server, sql, aims, 5_001), await backlog(server, sql, aims, 2)];
    const { next_cursor: cursor } = await dryRun(server, mine.inlet);
    const { key } = await createKey(server, { scope: 'write', environment: 'test' });

    expect(await dryRun(server, mine.inlet, { cursor })).toMatchObject({ scanned: 1, next_cursor: null });
    expectRefusal(await askReplay(server, mine.inlet, { dry_run: true, cursor, status: 'ignored' }), 400);
    expectRefusal(await askReplay(server, mine.inlet, { dry_run: true, cursor, destinations: [destinations[0]] }), 400);
    expectRefusal(await askReplay(server, mine.inlet, { dry_run: true, cursor, since: '2026-01-01T00:00:00Z' }), 400);
    expectRefusal(await askReplay(server, other.inlet, { dry_run: true, cursor }), 400);
    expectRefusal(await askReplay(server, mine.inlet, { dry_run: true, cursor: 'nonsense' }), 400);
    expectRefusal(await askReplay(server, mine.inlet, { dry_run: true, cursor }, as(key)), 404);
  });
});
