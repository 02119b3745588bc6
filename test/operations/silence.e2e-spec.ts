import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { DatabaseLink } from '../api/database-link.js';
import { openLink } from '../api/database-link.js';
import { until } from '../api/polling.js';
import type { Sql, Targets } from '../api/scene.js';
import { eventIn, openSql, send, startTargets, WITHIN_MS } from '../api/scene.js';
import type { TestDatabase } from '../support/database.js';
import { createDatabase } from '../support/database.js';
import { Pace } from '../support/pace.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';

/** Time limits that the service guarantees on a quiet machine. */
const BACK_WITHIN_MS = 15_000;
const REFUSED_WITHIN_MS = 12_000;
/** Time limit for recovery. If the response to a claim was lost, the claim is released when its worker id expires. */
const MADE_GOOD_WITHIN_MS = 80_000;

describe('connections to PostgreSQL that die silently', () => {
  let database: TestDatabase;
  let link: DatabaseLink;
  let pace: Pace;
  let server: PosthornServer;
  let targets: Targets;
  /** Connects directly to the database, not through the link that the tests interrupt. */
  let sql: Sql;

  beforeAll(async () => {
    pace = await Pace.start();
    targets = await startTargets();
    database = await createDatabase();
    link = await openLink(database.url);
    server = await startServer({ DATABASE_URL: link.url });
    sql = openSql({ databaseUrl: database.url });
  });

  afterAll(async () => {
    link.restore();
    await sql.close();
    await server.stop();
    await link.close();
    await database.drop();
    await targets.close();
    pace.stop();
  });

  /** Reads may also fail during the outage, so this function retries. */
  const delivered = (messageId: string): Promise<unknown> =>
    until(
      () => server.api('GET', `/v1/events/${messageId}`),
      ({ json }) => json?.status === 'delivered',
      BACK_WITHIN_MS * pace.now(),
    );

  const readiness = async (): Promise<number> => (await fetch(`${server.url}/health/ready`)).status;

  it('503 within seconds while no data passes; once new connections work, the service continues without a restart', async () => {
    const target = targets.open();
    const before = await send(server, target.url);
    await eventIn(server, before, 'delivered');
    const body = { destination: target.url, event_type: 'a', payload: {} };

    link.silence();
    const [silentSinceMs, silentAt] = [performance.now(), Date.now()];
    const refused = await Promise.all(Array.from({ length: 8 }, () => server.api('POST', '/v1/send', body)));
    const refusedAfterMs = performance.now() - silentSinceMs;
    await until(readiness, (status) => status === 503, WITHIN_MS);
    link.admit();
    const key = { 'idempotency-key': randomUUID() };
    const again = await until(
      () => server.api('POST', '/v1/send', body, key),
      ({ status }) => status === 202,
      BACK_WITHIN_MS * pace.now(),
    );
    await until(readiness, (status) => status === 200, BACK_WITHIN_MS * pace.now());

    expect(refused.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 503));
    expect(refusedAfterMs).toBeLessThan(REFUSED_WITHIN_MS * pace.since(silentAt));
    await delivered(again.json.message_id);
  });

  it('the same if old connections are dead and new ones always work: a request is accepted or rejected within seconds', async () => {
    const target = targets.open();
    const body = { destination: target.url, event_type: 'b', payload: {} };
    await eventIn(server, await send(server, target.url), 'delivered', MADE_GOOD_WITHIN_MS);

    link.silence();
    link.admit();
    const first = await server.api('POST', '/v1/send', body);
    const second = await until(
      () => server.api('POST', '/v1/send', body),
      ({ status }) => status === 202,
      BACK_WITHIN_MS * pace.now(),
    );

    expect([202, 503]).toContain(first.status);
    await delivered(second.json.message_id);
    await until(readiness, (status) => status === 200, BACK_WITHIN_MS * pace.now());
  });

  it('202: the service waits for a statement that PostgreSQL is executing, however slow, since the connection is not dead', async () => {
    const target = targets.open();
    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    await holder.query('begin; lock table idempotency_keys in access exclusive mode');

    const sending = server.api(
      'POST',
      '/v1/send',
      { destination: target.url, event_type: 'c', payload: {} },
      { 'idempotency-key': randomUUID() },
    );
    await until(
      () =>
        sql.rows(
          `select from pg_stat_activity where wait_event_type = 'Lock' and now() - query_start > interval '8 s' and datname = current_database()`,
        ),
      (rows) => rows.length > 0,
      WITHIN_MS,
    );
    await holder.end();
    const answer = await sending;

    expect(answer.status).toBe(202);
    await delivered(answer.json.message_id);
  });
});
