import type { Disruption } from './checker.js';
import { brokenFanOuts, fanOutSummary } from './fan-out-check.js';
import { EVERYTHING, Fleet, ONLY_B, ONLY_PAID } from './fan-out-fleet.js';
import { Run } from './fan-out-run.js';
import type { Job } from './inbox.js';
import { eventually } from './processes.js';
import { runSeed } from './random.js';
import { DESTINATIONS, Scene } from './scene.js';
import { emptyQueueTables, KillablePostgres, query } from './storage.js';

const PAGE = 1_000;
const EMISSIONS = 4_000;
const CONCURRENCY = 16;
/** Time limit for the job to end after several kills. An interrupted job counts as abandoned after fifteen seconds. */
const OVER_MS_MAX = 120_000;
const APIS = ['one', 'two'] as const;
/** Subscriptions of the endpoints. The second endpoint gets one attempt per event. The third is disabled for a time. */
const CUSTOMER = [
  ONLY_PAID,
  { ...ONLY_B, settings: { ...ONLY_B.settings, retry: { max_attempts: 1 } } },
  EVERYTHING,
] as const;
const FLAKY = DESTINATIONS + 1;
/** Number of receiver paths: one more than the endpoints need, because the last path is slow. */
const PATHS = CUSTOMER.length + 1;

describe('kill -9 while failed events of fan-outs are recovered', () => {
  const seed = runSeed();
  const since = new Date().toISOString();
  let postgres: KillablePostgres;
  let scene: Scene;
  let run: Run;
  let flaky: string;
  let off: string;

  beforeAll(async () => {
    postgres = await KillablePostgres.start();
    const processes = { one: { ROLE: 'all' }, two: { ROLE: 'all' } };
    scene = await Scene.open({ seed, databaseUrl: postgres.url, processes, paths: PATHS, flaky: [FLAKY] });
    const fleet = await Fleet.open(scene, 'one', [CUSTOMER]);
    run = new Run({ scene, databaseUrl: postgres.url, fleet, apis: APIS, seed }, CONCURRENCY);
    const [{ reference, listeners } = { reference: '', listeners: [] }] = fleet.applications;
    [, flaky = '', off = ''] = listeners.map(({ endpoint }) => `/v1/app/${reference}/endpoints/${endpoint}`);
    await scene.call('one', 'PATCH', off, { status: 'disabled' });
    run.start();
    await run.emitted(EMISSIONS);
    expect(await scene.settled()).toBe(true);
  }, 240_000);

  afterAll(async () => {
    await run?.abandon();
    await scene?.close();
    await postgres?.stop();
  });

  it(`every failed event of ${EMISSIONS} fan-outs arrives, and is enqueued once, even if the jobs are interrupted often`, async () => {
    const failed = await failures();
    const disruptions: Disruption[] = [];
    await scene.call('one', 'PATCH', off, { status: 'active' });

    const switchedOn = await recover(off);
    // Polls every 5 ms, because the job processes a page within milliseconds.
    await jobWhen(switchedOn.id, ({ scanned }) => scanned >= PAGE, 5);
    for (const name of APIS) scene.member(name).kill();
    // Kills PostgreSQL in addition to the API processes, so that the job stops at its last committed page.
    const strike = await postgres.aim('everything');
    strike();
    disruptions.push({ kind: 'tree', atMs: Date.now(), cutsAttempts: true });
    await postgres.back();
    const interrupted = await job(switchedOn.id);
    const dead = await recover(flaky);
    await emptyQueueTables(postgres.url);
    disruptions.push({ kind: 'queue emptied', atMs: Date.now(), cutsAttempts: false });
    const jobs = await Promise.all(
      [switchedOn, dead].map(({ id }) => jobWhen(id, ({ state }) => state !== 'pending' && state !== 'running')),
    );
    const isSettled = await run.settled();

    const report = await run.report(disruptions, postgres.outages);
    process.stdout.write(
      `durability: ${fanOutSummary(seed, report)} · recovered ${jobs.map(({ enqueued, resumed_from: from }) => `${enqueued} (resumed from ${from})`).join(' and ')}\n`,
    );
    if (brokenFanOuts(report).length + scene.crashes().length > 0)
      process.stdout.write(await scene.failureReport(report));
    expect(run.emitter.refusals).toEqual([]);
    expect(brokenFanOuts(report)).toEqual([]);
    expect([isSettled, scene.crashes()]).toEqual([true, []]);
    expect(failed.every(({ events }) => events > 0)).toBe(true);
    expect(interrupted).toMatchObject({ state: 'running', resumed_from: null });
    expect(jobs).toEqual(
      failed.map(({ events }) =>
        expect.objectContaining({ state: 'completed', scanned: events, enqueued: events, skipped: 0, excluded: 0 }),
      ),
    );
    expect(await recoveredOnce()).toEqual(failed);
    expect(
      [...run.listed.values()].flat().filter(({ endpoint, status }) => endpoint !== null && status !== 'delivered'),
    ).toEqual([]);
  }, 300_000);

  const recover = (endpoint: string): Promise<Job> =>
    scene.persistently(APIS, (api) => scene.call(api, 'POST', `${endpoint}/recover`, { since })) as Promise<Job>;

  const job = (id: string): Promise<Job> =>
    scene.persistently(APIS, (api) => scene.call(api, 'GET', `/v1/replays/${id}`)) as Promise<Job>;

  /** Returns the job as soon as it matches, or its last state on a timeout. */
  async function jobWhen(id: string, isWanted: (job: Job) => boolean, everyMs = 100): Promise<Job> {
    let found = await job(id);
    await eventually(async () => isWanted((found = await job(id))), OVER_MS_MAX, everyMs);
    return found;
  }

  /** Returns the number of failed events by reason. One endpoint was disabled, and another one fails sometimes. */
  const failures = (): Promise<{ reason: string | null; events: number }[]> =>
    query(
      postgres.url,
      `
    select reason, count(*)::int as events from deliveries where status in ('failed', 'dlq') and not replayed group by reason order by reason nulls last`,
    );

  /** Returns the number of failed events that were sent again exactly once, by reason. */
  const recoveredOnce = (): Promise<{ reason: string | null; events: number }[]> =>
    query(
      postgres.url,
      `
    select reason, count(*)::int as events from deliveries d
    where status in ('failed', 'dlq') and not replayed
      and (select count(*) from deliveries r where r.environment_id = d.environment_id and r.event_id = d.event_id and r.replayed) = 1
    group by reason order by reason nulls last`,
    );
});
