import { BUSY_TIMES } from '../support/pace.js';
import { broken, type Report, summary } from './checker.js';
import { disrupt, plan } from './faults.js';
import { runSeed, setting } from './random.js';
import { Scene } from './scene.js';
import { KillablePostgres } from './storage.js';

/*
 * Numbers of kills and messages: each kind of kill happens once. For a soak run: DURABILITY_KILLS=500
 * DURABILITY_MESSAGES=500000. DURABILITY_SEED repeats a failed run.
 */
const KILLS = setting('DURABILITY_KILLS', 11);
const MESSAGES = setting('DURABILITY_MESSAGES', 8_000);
const CONCURRENCY = 24;
/** Time limit of the test, scaled with the settings of soak runs. */
const TIME_MS_MAX = (180_000 + KILLS * 5_000 + MESSAGES * 5) * BUSY_TIMES;

describe('kill -9 under load, the queue in PostgreSQL, roles apart and together', () => {
  const seed = runSeed();
  let postgres: KillablePostgres;
  let scene: Scene;

  beforeAll(async () => {
    postgres = await KillablePostgres.start();
    scene = await Scene.open({
      seed,
      databaseUrl: postgres.url,
      processes: {
        api: { ROLE: 'api' },
        all: { ROLE: 'all' },
        'worker-1': { ROLE: 'worker' },
        'worker-2': { ROLE: 'worker' },
      },
    });
  });

  afterAll(async () => {
    await scene?.close();
    await postgres?.stop();
  });

  it(
    `loses none of ${MESSAGES} accepted messages over ${KILLS} kills of workers, APIs, PostgreSQL and everything at once`,
    async () => {
      const load = scene.load(['api', 'all'], CONCURRENCY);
      const [api, all, ...workers] = ['api', 'all', 'worker-1', 'worker-2'].map((name) => scene.member(name));
      load.start();

      const disruptions = await disrupt(
        plan(seed, KILLS, MESSAGES),
        { workers: [...workers, all!], apis: [api!, all!], postgres },
        load,
      );
      await Promise.race([load.reached(MESSAGES), load.ended()]);
      await load.stop();
      await postgres.back();
      const isSettled = await scene.settled();

      const report = await scene.report(load, disruptions, postgres.outages);
      await tell(report, load.outcomes);
      expect(load.refusals).toEqual([]);
      expect(broken(report)).toEqual([]);
      expect(isSettled).toBe(true);
      expect(scene.crashes()).toEqual([]);
      expect(report.accepted).toBeGreaterThanOrEqual(MESSAGES);
      await all!.up();
      const listed = await scene.listed('all');
      expect([...listed].filter(([, status]) => status !== 'delivered')).toEqual([]);
      expect([...listed.keys()].sort()).toEqual(load.sent.flatMap(({ ids }) => ids).sort());
    },
    TIME_MS_MAX,
  );

  async function tell(report: Report, outcomes: Record<string, number>): Promise<void> {
    process.stdout.write(`durability: ${summary(seed, report)} · tries ${JSON.stringify(outcomes)}\n`);
    if (broken(report).length + scene.crashes().length > 0) process.stdout.write(await scene.failureReport(report));
  }
});
