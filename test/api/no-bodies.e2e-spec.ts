import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { type OpenApi, type Route, routesOf } from '../conformance/openapi-document.js';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { as, createKey, expectInvalid, expectRefusal } from './answers.js';
import { applicationOf, emit, endpointAt, eventsIn, eventsOf } from './applications.js';
import { until } from './polling.js';
import { inbound } from './receiving.js';
import { jobIn } from './replaying.js';
import type { Targets } from './scene.js';
import { destinationAt, eventIn, eventOf, expectStatus, send, startTargets, WITHIN_MS } from './scene.js';

const ID = '01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';

/** An operation without a request body must reject a request that has a body, and must not ignore the body. */
describe('operations without a request body', () => {
  let server: PosthornServer;
  let targets: Targets;
  let bodiless: Route[];

  beforeAll(async () => {
    [server, targets] = await Promise.all([sharedServer(), startTargets()]);
    const document = (await server.api('GET', '/openapi.json')).json as OpenApi;
    bodiless = routesOf(document).filter(
      ({ method, operation }) => method !== 'GET' && operation.requestBody === undefined,
    );
  });

  afterAll(async () => {
    await Promise.all([server.stop(), targets.close()]);
  });

  const filled = (path: string): string =>
    path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === 'app' ? `app_${ID}` : `dst_${ID}`));
  /**
   * Returns false for two kinds of routes: operator routes accept no API key, and `/v1/emails` ignores fields that
   * clients of other email services send.
   */
  const isClosed = ({ path }: Route): boolean => !path.startsWith('/v1/orgs') && !path.startsWith('/v1/emails');
  const call = ({ method, path }: Route, body: string, headers = {}): Promise<ApiAnswer> =>
    server.api(method, filled(path), body, headers);

  it('422: every such operation of the OpenAPI document rejects unknown fields and names them', async () => {
    expect(bodiless.filter(isClosed).length).toBeGreaterThan(20);

    for (const route of bodiless.filter(isClosed)) {
      const answer = await call(route, '{"dry_run":true,"destination":"dst_x"}');

      expect([route.method, route.path, answer.status]).toEqual([route.method, route.path, 422]);
      expect(expectInvalid(answer, 'schema').sort()).toEqual(['destination', 'dry_run']);
      expect(route.operation.responses).toHaveProperty('422');
    }
  });

  it('422 and 400: reject a body that is not an object, or not JSON', async () => {
    for (const route of bodiless.filter(isClosed)) {
      const name = `${route.method} ${route.path}`;
      for (const body of ['[]', '[{"dry_run":true}]', 'null', 'true', '1', '"x"'])
        expect([name, body, (await call(route, body)).status]).toEqual([name, body, 422]);
      for (const body of ['{', '{"a":1,}', 'dry_run=true'])
        expect([name, body, (await call(route, body)).status]).toEqual([name, body, 400]);
    }
  });

  it('accept no body, an empty one and {}', async () => {
    for (const route of bodiless.filter(isClosed)) {
      if (route.path.startsWith('/v1/session')) continue;
      for (const body of [undefined, '', '{}', ' {} ']) {
        const { status } = await server.api(route.method, filled(route.path), body);
        expect([route.method, route.path, body, [404, 204, 401, 403].includes(status)]).toEqual([
          route.method,
          route.path,
          body,
          true,
        ]);
      }
    }
  });

  it('nothing happens: a DELETE with {"dry_run": true} deletes nothing, and cancel, stop and erase change nothing', async () => {
    const destination = await destinationAt(server, targets.open().url);
    const endpoint = await inbound(server);
    const key = await createKey(server, { name: 'Stays', scope: 'read' });
    const message = await send(server, destination);
    await eventIn(server, message, 'delivered');
    const event = message.replace('msg', 'evt');
    const dry = { dry_run: true };

    const answers = [
      await server.api('DELETE', `/v1/destinations/${destination}`, dry),
      await server.api('DELETE', `/v1/endpoints/${endpoint.id}`, dry),
      await server.api('DELETE', `/v1/keys/${key.id}`, dry),
      await server.api('DELETE', `/v1/events/${event}/payload`, dry),
      await server.api('POST', `/v1/events/${event}/cancel`, { destination }),
    ];

    for (const answer of answers) expectInvalid(answer, 'schema');
    for (const path of [`destinations/${destination}`, `endpoints/${endpoint.id}`])
      expectStatus(await server.api('GET', `/v1/${path}`), 200);
    expect((await server.api('GET', '/v1/org', undefined, as(key.key))).status).toBe(200);
    expect(await eventOf(server, event)).not.toHaveProperty('payload_erased_at');
  });

  it('401, 403 and 422 with an Idempotency-Key: access is checked first, and the key stays free after a rejection', async () => {
    const reader = await createKey(server, { name: 'Reads', scope: 'read' });
    const route = `/v1/replays/rpj_${ID}/stop`;
    const key = { 'idempotency-key': randomUUID() };

    expectRefusal(await server.api('POST', route, { a: 1 }, { authorization: 'Bearer nobody' }), 401);
    expectRefusal(await server.api('POST', route, { a: 1 }, as(reader.key)), 403);
    expectInvalid(await server.api('POST', route, { a: 1 }, key), 'schema', 'a');
    expectRefusal(await server.api('POST', route, undefined, key), 404);
  });

  it('/v1/emails: fields of other email clients are ignored', async () => {
    for (const route of bodiless.filter(({ path }) => path.startsWith('/v1/emails'))) {
      expect([route.path, (await call(route, '{"id":"x","other":1}')).status]).toEqual([route.path, 404]);
    }
  });

  it('GET: a body has no meaning (RFC 9110, section 9.3.1), and is ignored', async () => {
    const { hostname, port } = new URL(server.url);
    const body = '{"dry_run":true}';
    const headers = {
      authorization: `Bearer ${server.apiKey}`,
      'content-type': 'application/json',
      'content-length': body.length,
    };
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const asked = request({ hostname, port, path: '/v1/org', method: 'GET', headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      asked.on('error', reject).end(body);
    });

    expect(status).toBe(200);
  });

  describe('POST /v1/app/{app}/erase', () => {
    it('200: dry_run counts the objects that would be erased, erases nothing, and has an empty difference in the audit log', async () => {
      const [said, waits] = [
        targets.open(() => ({ body: 'Thank you, Ann' })),
        targets.open(() => ({ status: 500, body: 'Sorry, Ann' })),
      ];
      const app = await applicationOf(server, { uid: `counted-${randomUUID()}` });
      await endpointAt(server, app, said.url);
      await endpointAt(server, app, waits.url, { retry: { schedule: [0, 3600] } });
      const sent = [await emit(server, app), await emit(server, app), await emit(server, app)];
      await Promise.all([said.arrived(3), waits.arrived(3)]);
      const attempts = async (): Promise<unknown[]> =>
        (await Promise.all(sent.map(({ message_id: message }) => eventsOf(server, message))))
          .flat()
          .flatMap(({ last_attempt: last }) => last ?? []);
      await until(attempts, ({ length }) => length === 6, WITHIN_MS);

      const answer = expectStatus(await server.api('POST', `/v1/app/${app}/erase`, { dry_run: true }), 200);
      const unerased = expectStatus(await server.api('GET', `/v1/app/${app}`), 200);
      const { id } = expectStatus(await server.api('POST', `/v1/app/${app}/erase`, { dry_run: false }), 202).json;
      const entries = (await server.api('GET', '/v1/audit?limit=2')).json.data;
      const job = await jobIn(server, id as string, 'completed', 60_000);
      const after = expectStatus(await server.api('POST', `/v1/app/${app}/erase`, { dry_run: true }), 200).json;

      expect(answer.json).toEqual({
        dry_run: true,
        endpoints: 2,
        messages: 3,
        deliveries: 3,
        attempts: 6,
        is_capped: false,
      });
      expect(unerased.json.id).toBe(app);
      // Entries of the audit log: the erasure with the id of its job, then the dry run without changes.
      expect(entries.map(({ action, before, after: now }: Record<string, unknown>) => [action, before, now])).toEqual([
        ['POST /v1/app/:app/erase', {}, { made: id }],
        ['POST /v1/app/:app/erase', {}, {}],
      ]);
      expect(job.erased).toEqual({ endpoints: 2, messages: 3, deliveries: 3, attempts: 6 });
      expect(after).toEqual({ dry_run: true, endpoints: 0, messages: 0, deliveries: 0, attempts: 0, is_capped: false });
    });

    it("422, 403 and 404: unknown fields, a wrong type, a read key, and another tenant's application", async () => {
      const app = await applicationOf(server);
      const [reader, tester] = [
        await createKey(server, { name: 'Reads', scope: 'read' }),
        await createKey(server, { name: 'Tests', scope: 'admin', environment: 'test' }),
      ];

      expectInvalid(await server.api('POST', `/v1/app/${app}/erase`, { dryRun: true }), 'schema', 'dryRun');
      expectInvalid(await server.api('POST', `/v1/app/${app}/erase`, { dry_run: 'true' }), 'schema', 'dry_run');
      expectRefusal(await server.api('POST', `/v1/app/${app}/erase`, { dry_run: true }, as(reader.key)), 403);
      for (const body of [{ dry_run: true }, {}])
        expectRefusal(await server.api('POST', `/v1/app/${app}/erase`, body, as(tester.key)), 404);
      expectStatus(await server.api('GET', `/v1/app/${app}`), 200);
    });
  });

  describe('POST /v1/events/{id}/replay with destinations', () => {
    const replay = (id: string, destinations: unknown, headers = {}): Promise<ApiAnswer> =>
      server.api('POST', `/v1/events/${id}/replay`, { destinations }, headers);

    it('202: sends to the given destinations only, and the other deliveries stay unchanged', async () => {
      const [one, two, three] = [targets.open(), targets.open(), targets.open()];
      const ids = await Promise.all([one, two, three].map(({ url }) => destinationAt(server, url)));
      const endpoint = await inbound(server, { destinations: ids });
      const event = (
        (await (await fetch(`${server.url}${endpoint.at}`, { method: 'POST', body: '{}' })).json()) as { id: string }
      ).id;
      await eventIn(server, event, 'delivered');

      expectStatus(await replay(event, [ids[0], ids[2]]), 202);

      await Promise.all([one.arrived(2), three.arrived(2)]);
      const { deliveries } = await eventIn(server, event, 'delivered');
      expect(
        deliveries
          .filter(({ replayed }: { replayed: boolean }) => replayed)
          .map(({ destination }: { destination: string }) => destination)
          .sort(),
      ).toEqual([ids[0], ids[2]].sort());
      expect(two.posts()).toHaveLength(1);
    });

    it('422: a destination that the event did not go to, one of another tenant, an empty list, and an invalid id; nothing is sent', async () => {
      const target = targets.open();
      const [destination, other] = [await destinationAt(server, target.url), await destinationAt(server, target.url)];
      const tester = await createKey(server, { name: 'Tests', scope: 'admin', environment: 'test' });
      const foreign = expectStatus(
        await server.api('POST', '/v1/destinations', { name: 'Foreign', type: 'pull' }, as(tester.key)),
        201,
      ).json.id as string;
      const message = await send(server, destination);
      await eventIn(server, message, 'delivered');

      // A range replay also rejects a destination without a route.
      for (const named of [other, foreign, `dst_${ID}`, 'nothing', message, `ep_${ID}`, '']) {
        const answer = await replay(message, [destination, named]);
        expect(expectInvalid(answer, 'schema')).toEqual(['destinations.1']);
        expect(answer.json.error.details.fields[0].message).toBe('is no destination that the event went to');
      }
      for (const [wrong, path] of [
        [[], 'destinations'],
        ['dst_x', 'destinations'],
        [[1], 'destinations.0'],
        [null, 'destinations'],
      ] as const)
        expectInvalid(await replay(message, wrong), 'schema', path);
      expectInvalid(await server.api('POST', `/v1/events/${message}/replay`, { destination }), 'schema', 'destination');
      expectRefusal(await replay(message, [destination], as(tester.key)), 404);
      expect(target.posts()).toHaveLength(1);
    });

    it('422: the internal destination of an application endpoint does not exist for callers, with any prefix', async () => {
      const [target, ids] = [targets.open(), [] as string[]];
      const app = await applicationOf(server);
      const { id } = await endpointAt(server, app, target.url);
      const { message_id: message } = await emit(server, app);
      const [event] = await eventsIn(server, message, 1, 'delivered');
      ids.push(id.replace('ep_', 'dst_'), id);

      for (const named of ids) expectInvalid(await replay(event.id, [named]), 'schema', 'destinations.0');
      expect(target.posts()).toHaveLength(1);
    });

    it('409: a disabled destination, or an event without deliveries; 404 for an unknown event', async () => {
      const [well, off] = [targets.open(), targets.open()];
      const ids = await Promise.all([well, off].map(({ url }) => destinationAt(server, url)));
      const endpoint = await inbound(server, { destinations: ids });
      const nowhere = await inbound(server, { destinations: [] });
      const receive = async ({ at }: { at: string }): Promise<string> =>
        ((await (await fetch(`${server.url}${at}`, { method: 'POST', body: '{}' })).json()) as { id: string }).id;
      const [event, ignored] = [await receive(endpoint), await receive(nowhere)];
      await eventIn(server, event, 'delivered');
      expectStatus(await server.api('PATCH', `/v1/destinations/${ids[1]}`, { status: 'disabled' }), 200);

      const disabled = await replay(event, [ids[1]]);
      const both = await replay(event, ids);

      expectRefusal(disabled, 409);
      expect(disabled.json.error.details).toEqual({ reason: 'disabled' });
      expectStatus(both, 202);
      await well.arrived(2);
      expect(off.posts()).toHaveLength(1);
      expectRefusal(await replay(ignored, [ids[0]]), 409);
      expectRefusal(await replay(`evt_${ID}`, [ids[0]]), 404);
    });

    it('409: the same Idempotency-Key with other destinations', async () => {
      const target = targets.open();
      const destination = await destinationAt(server, target.url);
      const message = await send(server, destination);
      await eventIn(server, message, 'delivered');
      const key = { 'idempotency-key': randomUUID() };

      expectStatus(await replay(message, [destination], key), 202);
      const again = await server.api('POST', `/v1/events/${message}/replay`, undefined, key);

      expectRefusal(again, 409);
      expect(again.json.error.details).toEqual({ reason: 'key_reused' });
      await target.arrived(2);
    });
  });
});
