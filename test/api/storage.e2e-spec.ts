import { randomUUID } from 'node:crypto';
import type { TestDatabase } from '../support/database.js';
import { createDatabase } from '../support/database.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import type { DatabaseLink } from './database-link.js';
import { openLink } from './database-link.js';
import { until } from './polling.js';
import type { Sql, Targets } from './scene.js';
import {
  destinationAt,
  eventAfter,
  eventIn,
  makeDue,
  openSql,
  RARE_RETRIES,
  send,
  sendMany,
  startTargets,
  uuidOf,
  WITHIN_MS,
} from './scene.js';

/**
 * Time limit for recovery. If the response to a claim was lost, the claim is released when the worker id expires, up to
 * 60 s later.
 */
const MADE_GOOD_WITHIN_MS = 80_000;

describe('while PostgreSQL is unavailable', () => {
  let database: TestDatabase;
  let link: DatabaseLink;
  let server: PosthornServer;
  let targets: Targets;
  /** Connects directly to the database, not through the link that the tests interrupt. */
  let sql: Sql;

  beforeAll(async () => {
    targets = await startTargets();
    database = await createDatabase();
    link = await openLink(database.url);
    server = await startServer({ DATABASE_URL: link.url });
    sql = openSql({ databaseUrl: database.url });
  });

  afterEach(() => link.restore());

  afterAll(async () => {
    await sql.close();
    await server.stop();
    await link.close();
    await database.drop();
    await targets.close();
  });

  const readiness = async (): Promise<number> => (await fetch(`${server.url}/health/ready`)).status;

  it('503: nothing is accepted during an outage of PostgreSQL; results of attempts are recorded and retries continue afterwards, without a restart', async () => {
    const release: (() => void)[] = [];
    const target = targets.open((_post, index) =>
      index < 10 ? new Promise((resolve) => release.push(() => resolve({ status: 200 }))) : {},
    );
    const failing = targets.open((_post, index) => ({ status: index < 2 ? 500 : 200 }));
    const sent = await sendMany(server, target.url, 10);
    sent.push(
      await send(
        server,
        await destinationAt(server, failing.url, { ...RARE_RETRIES, retry: { schedule: [0, 1, 1, 1] } }),
      ),
    );
    await target.arrived(10);
    await failing.arrived(1);

    link.cut();
    const refused = await server.api('POST', '/v1/send', { destination: target.url, event_type: 'a', payload: {} });
    await until(readiness, (status) => status === 503, WITHIN_MS);
    const live = await fetch(`${server.url}/health/live`);
    for (const answer of release) answer();
    link.restore();

    expect(refused).toMatchObject({ status: 503, json: { error: { type: 'internal' } } });
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(live.status).toBe(200);
    await until(readiness, (status) => status === 200, WITHIN_MS);
    for (const messageId of sent) await eventIn(server, messageId, 'delivered');
    expect(target.posts()).toHaveLength(10);
  });

  it('deliveries claimed or accepted by a statement whose response was lost are made once, without a restart', async () => {
    const retried = targets.open((_post, index) => ({ status: index === 0 ? 500 : 200 }));
    const accepted = targets.open();
    const body = { destination: accepted.url, event_type: 'answer.lost', payload: {} };
    const key = { 'idempotency-key': randomUUID() };
    // A connection from before the outage can be dead. Its request then gets 503.
    const destination = await until(
      () => destinationAt(server, retried.url, RARE_RETRIES).catch(() => ''),
      (id) => id !== '',
      WITHIN_MS,
    );
    const retriedId = await send(server, destination);
    await eventAfter(server, retriedId, 1);

    await makeDue(sql, retriedId);
    link.loseAnswerTo('due_claim');
    await until(
      () => sql.rows('select from due_deliveries where event_id = $1 and claimed_by is null', [uuidOf(retriedId)]),
      (rows) => rows.length === 0,
      WITHIN_MS,
    );
    link.restore();
    await until(readiness, (status) => status === 200, WITHIN_MS);
    link.loseAnswerTo('ledger_accept_once');
    const sending = server.api('POST', '/v1/send', body, key);
    await until(
      () => sql.rows(`select from events where event_type = 'answer.lost'`),
      (rows) => rows.length === 1,
      WITHIN_MS,
    );
    link.restore();
    const lost = await sending;
    const found = await until(
      () => server.api('POST', '/v1/send', body, key),
      ({ status }) => status !== 503,
      WITHIN_MS,
    );

    expect(lost.status).toBe(503);
    expect(found.status).toBe(202);
    for (const messageId of [retriedId, found.json.message_id as string])
      await eventIn(server, messageId, 'delivered', MADE_GOOD_WITHIN_MS);
    expect([retried.posts().length, accepted.posts().length]).toEqual([2, 1]);
  }, 150_000);
});
