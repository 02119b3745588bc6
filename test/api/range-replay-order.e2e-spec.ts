import type { PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { until } from './polling.js';
import type { Inlet } from './replaying.js';
import { inletTo, jobIn, receive, reroute, startReplay } from './replaying.js';
import type { Sql, TargetPath, Targets } from './scene.js';
import { destinationAt, openSql, RARE_RETRIES, startTargets, uuidOf } from './scene.js';

const WINDOW = 1_000;
const WITHIN_MS = 120_000;

/** A replay keeps the order of the events within each page of up to 1,000 events. */
describe('order of a replay', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;

  beforeAll(async () => {
    [server, targets] = await Promise.all([sharedServer(), startTargets()]);
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql.close();
    await server.stop();
    await targets.close();
  });

  /** Receives `count` requests concurrently. Returns their event ids in the order of reception. */
  const received = async (inlet: Inlet, count: number): Promise<string[]> => {
    const ids: string[] = [];
    let started = 0;
    const sender = async (): Promise<void> => {
      while (started < count) ids.push((await receive(inlet, { n: (started += 1) })) ?? '');
    };
    await Promise.all(Array.from({ length: 64 }, sender));
    return ids.sort();
  };

  /** Returns the ids in the order of a replay: the newest page first, and the oldest event of a page first. */
  const paged = (ids: readonly string[]): string[] => {
    const pages: string[][] = [];
    for (let end = ids.length; end > 0; end -= WINDOW) pages.push(ids.slice(Math.max(0, end - WINDOW), end));
    return pages.flat();
  };

  const arrivals = (target: TargetPath): string[] => target.posts().map(({ headers }) => String(headers['webhook-id']));

  it('1,200 events, many in the same millisecond, to a destination with concurrency 1: the receiver gets exactly the order of reception, page by page', async () => {
    const target = targets.open();
    const inlet = await inletTo(server, []);
    const ids = await received(inlet, 1_200);
    const [{ times } = { times: 0 }] = await sql.rows<{ times: number }>(
      `select count(distinct left(id::text, 13))::int as times from events where target_id = $1`,
      [uuidOf(inlet.id)],
    );
    expect(times).toBeLessThan(1_200);
    await reroute(server, inlet, [await destinationAt(server, target.url, { concurrency: 1 })]);

    const { id } = await startReplay(server, inlet);
    await target.arrived(1_200, WITHIN_MS);

    expect(await jobIn(server, id, 'completed')).toMatchObject({ enqueued: 1_200 });
    expect(arrivals(target)).toEqual(paged(ids));
  });

  it('live events overtake replayed ones without changing their order', async () => {
    const target = targets.open();
    const inlet = await inletTo(server, []);
    const ids = await received(inlet, 300);
    await reroute(server, inlet, [await destinationAt(server, target.url, { concurrency: 1 })]);

    await startReplay(server, inlet);
    const live: string[] = [];
    for (let n = 0; n < 30; n += 1) live.push((await receive(inlet, { live: n })) ?? '');
    await target.arrived(330, WITHIN_MS);

    expect(arrivals(target).filter((id) => !live.includes(id))).toEqual(ids);
    expect(arrivals(target)).toHaveLength(330);
  });

  it('a failed event is retried later by its schedule; the first attempts of the others keep their order', async () => {
    const inlet = await inletTo(server, []);
    const ids = await received(inlet, 200);
    const failing = new Set([ids[0], ids[50], ids[199]]);
    const target = targets.open(({ headers }) => ({
      status: failing.delete(String(headers['webhook-id'])) ? 500 : 200,
    }));
    await reroute(server, inlet, [
      await destinationAt(server, target.url, { ...RARE_RETRIES, concurrency: 1, retry: { schedule: [0, 1, 1] } }),
    ]);

    await startReplay(server, inlet);
    await target.arrived(203, WITHIN_MS);

    const seen = arrivals(target);
    expect(seen.filter((id, at) => seen.indexOf(id) === at)).toEqual(ids);
    expect(seen.filter((id, at) => seen.indexOf(id) !== at).sort()).toEqual([ids[0], ids[50], ids[199]]);
  });

  it('without a concurrency limit, attempts start in that order too', async () => {
    const target = targets.open();
    const inlet = await inletTo(server, []);
    const ids = await received(inlet, 500);
    await reroute(server, inlet, [await destinationAt(server, target.url)]);

    await startReplay(server, inlet);
    await target.arrived(500, WITHIN_MS);

    // Returns the stored attempts. An attempt is stored only after the receiver has got its request.
    const recorded = (): Promise<{ at: string; id: string }[]> =>
      sql.rows(
        `select a.started_at::text as at, a.event_id::text as id from attempts a join events e on e.id = a.event_id where e.target_id = $1 order by a.started_at, a.event_id`,
        [uuidOf(inlet.id)],
      );
    const started = await until(recorded, (rows) => rows.length >= 500, WITHIN_MS);
    expect(started.map(({ id }) => id)).toEqual(ids.map(uuidOf));
  });
});
