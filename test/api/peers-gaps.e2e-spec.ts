import { randomUUID } from 'node:crypto';
import type { Answer } from '../support/receiver.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { expectInvalid } from './answers.js';
import { applicationOf, emit, endpointAt, eventsIn, eventsOf } from './applications.js';
import { until } from './polling.js';
import { askRecover, failedCopies, LONG_AGO } from './recovering.js';
import { jobIn } from './replaying.js';
import type { Sql, TargetPath, Targets } from './scene.js';
import {
  destinationAt,
  eventIn,
  eventOf,
  expectStatus,
  openSql,
  RARE_RETRIES,
  send,
  sendMany,
  startTargets,
  uuidOf,
  WITHIN_MS,
} from './scene.js';
import { endWindows } from './system-event-target.js';

/**
 * Size of the connection pool. The test lets more attempts than this hang. If each attempt held a connection, the pool
 * would be exhausted and the test would fail.
 */
const CONNECTIONS = 4;
/** Time limit for ten thousand deliveries, on two cores that other suites use too. */
const MANY_WITHIN_MS = 60_000;

/**
 * Tests that known gaps of competing products do not exist in Posthorn (docs/peers.md). Each title begins with the
 * issue or file that shows the gap.
 */
describe("peers' gaps", () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;

  beforeAll(async () => {
    targets = await startTargets();
    server = await startServer({
      RATE_LIMIT_KEY: 'off',
      RATE_LIMIT_ORG: 'off',
      DATABASE_POOL_SIZE: String(CONNECTIONS),
    });
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql?.close();
    // Ends hanging requests, so that the server does not wait for them.
    await targets?.close();
    await server?.stop();
  });

  /** Opens a target that does not answer until `release` is called. */
  function hanging(answer: Answer = {}): { target: TargetPath; release(): void } {
    const waiting: (() => void)[] = [];
    let isReleased = false;
    const target = targets.open(() =>
      isReleased ? answer : new Promise((resolve) => waiting.push(() => resolve(answer))),
    );
    return {
      target,
      release() {
        isReleased = true;
        for (const go of waiting) go();
      },
    };
  }

  const idsOf = (target: TargetPath): string[] =>
    target
      .posts()
      .map(({ headers }) => String(headers['webhook-id']))
      .sort();

  it('Outpost #611: events of a disabled endpoint are kept and listed, and one recover call delivers each of them once', async () => {
    const target = targets.open();
    const application = await applicationOf(server);
    const { id } = await endpointAt(server, application, target.url);
    const path = `/v1/app/${application}/endpoints/${id}`;
    expectStatus(await server.api('PATCH', path, { status: 'disabled' }), 200);
    const meanwhile: string[] = [];
    for (let sent = 0; sent < 5; sent += 1)
      meanwhile.push((await emit(server, application, { payload: { sent } })).message_id);
    for (const message of meanwhile) await eventsIn(server, message, 1, 'failed');

    const listed = (await server.api('GET', `/v1/events?endpoint=${id}&status=failed`)).json.data as {
      message_id: string;
    }[];
    expectStatus(await server.api('PATCH', path, { status: 'active' }), 200);
    const job = expectStatus(await server.api('POST', `${path}/recover`, { since: LONG_AGO }), 202).json;

    expect(listed.map(({ message_id: message }) => message).sort()).toEqual([...meanwhile].sort());
    expect(await jobIn(server, job.id, 'completed')).toMatchObject({ scanned: 5, replayed: 5, enqueued: 5 });
    for (const message of meanwhile) await eventsIn(server, message, 1, 'delivered');
    expect(idsOf(target)).toEqual([...meanwhile].sort());
    expect(
      target
        .posts()
        .map(({ rawBody }) => rawBody.toString())
        .sort(),
    ).toEqual([0, 1, 2, 3, 4].map((sent) => `{"sent":${sent}}`));
  });

  it('Outpost #663, #997: an event can be read, replayed and retried as soon as its 202 has arrived', async () => {
    const target = targets.open((_post, index) => ({ status: index % 2 === 0 ? 500 : 200 }));
    const destination = await destinationAt(server, target.url, {
      ...RARE_RETRIES,
      retry: { max_attempts: 20, schedule: [0] },
    });

    const seen = await Promise.all(
      Array.from({ length: 40 }, async () => {
        const message = await send(server, destination);
        const [shown, replayed] = await Promise.all([
          server.api('GET', `/v1/events/${message}`),
          server.api('POST', `/v1/events/${message}/replay`),
        ]);
        return { message, statuses: [shown.status, replayed.status] };
      }),
    );

    expect(seen.map(({ statuses }) => statuses)).toEqual(seen.map(() => [200, 202]));
    for (const { message } of seen) await eventIn(server, message, 'delivered');
    expect((await server.api('GET', `/v1/events?endpoint=${destination}&status=dlq`)).json.data).toEqual([]);
  });

  it('Convoy #2696: all attempts of the longest schedule are made, and a longer schedule is rejected instead of shortened', async () => {
    const target = targets.open(() => ({ status: 500 }));
    const refused = await Promise.all(
      [{ max_attempts: 21 }, { schedule: Array.from({ length: 21 }, () => 0) }].map((retry) =>
        server.api('POST', '/v1/destinations', { name: 'Longer', type: 'https', url: target.url, retry }),
      ),
    );

    const message = await send(
      server,
      await destinationAt(server, target.url, { ...RARE_RETRIES, retry: { max_attempts: 20, schedule: [0] } }),
    );

    expectInvalid(refused[0] as never, 'schema', 'retry.max_attempts');
    expectInvalid(refused[1] as never, 'schema', 'retry.schedule');
    expect((await eventIn(server, message, 'dlq')).attempts.map(({ number }: { number: number }) => number)).toEqual(
      Array.from({ length: 20 }, (_, i) => i + 1),
    );
    expect(target.posts()).toHaveLength(20);
  });

  it('Svix #643: two endpoints at one URL give each event type a schedule of its own', async () => {
    const target = targets.open(() => ({ status: 500 }));
    const application = await applicationOf(server);
    await endpointAt(server, application, target.url, { event_types: ['report.made'], retry: { max_attempts: 1 } });
    await endpointAt(server, application, target.url, {
      event_types: ['invoice.*'],
      retry: { schedule: [0, 0, 0, 0] },
    });

    for (const [eventType, attempts] of [
      ['report.made', 1],
      ['invoice.paid', 4],
    ] as const) {
      const { message_id: message } = await emit(server, application, { event_type: eventType });
      const [event] = await eventsIn(server, message, 1, 'dlq');
      expect([eventType, (await eventOf(server, event.id)).attempts.length]).toEqual([eventType, attempts]);
    }
    expect(target.posts()).toHaveLength(5);
  });

  it('Svix worker.rs: while one endpoint hangs, the other 99 are recorded as delivered, and get no second request when it fails', async () => {
    const { target: slow, release } = hanging({ status: 500 });
    const others = Array.from({ length: 99 }, () => targets.open());
    const application = await applicationOf(server);
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    await Promise.all(others.map(({ url }) => endpointAt(server, application, url, { secret })));
    const { id } = await endpointAt(server, application, slow.url, { secret, retry: { schedule: [0, 0] } });

    const { message_id: message, fanout } = await emit(server, application);
    await slow.arrived(1);
    await until(
      () => eventsOf(server, message, '&status=delivered'),
      (events) => events.length === 99,
      WITHIN_MS,
    );
    const while99 = slow.posts().length;
    release();
    await until(
      () => eventsOf(server, message, '&status=dlq'),
      (events) => events.length === 1 && events[0]?.endpoint === id,
      WITHIN_MS,
    );

    expect([fanout, while99, slow.posts().length]).toEqual([100, 1, 2]);
    expect(others.map((target) => target.posts().length)).toEqual(others.map(() => 1));
  });

  it('Svix #1511: after an endpoint with a full queue is deleted, none of its deliveries remain, and other endpoints are not affected', async () => {
    const { target: doomed, release } = hanging({ status: 500 });
    const healthy = targets.open();
    const application = await applicationOf(server);
    const { id } = await endpointAt(server, application, doomed.url, { retry: { schedule: [0, 0, 0] } });
    await endpointAt(server, application, healthy.url);
    const sent = await Promise.all(Array.from({ length: 60 }, () => emit(server, application)));
    await doomed.arrived(32);
    const openOf = (): Promise<unknown[]> =>
      sql.rows(
        'select from due_deliveries d join events e on e.id = d.event_id where e.id = any($1) or e.message_id = any($1)',
        [sent.map(({ message_id: message }) => uuidOf(message))],
      );
    const before = (await openOf()).length;

    expectStatus(await server.api('DELETE', `/v1/app/${application}/endpoints/${id}`), 204);
    const after = await emit(server, application);
    await healthy.arrived(61);
    release();

    expect(after.fanout).toBe(1);
    for (const { message_id: message } of sent) {
      const events = await until(
        () => eventsOf(server, message),
        (found) => found.every(({ status }) => status !== 'retrying'),
        WITHIN_MS,
      );
      expect(events.map(({ endpoint, status }) => [endpoint === id, status]).sort()).toEqual([
        [false, 'delivered'],
        [true, 'failed'],
      ]);
    }
    expect(before).toBeGreaterThanOrEqual(60);
    expect(await openOf()).toEqual([]);
    expect(new Set(idsOf(healthy)).size).toBe(61);
    expect((await fetch(`${server.url}/health/ready`)).status).toBe(200);
  });

  it('Hook0 pg.rs: an attempt that hangs holds no database transaction and no database connection', async () => {
    const hung = Array.from({ length: 10 * CONNECTIONS }, () => hanging());
    const sent = await Promise.all(hung.map(({ target }) => send(server, target.url)));
    for (const { target } of hung) await target.arrived(1);

    const healthy = targets.open();
    const more = await sendMany(server, healthy.url, 50);
    const inTransaction = (): Promise<unknown[]> =>
      sql.rows(
        `select query from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`,
      );

    for (const message of more) await eventIn(server, message, 'delivered');
    // If an attempt kept a database session, the session would be idle in a transaction.
    await until(inTransaction, (sessions) => sessions.length === 0, WITHIN_MS);
    expect(hung.map(({ target }) => target.posts().length)).toEqual(hung.map(() => 1));
    for (const { release } of hung) release();
    for (const message of sent) await eventIn(server, message, 'delivered');
  });

  it('Svix #793: if a URL is refused because of its address, the error message states the reason and a solution', async () => {
    const application = await applicationOf(server);

    for (const url of [
      'http://169.254.169.254/latest/meta-data/',
      'http://10.0.0.1/hook',
      'http://[fd00:ec2::254]/',
      'http://metadata.google.internal/',
    ]) {
      const answers = await Promise.all([
        server.api('POST', '/v1/destinations', { name: 'Closed', type: 'https', url }),
        server.api('POST', `/v1/app/${application}/endpoints`, { url }),
      ]);
      for (const answer of answers) {
        expectInvalid(answer, 'connectivity', 'url');
        const [{ message }] = answer.json.error.details.fields as [{ message: string }];
        expect([url, message]).toEqual([url, expect.stringMatching(/address|metadata/)]);
        expect([url, message]).toEqual([url, expect.stringMatching(/public/)]);
      }
    }
  });

  it('Outpost #539: an idempotency key is valid for 24 hours after its first response, and can be used again afterwards', async () => {
    const target = targets.open();
    const [key, body] = [randomUUID(), { destination: target.url, event_type: 'kept.a.day', payload: {} }];
    const ask = async (): Promise<string> =>
      expectStatus(await server.api('POST', '/v1/send', body, { 'idempotency-key': key }), 202).json
        .message_id as string;
    const age = (hours: number): Promise<unknown> =>
      sql.rows("update idempotency_keys set expires_at = expires_at - $2 * interval '1 hour' where key = $1", [
        key,
        hours,
      ]);

    const first = await ask();
    await age(23);
    const within = await ask();
    await age(2);
    const beyond = await ask();

    expect([within === first, beyond === first]).toEqual([true, false]);
    await eventIn(server, beyond, 'delivered');
    expect(idsOf(target)).toEqual([first, beyond].sort());
  });

  it('Outpost #980, #986, #987: a system destination that hangs delays neither deliveries nor their results', async () => {
    const { target: systemTarget, release } = hanging();
    const system = await destinationAt(server, systemTarget.url, { name: 'Ops' });
    expectStatus(await server.api('PATCH', '/v1/org', { system_destination: system }), 200);
    const broken = await destinationAt(server, targets.open(() => ({ status: 500 })).url, {
      ...RARE_RETRIES,
      retry: { max_attempts: 1 },
    });
    const dead = await sendMany(server, broken, 100);
    await until(
      () => endWindows(sql).then(() => systemTarget.posts().length),
      (payloads) => payloads > 0,
      WITHIN_MS,
    );

    const sent = await sendMany(server, targets.open().url, 50);
    for (const message of sent) await eventIn(server, message, 'delivered');
    for (const message of dead) await eventIn(server, message, 'dlq');

    expect(systemTarget.posts()[0]?.rawBody.toString()).toContain('"event.dead_lettered"');
    release();
    expectStatus(await server.api('PATCH', '/v1/org', { system_destination: null }), 200);
  });

  it('Asynq #803: more than ten thousand dead letters are all kept and all recovered', async () => {
    const target = targets.open((_post, index) => ({ status: index === 0 ? 500 : 200 }));
    const destination = await destinationAt(server, target.url, { ...RARE_RETRIES, retry: { max_attempts: 1 } });
    const message = await send(server, destination);
    await eventIn(server, message, 'dlq');
    await failedCopies(sql, message, 10_500, { status: 'dlq' });

    const { id } = expectStatus(await askRecover(server, destination), 202).json;

    expect(await jobIn(server, id, 'completed', MANY_WITHIN_MS)).toMatchObject({ scanned: 10_501, enqueued: 10_501 });
    await until(
      () => sql.rows('select from due_deliveries where target_id = $1 limit 1', [uuidOf(destination)]),
      (open) => open.length === 0,
      MANY_WITHIN_MS,
    );
    expect((await server.api('GET', `/v1/events?endpoint=${destination}&status=dlq`)).json.data).toEqual([]);
    expect(target.posts()).toHaveLength(1 + 10_501);
  }, 150_000);
});
