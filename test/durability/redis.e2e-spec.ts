import type { TestDatabase } from '../support/database.js';
import { createDatabase } from '../support/database.js';
import { isRedisInstalled } from '../support/optional-tools.js';
import { broken, type Disruption, summary } from './checker.js';
import { runSeed, Seeded } from './random.js';
import { ForgetfulRedis } from './redis.js';
import { Scene } from './scene.js';

const MESSAGES = 3_000;
const LOSSES = 8;
const CONCURRENCY = 12;

const describeWithRedis = isRedisInstalled() ? describe : describe.skip;

describeWithRedis('the queue in Redis, and Redis lost under load', () => {
  const seed = runSeed();
  let database: TestDatabase;
  let redis: ForgetfulRedis;
  let scene: Scene;

  beforeAll(async () => {
    redis = await ForgetfulRedis.start();
    database = await createDatabase();
    scene = await Scene.open({
      seed,
      databaseUrl: database.url,
      processes: { api: { ROLE: 'api' }, worker: { ROLE: 'worker' } },
      // Turns on rate limits, whose counts are in Redis. While Redis is down, the service must accept requests without
      // them.
      env: { REDIS_URL: redis.url, RATE_LIMIT_KEY: '1000000/60', RATE_LIMIT_ORG: '1000000/60' },
    });
  });

  afterAll(async () => {
    await scene?.close();
    await redis?.stop();
    await database?.drop();
  });

  it(`accepts ${MESSAGES} messages without a pause and loses none, while Redis is flushed or killed ${LOSSES} times`, async () => {
    const random = new Seeded(seed);
    const load = scene.load(['api'], CONCURRENCY);
    const disruptions: Disruption[] = [];
    load.start();

    for (let i = 0; i < LOSSES; i += 1) {
      await Promise.race([
        load.reached(load.accepted + random.between(1, (2 * MESSAGES) / (LOSSES + 1))),
        load.ended(),
      ]);
      disruptions.push({ kind: i % 2 === 0 ? 'FLUSHALL' : 'Redis', atMs: Date.now(), cutsAttempts: false });
      await (i % 2 === 0 ? redis.flushAll() : redis.killAndRestart());
    }
    await Promise.race([load.reached(MESSAGES), load.ended()]);
    await load.stop();
    const isSettled = await scene.settled();

    const report = await scene.report(load, disruptions);
    process.stdout.write(`durability: ${summary(seed, report)} · tries ${JSON.stringify(load.outcomes)}\n`);
    if (broken(report).length > 0) process.stdout.write(await scene.failureReport(report));
    expect(load.refusals).toEqual([]);
    expect(broken(report)).toEqual([]);
    expect(isSettled).toBe(true);
    expect(report).toMatchObject({ duplicates: 0 });
    expect(scene.crashes()).toEqual([]);
    // 409 is the answer to the second of two concurrent requests with the same idempotency key.
    expect(Object.keys(load.outcomes).filter((status) => status !== '202' && status !== '409')).toEqual([]);
  }, 240_000);
});
