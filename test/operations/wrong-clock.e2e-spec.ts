import { jest } from '@jest/globals';
import { idTimeMs, parseId } from '../../src/kernel/ids.js';
import { until } from '../api/polling.js';
import type { Sql, TargetPath, Targets } from '../api/scene.js';
import {
  destinationAt,
  eventAfter,
  eventIn,
  openSql,
  RARE_RETRIES,
  send,
  sendMany,
  startTargets,
  uuidOf,
  WITHIN_MS,
} from '../api/scene.js';
import type { TestDatabase } from '../support/database.js';
import { createDatabase } from '../support/database.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { shiftedClock } from '../support/shifted-clock.js';

const HOUR_MS = 3_600_000;

jest.setTimeout(60_000);

describe('a machine with a wrong clock', () => {
  let database: TestDatabase;
  let targets: Targets;
  let target: TargetPath;
  let sql: Sql;
  let api: PosthornServer;
  let destination: string;
  const sent: string[] = [];

  beforeAll(async () => {
    targets = await startTargets();
    target = targets.open();
    database = await createDatabase();
    sql = openSql({ databaseUrl: database.url });
    api = await startServer({ DATABASE_URL: database.url, ROLE: 'api' });
    destination = await destinationAt(api, target.url, RARE_RETRIES);
    sent.push(...(await sendMany(api, destination, 20)));
  });

  afterAll(async () => {
    await sql.close();
    await api.stop();
    await database.drop();
    await targets.close();
  });

  const clockOf = async (
    server: PosthornServer,
  ): Promise<{ status: number; clock?: { ready: boolean; skew_ms: number } }> => {
    const answer = await fetch(`${server.url}/health/ready`);
    return {
      status: answer.status,
      clock: ((await answer.json()) as { error: { details: { clock?: { ready: boolean; skew_ms: number } } } }).error
        .details.clock,
    };
  };

  it.each([
    ['40 days ahead', 960 * HOUR_MS],
    ['40 days behind', -960 * HOUR_MS],
    ['two hours ahead', 2 * HOUR_MS],
    ['two hours behind', -2 * HOUR_MS],
  ])(
    '%s: the process reports it, claims nothing, drops nothing, and stores the right time for accepted messages',
    async (_what, shiftMs) => {
      const wrong = await startServer({ ...api.env, ROLE: 'all', ...shiftedClock(shiftMs) });
      try {
        const ids = await sendMany(wrong, destination, 5);
        sent.push(...ids);
        const { status, clock } = await clockOf(wrong);
        const [rows] = await sql.rows<{ open: number; claimed: number; events: number; days: number }>(`
        select count(*)::int as open, count(claimed_by)::int as claimed, (select count(*)::int from events) as events,
               min(expires_on - (now() at time zone 'UTC')::date) as days from due_deliveries`);

        expect([status, clock?.ready]).toEqual([503, false]);
        expect(Math.abs((clock?.skew_ms ?? 0) - shiftMs)).toBeLessThan(30_000);
        expect(wrong.logs()).toMatch(/ s (ahead of|behind) PostgreSQL's/);
        expect(rows).toMatchObject({ open: sent.length, claimed: 0, events: sent.length });
        expect(rows?.days).toBeGreaterThan(0);
        for (const id of ids) expect(Math.abs(idTimeMs(parseId('msg', id) ?? '') - Date.now())).toBeLessThan(60_000);
        expect(target.posts()).toEqual([]);
      } finally {
        await wrong.stop();
      }
    },
  );

  it('a process with a right clock delivers all of it', async () => {
    const worker = await startServer({ ...api.env, ROLE: 'worker' });
    try {
      await target.arrived(sent.length);
      for (const id of sent) await eventIn(api, id, 'delivered');
      expect(target.posts()).toHaveLength(sent.length);
    } finally {
      await worker.stop();
    }
  });

  it('a clock that is off by less than a minute is tolerated, and schedules keep their steps', async () => {
    const server = await startServer({ ...api.env, ROLE: 'worker', ...shiftedClock(-55_000) });
    try {
      const failing = targets.open(() => ({ status: 500 }));
      const id = await send(
        api,
        await destinationAt(api, failing.url, { ...RARE_RETRIES, retry: { schedule: [0, 40, 40] } }),
      );

      await eventAfter(api, id, 1);
      const [due] = await until(
        () =>
          sql.rows<{ seconds: number }>(
            'select extract(epoch from due_at - now())::float8 as seconds from due_deliveries where event_id = $1 and claimed_by is null',
            [uuidOf(id)],
          ),
        (rows) => rows.length === 1,
        WITHIN_MS,
      );

      // The delay is random, between 0 and 40 s. If the process used its own clock instead of PostgreSQL's, the delay
      // would be wrong by 55 s.
      expect(due?.seconds).toBeGreaterThan(-40);
      expect(due?.seconds).toBeLessThanOrEqual(40);
    } finally {
      await server.stop();
    }
  });
});
