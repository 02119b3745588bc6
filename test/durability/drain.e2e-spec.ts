import type { TestDatabase } from '../support/database.js';
import { createDatabase } from '../support/database.js';
import { broken, type Disruption, summary } from './checker.js';
import { runSeed, Seeded } from './random.js';
import { Scene } from './scene.js';

const STOPS = 4;
const MESSAGES_BETWEEN_MAX = 600;
const CONCURRENCY = 12;

describe('SIGTERM under load', () => {
  const seed = runSeed();
  let database: TestDatabase;
  let scene: Scene;

  beforeAll(async () => {
    database = await createDatabase();
    scene = await Scene.open({
      seed,
      databaseUrl: database.url,
      processes: { one: { ROLE: 'all' }, two: { ROLE: 'all' } },
    });
  });

  afterAll(async () => {
    await scene?.close();
    await database?.drop();
  });

  it('every process exits with code 0, no answer is cut, no message is lost or delivered twice', async () => {
    const random = new Seeded(seed);
    const load = scene.load(['one', 'two'], CONCURRENCY);
    const ends: (number | string)[] = [];
    const disruptions: Disruption[] = [];
    load.start();

    for (let i = 0; i < STOPS; i += 1) {
      await Promise.race([load.reached(load.accepted + random.between(100, MESSAGES_BETWEEN_MAX)), load.ended()]);
      // Stops one process at a time during the first half, and both processes at once during the second half.
      const stopped = i < STOPS / 2 ? [random.pick(['one', 'two'])] : ['one', 'two'];
      disruptions.push(...stopped.map(() => ({ kind: 'SIGTERM', atMs: Date.now(), cutsAttempts: false })));
      ends.push(...(await Promise.all(stopped.map((name) => scene.member(name).terminate()))));
      await Promise.all(stopped.map((name) => scene.member(name).start()));
    }
    await load.stop();
    const isSettled = await scene.settled();

    const report = await scene.report(load, disruptions);
    process.stdout.write(`durability: ${summary(seed, report)} · tries ${JSON.stringify(load.outcomes)}\n`);
    if (broken(report).length > 0) process.stdout.write(await scene.failureReport(report));
    expect(ends.filter((end) => end !== 0)).toEqual([]);
    expect(load.refusals).toEqual([]);
    expect(broken(report)).toEqual([]);
    expect(report).toMatchObject({ duplicates: 0 });
    expect(load).toMatchObject({ cutAnswers: 0 });
    expect(isSettled).toBe(true);
  }, 240_000);
});
