import { until } from '../api/polling.js';
import { openSql, type Sql } from '../api/scene.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { run } from '../support/program.js';
import { type PosthornServer, startServer } from '../support/server.js';

const OPERATOR_KEY = 'the-key-of-the-operator-in-this-suite';
interface Part {
  ready: boolean;
  waiting: boolean;
  waiting_seconds?: number;
}

interface Parts {
  retention: Part;
}

const WITHIN_MS = 60_000;

/** SQL that creates a partition of a past day, and expired rows for every job that removes data by age. */
const PASSED = `
  create table events_p20200101 (like events including defaults including constraints);
  alter table events attach partition events_p20200101 for values from ('2020-01-01') to ('2020-01-02');
  create table audit_log_202001 partition of audit_log for values from ('2020-01-01') to ('2020-02-01');
  insert into idempotency_keys (environment_id, route, key, fingerprint, expires_at)
    select min(id), 'POST /v1/send', gen_random_uuid(), '\\x00', now() - interval '1 hour' from environments`;

const LEFT = `
  select (to_regclass('events_p20200101') is not null)::int + (to_regclass('audit_log_202001') is not null)::int
         + (select count(*) from idempotency_keys where expires_at < now())::int as count`;

describe("PostgreSQL's clock jumps forward", () => {
  let database: TestDatabase;
  let sql: Sql;
  let server: PosthornServer;

  beforeAll(async () => {
    database = await createDatabase();
    sql = openSql({ databaseUrl: database.url });
    server = await startServer({ DATABASE_URL: database.url, OPERATOR_KEY, LOG_LEVEL: 'info' });
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
    await database?.drop();
  });

  const left = async (): Promise<number> => (await sql.rows<{ count: number }>(LEFT))[0]?.count ?? 0;
  const restart = async (): Promise<void> => {
    await server.stop();
    server = await startServer(server.env);
  };
  /** Returns the retention part of `/health/ready`, even if another part is not ready yet. */
  const retention = async (): Promise<Part> => {
    const answer = (await (await fetch(`${server.url}/health/ready`)).json()) as {
      parts?: Parts;
      error?: { details: Parts };
    };
    return (answer.parts ?? answer.error?.details)?.retention as Part;
  };

  it('retention continues after a restart if the clock did not jump', async () => {
    await sql.rows(PASSED);

    await restart();
    await until(left, (count) => count === 0, WITHIN_MS);

    expect(await retention()).toEqual({ ready: true, waiting: false });
  }, 180_000);

  it('after a jump nothing is removed, also by another process and after a restart; health, the log and a metric report it, and the service is ready', async () => {
    await server.stop();
    await sql.rows(PASSED);
    // Simulates a clock that was 40 days behind and is correct now.
    await sql.rows(`update seen_clock set seen_at = seen_at - interval '40 days'`);

    server = await startServer(server.env);
    const other = await startServer({ ...server.env, ROLE: 'worker' });
    try {
      await until(retention, ({ waiting }) => waiting, WITHIN_MS);
      const metrics = await (await fetch(`${server.url}/metrics`)).text();

      expect(await retention()).toMatchObject({ ready: true, waiting: true, waiting_seconds: expect.any(Number) });
      expect((await retention()).waiting_seconds).toBeGreaterThan(86_000);
      expect(Number(/^posthorn_retention_waiting_seconds (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(86_000);
      expect(server.logs()).toMatch(
        /PostgreSQL's clock went from .* since it was last seen\. Nothing is removed by its age/,
      );
    } finally {
      await other.stop();
    }
    await restart();
    await until(retention, ({ waiting }) => waiting, WITHIN_MS);

    expect(await left()).toBe(3);
  }, 240_000);

  it('retention continues once the operator confirms the time, which is in the audit log', async () => {
    const confirmed = await run('confirm-clock', server.env);
    const again = await run('confirm-clock', server.env);
    await restart();
    await until(left, (count) => count === 0, WITHIN_MS);
    const { data } = (
      await server.api('GET', '/v1/operator/audit?action=posthorn%20confirm-clock', undefined, {
        authorization: `Bearer ${OPERATOR_KEY}`,
      })
    ).json;

    expect(confirmed).toMatchObject({ code: 0, out: expect.stringMatching(/^Confirmed: it is 20/) });
    expect(again).toMatchObject({ code: 0, out: 'Retention does not wait for a confirmation.\n' });
    expect(data).toMatchObject([
      { actor: { kind: 'operator' }, before: { time: expect.any(String) }, after: { time: expect.any(String) } },
    ]);
    expect(await retention()).toEqual({ ready: true, waiting: false });
  }, 180_000);
});
