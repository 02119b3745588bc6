import { BUSY_TIMES } from '../support/pace.js';
import { broken, check, summary } from './checker.js';
import type { Consumer } from './consumer.js';
import { disrupt, plan } from './faults.js';
import { Inbox } from './inbox.js';
import { eventually } from './processes.js';
import type { Provider } from './provider.js';
import { runSeed, setting } from './random.js';
import { evidenceOf, type Observed, outOfOrder, replayedOf } from './routed.js';
import { Scene } from './scene.js';
import { KillablePostgres } from './storage.js';

/* Numbers of kills and messages. A soak run sets higher ones (see kills.e2e-spec.ts). */
const KILLS = setting('DURABILITY_KILLS', 12);
const WEBHOOKS = setting('DURABILITY_MESSAGES', 4_000);
const REPLAYED = Math.ceil(WEBHOOKS * 0.625);
const PAGE = 1_000;
const CONCURRENCY = 16;
const OVER_MS_MAX = 60_000;
const TIME_MS_MAX = (180_000 + KILLS * 5_000 + WEBHOOKS * 10) * BUSY_TIMES;

/** Tests receiving, routing, range replays and pull in one run, because they share the received events. */
describe('kill -9 while webhooks are received, routed, replayed and pulled', () => {
  const seed = runSeed();
  let postgres: KillablePostgres;
  let scene: Scene;
  let provider: Provider;
  let consumer: Consumer;

  beforeAll(async () => {
    postgres = await KillablePostgres.start();
    scene = await Scene.open({
      seed,
      databaseUrl: postgres.url,
      processes: { one: { ROLE: 'all' }, two: { ROLE: 'all' } },
    });
  });

  afterAll(async () => {
    provider?.abandon();
    await consumer?.stop();
    await scene?.close();
    await postgres?.stop();
  });

  it(
    `of ${WEBHOOKS} answered webhooks none is lost on any of three routes, nor in their replay, over ${KILLS} kills`,
    async () => {
      const inbox = await Inbox.open(scene, ['one', 'two']);
      [provider, consumer] = [inbox.provider(seed, CONCURRENCY), inbox.consumer(seed)];
      const processes = ['one', 'two'].map((name) => scene.member(name));
      provider.start();
      consumer.start();

      const disrupting = disrupt(
        plan(seed, KILLS, WEBHOOKS),
        { workers: processes, apis: processes, postgres },
        provider,
      );
      await Promise.race([provider.reached(REPLAYED), provider.ended()]);
      const {
        job: { id },
        asked,
      } = await inbox.replay();
      await inbox.jobWhen(id, ({ scanned }) => scanned >= PAGE, OVER_MS_MAX, 5);
      for (const process of processes) process.kill();
      const inBetween = { kind: 'both during the replay', atMs: Date.now(), cutsAttempts: true };
      const disruptions = [...(await disrupting), inBetween];
      await Promise.race([provider.reached(WEBHOOKS), provider.ended()]);
      await provider.stop();
      await postgres.back();
      const job = await inbox.jobWhen(id, ({ state }) => state !== 'pending' && state !== 'running', OVER_MS_MAX);
      const isSettled = await scene.settled();
      await emptied();

      const visits = await inbox.visits(consumer);
      const observed: Observed = {
        posted: provider.sent,
        visits,
        places: inbox.places,
        replay: asked,
        disruptions,
        outages: postgres.outages,
      };
      const report = check({ ...evidenceOf(observed), pace: scene.pace.since(0) });
      const { repeated, deaths } = consumer;
      process.stdout.write(
        `durability: ${summary(seed, report)} · webhooks ${provider.accepted} · tries ${JSON.stringify(provider.outcomes)} · ` +
          `replayed ${job.replayed}, resumed from ${job.resumed_from} · consumer died ${deaths} times, ${repeated} repeated\n`,
      );
      if (broken(report).length + scene.crashes().length > 0) process.stdout.write(await scene.failureReport(report));
      expect(provider.refusals).toEqual([]);
      expect(consumer.refusals).toEqual([]);
      expect(broken(report)).toEqual([]);
      expect(consumer.wrongly).toEqual([]);
      expect(outOfOrder(observed)).toEqual([]);
      expect(isSettled).toBe(true);
      expect(scene.crashes()).toEqual([]);
      expect(job).toMatchObject({
        state: 'completed',
        scanned: replayedOf(observed).size,
        replayed: replayedOf(observed).size,
        skipped: 0,
        excluded: 0,
      });
      expect(job.enqueued).toBe(
        new Set(visits.filter(({ isReplayed }) => isReplayed).map(({ id: event, place }) => `${event} ${place}`)).size,
      );
      expect(job.replayed).toBeGreaterThanOrEqual(REPLAYED);
    },
    TIME_MS_MAX,
  );

  /**
   * Waits for several empty batches in a row, because an API process that was just killed may have delayed the last
   * items.
   */
  async function emptied(): Promise<void> {
    consumer.emptyInARow = 0;
    await eventually(() => consumer.emptyInARow >= 2, OVER_MS_MAX);
    await consumer.stop();
  }
});
