import { Webhook } from 'standardwebhooks';
import { parseId } from '../../src/kernel/ids.js';
import type { TestDatabase } from '../support/database.js';
import { createDatabase } from '../support/database.js';
import { brokenFanOuts, type FanOutReport, label } from './fan-out-check.js';
import type { Emission } from './fan-out-emitter.js';
import { FEED, Fleet, type Listener, pathsOf, SUBSCRIPTIONS } from './fan-out-fleet.js';
import { Run } from './fan-out-run.js';
import { eventually } from './processes.js';
import { CONTROL_SEED } from './random.js';
import { Scene } from './scene.js';
import { query } from './storage.js';

const EMISSIONS = 60;
const APPLICATIONS = [SUBSCRIPTIONS, SUBSCRIPTIONS];
const SHOWN_MS_MAX = 60_000;
const SHOWN =
  'select coalesce(max(xid) < pg_snapshot_xmin(pg_current_snapshot())::text::bigint, true) as shown from pull_items';

/** Each test breaks a guarantee of fan-out on purpose, and the checker must detect it. */
describe('negative controls of fan-out', () => {
  const seed = CONTROL_SEED;
  let database: TestDatabase;
  let scene: Scene;
  let run: Run;
  /** The emitted events that the tests tamper with, one for each test. */
  let [half, unsent, unpulled, astray, doubled]: Emission[] = [];
  let report: FanOutReport;

  /**
   * Injects all errors before a worker starts, each into a separate event, so that the checker must detect each error.
   */
  beforeAll(async () => {
    database = await createDatabase();
    const processes = { api: { ROLE: 'api' }, worker: { ROLE: 'worker' } };
    scene = await Scene.open(
      { seed, databaseUrl: database.url, processes, isCalm: true, paths: pathsOf(APPLICATIONS) },
      ['api'],
    );
    const fleet = await Fleet.open(scene, 'api', APPLICATIONS);
    run = new Run({ scene, databaseUrl: database.url, fleet, apis: ['api'], seed }, 1);
    for (let i = 0; i < EMISSIONS; i += 1) await run.emitter.send();
    expect(run.emitter.refusals).toEqual([]);
    const several = run.emitter.sent.filter(({ listeners }) => listeners.filter(isPosted).length >= 2);
    unpulled = several.find(({ listeners }) => listeners.some(({ isPulled }) => isPulled));
    [half, unsent, astray] = several.filter((emission) => emission !== unpulled);
    doubled = several.filter(({ isKeyed }) => isKeyed).at(-1);
    expect(new Set([half, unsent, unpulled, astray, doubled]).size).toBe(5);

    await remove('due_deliveries', half, first(half));
    await query(
      database.url,
      `delete from events where message_id = ${id(half)} and target_id = ${endpoint(first(half))}`,
    );
    await remove('due_deliveries', unsent, first(unsent));
    await remove(
      'pull_items',
      unpulled,
      unpulled?.listeners.find(({ isPulled }) => isPulled),
    );
    await sendAgain(doubled);
    await scene.member('worker').start();
    expect(await scene.settled()).toBe(true);
    await deliver(astray, stranger());
    // An open transaction of another test suite hides new items, so an empty page would not mean the end of the feed.
    await eventually(() => query(database.url, SHOWN).then(([row]) => row?.['shown'] === true), SHOWN_MS_MAX);
    run.consumer.start();
    expect(await run.settled()).toBe(true);
    report = await run.report();
  }, 240_000);

  afterAll(async () => {
    await run?.abandon();
    await scene?.close();
    await database?.drop();
  });

  it('a message with a missing event is detected in the database and in the list', () => {
    expect(report.halfFannedOut).toEqual(half?.ids);
    expect(report.listedWrongly).toEqual(half?.ids);
  });

  it('a deleted delivery and a deleted feed item are detected as lost, and so is the missing event', () => {
    expect([...report.lost].sort()).toEqual(
      [at(half, first(half)), at(unsent, first(unsent)), `${unpulled?.ids[0]} at ${FEED}`].sort(),
    );
  });

  it('a delivery to an endpoint without a matching subscription is detected as unexpected', () => {
    expect(report.unexpected).toEqual([at(astray, stranger())]);
  });

  it('a second message for one key is detected', () => {
    expect(report.storedTooOften).toEqual([doubled?.key]);
    expect(report.unacknowledged).toBe(1);
  });

  it('no other error is reported', () => {
    expect(brokenFanOuts(report)).toEqual([
      '3 messages were answered 202 and never delivered',
      '1 deliveries came under an id that no answer gave',
      '1 messages were half fanned out',
      '1 messages were listed with other events',
      '1 emissions were stored too often',
    ]);
  });

  const first = (emission: Emission | undefined): Listener | undefined => emission?.listeners.find(isPosted);

  /** Returns an endpoint that must not get the misdirected event. */
  const stranger = (): Listener | undefined =>
    run.emitter.sent
      .flatMap(({ listeners }) => listeners)
      .find(({ place, isPulled }) => !isPulled && !astray?.listeners.some((other) => other.place === place));

  async function remove(
    table: 'due_deliveries' | 'pull_items',
    emission: Emission | undefined,
    listener: Listener | undefined,
  ): Promise<void> {
    const removed = await query(
      database.url,
      `
      delete from ${table} where (environment_id, event_id) in (
        select environment_id, id from events where message_id = ${id(emission)} and target_id = ${endpoint(listener)}) returning 1`,
    );
    expect(removed).toHaveLength(1);
  }

  /** Repeats the request without its Idempotency-Key, as if the service had not stored the key. */
  async function sendAgain({ path = '', body = '' }: Partial<Emission> = {}): Promise<void> {
    const headers = { authorization: `Bearer ${scene.apiKey}`, 'content-type': 'application/json' };
    expect((await fetch(scene.member('api').url + path, { method: 'POST', headers, body })).status).toBe(202);
  }

  /** Delivers a message. Simulates a service that confuses two endpoints. */
  async function deliver(
    { ids: [messageId = ''] = [], payload = '' }: Partial<Emission> = {},
    listener: Listener | undefined,
  ): Promise<void> {
    const place = Number(listener?.place);
    const now = new Date();
    const signature = new Webhook(scene.receiver.secrets[place] ?? '').sign(messageId, now, payload);
    const headers = {
      'webhook-id': messageId,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': signature,
    };
    await fetch(scene.receiver.url(place), { method: 'POST', headers, body: payload });
  }
});

const isPosted = ({ isPulled }: Listener): boolean => !isPulled;
const at = (emission: Emission | undefined, listener: Listener | undefined): string =>
  label(emission?.ids[0] ?? '', listener?.place ?? '');
const id = (emission: Emission | undefined): string => `'${parseId('msg', emission?.ids[0] ?? '')}'`;
const endpoint = (listener: Listener | undefined): string => `'${parseId('ep', listener?.endpoint ?? '')}'`;
