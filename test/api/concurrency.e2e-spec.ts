import type { PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import type { Sql, TargetPath, Targets } from './scene.js';
import { destinationAt, eventIn, expectStatus, openSql, sendMany, startTargets, uuidOf } from './scene.js';

/** A slow target that records its maximum number of concurrent deliveries. */
interface SlowTarget {
  target: TargetPath;
  mostAtOnce(): number;
}

describe('concurrency setting of a destination', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;

  beforeAll(async () => {
    [server, targets] = await Promise.all([sharedServer(), startTargets()]);
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql.close();
    await server.stop();
    await targets.close();
  });

  function openSlow(): SlowTarget {
    let [now, most] = [0, 0];
    const target = targets.open(async () => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => void setTimeout(resolve, 50));
      now -= 1;
      return {};
    });
    return { target, mostAtOnce: () => most };
  }

  const allDelivered = async (ids: string[]): Promise<void> =>
    void (await Promise.all(ids.map((id) => eventIn(server, id, 'delivered'))));

  it('of twenty deliveries to a slow target with concurrency 2, never more than two run at once', async () => {
    const slow = openSlow();
    const id = await destinationAt(server, slow.target.url, { concurrency: 2 });

    await allDelivered(await sendMany(server, id, 20));

    expect([slow.target.posts().length, slow.mostAtOnce()]).toEqual([20, 2]);
  });

  it('deliveries that waited behind an open circuit keep to the limit', async () => {
    const slow = openSlow();
    const id = await destinationAt(server, slow.target.url, { concurrency: 1 });
    await sql.rows(
      `
      insert into circuits (environment_id, target_id, state, consecutive_failures, opened_at, probe_at, probes)
      select environment_id, id, 'open', 10, now(), now() + interval '1 hour', 0 from destinations where id = $1`,
      [uuidOf(id)],
    );
    await sql.rows(
      "select pg_notify('posthorn', 'circuit:' || environment_id || ':' || id) from destinations where id = $1",
      [uuidOf(id)],
    );
    const {
      json: { circuit },
    } = await server.api('GET', `/v1/destinations/${id}`);
    const ids = await sendMany(server, id, 10);

    expectStatus(await server.api('PATCH', `/v1/destinations/${id}`, { status: 'active' }), 200);
    await allDelivered(ids);

    expect(circuit.state).toBe('open');
    expect(slow.mostAtOnce()).toBe(1);
  });

  it('a change applies from the next delivery on, and null lets the limit adapt to the target', async () => {
    const slow = openSlow();
    const id = await destinationAt(server, slow.target.url, { concurrency: 1 });
    await allDelivered(await sendMany(server, id, 4));
    const before = slow.mostAtOnce();

    expectStatus(await server.api('PATCH', `/v1/destinations/${id}`, { concurrency: null }), 200);
    await allDelivered(await sendMany(server, id, 32));

    expect(before).toBe(1);
    expect(slow.mostAtOnce()).toBeGreaterThan(1);
  });
});
