import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { expectInvalid, expectRefusal } from './answers.js';
import { applicationOf, emit, endpointAt, eventsIn, eventsOf } from './applications.js';
import { until } from './polling.js';
import type { Inbound } from './receiving.js';
import { accepted, change, inbound, json, provide, requestsOf, setSecret } from './receiving.js';
import type { Sql, Targets } from './scene.js';
import { destinationAt, expectStatus, openSql, startTargets, uuidOf, WITHIN_MS } from './scene.js';

const LONG_AGO = '2026-01-01T00:00:00Z';

/** Operator tasks without SQL: find failing applications, replay, release, erase. */
describe('day two', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;

  beforeAll(async () => {
    [server, targets] = await Promise.all([startServer(), startTargets()]);
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql.close();
    await Promise.all([server.stop(), targets.close()]);
  });

  const post = (path: string, body?: object): ReturnType<PosthornServer['api']> => server.api('POST', path, body);
  const started = async (path: string, body?: object): Promise<string> =>
    expectStatus(await post(path, body), 202).json.id as string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- each test asserts the fields that it reads
  const over = async (job: string, state = 'completed'): Promise<any> =>
    until(
      async () => expectStatus(await server.api('GET', `/v1/replays/${job}`), 200).json,
      (found) => found.state === state || ['stopped', 'failed'].includes(found.state as string),
      2 * WITHIN_MS,
    );

  describe('applications', () => {
    it('GET /v1/metrics/applications lists failing applications, the worst first, with rates and the oldest failure', async () => {
      const [sick, worse, well] = [
        targets.open(() => ({ status: 500 })),
        targets.open(() => ({ status: 400 })),
        targets.open(),
      ];
      const apps = await Promise.all(
        [0, 1, 2].map((n) => applicationOf(server, { uid: `failing-${n}`, name: `Customer ${n}` })),
      );
      const [first = '', second = '', third = ''] = apps;
      const failing = await endpointAt(server, first, sick.url, { retry: { schedule: [0, 3600] } });
      await endpointAt(server, first, well.url);
      await endpointAt(server, second, worse.url, { retry: { schedule: [0, 0, 0] } });
      await endpointAt(server, third, well.url);
      for (const app of apps) await emit(server, app);
      await emit(server, second);

      const ask = async (): Promise<{ application: string }[]> =>
        expectStatus(await server.api('GET', '/v1/metrics/applications'), 200).json.data;
      const data = await until(ask, (rows) => JSON.stringify(rows).includes('"dlq":2') && rows.length === 2, WITHIN_MS);

      expect(data).toEqual([
        expect.objectContaining({
          application: second,
          uid: 'failing-1',
          name: 'Customer 1',
          failure_rate: 1,
          delivered: 0,
          retried: 4,
          failed: 0,
          dlq: 2,
          failing_endpoints: 1,
        }),
        {
          application: first,
          uid: 'failing-0',
          name: 'Customer 0',
          failure_rate: 0.5,
          delivered: 1,
          retried: 1,
          failed: 0,
          dlq: 0,
          oldest_failure_at: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:00\.000Z$/),
          failing_endpoints: 1,
          endpoints: [failing.id],
        },
      ]);
      expect((await server.api('GET', '/v1/metrics/applications?limit=1')).json.data).toHaveLength(1);
      for (const since of ['2020-01-01T00:00:00Z', '2100-01-01T00:00:00Z', 'yesterday']) {
        expectRefusal(await server.api('GET', `/v1/metrics/applications?since=${since}`), 400);
      }
    });

    it('202: recover sends the failed events of all endpoints of an application again; replay sends all events; other applications get nothing', async () => {
      const [sick, well, off] = [targets.open(() => ({ status: 400 })), targets.open(), targets.open()];
      const registered = await destinationAt(server, well.url);
      const app = await applicationOf(server, { uid: 'again' });
      const once = { retry: { schedule: [0] } };
      await endpointAt(server, app, sick.url, once);
      const shared = expectStatus(await post(`/v1/app/${app}/endpoints`, { destination: registered }), 201).json
        .id as string;
      const disabled = await endpointAt(server, app, off.url, once);
      const other = await applicationOf(server, { uid: 'not-again' });
      expectStatus(await post(`/v1/app/${other}/endpoints`, { destination: registered }), 201);
      const sent = [await emit(server, app), await emit(server, app)];
      await emit(server, other);
      for (const { message_id } of sent)
        await until(
          () => eventsOf(server, message_id),
          (events) => events.every(({ status }) => status !== 'retrying'),
          WITHIN_MS,
        );
      await well.arrived(3);
      expectStatus(await server.api('PATCH', `/v1/app/${app}/endpoints/${disabled.id}`, { status: 'disabled' }), 200);
      sick.answerBy(() => ({}));

      const recovery = await over(await started(`/v1/app/again/recover`, { since: LONG_AGO }));
      for (const { message_id } of sent) await eventsIn(server, message_id, 3, 'delivered');
      const replay = await over(await started(`/v1/app/${app}/replay`, { since: LONG_AGO }));
      await Promise.all([sick.arrived(6), well.arrived(5)]);

      expect(recovery).toMatchObject({
        kind: 'recover',
        endpoint: app,
        state: 'completed',
        total_estimate: 2,
        scanned: 2,
        replayed: 2,
        enqueued: 2,
        skipped: 0,
        excluded: 0,
        erased: null,
      });
      expect(replay).toMatchObject({
        kind: 'application',
        endpoint: app,
        state: 'completed',
        total_estimate: 6,
        scanned: 6,
        replayed: 4,
        enqueued: 4,
        skipped: 2,
        excluded: 0,
      });
      expect([sick.posts().length, well.posts().length, off.posts().length]).toEqual([6, 5, 2]);
      expect(
        well
          .posts()
          .slice(3)
          .every(({ headers }) => headers['webhook-replayed'] === 'true'),
      ).toBe(true);
      const jobs = (await server.api('GET', `/v1/replays?endpoint=${app}`)).json.data as { id: string }[];
      expect(jobs.map(({ id }) => id)).toEqual([replay.id, recovery.id]);
      expect(shared).toMatch(/^ep_/);
    });

    it('404, 409 and 422: no application, an application without endpoints, and an invalid time', async () => {
      const app = await applicationOf(server, { uid: 'empty' });

      for (const job of ['recover', 'replay']) {
        expectRefusal(await post(`/v1/app/nobody/${job}`, { since: LONG_AGO }), 404);
        expectRefusal(await post(`/v1/app/${app}/${job}`, { since: LONG_AGO }), 409);
        expectInvalid(await post(`/v1/app/${app}/${job}`, {}), 'schema', 'since');
      }
      for (const nobody of ['nobody', 'app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1', 'app_x'])
        expectRefusal(await post(`/v1/app/${nobody}/erase`), 404);
    });

    it('202: erase deletes an application, its endpoints, every payload, pending deliveries and responses, and reports the numbers', async () => {
      const [said, waits] = [
        targets.open(() => ({ body: 'Thank you, Ann' })),
        targets.open(() => ({ status: 500, body: 'Sorry, Ann' })),
      ];
      const app = await applicationOf(server, { uid: 'erased', metadata: { owner: 'Ann' } });
      await endpointAt(server, app, said.url);
      const waiting = await endpointAt(server, app, waits.url, {
        retry: { schedule: [0, 3600] },
        headers: { 'x-owner': 'Ann' },
      });
      const other = await applicationOf(server, { uid: 'kept' });
      await endpointAt(server, other, said.url);
      const kept = await emit(server, other, { payload: { name: 'Bob' } });
      const sent = [];
      for (let n = 0; n < 3; n += 1)
        sent.push(await emit(server, app, { payload: { name: 'Ann' }, channels: ['ann'] }));
      sent.push(await emit(server, app, { payload: { name: 'Ann' }, channels: ['ann'], event_type: 'nobody.cares' }));
      await Promise.all([said.arrived(5), waits.arrived(4)]);
      await until(
        () => sql.rows('select 1 from due_deliveries where attempts = 1 and target_id = $1', [uuidOf(waiting.id)]),
        (rows) => rows.length === 4,
        WITHIN_MS,
      );

      const id = await started('/v1/app/erased/erase');
      const job = await over(id);

      expect(job).toMatchObject({
        kind: 'erase',
        endpoint: app,
        state: 'completed',
        total_estimate: 4,
        scanned: 4,
        erased: { endpoints: 2, messages: 4, deliveries: 4, attempts: 8 },
      });
      expectRefusal(await server.api('GET', `/v1/app/${app}`), 404);
      for (const { message_id } of sent) {
        for (const event of await eventsOf(server, message_id)) {
          const text = expectStatus(await server.api('GET', `/v1/events/${event.id}`), 200).text;
          expect(text).toContain('"payload_erased_at":"');
          expect(text).not.toMatch(/Ann|ann/);
          expect(event.status).not.toBe('retrying');
        }
      }
      const left = await sql.rows(
        `
        select (select count(*) from messages where payload like '%Ann%' or channels::text like '%ann%')::int as messages,
               (select count(*) from attempts where response_excerpt like '%Ann%' and event_id not in (select id from events where message_id = $2))::int as attempts,
               (select count(*) from application_endpoints where application_id = $1)::int as endpoints`,
        [uuidOf(app), uuidOf(kept.message_id)],
      );
      expect(left).toEqual([{ messages: 0, attempts: 0, endpoints: 0 }]);
      expect((await eventsIn(server, kept.message_id, 1, 'delivered'))[0]).not.toHaveProperty('payload_erased_at');
      // An erased application can be erased again, for example after the restore of an old backup.
      expect(await over(await started(`/v1/app/${app}/erase`))).toMatchObject({
        erased: { endpoints: 0, messages: 0, deliveries: 0, attempts: 0 },
      });
    });
  });

  describe('parked and quarantined requests', () => {
    /** Creates an endpoint with a secret that the provider does not have yet. */
    async function lockedOut(url: string): Promise<Inbound> {
      const destination = await destinationAt(server, url);
      const endpoint = await inbound(server, { verification: 'hmac-sha256', destinations: [destination] });
      await setSecret(server, endpoint, 'a secret that nobody signs with');
      return endpoint;
    }

    it('202: requests parked while the endpoint was paused are released in order, once, but none from before the given time', async () => {
      const target = targets.open();
      const endpoint = await inbound(server, {
        destinations: [await destinationAt(server, target.url, { concurrency: 1 })],
      });
      await change(server, endpoint, { status: 'paused' });
      const parked: string[] = [];
      for (let n = 0; n < 5; n += 1) parked.push(await accepted(server, endpoint, json({ n })));
      const [, since] = (await requestsOf(server, endpoint))
        .map(({ received_at }: { received_at: string }) => received_at)
        .reverse();
      expectRefusal(await post(`/v1/endpoints/${endpoint.id}/requests/replay`, { status: 'parked' }), 409);
      await change(server, endpoint, { status: 'active' });

      const dry = expectStatus(
        await post(`/v1/endpoints/${endpoint.id}/requests/replay`, { status: 'parked', since, dry_run: true }),
        200,
      ).json;
      const job = await over(
        await started(`/v1/endpoints/${endpoint.id}/requests/replay`, { status: 'parked', since }),
      );
      const again = await over(
        await started(`/v1/endpoints/${endpoint.id}/requests/replay`, { status: 'parked', since }),
      );
      await target.arrived(4);

      expect(dry).toEqual({
        replay_id: expect.stringMatching(/^rpl_/),
        dry_run: true,
        scanned: 4,
        replayed: 4,
        excluded: 0,
      });
      expect(job).toMatchObject({
        kind: 'requests',
        endpoint: endpoint.id,
        status: 'parked',
        state: 'completed',
        total_estimate: 4,
        scanned: 4,
        replayed: 4,
        enqueued: 4,
        skipped: 0,
      });
      expect(again).toMatchObject({ scanned: 0, replayed: 0, enqueued: 0 });
      expect(target.posts().map(({ rawBody }) => JSON.parse(rawBody.toString()).n)).toEqual([1, 2, 3, 4]);
      const requests = await requestsOf(server, endpoint);
      expect(requests.filter(({ released_at }) => released_at !== null)).toHaveLength(4);
      expect(requests.find(({ event_id }) => event_id === parked[0])).toMatchObject({
        status: 'parked',
        released_at: null,
      });
    });

    it('202: quarantined requests are verified again; a request that still fails is skipped, an erased one is excluded', async () => {
      const target = targets.open();
      const endpoint = await lockedOut(target.url);
      for (let n = 0; n < 3; n += 1) expectStatus(await provide(server, endpoint.at, json({ n })), 401);
      const [newest] = await requestsOf(server, endpoint);
      expectStatus(await server.api('DELETE', `/v1/events/${newest.event_id}/payload`), 204);

      const still = await over(
        await started(`/v1/endpoints/${endpoint.id}/requests/replay`, { status: 'quarantined' }),
      );
      await change(server, endpoint, { verification: 'none' });
      const dry = await post(`/v1/endpoints/${endpoint.id}/requests/replay`, { status: 'quarantined', dry_run: true });
      const job = await over(await started(`/v1/endpoints/${endpoint.id}/requests/replay`, { status: 'quarantined' }));
      await target.arrived(2);

      expect(still).toMatchObject({
        state: 'completed',
        scanned: 3,
        replayed: 0,
        enqueued: 0,
        skipped: 2,
        excluded: 1,
      });
      expect(dry.json).toMatchObject({ scanned: 3, replayed: 2, excluded: 1 });
      expect(job).toMatchObject({ state: 'completed', scanned: 3, replayed: 2, enqueued: 2, skipped: 0, excluded: 1 });
    });

    it('a job that dies after the commit of a request does not create a second event for it', async () => {
      const target = targets.open();
      const endpoint = await inbound(server, { destinations: [await destinationAt(server, target.url)] });
      await change(server, endpoint, { status: 'paused' });
      for (let n = 0; n < 3; n += 1) await accepted(server, endpoint, json({ n }));
      await change(server, endpoint, { status: 'active' });
      const job = await started(`/v1/endpoints/${endpoint.id}/requests/replay`, { status: 'parked' });
      await over(job);

      // Simulates a process that died before it recorded any progress.
      await sql.rows(`update requests set released_at = null where endpoint_id = $1`, [uuidOf(endpoint.id)]);
      await sql.rows(
        `update replay_jobs set state = 'running', from_id = '00000000-0000-0000-0000-000000000000', scanned = 0, replayed = 0, enqueued = 0,
        page_at = now() - interval '1 minute', runner = gen_random_uuid() where id = $1`,
        [uuidOf(job)],
      );
      const again = await until(
        async () => (await server.api('GET', `/v1/replays/${job}`)).json,
        ({ state }) => state === 'completed',
        2 * WITHIN_MS,
      );

      expect(again).toMatchObject({ resumed_from: 0, scanned: 3, replayed: 3 });
      expect(await requestsOf(server, endpoint)).toHaveLength(6);
      expect(await target.arrived(3)).toHaveLength(3);
    });

    it('GET requests filters by status, method and time; 422 and 400 for invalid filters', async () => {
      const endpoint = await inbound(server, { destinations: [await destinationAt(server, targets.open().url)] });
      const routed = await accepted(server, endpoint, json({}));
      await change(server, endpoint, { status: 'paused' });
      const parked = await accepted(server, endpoint, json({}));
      await accepted(server, endpoint, { method: 'PUT' });
      const at = (await requestsOf(server, endpoint)).map(({ received_at }: { received_at: string }) => received_at);
      const ids = async (query: string): Promise<string[]> =>
        expectStatus(await server.api('GET', `/v1/endpoints/${endpoint.id}/requests?${query}`), 200).json.data.map(
          ({ event_id }: { event_id: string }) => event_id,
        );

      expect(await ids('status=routed')).toEqual([routed]);
      expect(await ids('status=parked')).toHaveLength(2);
      expect(await ids('status=parked&method=POST')).toEqual([parked]);
      expect(await ids('method=PUT')).toHaveLength(1);
      expect(await ids('status=quarantined')).toEqual([]);
      expect(await ids(`since=${at[1]}`)).toHaveLength(2);
      expect(await ids(`until=${at[1]}&since=${at[1]}`)).toEqual([parked]);
      const { json: page } = await server.api('GET', `/v1/endpoints/${endpoint.id}/requests?status=parked&limit=1`);
      expect(await ids(`status=parked&limit=1&cursor=${page.next_cursor}`)).toEqual([parked]);
      expectRefusal(await server.api('GET', `/v1/endpoints/${endpoint.id}/requests?cursor=${page.next_cursor}`), 400);
      for (const query of ['status=lost', 'method=post', 'since=yesterday'])
        expectRefusal(await server.api('GET', `/v1/endpoints/${endpoint.id}/requests?${query}`), 400);
      expectInvalid(await post(`/v1/endpoints/${endpoint.id}/requests/replay`, {}), 'schema', 'status');
      expectInvalid(
        await post(`/v1/endpoints/${endpoint.id}/requests/replay`, { status: 'routed' }),
        'schema',
        'status',
      );
      expectRefusal(
        await post('/v1/endpoints/ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1/requests/replay', { status: 'parked' }),
        404,
      );
    });
  });
});
