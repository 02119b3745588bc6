import { createKey } from '../api/answers.js';
import { EMAIL, emailIn, emailOf } from '../api/emailing.js';
import { aliasTo, deliver, letter, messagesOf } from '../api/mailing.js';
import { until } from '../api/polling.js';
import {
  destinationAt,
  expectStatus,
  openSql,
  type Sql,
  startTargets,
  type Targets,
  uuidOf,
  WITHIN_MS,
} from '../api/scene.js';
import { freePort } from '../durability/processes.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { shiftedClock } from '../support/shifted-clock.js';

const FLOOD = 120;
const HOUR_MS = 3_600_000;

/** Two processes with all roles share one database. The clock of the second process's machine is two hours fast. */
describe('mail beside other mail', () => {
  let right: PosthornServer;
  let ahead: PosthornServer;
  let targets: Targets;
  let sql: Sql;
  let ports: [number, number];

  beforeAll(async () => {
    [targets, ...ports] = await Promise.all([startTargets(), freePort(), freePort()]);
    right = await startServer({ SMTP_PORT: String(ports[0]) });
    ahead = await startServer({ ...right.env, SMTP_PORT: String(ports[1]), ...shiftedClock(2 * HOUR_MS) });
    sql = openSql(right);
  });

  afterAll(async () => {
    await sql?.close();
    await ahead?.stop();
    await right?.stop();
    await targets?.close();
  });

  it('250: two listeners and two pipelines create one event per message, also if both receive it one after the other', async () => {
    const target = targets.open();
    const alias = await aliasTo(right, [await destinationAt(right, target.url)]);
    const texts = Array.from({ length: 20 }, (_, i) => letter(`both-${i}-${alias.id}`));

    const answers = await Promise.all(
      texts.map(async (text, i) => {
        const [first, second] = i % 4 < 2 ? ports : [ports[1], ports[0]];
        const answer = await deliver(first, alias.address, text);
        return i % 2 === 0 ? [answer, await deliver(second, alias.address, text)] : [answer];
      }),
    );

    expect(answers.flat().every((answer) => answer.startsWith('250'))).toBe(true);
    await target.arrived(texts.length);
    expect(await messagesOf(right, alias.id, texts.length)).toHaveLength(texts.length);
    expect((await right.api('GET', `/v1/events?endpoint=${alias.id}&limit=100`)).json.data).toHaveLength(texts.length);
    expect(new Set(target.posts().map(({ headers }) => headers['webhook-id'])).size).toBe(texts.length);
  });

  // Each process stores a copy if neither has committed yet: delivery is at least once (accept-mail.store.ts).
  it('250: a message that both listeners receive in the same instant becomes one event for each stored copy, and never none', async () => {
    const alias = await aliasTo(right, []);
    const texts = Array.from({ length: 10 }, (_, i) => letter(`instant-${i}-${alias.id}`));

    const answers = await Promise.all(texts.flatMap((text) => ports.map((port) => deliver(port, alias.address, text))));

    expect(answers.every((answer) => answer.startsWith('250'))).toBe(true);
    const stored = answers.filter((answer) => answer.includes('evt_')).length;
    expect(stored).toBeGreaterThanOrEqual(texts.length);
    const messages = await messagesOf(right, alias.id, stored);
    expect(messages).toHaveLength(stored);
    expect(new Set(messages.map(({ subject }) => subject)).size).toBe(texts.length);
    expect((await right.api('GET', `/v1/events?endpoint=${alias.id}&limit=100`)).json.data).toHaveLength(stored);
  });

  it("a tenant's flood of large messages delays another tenant's message by one turn, not by the whole flood", async () => {
    const other = { authorization: `Bearer ${(await createKey(right, { scope: 'admin', environment: 'test' })).key}` };
    const flooded = await aliasTo(right, []);
    const quiet = expectStatus(
      await right.api('POST', '/v1/aliases', { kind: 'platform', localPart: 'quiet' }, other),
      201,
    ).json as { id: string; address: string };
    await deliver(
      ports[0],
      flooded.address,
      letter('flood').replace('Where', 'x'.repeat(900).concat('\r\n').repeat(200)),
    );
    await deliver(ports[0], quiet.address, letter('quiet'));
    const columns =
      'expires_on, alias_id, envelope_from, envelope_to, client_ip, helo, tls, size_bytes, sha256, raw, received_at';
    await until(
      async () =>
        (
          await sql.rows(`select 1 from inbox_messages where alias_id = any ($1) and state = 'processed'`, [
            [uuidOf(flooded.id), uuidOf(quiet.id)],
          ])
        ).length,
      (read) => read === 2,
      WITHIN_MS,
    );

    // Inserts all messages at once: the first message, the flood, and finally the other tenant's message.
    const places = await sql.rows<{ id: string }>(
      `
      insert into inbox_messages (environment_id, id, state, tries, ${columns})
      select environment_id, (substr(id::text, 1, 24) || lpad(to_hex(n), 12, '0'))::uuid, 'received', 0, ${columns}
      from inbox_messages, lateral generate_series(1, case when alias_id = $1 then $3::int else 1 end) n where alias_id in ($1, $2) returning id`,
      [uuidOf(flooded.id), uuidOf(quiet.id), FLOOD],
    );

    expect(places).toHaveLength(FLOOD + 1);
    const open = async (): Promise<number> =>
      (await sql.rows(`select 1 from inbox_messages where state = 'received'`)).length;
    await until(open, (count) => count === 0, 60_000);
    const [row] = await sql.rows<{ behind: number; turn: number }>(
      `
      select count(*) filter (where f.processed_at > q.processed_at)::int as behind, count(*) filter (where f.processed_at <= q.processed_at)::int as turn
      from inbox_messages f, inbox_messages q where f.alias_id = $1 and q.alias_id = $2 and f.id = any ($3) and q.id = any ($3)`,
      [uuidOf(flooded.id), uuidOf(quiet.id), places.map(({ id }) => id)],
    );
    // Fair queueing: the other tenant's message is processed before most messages of the flood.
    expect(row?.behind).toBeGreaterThan(FLOOD / 2);
    expect((row?.behind ?? 0) + (row?.turn ?? 0)).toBe(FLOOD);
  });

  it('a wrong clock of a process does not affect timestamps, and releases no scheduled email early', async () => {
    const alias = await aliasTo(right, []);
    await deliver(ports[1], alias.address, letter(`dated-${alias.id}`));
    const [message] = await messagesOf(right, alias.id, 1);
    expect(Math.abs(Date.parse(message.received_at as string) - Date.now())).toBeLessThan(60_000);

    const at = (ms: number): Promise<string> =>
      ahead
        .api('POST', '/v1/emails', { ...EMAIL, scheduled_at: new Date(Date.now() + ms).toISOString() })
        .then((answer) => expectStatus(answer, 202).json.id as string);
    const [later, soon] = [await at(HOUR_MS), await at(1_000)];
    await emailIn(right, soon, 'delivered');
    expect((await emailOf(right, later)).status).toBe('scheduled');
    const [lease] = await sql.rows<{ seconds: number }>(
      `select coalesce(max(extract(epoch from claimed_until - now())), 0)::float8 as seconds from inbox_messages where state = 'received'`,
    );
    expect(lease?.seconds).toBeLessThanOrEqual(12);
  });
});
