import { setTimeout as rest } from 'node:timers/promises';
import { aliasTo, deliver, letter } from '../api/mailing.js';
import { until } from '../api/polling.js';
import { destinationAt, openSql, type Sql, startTargets, type Targets } from '../api/scene.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { freePort } from './processes.js';
import { runSeed, Seeded, setting } from './random.js';

const KILLS = setting('DURABILITY_KILLS', 4);

/** Kills the service while it processes received mail. Each message answered with 250 becomes exactly one event. */
describe('received mail under kill -9', () => {
  let first: PosthornServer;
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;
  let smtp: number;

  beforeAll(async () => {
    [targets, smtp] = await Promise.all([startTargets(), freePort()]);
    first = await startServer({ SMTP_PORT: String(smtp) });
    server = first;
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql?.close();
    if (server !== first) await server?.stop();
    await first?.stop().catch(() => undefined);
    await targets?.close();
  });

  it(`${KILLS} kills: every 250 is one message, one event and one webhook`, async () => {
    const random = new Seeded(runSeed());
    const target = targets.open();
    const alias = await aliasTo(server, [await destinationAt(server, target.url)]);
    const taken = new Set<string>();
    let sent = 0;
    let isOver = false;
    const sender = async (): Promise<void> => {
      while (!isOver) {
        const subject = `letter-${(sent += 1)}`;
        await deliver(smtp, alias.address, letter(subject)).then(
          () => taken.add(subject),
          () => rest(20),
        );
      }
    };
    const senders = Promise.all([sender(), sender(), sender()]);
    for (let kills = 0; kills < KILLS; kills += 1) {
      const before = taken.size;
      await until(
        async () => taken.size,
        (size) => size > before + 5,
        30_000,
      );
      await rest(random.between(0, 200));
      await server.kill('SIGKILL');
      server = await startServer(server.env);
      // Expires the claims of the dead process, instead of waiting for their end.
      await sql.rows(
        `update inbox_messages set claimed_until = now() where state = 'received' and claimed_by is not null`,
      );
    }
    isOver = true;
    await senders;

    await until(
      async () => (await sql.rows(`select 1 from inbox_messages where state = 'received'`)).length,
      (waiting) => waiting === 0,
      60_000,
    );
    const rows = await sql.rows<{ id: string; subject: string; events: number; state: string }>(
      `select m.id, m.subject, m.state, (select count(*)::int from events e where e.environment_id = m.environment_id and e.id = m.id) as events from inbox_messages m`,
    );
    const subjects = new Set(rows.map(({ subject }) => subject));
    expect([...taken].filter((subject) => !subjects.has(subject))).toEqual([]);
    expect(rows.filter(({ events, state }) => events !== 1 || state !== 'processed')).toEqual([]);
    expect(subjects.size).toBe(rows.length);
    await until(
      async () => new Set(target.posts().map(({ headers }) => headers['webhook-id'])).size,
      (arrived) => arrived >= rows.length,
      60_000,
    );
    const told = new Map(
      target
        .posts()
        .map(({ headers, rawBody }) => [
          headers['webhook-id'],
          (JSON.parse(rawBody.toString()) as { subject: string }).subject,
        ]),
    );
    expect(new Set(told.values())).toEqual(subjects);
  });

  it.each<[string, string[]]>([
    [
      'decided and not accepted',
      [
        'delete from events where id = $1',
        'delete from deliveries where event_id = $1',
        'delete from requests where id = $1',
        'delete from idempotency_keys where key = $1',
      ],
    ],
    ['accepted and not noted', []],
    ['accepted and not noted, and its key is gone', ['delete from idempotency_keys where key = $1']],
  ])('a message that a kill left %s becomes one event', async (_what, undo) => {
    const target = targets.open();
    const alias = await aliasTo(server, [await destinationAt(server, target.url)]);
    await deliver(smtp, alias.address, letter(`left-${alias.id}`));
    await target.arrived(1);
    const row = async (): Promise<Record<string, unknown>> =>
      (
        await sql.rows(`select id, state, detail::text as detail from inbox_messages where subject = $1`, [
          `left-${alias.id}`,
        ])
      )[0] ?? {};
    const before = await until(row, ({ state }) => state === 'processed', 20_000);
    await until(
      async () => (await sql.rows('select 1 from due_deliveries where event_id = $1', [before['id']])).length,
      (due) => due === 0,
      20_000,
    );
    for (const text of undo) await sql.rows(text, [before['id']]);
    await sql.rows(
      `update inbox_messages set state = 'received', event_id = null, claimed_by = gen_random_uuid(), claimed_until = now() where id = $1`,
      [before['id']],
    );

    const after = await until(row, ({ state }) => state === 'processed', 20_000);

    expect(after).toEqual(before);
    if (undo.length > 1) await target.arrived(2);
    expect((await sql.rows('select 1 from events where id = $1', [before['id']])).length).toBe(1);
    expect(target.posts().length).toBe(undo.length > 1 ? 2 : 1);
  });
});
