import type { TestDatabase } from '../support/database.js';
import { createDatabase } from '../support/database.js';
import { Inbox, type Job } from './inbox.js';
import { runSeed } from './random.js';
import { Scene } from './scene.js';
import { emptyQueueTables, query } from './storage.js';

const PAGE = 1_000;
const EVENTS = 5_000;
const FEW = 200;
const CONCURRENCY = 32;
/**
 * Maximum time until an interrupted job continues. It counts as abandoned after 15 s, and the next poll is at most 3 s
 * later.
 */
const FORGOTTEN_MS = 15_000 + 3_000;
/** Time to start a process on a quiet machine. */
const STARTED_MS_MAX = 12_000;
const OVER_MS_MAX = 60_000;

/** A job interrupted by a crash continues after its last page of events, even if the job queue was emptied. */
describe('interrupted replay jobs', () => {
  const seed = runSeed();
  let database: TestDatabase;
  let scene: Scene;
  let inbox: Inbox;
  let other: Inbox;

  beforeAll(async () => {
    database = await createDatabase();
    const processes = { api: { ROLE: 'api' }, 'worker-1': { ROLE: 'worker' }, 'worker-2': { ROLE: 'worker' } };
    scene = await Scene.open({ seed, databaseUrl: database.url, processes, isCalm: true }, ['api', 'worker-1']);
    inbox = await Inbox.open(scene, ['api']);
    other = await Inbox.open(scene, ['api']);
    for (const [into, events] of [
      [inbox, EVENTS],
      [other, FEW],
    ] as const) {
      const provider = into.provider(seed, CONCURRENCY);
      provider.start();
      await provider.reached(events);
      await provider.stop();
    }
    expect(await scene.settled()).toBe(true);
  });

  afterAll(async () => {
    await scene?.close();
    await database?.drop();
  });

  it('a job of a killed worker and a job lost from the queue are resumed, and enqueue every event exactly once', async () => {
    const {
      job: { id: cutId },
    } = await inbox.replay();
    await inbox.jobWhen(cutId, ({ scanned }) => scanned >= PAGE, OVER_MS_MAX, 5);
    await scene.member('worker-1').stop();
    const interrupted = await inbox.job(cutId);
    const {
      job: { id: lostId },
    } = await other.replay();
    await emptyQueueTables(database.url);

    await scene.member('worker-2').start();
    const lost = await other.jobWhen(lostId, ({ state }) => state === 'completed', OVER_MS_MAX);
    const cut = await inbox.jobWhen(cutId, ({ state }) => state === 'completed', OVER_MS_MAX);

    expect(interrupted).toMatchObject({ state: 'running', resumed_from: null });
    expect(interrupted.scanned % PAGE).toBe(0);
    const [first, second] = await enqueued();
    expect(interrupted.scanned).toBeLessThan(first?.events ?? 0);
    expect(cut).toMatchObject({ state: 'completed', resumed_from: interrupted.scanned, ...countsOf(first) });
    expect(lost).toMatchObject({ state: 'completed', resumed_from: null, ...countsOf(second) });
    expect(Date.parse(lost.started_at ?? '') - Date.parse(lost.created_at)).toBeLessThan(
      FORGOTTEN_MS + STARTED_MS_MAX * scene.pace.since(Date.parse(lost.created_at)),
    );
    expect(await scene.settled()).toBe(true);
    expect((await enqueued()).map(({ once }) => once)).toEqual([cut.enqueued, lost.enqueued]);
  }, 180_000);

  /**
   * Returns for each endpoint the number of its events, and the number of pairs of an event and a target that it was
   * routed to. Also returns how many of these pairs were replayed exactly once, and how many were not.
   */
  function enqueued(): Promise<Enqueued[]> {
    return query(
      database.url,
      `
      select count(distinct event_id)::int as events, count(*)::int as routed,
             count(*) filter (where replays = 1)::int as once, count(*) filter (where replays <> 1)::int as "notOnce"
      from (
        select endpoint_id, event_id, target_id, count(*) filter (where replayed) as replays from (
          select endpoint_id, event_id, target_id, replayed from deliveries
          union all select endpoint_id, event_id, target_id, replayed from due_deliveries
        ) all_of_them group by endpoint_id, event_id, target_id
      ) each join endpoints on endpoints.id = endpoint_id group by endpoint_id, created_at order by created_at`,
    );
  }
});

interface Enqueued {
  events: number;
  routed: number;
  once: number;
  notOnce: number;
}

/** Expects that every routed event was replayed exactly once, and returns the job's expected counts. */
function countsOf(found: Enqueued | undefined): Partial<Job> {
  expect(found).toMatchObject({ once: found?.routed, notOnce: 0 });
  return { scanned: found?.events, replayed: found?.events, enqueued: found?.routed, skipped: 0, excluded: 0 };
}
