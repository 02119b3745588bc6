import { setTimeout as rest } from 'node:timers/promises';
import { emailOf } from '../api/emailing.js';
import { until } from '../api/polling.js';
import { type Relay, startRelay, verifyDomain } from '../api/relay.js';
import { openSql, type Sql } from '../api/scene.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { runSeed, Seeded, setting } from './random.js';

const KILLS = setting('DURABILITY_KILLS', 4);
const FROM = 'shop@mail.example.com';

/** Kills the service while it accepts, schedules and sends emails. No email that was answered 202 may be lost. */
describe('emails under kill -9', () => {
  let first: PosthornServer;
  let server: PosthornServer;
  let relay: Relay;

  beforeAll(async () => {
    relay = await startRelay();
    first = await startServer({ EMAIL_TRANSPORT: relay.url, PLATFORM_DOMAIN: 'posthorn.example' });
    server = first;
    const sql = openSql(server);
    await verifyDomain(server, sql, 'mail.example.com');
    await sql.close();
  });

  afterAll(async () => {
    if (server !== first) await server?.stop();
    await first?.stop().catch(() => undefined);
    await relay?.close();
  });

  it(
    `${KILLS} kills: every email answered with 202 is sent to its recipient and becomes delivered`,
    async () => {
      const random = new Seeded(runSeed());
      const accepted = new Map<string, string>();
      let sent = 0;
      let isOver = false;
      const sender = async (): Promise<void> => {
        while (!isOver) {
          const to = `r${(sent += 1)}@x.example`;
          const later =
            sent % 2 === 0 ? { scheduled_at: new Date(Date.now() + random.between(0, 3_000)).toISOString() } : {};
          const answer = await server
            .api('POST', '/v1/emails', { from: FROM, to, subject: to, text: 'Hello', ...later })
            .catch(() => null);
          if (answer?.status === 202) accepted.set(answer.json.id, to);
          else await rest(20);
        }
      };
      const senders = Promise.all([sender(), sender(), sender(), sender()]);

      for (let kills = 0; kills < KILLS; kills += 1) {
        const before = accepted.size;
        await until(
          async () => accepted.size,
          (size) => size > before + 3,
          30_000,
        );
        await rest(random.between(0, 300));
        await server.kill('SIGKILL');
        server = await startServer(server.env);
      }
      isOver = true;
      await senders;

      for (const [id, to] of accepted) {
        const email = await until(
          () => emailOf(server, id),
          ({ status }) => status === 'delivered',
          60_000,
        );
        expect(email.recipients.map(({ address }: { address: string }) => address)).toEqual([to]);
      }
      const twice = await openedSql(server, (sql) =>
        sql.rows(
          `select id from emails group by id having count(*) > 1 union all select event_id from deliveries where ordinal = 0 group by event_id having count(*) > 1`,
        ),
      );
      expect(twice).toEqual([]);
      expect(await openedSql(server, (sql) => sql.rows('select id from scheduled_emails'))).toEqual([]);
      const arrived = new Set(relay.taken.map(({ to }) => to[0]));
      expect([...accepted.values()].filter((to) => !arrived.has(to))).toEqual([]);
      expect(accepted.size).toBeGreaterThan(KILLS * 3);
    },
    60_000 + KILLS * 30_000,
  );
});

async function openedSql<T>(server: PosthornServer, ask: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = openSql(server);
  try {
    return await ask(sql);
  } finally {
    await sql.close();
  }
}
