import type { TestDatabase } from '../support/database.js';
import { createDatabase } from '../support/database.js';
import { broken, check, type Report } from './checker.js';
import type { Consumer } from './consumer.js';
import { Inbox } from './inbox.js';
import { kindOf } from './payload.js';
import { eventually } from './processes.js';
import type { Provider } from './provider.js';
import { CONTROL_SEED } from './random.js';
import { evidenceOf, type RangeReplay } from './routed.js';
import { Scene } from './scene.js';
import { query } from './storage.js';

const WEBHOOKS = 30;
const FEW = 3;
const OVER_MS_MAX = 60_000;
const SHOWN =
  'select coalesce(max(xid) < pg_snapshot_xmin(pg_current_snapshot())::text::bigint, true) as shown from pull_items';

/** Each test breaks a guarantee of receiving on purpose, and the checker must detect it. */
describe('negative controls of receiving', () => {
  const seed = CONTROL_SEED;
  let database: TestDatabase;
  let scene: Scene;
  let inbox: Inbox;
  let provider: Provider;

  beforeAll(async () => {
    database = await createDatabase();
    scene = await Scene.open(
      {
        seed,
        databaseUrl: database.url,
        processes: { api: { ROLE: 'api' }, worker: { ROLE: 'worker' } },
        isCalm: true,
      },
      ['api'],
    );
  });

  /** Posts webhooks and gets 200 for each. */
  beforeEach(async () => {
    inbox = await Inbox.open(scene, ['api']);
    provider = inbox.provider(seed, 1);
    for (let i = 0; i < WEBHOOKS; i += 1) await provider.send();
    expect(provider.refusals).toEqual([]);
  });

  afterAll(async () => {
    await scene?.close();
    await database?.drop();
  });

  it('deliveries of received events and feed items that are deleted before a worker starts are detected as lost', async () => {
    await remove('due_deliveries', 'true');
    await remove('pull_items', 'true');
    await scene.member('worker').start();

    const report = await settledReport(null);

    // The messages are lost at the receiver of the first route and in the pull feed.
    expect(report.lost.sort()).toEqual(
      expect.arrayContaining([expect.stringMatching(/ at all$/), expect.stringMatching(/ at feed$/)]),
    );
    expect(report.lost).toHaveLength(2 * FEW);
    expect(broken(report)).toEqual([`${2 * FEW} messages were answered 202 and never delivered`]);
  });

  it('a replay that leaves out events is detected', async () => {
    await scene.member('worker').start();
    const { asked, job } = await inbox.replay();
    await inbox.jobWhen(job.id, ({ state }) => state === 'completed', OVER_MS_MAX);
    expect(await scene.settled()).toBe(true);
    // Deletes the items of the replay from the pull destination, as if the replay had left them out.
    await remove('pull_items', 'replayed');

    const report = await settledReport(asked);

    expect(report.lost).toHaveLength(FEW);
    expect(report.lost.every((name) => name.endsWith(' at feed, replayed'))).toBe(true);
  });

  it('a consumer that commits before it handles is detected: items that it skips in a crash are lost', async () => {
    await scene.member('worker').start();
    expect(await scene.settled()).toBe(true);

    const report = await settledReport(null, { limit: 5, isCareless: true });

    expect(report.lost).toHaveLength(WEBHOOKS / 2);
    expect(report.lost.every((name) => name.endsWith(' at feed'))).toBe(true);
  });

  it('an event at a destination without a matching route, and an event without a request, are detected', async () => {
    await scene.member('worker').start();
    const consumer = await emptied(inbox.consumer(seed, { wait: 0 }));
    const visits = await inbox.visits(consumer);
    const [astray, known] = [visits.find(({ place }) => place === 'all'), provider.sent[1]];
    const other = provider.sent.find(({ n }) => kindOf(n) === 'a');
    const forged = { ...astray!, receivedAtMs: Date.now(), answeredAtMs: Date.now() };

    const report = await reportOf([
      ...visits,
      { ...forged, id: other?.ids[0] ?? '', bodyHash: other?.bodyHash ?? '', place: 'some' },
      { ...forged, id: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1', bodyHash: known?.bodyHash ?? '' },
      { ...forged, isReplayed: true },
    ]);

    expect(report.lost).toEqual([]);
    expect(report.unexpected.map((name) => name.split(' ').slice(1).join(' ')).sort()).toEqual([
      'at all',
      'at all, replayed',
      'at some',
    ]);
  });

  /**
   * Deletes some rows of the newest endpoint's events, at the destination of all events and at the pull destination.
   */
  async function remove(table: 'due_deliveries' | 'pull_items', condition: string): Promise<void> {
    await query(
      database.url,
      `
      delete from ${table} where (event_id, target_id) in (
        select event_id, target_id from ${table} t join destinations d on d.environment_id = t.environment_id and d.id = t.target_id
        where t.endpoint_id = (select id from endpoints order by created_at desc limit 1) and d.name in ('Receiver 0', 'Feed') and ${condition}
        order by event_id limit ${FEW}) and ${condition}`,
    );
  }

  async function emptied(consumer: Consumer): Promise<Consumer> {
    expect(await scene.settled()).toBe(true);
    // Returns whether new items are visible. Another suite's open transaction hides them, and an empty page would then
    // not mean the end of the feed.
    const areShown = (): Promise<boolean> => query(database.url, SHOWN).then(([row]) => row?.['shown'] === true);
    expect(await eventually(areShown, OVER_MS_MAX)).toBe(true);
    consumer.start();
    const isEmpty = await eventually(() => consumer.emptyInARow >= 2, OVER_MS_MAX);
    await consumer.stop();
    expect([isEmpty, consumer.wrongly, consumer.refusals]).toEqual([true, [], []]);
    return consumer;
  }

  async function settledReport(replay: RangeReplay | null, how?: Parameters<Inbox['consumer']>[1]): Promise<Report> {
    const consumer = await emptied(inbox.consumer(seed, { wait: 0, ...how }));
    return reportOf(await inbox.visits(consumer), replay);
  }

  async function reportOf(
    visits: Awaited<ReturnType<Inbox['visits']>>,
    replay: RangeReplay | null = null,
  ): Promise<Report> {
    const own = new Set(provider.sent.flatMap(({ ids }) => ids));
    // Ignores requests of earlier tests, because the receiver records the requests of all tests in this file.
    const first = provider.sent[0]?.firstTryAtMs ?? 0;
    const ofThis = visits.filter(({ id, receivedAtMs }) => own.has(id) || receivedAtMs >= first);
    return check(
      evidenceOf({ posted: provider.sent, visits: ofThis, places: inbox.places, replay, disruptions: [], outages: [] }),
    );
  }
});
