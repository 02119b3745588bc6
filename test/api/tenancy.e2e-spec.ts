import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { as, createKey, expectInvalid, expectRefusal } from './answers.js';
import type { Sql, TargetPath, Targets } from './scene.js';
import { destinationAt, eventIn, openSql, send, startTargets } from './scene.js';
import { asPage, cookieOf, signedInMember } from './sessions.js';

const OPERATOR_KEY = 'the-key-of-the-operator-in-this-suite';
/** Lists of the whole organization's data. Keys of both environments get the same lists. */
const OF_BOTH = new Set(['members', 'sessions']);

const WAYS = ['key', 'session of a key', 'session of a member'] as const;
type Way = (typeof WAYS)[number];

/** Objects of an environment, which must never be visible in another environment. */
interface Environment {
  mode: 'live' | 'test';
  /** True if the environment belongs to another organization. */
  isForeign: boolean;
  key: string;
  /** Headers per authentication method: an API key, a session opened with the key, and a session of an admin member. */
  ways: Record<Way, Record<string, string>>;
  ids: {
    destinations: string;
    keys: string;
    events: string;
    secrets: string;
    templates: string;
    endpoints: string;
    pull: string;
    replays: string;
    message: string;
    routeId: string;
    requestId: string;
    application: string;
    app: string;
    'event-types': string;
    domains: string;
    emails: string;
    suppressions: string;
    topics: string;
    members: string;
    sessions: string;
  };
  target: TargetPath;
}

/** Returns a route's path with the ids of one environment. */
function filled(path: string, id: string, { routeId, requestId, application }: Environment['ids']): string {
  return path
    .replace('{app}', application)
    .replace(/\{(id|endpoint|name)\}/, id)
    .replace('{version}', '1')
    .replace('{routeId}', routeId)
    .replace('{requestId}', requestId)
    .replace('{address}', 'customer@example.org');
}

/** Request bodies that would have an effect if the id were found. */
const BODIES: Readonly<Record<string, object>> = {
  'PATCH /v1/emails/{id}': { scheduled_at: 'in 2 hours' },
  'PATCH /v1/destinations/{id}': { name: 'Taken over', status: 'disabled' },
  'POST /v1/destinations/{id}/secret/rotate': { grace_seconds: 0 },
  'POST /v1/keys/{id}/rotate': { grace_seconds: 0 },
  'PUT /v1/secrets/{id}': { value: 'taken over' },
  'PATCH /v1/templates/{id}': { name: 'Taken over' },
  'POST /v1/templates/{id}/restore': { version: 1 },
  'PUT /v1/endpoints/{id}/secret': { secret: 'taken over' },
  'PATCH /v1/endpoints/{id}': { status: 'paused' },
  'POST /v1/endpoints/{id}/routes': { destination: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' },
  'POST /v1/endpoints/{id}/trial': { request: 'req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' },
  'POST /v1/app/{app}/endpoints/check': { url: 'https://example.com' },
  'POST /v1/destinations/{id}/recover': { since: '2026-01-01T00:00:00Z' },
  'POST /v1/app/{app}/recover': { since: '2026-01-01T00:00:00Z' },
  'POST /v1/app/{app}/replay': { since: '2026-01-01T00:00:00Z' },
  'POST /v1/endpoints/{id}/requests/replay': { status: 'parked' },
  'POST /v1/app/{app}/event': { event_type: 'a', payload: {} },
  'PATCH /v1/app/{app}': { name: 'Taken over' },
  'POST /v1/app/{app}/endpoints': { url: 'https://example.com' },
  'PATCH /v1/app/{app}/endpoints/{endpoint}': { status: 'disabled' },
  'POST /v1/app/{app}/endpoints/{endpoint}/recover': { since: '2026-01-01T00:00:00Z' },
  'PATCH /v1/event-types/{name}': { description: 'Taken over' },
  'PATCH /v1/domains/{id}': { kind: 'email', acknowledge_mx_conflict: true },
  'POST /v1/domains/{id}/dkim/rotate': { grace_seconds: 0 },
  'PATCH /v1/topics/{id}': { name: 'Taken over' },
  'PUT /v1/topics/{id}/subscriptions/{address}': { subscription: 'opt_out' },
  'POST /v1/pull/{endpoint}/ack': { cursor: 'x.y' },
  'PATCH /v1/members/{id}': { role: 'admin' },
};

describe('tenancy', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;
  let live: Environment;
  let test: Environment;
  let foreign: Environment;

  beforeAll(async () => {
    [server, targets] = await Promise.all([startServer({ OPERATOR_KEY }), startTargets()]);
    sql = openSql(server);
    live = await settle('live', server.apiKey);
    test = await settle('test', (await createKey(server, { scope: 'admin', environment: 'test' })).key);
    const made = await server.api(
      'POST',
      '/v1/orgs',
      { slug: 'foreign', name: 'Foreign', admin: { email: 'ada@foreign.example' } },
      as(OPERATOR_KEY),
    );
    foreign = await settle('live', made.json.key, true);
  });

  afterAll(async () => {
    await sql.close();
    await server.stop();
    await targets.close();
  });

  async function settle(mode: 'live' | 'test', key: string, isForeign = false): Promise<Environment> {
    const where = isForeign ? 'foreign' : mode;
    const target = targets.open();
    const owner = actingAs(key);
    const destination = await destinationAt(owner, target.url, { name: `Only in ${where}` });
    const message = await send(owner, destination, { event_type: `only.in.${where}` });
    const secret = await owner.api('POST', '/v1/secrets', { name: 'TOKEN', value: where });
    const template = await owner.api('POST', '/v1/templates', { name: where, alias: `only-in-${where}`, text: where });
    const [own, event] = [await owner.api('GET', '/v1/keys?limit=100'), await eventIn(owner, message, 'delivered')];
    const pull = await owner.api('POST', '/v1/destinations', { name: `Pulled in ${where}`, type: 'pull' });
    const endpoint = (
      await owner.api('POST', '/v1/endpoints', { slug: `only-in-${where}`, destinations: [pull.json.id] })
    ).json;
    const received = (await (await fetch(endpoint.url, { method: 'POST', body: where })).json()) as { id: string };
    const replay = await owner.api('POST', `/v1/endpoints/${endpoint.id}/replay`, {});
    const application = (await owner.api('POST', '/v1/app', { name: `Only in ${where}` })).json.id as string;
    const { id: app } = (await owner.api('POST', `/v1/app/${application}/endpoints`, { url: target.url })).json as {
      id: string;
    };
    const domain = await owner.api('POST', '/v1/domains', {
      domain: `only-in-${where}.example.com`,
      kind: 'email-send',
    });
    const suppression = await owner.api('POST', '/v1/suppressions', { email: `only-in-${where}@example.com` });
    const topic = await owner.api('POST', '/v1/topics', { name: `Only in ${where}`, default_subscription: 'opt_in' });
    await owner.api('PUT', `/v1/topics/${topic.json.id}/subscriptions/customer@example.org`, {
      subscription: 'opt_in',
    });
    const email = await owner.api('POST', '/v1/emails', {
      from: 'shop@simulator.localhost',
      to: 'delivered@simulator.localhost',
      subject: where,
      text: `Only in ${where}.`,
    });
    await eventIn(owner, email.json.id, 'delivered');
    const type = await owner.api('POST', '/v1/event-types', { name: `only.in.${where}` });
    const members =
      mode === 'test'
        ? live.ids.members
        : ((await owner.api('POST', '/v1/members', { email: `only-in-${where}@example.com`, role: 'read' })).json
            .id as string);
    const opened = await cookieOf(server, key);
    const member = await signedInMember(mode === 'test' ? server : owner, sql, 'admin');
    const ways = {
      key: as(key),
      'session of a key': asPage(opened, mode),
      'session of a member': asPage(member.cookie, mode),
    };
    const [session] = (await owner.api('GET', '/v1/sessions')).json.data;
    const ids = {
      members,
      sessions: session.id,
      application,
      app,
      'event-types': type.json.name,
      domains: domain.json.id,
      emails: email.json.id,
      suppressions: suppression.json.id,
      topics: topic.json.id,
      destinations: destination,
      keys: own.json.data.at(-1).id,
      events: event.id,
      secrets: secret.json.id,
      templates: template.json.id,
      endpoints: endpoint.id,
      pull: pull.json.id,
      replays: replay.json.id,
      message,
      routeId: endpoint.routes[0].id,
      requestId: `req_${received.id.slice(4)}`,
    };
    return { mode, isForeign, key, ways, target, ids };
  }

  function actingAs(key: string): PosthornServer {
    return {
      ...server,
      api: (method, path, body, headers) => server.api(method, path, body, { ...as(key), ...headers }),
    };
  }

  const pairs = (): [Environment, Environment][] => [
    [live, test],
    [test, live],
    [foreign, live],
    [foreign, test],
    [live, foreign],
  ];

  /**
   * Calls every route that has an id in its path, with the ids of the given environment. Returns the responses by
   * route.
   */
  async function knock(
    headers: Record<string, string>,
    { isForeign, ids }: Environment,
    strangerIsForeign: boolean,
  ): Promise<[string, ApiAnswer][]> {
    const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, unknown>>;
    };
    const routes = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => [method.toUpperCase(), path] as const),
    );
    const withId = routes.filter(([, path]) => path.includes('{') && !path.startsWith('/v1/orgs/'));
    expect(withId.length).toBeGreaterThanOrEqual(30);
    const answers: [string, ApiAnswer][] = [];
    for (const [method, path] of withId) {
      const kind = path.split('/')[2] as
        | 'destinations'
        | 'keys'
        | 'events'
        | 'secrets'
        | 'templates'
        | 'endpoints'
        | 'pull'
        | 'replays'
        | 'app'
        | 'event-types'
        | 'domains'
        | 'emails'
        | 'suppressions'
        | 'topics'
        | 'members'
        | 'sessions';
      if (OF_BOTH.has(kind) && strangerIsForeign === isForeign) continue;
      const body = method === 'GET' || method === 'DELETE' ? undefined : (BODIES[`${method} ${path}`] ?? {});
      answers.push([`${method} ${path}`, await server.api(method, filled(path, ids[kind], ids), body, headers)]);
    }
    return answers;
  }

  it.each(WAYS)(
    '404: every route with the id of an object of another environment or organization, by the %s of a stranger, and the object stays unchanged',
    async (way) => {
      const [before, answers] = [await snapshot(), [] as [string, ApiAnswer][]];

      for (const [stranger, owner] of pairs())
        answers.push(...(await knock(stranger.ways[way], owner, stranger.isForeign)));

      expect(answers.map(([route, { status }]) => `${route} ${status}`)).toEqual(
        answers.map(([route]) => `${route} 404`),
      );
      for (const [, answer] of answers) expectRefusal(answer, 404);
      expect(await snapshot()).toEqual(before);
    },
  );

  it('403: every route with ids of the other environment, by the session of a key that requests that environment', async () => {
    const before = await snapshot();

    for (const [stranger, owner] of [
      [live, test],
      [test, live],
    ] as const) {
      const answers = await knock(
        { ...stranger.ways['session of a key'], 'x-posthorn-environment': owner.mode },
        owner,
        false,
      );
      expect(answers.map(([route, { status }]) => `${route} ${status}`)).toEqual(
        answers.map(([route]) => `${route} 403`),
      );
      for (const [, { json }] of answers) expect(json.error.details).toEqual({ environment: stranger.mode });
    }

    expect(await snapshot()).toEqual(before);
  });

  /** Returns everything in the environments that a route could have changed. */
  async function snapshot(): Promise<unknown[]> {
    const seen: unknown[] = [];
    for (const { key, ids, target } of [live, test, foreign]) {
      const destination = `/v1/destinations/${ids.destinations}`;
      for (const path of [
        destination,
        `${destination}/secret`,
        `/v1/events/${ids.events}`,
        `/v1/secrets/${ids.secrets}`,
        `/v1/templates/${ids.templates}`,
        `/v1/endpoints/${ids.endpoints}`,
        `/v1/app/${ids.application}`,
        `/v1/event-types/${ids['event-types']}`,
        `/v1/app/${ids.application}/endpoints/${ids.app}`,
        `/v1/domains/${ids.domains}`,
        `/v1/emails/${ids.emails}`,
        `/v1/suppressions/${ids.suppressions}`,
        `/v1/topics/${ids.topics}`,
        `/v1/topics/${ids.topics}/subscriptions`,
        '/v1/signing-secret',
        '/v1/org',
      ]) {
        seen.push((await server.api('GET', path, undefined, as(key))).json);
      }
      const { last_used_at: _moves, ...own } = (await server.api('GET', `/v1/keys/${ids.keys}`, undefined, as(key)))
        .json;
      seen.push(own, target.posts().length);
    }
    return seen;
  }

  it('404: an id of the other environment gets the same response as an unknown id', async () => {
    const [others, unknown] = await Promise.all(
      [test.ids.destinations, `${test.ids.destinations.slice(0, -4)}0000`].map((id) =>
        server.api('GET', `/v1/destinations/${id}`, undefined, as(live.key)),
      ),
    );

    expect(others?.json.error).toEqual({ ...unknown?.json.error, request_id: expect.any(String) });
  });

  it('404: a message id of the other environment finds no event', async () => {
    for (const [stranger, owner] of pairs()) {
      expectRefusal(await server.api('GET', `/v1/events/${owner.ids.message}`, undefined, as(stranger.key)), 404);
      expectRefusal(
        await server.api('POST', `/v1/events/${owner.ids.message}/replay`, undefined, as(stranger.key)),
        404,
      );
    }
  });

  it('422: a send to a destination of the other environment stores nothing and sends nothing', async () => {
    for (const [stranger, owner] of pairs()) {
      const before = [owner.target.posts().length, (await listed(stranger, '/v1/events')).length];

      const answer = await server.api(
        'POST',
        '/v1/send',
        { destination: owner.ids.destinations, event_type: 'a', payload: {} },
        as(stranger.key),
      );

      expectInvalid(answer, 'schema', 'destination');
      expect([owner.target.posts().length, (await listed(stranger, '/v1/events')).length]).toEqual(before);
    }
  });

  async function listed({ key }: Environment, path: string): Promise<{ id: string }[]> {
    const { status, json } = await server.api('GET', path, undefined, as(key));
    expect(status).toBe(200);
    return json.data;
  }

  it('lists show one environment, with any filter', async () => {
    for (const [stranger, owner] of pairs()) {
      for (const path of [
        '/v1/destinations',
        '/v1/keys',
        '/v1/events',
        '/v1/destinations?type=https',
        '/v1/endpoints',
        '/v1/secrets',
        '/v1/templates',
        '/v1/replays',
        '/v1/app',
      ]) {
        const own = await listed(owner, path);
        const seen = await listed(stranger, path);
        expect(own).not.toHaveLength(0);
        expect(seen.filter(({ id }) => own.some((each) => each.id === id))).toEqual([]);
      }
      for (const query of [
        `endpoint=${owner.ids.destinations}`,
        `message_id=${owner.ids.message}`,
        `event_type=only.in.${owner.isForeign ? 'foreign' : owner.mode}`,
      ]) {
        expect(await listed(owner, `/v1/events?${query}`)).toHaveLength(1);
        expect(await listed(stranger, `/v1/events?${query}`)).toEqual([]);
      }
    }
  });

  it('each environment signs ad-hoc URLs with its own secret', async () => {
    const [one, other] = await Promise.all(
      [live, test].map(({ key }) => server.api('GET', '/v1/signing-secret', undefined, as(key))),
    );

    expect(one?.json.secret).toMatch(/^whsec_/);
    expect(one?.json.secret).not.toBe(other?.json.secret);
  });

  it('a redrive is limited to its environment', async () => {
    const dead = targets.open(() => ({ status: 500 }));
    const owner = actingAs(live.key);
    const destination = await destinationAt(owner, dead.url, { retry: { max_attempts: 1 } });
    const message = await send(owner, destination);
    await eventIn(owner, message, 'dlq');

    const answer = await server.api('POST', '/v1/dlq/redrive', { endpoint: destination }, as(test.key));
    const all = await server.api('POST', '/v1/dlq/redrive', {}, as(test.key));

    expect(answer.json.redriven ?? 0).toBe(0);
    expect(all.json).toEqual({ redriven: 0, skipped: 0 });
    expect((await eventIn(owner, message, 'dlq')).deliveries).toHaveLength(1);
  });

  it('the same Idempotency-Key in two environments is two keys', async () => {
    const key = crypto.randomUUID();
    const body = { name: 'Once in each', type: 'pull' };

    const answers = await Promise.all(
      [live, test].map((environment) =>
        server.api('POST', '/v1/destinations', body, { ...as(environment.key), 'idempotency-key': key }),
      ),
    );

    expect(answers.map(({ status, headers }) => [status, headers.get('idempotent-replayed')])).toEqual([
      [201, null],
      [201, null],
    ]);
    expect(answers[0]?.json.id).not.toBe(answers[1]?.json.id);
  });
});
