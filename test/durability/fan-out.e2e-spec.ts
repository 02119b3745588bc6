import { BUSY_TIMES } from '../support/pace.js';
import { brokenFanOuts, type FanOutReport, fanOutSummary } from './fan-out-check.js';
import { customers, firstPathsOf, Fleet, pathsOf } from './fan-out-fleet.js';
import { Run } from './fan-out-run.js';
import { disrupt, plan } from './faults.js';
import { runSeed, setting } from './random.js';
import { DESTINATIONS, Scene } from './scene.js';
import { KillablePostgres } from './storage.js';

/* Numbers of kills and messages. A soak run sets higher ones (see kills.e2e-spec.ts). */
const KILLS = setting('DURABILITY_KILLS', 11);
const MESSAGES = setting('DURABILITY_MESSAGES', 1_500);
/** Three applications of each size, with 1 to 12 endpoints. */
const APPLICATIONS = customers(36);
const CONCURRENCY = 8;
const TIME_MS_MAX = (240_000 + KILLS * 5_000 + MESSAGES * 20) * BUSY_TIMES;

describe('kill -9 while events are fanned out', () => {
  const seed = runSeed();
  let postgres: KillablePostgres;
  let scene: Scene;
  let run: Run;

  beforeAll(async () => {
    postgres = await KillablePostgres.start();
    scene = await Scene.open({
      seed,
      databaseUrl: postgres.url,
      processes: { api: { ROLE: 'api' }, all: { ROLE: 'all' }, worker: { ROLE: 'worker' } },
      paths: pathsOf(APPLICATIONS),
      flaky: firstPathsOf(APPLICATIONS, DESTINATIONS),
    });
    const fleet = await Fleet.open(scene, 'api', APPLICATIONS);
    run = new Run({ scene, databaseUrl: postgres.url, fleet, apis: ['all', 'api'], seed }, CONCURRENCY);
  }, 180_000);

  afterAll(async () => {
    await run?.abandon();
    await scene?.close();
    await postgres?.stop();
  });

  it(
    `of ${MESSAGES} accepted fan-outs none is lost or incomplete over ${KILLS} kills of workers, APIs, PostgreSQL and everything at once`,
    async () => {
      const [api, all, worker] = ['api', 'all', 'worker'].map((name) => scene.member(name));
      run.start();

      const victims = { workers: [worker!, all!], apis: [api!, all!], postgres };
      const disruptions = await disrupt(plan(seed, KILLS, MESSAGES), victims, run.emitter);
      await run.emitted(MESSAGES);
      await postgres.back();
      const isSettled = await run.settled();

      await all!.up();
      const report = await run.report(disruptions, postgres.outages);
      await tell(report);
      expect(run.emitter.refusals).toEqual([]);
      expect(run.consumer.refusals).toEqual([]);
      expect(brokenFanOuts(report)).toEqual([]);
      expect(run.consumer.wrongly).toEqual([]);
      expect(isSettled).toBe(true);
      expect(scene.crashes()).toEqual([]);
      const statuses = [...run.listed.values()]
        .flat()
        .filter(({ endpoint, status }) => status !== (endpoint === null ? 'ignored' : 'delivered'));
      expect(statuses).toEqual([]);
      expect(run.emitter.sent.length).toBeGreaterThanOrEqual(MESSAGES);
      // The run must contain fan-outs to none, to one and to several endpoints.
      expect(new Set(run.emitter.sent.map(({ listeners }) => Math.min(listeners.length, 4)))).toEqual(
        new Set([0, 1, 2, 3, 4]),
      );
    },
    TIME_MS_MAX,
  );

  async function tell(report: FanOutReport): Promise<void> {
    const { emitter, consumer } = run;
    process.stdout.write(
      `durability: ${fanOutSummary(seed, report)} · emissions ${emitter.accepted} · tries ${JSON.stringify(emitter.outcomes)} · ` +
        `consumer died ${consumer.deaths} times, ${consumer.repeated} repeated\n`,
    );
    if (brokenFanOuts(report).length + scene.crashes().length > 0)
      process.stdout.write(await scene.failureReport(report));
  }
});
