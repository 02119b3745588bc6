import { randomUUID } from 'node:crypto';
import type { TestDatabase } from '../support/database.js';
import { createDatabase } from '../support/database.js';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { expectRefusal } from './answers.js';
import { applicationOf, emit, endpointAt, eventsIn, eventsOf } from './applications.js';
import type { DatabaseLink } from './database-link.js';
import { openLink } from './database-link.js';
import { until } from './polling.js';
import type { Sql, Targets } from './scene.js';
import { openSql, startTargets, uuidOf, WITHIN_MS } from './scene.js';

describe('a fan-out is atomic and happens once', () => {
  let database: TestDatabase;
  let link: DatabaseLink;
  let server: PosthornServer;
  let targets: Targets;
  /** Connects directly to the database, not through the link that the tests interrupt. */
  let sql: Sql;

  beforeAll(async () => {
    [database, targets] = await Promise.all([createDatabase(), startTargets()]);
    link = await openLink(database.url);
    server = await startServer({ DATABASE_URL: link.url, RATE_LIMIT_KEY: 'off', RATE_LIMIT_ORG: 'off' });
    sql = openSql({ databaseUrl: database.url });
  });

  /**
   * Restores the database link, which breaks every connection, and repeats a call until it succeeds over a new
   * connection.
   */
  beforeEach(async () => {
    link.restore();
    await until(
      () => server.api('POST', '/v1/app', { name: 'Connected again' }),
      ({ status }) => status === 201,
      WITHIN_MS,
    );
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
    await link?.close();
    await database?.drop();
    await targets?.close();
  });

  const post = (application: string, key: string, body: unknown): Promise<ApiAnswer> =>
    server.api('POST', `/v1/app/${application}/event`, body, { 'idempotency-key': key });
  const wasReplayed = ({ headers }: ApiAnswer): boolean => headers.get('idempotent-replayed') === 'true';

  async function withEndpoints(count: number): Promise<string> {
    const application = await applicationOf(server);
    for (let i = 0; i < count; i += 1) await endpointAt(server, application, targets.open().url);
    return application;
  }

  const messagesOf = async (application: string): Promise<{ id: string; fanout: number }[]> =>
    (await server.api('GET', `/v1/app/${application}/messages`)).json.data;

  it('202: the same key and body repeat the response byte for byte, and fan out once; 409 with another body', async () => {
    const application = await withEndpoints(3);
    const [key, body] = [randomUUID(), { event_type: 'a', payload: { n: 1 } }];

    const first = await post(application, key, body);
    await endpointAt(server, application, targets.open().url);
    const again = await post(application, key, body);
    const other = await post(application, key, { ...body, event_type: 'b' });

    expect(first).toMatchObject({ status: 202, json: { fanout: 3 } });
    expect({ status: again.status, text: again.text }).toEqual({ status: 202, text: first.text });
    expect([wasReplayed(first), wasReplayed(again)]).toEqual([false, true]);
    expectRefusal(other, 409);
    expect(other.json.error.details).toEqual({ reason: 'key_reused' });
    expect(await messagesOf(application)).toEqual([expect.objectContaining({ id: first.json.message_id, fanout: 3 })]);
    await eventsIn(server, first.json.message_id as string, 3, 'delivered');
  });

  it('202: twenty requests with the same key at once, on two nodes, make one fan-out', async () => {
    const second = await startServer(server.env);
    try {
      const application = await withEndpoints(2);
      const [headers, body] = [{ 'idempotency-key': randomUUID() }, { event_type: 'a', payload: {} }];

      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          (i % 2 ? server : second).api('POST', `/v1/app/${application}/event`, body, headers),
        ),
      );

      for (const answer of answers.filter(({ status }) => status !== 202))
        expect(answer.json.error.details).toEqual({ reason: 'in_flight' });
      const accepted = answers.filter(({ status }) => status === 202);
      expect(new Set(accepted.map(({ text }) => text)).size).toBe(1);
      expect(accepted.filter((answer) => !wasReplayed(answer))).toHaveLength(1);
      expect(await messagesOf(application)).toHaveLength(1);
    } finally {
      await second.stop();
    }
  });

  it('requests with and without keys in one group commit do not affect each other', async () => {
    const application = await withEndpoints(2);
    const key = randomUUID();
    const body = { event_type: 'a', payload: {} };
    const first = await post(application, key, body);

    const [repeated, others] = await Promise.all([
      Promise.all(Array.from({ length: 5 }, () => post(application, key, body))),
      Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          i % 2 ? emit(server, application) : post(application, randomUUID(), body).then(({ json }) => json),
        ),
      ),
    ]);

    // Of several concurrent requests with the same key, one gets the stored response. The others may get `in_flight`.
    for (const answer of repeated)
      expect(answer.status === 202 ? answer.text : answer.json.error.details).toEqual(
        answer.status === 202 ? first.text : { reason: 'in_flight' },
      );
    const ids = new Set(others.map(({ message_id: id }: { message_id: string }) => id));
    expect(ids.size).toBe(20);
    expect(await messagesOf(application)).toHaveLength(21);
    for (const id of ids) expect(await eventsIn(server, id, 2, 'delivered')).toHaveLength(2);
  });

  it('503: while storage is unavailable, nothing of a fan-out is stored; afterwards, a retry with the same key sends it', async () => {
    const application = await withEndpoints(5);
    await emit(server, application, { event_type: 'warm' });
    const [key, body] = [randomUUID(), { event_type: 'cut.off', payload: {} }];

    link.cut();
    const refused = await post(application, key, body);
    link.restore();
    const sent = await until(
      () => post(application, key, body),
      ({ status }) => status !== 503,
      WITHIN_MS,
    );

    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(sent).toMatchObject({ status: 202, json: { fanout: 5 } });
    expect(await sql.rows(`select from messages where event_type = 'cut.off'`)).toHaveLength(1);
    expect(await sql.rows(`select from events where event_type = 'cut.off'`)).toHaveLength(5);
  });

  it('503 although the fan-out was committed: a retry with the same key returns this fan-out, and makes no second one', async () => {
    const application = await withEndpoints(4);
    const [key, body] = [randomUUID(), { event_type: 'answer.lost', payload: {} }];
    await emit(server, application, { event_type: 'warm' });

    link.loseAnswerTo('ledger_fan_out_once');
    const sending = post(application, key, body);
    await until(
      () => sql.rows(`select from messages where event_type = 'answer.lost'`),
      (rows) => rows.length === 1,
      WITHIN_MS,
    );
    link.restore();
    const lost = await sending;
    const found = await until(
      () => post(application, key, body),
      ({ status }) => status !== 503,
      WITHIN_MS,
    );

    expect(lost.status).toBe(503);
    expect(found).toMatchObject({ status: 202, json: { fanout: 4 } });
    expect(await eventsOf(server, found.json.message_id as string)).toHaveLength(4);
    expect(await sql.rows(`select from events where event_type = 'answer.lost'`)).toHaveLength(4);
  });

  it('503: if PostgreSQL rejects one event of a message, the whole message is rejected; other messages of the same commit are stored', async () => {
    const [broken, whole] = [await withEndpoints(6), await withEndpoints(2)];
    const [victim] = await sql.rows<{ id: string }>(
      'select id from application_endpoints where application_id = $1 order by id desc limit 1',
      [uuidOf(broken)],
    );
    await sql.rows(`alter table due_deliveries add constraint broken check (target_id <> '${victim?.id}') not valid`);

    const answers = await Promise.all([
      ...Array.from({ length: 3 }, () =>
        server.api('POST', `/v1/app/${broken}/event`, { event_type: 'half', payload: {} }),
      ),
      ...Array.from({ length: 3 }, () => emit(server, whole)),
    ]);
    await sql.rows('alter table due_deliveries drop constraint broken');

    for (const answer of answers.slice(0, 3) as ApiAnswer[]) expect(answer.status).toBeGreaterThanOrEqual(500);
    for (const { message_id: id } of answers.slice(3) as { message_id: string }[])
      await eventsIn(server, id, 2, 'delivered');
    for (const table of ['messages', 'events'])
      expect(await sql.rows(`select from ${table} where event_type = 'half'`)).toEqual([]);
    expect((await emit(server, broken)).fanout).toBe(6);
  });
});
