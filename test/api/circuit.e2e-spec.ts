import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { until } from './polling.js';
import type { Sql, TargetPath, Targets } from './scene.js';
import {
  destinationAt,
  eventAfter,
  eventIn,
  eventOf,
  expectStatus,
  openSql,
  send,
  sendMany,
  startTargets,
  uuidOf,
  WITHIN_MS,
} from './scene.js';

/** Retry policy under which no retry happens during a test. */
const RARELY = { retry: { schedule: [0, 36_000] } };

describe('the circuit breaker', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;

  beforeAll(async () => {
    targets = await startTargets();
    server = await startServer();
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql.close();
    await server.stop();
    await targets.close();
  });

  const circuitOf = async (
    destination: string,
  ): Promise<{ state: string; opened_at: string | null; next_probe_at: string | null }> =>
    expectStatus(await server.api('GET', `/v1/destinations/${destination}`), 200).json.circuit;

  const circuitIn = (
    destination: string,
    state: string,
  ): Promise<{ state: string; opened_at: string | null; next_probe_at: string | null }> =>
    until(
      () => circuitOf(destination),
      (circuit) => circuit.state === state,
      WITHIN_MS,
    );

  /** Sends messages one by one and waits for each attempt, so that the outcomes have an order. */
  const attempted = async (destination: string, count: number): Promise<void> => {
    for (let i = 0; i < count; i += 1) await eventAfter(server, await send(server, destination), 1);
  };

  const failuresOf = async (destination: string): Promise<number | undefined> => {
    const [row] = await sql.rows<{ failures: number }>(
      'select consecutive_failures as failures from circuits where target_id = $1',
      [uuidOf(destination)],
    );
    return row?.failures;
  };

  /**
   * Waits until all earlier outcomes are counted. Outcomes are counted in order, so this function causes one more
   * failure and waits until this failure is counted.
   */
  const everythingCounted = async (): Promise<void> => {
    const target = targets.open(() => ({ status: 500 }));
    const destination = await destinationAt(server, target.url, RARELY);
    await attempted(destination, 1);
    await until(
      () => failuresOf(destination),
      (failures) => failures === 1,
    );
  };

  /** Creates a destination whose circuit has just opened, and returns its id. */
  const opened = async (target: TargetPath, settings: object = {}): Promise<string> => {
    target.answerBy(() => ({ status: 500 }));
    const destination = await destinationAt(server, target.url, {
      ...RARELY,
      config: { circuit_breaker: { failure_threshold: 2 } },
      ...settings,
    });
    await attempted(destination, 2);
    await circuitIn(destination, 'open');
    return destination;
  };

  /** Makes the next probe due now and notifies the worker. */
  const makeProbeDue = async (destination: string): Promise<void> => {
    const [row] = await sql.rows<{ environment_id: number }>(
      `update circuits set probe_at = now() where target_id = $1 and state <> 'closed' returning environment_id`,
      [uuidOf(destination)],
    );
    if (!row) throw new Error('There is no open circuit.');
    await sql.rows(`select pg_notify('posthorn', $1)`, [`circuit:${row.environment_id}:${uuidOf(destination)}`]);
  };

  const secondsToProbe = async (destination: string): Promise<number> => {
    const [row] = await sql.rows<{ seconds: number }>(
      `select extract(epoch from probe_at - now())::float8 as seconds from circuits where target_id = $1 and state = 'open'`,
      [uuidOf(destination)],
    );
    return row?.seconds ?? NaN;
  };

  it('the circuit opens after 10 hard failures in a row, and not after 9', async () => {
    const target = targets.open(() => ({ status: 500 }));
    const destination = await destinationAt(server, target.url, RARELY);

    await attempted(destination, 9);
    await everythingCounted();
    const before = await circuitOf(destination);
    await attempted(destination, 1);

    expect(before).toEqual({ state: 'closed', opened_at: null, next_probe_at: null });
    const { opened_at: openedAt, next_probe_at: probeAt } = await circuitIn(destination, 'open');
    expect(Math.abs(Date.now() - Date.parse(openedAt ?? ''))).toBeLessThan(60_000);
    expect(Date.parse(probeAt ?? '') - Date.parse(openedAt ?? '')).toBe(30_000);
  });

  it('opens after config.circuit_breaker.failure_threshold failures, of any kind', async () => {
    const target = targets.open((_post, index) => (index === 0 ? { reset: true } : { status: 302 }));
    const config = { circuit_breaker: { failure_threshold: 3 } };
    const destination = await destinationAt(server, target.url, { ...RARELY, config });

    await attempted(destination, 2);
    const before = await circuitOf(destination);
    await attempted(destination, 1);

    expect(before.state).toBe('closed');
    await circuitIn(destination, 'open');
    expect(target.posts()).toHaveLength(3);
  });

  it('also counts the failures of an ad-hoc URL', async () => {
    const target = targets.open(() => ({ status: 500 }));
    const failed = await sendMany(server, target.url, 10);
    const [{ target_id: targetId }] = (await sql.rows<{ target_id: string }>(
      'select target_id from events where id = $1',
      [uuidOf(failed[0] as string)],
    )) as [{ target_id: string }];
    await until(
      () => sql.rows(`select from circuits where state = 'open' and target_id = $1`, [targetId]),
      (rows) => rows.length === 1,
    );

    const held = await send(server, target.url);

    await until(
      () => parkedOf([held]),
      (parked) => parked === 1,
      WITHIN_MS,
    );
    expect(target.posts().map(({ headers }) => headers['webhook-id'])).not.toContain(held);
  });

  it('stays closed if a success occurs between the failures', async () => {
    const target = targets.open((_post, index) => ({ status: index === 2 ? 200 : 500 }));
    const config = { circuit_breaker: { failure_threshold: 3 } };
    const destination = await destinationAt(server, target.url, { ...RARELY, config });

    await attempted(destination, 5);
    await everythingCounted();

    expect(await circuitOf(destination)).toMatchObject({ state: 'closed' });
    expect(await failuresOf(destination)).toBe(2);
    expect(target.posts()).toHaveLength(5);
  });

  it.each([429, 502, 503, 504])('stays closed on %i: a request to slow down is not a failure', async (status) => {
    const target = targets.open(() => ({ status, headers: { 'retry-after': '3600' } }));
    const destination = await destinationAt(server, target.url, {
      ...RARELY,
      config: { circuit_breaker: { failure_threshold: 2 } },
    });

    await attempted(destination, 4);
    await everythingCounted();

    expect(await circuitOf(destination)).toEqual({ state: 'closed', opened_at: null, next_probe_at: null });
  });

  const parkedOf = async (messageIds: string[]): Promise<number> =>
    (
      await sql.rows(
        `select from due_deliveries where parked and claimed_by is null and attempts = 0 and event_id = any($1)`,
        [messageIds.map(uuidOf)],
      )
    ).length;

  it('holds deliveries back while open: no request, no attempt, and the events are retrying', async () => {
    const target = targets.open();
    const destination = await opened(target);
    const healthy = targets.open();

    const held = await sendMany(server, destination, 20);
    await eventIn(server, await send(server, healthy.url), 'delivered');

    await until(
      () => parkedOf(held),
      (parked) => parked === 20,
      WITHIN_MS,
    );
    expect(target.posts()).toHaveLength(2);
    for (const messageId of held.slice(0, 3)) {
      const { opened_at: openedAt } = await circuitOf(destination);
      const event = await eventOf(server, messageId);
      expect(event).toMatchObject({
        status: 'retrying',
        attempts: [],
        deliveries: [{ status: 'retrying', circuit: { state: 'open', opened_at: openedAt } }],
      });
      const [{ circuit, next_attempt_at: next }] = event.deliveries;
      expect([next, Date.parse(circuit.next_probe_at) > Date.parse(openedAt ?? '')]).toEqual([
        circuit.next_probe_at,
        true,
      ]);
    }
    const list = await server.api('GET', `/v1/events?status=retrying&endpoint=${destination}&limit=100`);
    expect(list.json.data).toHaveLength(22);
  });

  it('sends a single probe when it is due; a failed probe consumes no attempt and delays the next probe', async () => {
    const target = targets.open();
    const destination = await opened(target);
    const held = await sendMany(server, destination, 5);
    expect(await secondsToProbe(destination)).toBeLessThanOrEqual(30);
    const { opened_at: openedAt } = await circuitOf(destination);

    for (const [probes, seconds] of [
      [1, 60],
      [2, 120],
      [3, 300],
      [4, 600],
      [5, 600],
    ] as const) {
      await makeProbeDue(destination);
      await target.arrived(2 + probes);
      await until(
        () => secondsToProbe(destination),
        (left) => left > seconds - 20 && left <= seconds,
        WITHIN_MS,
      );
    }

    expect(target.posts()).toHaveLength(7);
    expect(await circuitOf(destination)).toMatchObject({ state: 'open', opened_at: openedAt });
    const [{ used, made }] = (await sql.rows<{ used: number; made: number }>(
      'select sum(attempts_used)::int as used, sum(attempts)::int as made from due_deliveries where event_id = any($1)',
      [held.map(uuidOf)],
    )) as [{ used: number; made: number }];
    expect({ used, made }).toEqual({ used: 0, made: 5 });
  });

  it('the circuit closes after a successful probe, and each waiting delivery arrives exactly once', async () => {
    const target = targets.open();
    const destination = await opened(target);
    const held = await sendMany(server, destination, 200);
    await until(
      () => parkedOf(held),
      (parked) => parked === 200,
      WITHIN_MS,
    );

    target.answerBy(() => ({ status: 200 }));
    await makeProbeDue(destination);

    await circuitIn(destination, 'closed');
    for (const messageId of held) await eventIn(server, messageId, 'delivered', 60_000);
    const received = target
      .posts()
      .slice(2)
      .map(({ headers }) => headers['webhook-id']);
    expect(received).toHaveLength(200);
    expect(new Set(received)).toEqual(new Set(held));
    expect(await circuitOf(destination)).toEqual({ state: 'closed', opened_at: null, next_probe_at: null });
  });

  it('closes without a probe when PATCH sets the destination active', async () => {
    const target = targets.open();
    const destination = await opened(target);
    const held = await sendMany(server, destination, 10);
    target.answerBy(() => ({ status: 200 }));

    const patched = await server.api('PATCH', `/v1/destinations/${destination}`, { status: 'active' });

    expect(patched.json.circuit).toEqual({ state: 'closed', opened_at: null, next_probe_at: null });
    for (const messageId of held) await eventIn(server, messageId, 'delivered');
    expect(target.posts()).toHaveLength(12);
  });

  it('pending deliveries end as failed when the destination is disabled', async () => {
    const target = targets.open();
    const destination = await opened(target);
    const held = await sendMany(server, destination, 10);

    expectStatus(await server.api('PATCH', `/v1/destinations/${destination}`, { status: 'disabled' }), 200);

    for (const messageId of held) {
      expect(await eventIn(server, messageId, 'failed')).toMatchObject({
        attempts: [],
        deliveries: [{ reason: 'target_disabled' }],
      });
    }
    expect(target.posts()).toHaveLength(2);
  });

  it('of a target does not affect other targets on the same host', async () => {
    const target = targets.open();
    await opened(target);
    const neighbour = targets.open();

    const messageId = await send(server, await destinationAt(server, neighbour.url));

    await eventIn(server, messageId, 'delivered');
  });

  it('counts a hundred failing URLs separately, and forgets each after two days without a request', async () => {
    const target = targets.open(() => ({ status: 500 }));
    const shut = await opened(targets.open());
    const count = (): Promise<number> =>
      sql.rows(`select from circuits where state = 'closed'`).then((rows) => rows.length);
    const before = await count();

    await Promise.all(Array.from({ length: 100 }, (_, i) => send(server, `${target.url}?number=${i}`)));
    await until(count, (known) => known === before + 100);
    await sql.rows(`update circuits set changed_at = now() - interval '49 hours'`);
    // Makes the workers read all circuits again, because a change by SQL sends no notification.
    await sql.rows(`select pg_notify('posthorn', 'circuit:*')`);

    await until(
      () => sql.rows(`select from circuits where state = 'closed' and changed_at < now() - interval '1 day'`),
      (rows) => rows.length === 0,
    );
    expect(await circuitOf(shut)).toMatchObject({ state: 'open' });
  });
});
