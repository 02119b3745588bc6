import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { as, createKey } from '../api/answers.js';
import { until } from '../api/polling.js';
import type { Inbound } from '../api/receiving.js';
import { accepted, inbound, json, provide, requestOf } from '../api/receiving.js';
import type { TargetPath, Targets } from '../api/scene.js';
import { destinationAt, eventIn, eventOf, startTargets } from '../api/scene.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';

/** Code that takes long and succeeds. */
const SLOW =
  'export default (event) => { const end = Date.now() + 2000; while (Date.now() < end); return { body: { slow: true } } }';
const LOOP = 'export default (event) => { while (event.body.loop); return { body: { n: event.body.n } } }';
const QUICK = 'export default (event) => ({ body: { n: event.body.n + 1 } })';
/** Code that needs more CPU time than one short time slice, but ends. */
const STEADY =
  'export default (event) => { let n = 0; for (let i = 0; i < 3e6; i += 1) n += i % 7; return { body: { n: n > 0 } } }';

describe("slow code beside other tenants' code", () => {
  let server: PosthornServer;
  let targets: Targets;
  const timers: NodeJS.Timeout[] = [];
  /** Calls `server` with a key of another organization. */
  let stranger: PosthornServer;

  beforeAll(async () => {
    [server, targets] = await Promise.all([startServer(), startTargets()]);
    const { key } = await createKey(server, { scope: 'admin', environment: 'test' });
    await giveTestEnvironmentAway();
    stranger = {
      ...server,
      url: server.url,
      api: (method, path, body, headers) => server.api(method, path, body, { ...as(key), ...headers }),
    };
  });

  afterAll(async () => {
    // Stops timers of a test that failed before it could stop them.
    timers.forEach(clearInterval);
    await server.stop();
    await targets.close();
  });

  /**
   * Creates a second organization by SQL, because this server has no operator key. Then gives it the test environment
   * of the first organization.
   */
  async function giveTestEnvironmentAway(): Promise<void> {
    const client = new pg.Client({ connectionString: server.databaseUrl });
    await client.connect();
    const { rows } = await client.query(
      `insert into organizations (id, slug, name, created_at) values ($1, 'stranger', 'Stranger', now()) returning id`,
      [randomUUID()],
    );
    await client.query(`update environments set organization_id = $1 where mode = 'test'`, [rows[0].id]);
    await client.end();
  }

  async function transforming(
    owner: PosthornServer,
    code: string,
    timeoutMs = 5_000,
  ): Promise<{ endpoint: Inbound; target: TargetPath }> {
    const target = targets.open();
    const settings = {
      transform: { engine: 'managed', code, timeoutMs },
      destinations: [await destinationAt(owner, target.url)],
    };
    return { endpoint: await inbound(owner, settings), target };
  }

  /** Requests the endpoint twice a second. Returns a function that stops the requests and returns all status codes. */
  function twiceASecond(endpoint: Inbound): () => Promise<number[]> {
    const answers: Promise<number>[] = [];
    // Status 0 stands for a request without an answer, such as a request in flight when the server stops.
    const send = (): void =>
      void answers.push(
        provide(server, endpoint.at, json({})).then(
          ({ status }) => status,
          () => 0,
        ),
      );
    const timer = setInterval(send, 500);
    timers.push(timer);
    send();
    return () => {
      clearInterval(timer);
      return Promise.all(answers);
    };
  }

  it('200: neighbours of a transform that takes seconds are received and transformed meanwhile, each without delay', async () => {
    const slow = [await transforming(server, SLOW), await transforming(stranger, SLOW)];
    const neighbours = [
      { owner: server, ...(await transforming(server, QUICK)) },
      { owner: stranger, ...(await transforming(stranger, QUICK)) },
      { owner: server, ...(await transforming(server, STEADY)) },
    ];
    const stops = slow.map(({ endpoint }) => twiceASecond(endpoint));
    await until(slowCalls, (calls) => calls >= 2);

    const ids: { owner: PosthornServer; id: string }[] = [];
    for (let n = 0; n < 4; n += 1) {
      for (const { owner, endpoint } of neighbours)
        ids.push({ owner, id: await accepted(owner, endpoint, json({ n })) });
    }

    for (const { owner, id } of ids) await eventIn(owner, id, 'delivered');
    expect(neighbours.map(({ target }) => target.posts().length)).toEqual([4, 4, 4]);
    for (const { target } of neighbours)
      for (const { rawBody } of target.posts()) expect(JSON.parse(String(rawBody))).toEqual({ n: expect.anything() });
    const statuses = (await Promise.all(stops.map((stop) => stop()))).flat();
    // Each slow endpoint gets more requests than its thread can process. Therefore some requests get 503, and the
    // others get 200.
    expect(new Set([...statuses, 200, 503])).toEqual(new Set([200, 503]));
    expect(statuses).toContain(200);
  });

  it('200: while three events of an endpoint loop, the next event of the same endpoint is transformed without delay', async () => {
    const { endpoint, target } = await transforming(server, LOOP, 4_000);
    let ended = 0;
    const loops = [1, 2, 3].map(() => provide(server, endpoint.at, json({ loop: true })).finally(() => (ended += 1)));
    await until(slowCalls, (calls) => calls >= 1);

    const id = await accepted(server, endpoint, json({ n: 7 }));

    expect(ended).toBe(0);
    await eventIn(server, id, 'delivered');
    expect(JSON.parse(String(target.posts()[0]?.rawBody))).toEqual({ n: 7 });
    // If the machine was too busy to accept any of the three calls, repeats a call until it is accepted.
    const [taken] = (await Promise.all(loops)).filter(({ status }) => status === 200);
    const first =
      taken ??
      (await until(
        () => provide(server, endpoint.at, json({ loop: true })),
        ({ status }) => status === 200,
        150_000,
      ));
    expect(await eventOf(server, first.json.id)).toMatchObject({ status: 'parked' });
    expect((await requestOf(server, endpoint, first.json.id)).note).toBe(
      'The transform failed: timeout: The code did not end in time.',
    );
  }, 180_000);

  it("200 or 503: if loops occupy all threads, each call ends by its own limit, and none fails because of other calls' load", async () => {
    const loops = await Promise.all([1, 2, 3].map(() => transforming(server, LOOP, 1_000)));
    const answered = loops.flatMap(({ endpoint }) =>
      [1, 2, 3, 4].map(async () => ({ endpoint, answer: await provide(server, endpoint.at, json({ loop: true })) })),
    );

    const ends = await Promise.all(answered);

    expect(new Set([...ends.map(({ answer }) => answer.status), 200, 503])).toEqual(new Set([200, 503]));
    for (const { endpoint, answer } of ends) {
      if (answer.status === 503)
        expect([answer.json.error.message, answer.headers.get('retry-after')]).toEqual([
          expect.stringContaining('Nothing was accepted'),
          expect.any(String),
        ]);
      // This note is stored only if the code used up its own time limit, not if it waited for CPU time.
      else
        expect((await requestOf(server, endpoint, answer.json.id)).note).toBe(
          'The transform failed: timeout: The code did not end in time.',
        );
    }
    expect((await provide(server, (await transforming(server, QUICK)).endpoint.at, json({ n: 1 }))).status).toBe(200);
  });

  async function slowCalls(): Promise<number> {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    return Number(/posthorn_sandbox_calls\{state="slow"\} (\d+)/.exec(text)?.[1] ?? 0);
  }
});
