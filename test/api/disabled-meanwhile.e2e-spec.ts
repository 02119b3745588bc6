import type { TestDatabase } from '../support/database.js';
import { createDatabase } from '../support/database.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import type { Sql, Targets } from './scene.js';
import { destinationAt, eventAfter, eventIn, eventOf, openSql, RARE_RETRIES, send, startTargets } from './scene.js';

describe('a destination that is disabled while no worker is notified', () => {
  let database: TestDatabase;
  let targets: Targets;
  let sql: Sql;
  let api: PosthornServer;
  let worker: PosthornServer;

  beforeAll(async () => {
    targets = await startTargets();
    database = await createDatabase();
    sql = openSql({ databaseUrl: database.url });
    api = await startServer({ DATABASE_URL: database.url, ROLE: 'api' });
    worker = await startServer({ ...api.env, ROLE: 'worker' });
  });

  afterAll(async () => {
    await sql.close();
    await worker.stop();
    await api.stop();
    await database.drop();
    await targets.close();
  });

  it('its pending deliveries end when a worker starts; those to other destinations and to URLs stay', async () => {
    const failing = targets.open(() => ({ status: 500 }));
    const [given, kept] = [
      await destinationAt(api, failing.url, RARE_RETRIES),
      await destinationAt(api, failing.url, RARE_RETRIES),
    ];
    const ids = [await send(api, given), await send(api, kept), await send(api, failing.url)];
    for (const id of ids) await eventAfter(api, id, 1);
    await worker.stop();

    expect((await api.api('PATCH', `/v1/destinations/${given}`, { status: 'disabled' })).status).toBe(200);
    worker = await startServer({ ...api.env, ROLE: 'worker' });
    const ended = await eventIn(api, ids[0] as string, 'failed');

    expect(ended.deliveries).toMatchObject([{ status: 'failed', reason: 'target_disabled' }]);
    for (const id of ids.slice(1)) expect(await eventOf(api, id)).toMatchObject({ status: 'retrying' });
  });

  it('its pending deliveries end if the notification was lost', async () => {
    const failing = targets.open(() => ({ status: 500 }));
    const given = await destinationAt(api, failing.url, RARE_RETRIES);
    const id = await send(api, given);
    await eventAfter(api, id, 1);

    // A change by SQL sends no notification, as if the notification were lost. The second statement breaks the workers'
    // LISTEN connections, so that the workers reconnect.
    await sql.rows(
      `update destinations set status = 'disabled', updated_at = now() where name = 'A target' and id = (select target_id from due_deliveries order by event_id desc limit 1)`,
    );
    await sql.rows(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'posthorn-listen%'`,
    );

    expect((await eventIn(api, id, 'failed')).deliveries).toMatchObject([{ reason: 'target_disabled' }]);
  });
});
