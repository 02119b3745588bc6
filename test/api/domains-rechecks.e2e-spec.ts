import { startServer } from '../support/server.js';
import { type DomainsScene, recordsOf, startDomainsScene } from './domains.js';
import { until } from './polling.js';
import {
  destinationAt,
  expectStatus,
  startTargets,
  type TargetPath,
  type Targets,
  uuidOf,
  WITHIN_MS,
} from './scene.js';

describe('re-checks', () => {
  let scene: DomainsScene;
  let targets: Targets;
  let system: TargetPath;

  beforeAll(async () => {
    [scene, targets] = await Promise.all([startDomainsScene(), startTargets()]);
    system = targets.open();
    const destination = await destinationAt(scene.server, system.url);
    expectStatus(await scene.server.api('PATCH', '/v1/org', { system_destination: destination }), 200);
  });

  afterAll(async () => {
    await scene.close();
    await targets.close();
  });

  const read = async (id: string) => expectStatus(await scene.server.api('GET', `/v1/domains/${id}`), 200).json;
  const makeDue = (id: string) =>
    scene.sql.rows(`update domains set next_check_at = now() - interval '1 second' where id = $1`, [uuidOf(id)]);
  const row = async (id: string) =>
    (
      await scene.sql.rows<{ checks: number; next_in: number; claimed_until: Date | null }>(
        'select checks, extract(epoch from next_check_at - checked_at)::float8 as next_in, claimed_until from domains where id = $1',
        [uuidOf(id)],
      )
    )[0]!;
  const systemEvents = async (type: string, id: string) =>
    (
      await until(
        async () =>
          system
            .posts()
            .map(
              ({ rawBody }) =>
                JSON.parse(rawBody.toString()) as { type: string; data: { items: { domain: string }[] } },
            )
            .filter((event) => event.type === type)
            .flatMap(({ data }) => data.items)
            .filter(({ domain }) => domain === id),
        (items) => items.length > 0,
        90_000,
      )
    )[0];

  it('a domain is verified automatically once its records exist, and a system event reports it', async () => {
    const { id, domain, records } = await scene.create('webhook');
    scene.publish(records);

    await makeDue(id);
    await until(
      () => read(id),
      ({ state }) => state === 'verified',
      WITHIN_MS,
    );

    expect(await systemEvents('domain.verified', id)).toEqual({ domain: id, host: domain, kind: 'webhook', count: 1 });
  });

  it('a domain without a required record for 72 hours fails automatically, a system event names the record, and another check revives it', async () => {
    const lost = await scene.verified('webhook');
    scene.withdraw(recordsOf(lost, 'cname'));
    await scene.verify(lost.id);
    await scene.letPass(lost.id, 73);

    await makeDue(lost.id);
    await until(
      () => read(lost.id),
      ({ state }) => state === 'failed',
      WITHIN_MS,
    );
    const failed = await systemEvents('domain.failed', lost.id);
    scene.publish(lost.records);
    await makeDue(lost.id);
    await until(
      () => read(lost.id),
      ({ state }) => state === 'verified',
      WITHIN_MS,
    );

    expect(failed).toEqual({
      domain: lost.id,
      host: lost.domain,
      kind: 'webhook',
      missing: [`CNAME ${lost.domain}`],
      count: 1,
    });
  }, 150_000);

  it('the interval between checks grows', async () => {
    const { id } = await scene.create('webhook');
    const rests: number[] = [];
    for (let looks = 1; looks <= 4; looks += 1) {
      await makeDue(id);
      const { next_in: nextIn } = await until(
        () => row(id),
        ({ checks, claimed_until }) => checks === looks && claimed_until === null,
        WITHIN_MS,
      );
      rests.push(nextIn / 60);
    }

    // The interval between checks starts at one minute and doubles each time, with 10 % jitter.
    expect(rests.map((minutes) => Math.round(Math.log2(minutes)) + 0)).toEqual([0, 1, 2, 3]);
  });

  it('another process checks a domain whose process died during a check', async () => {
    const { id, records } = await scene.create('webhook');
    scene.publish(records);
    await scene.sql.rows(
      `update domains set claimed_until = now() + interval '1 hour', next_check_at = now() where id = $1`,
      [uuidOf(id)],
    );
    const other = await startServer(scene.server.env);
    try {
      // The check of this domain is claimed. A process that checks another due domain must not run this check again.
      await makeDue((await scene.create('webhook')).id);
      expect(await read(id)).toMatchObject({ state: 'pending-dns' });

      await scene.sql.rows('update domains set claimed_until = now() where id = $1', [uuidOf(id)]);

      await until(
        () => read(id),
        ({ state }) => state === 'verified',
        WITHIN_MS,
      );
    } finally {
      await other.stop();
    }
  });

  it('hundreds of domains with silent name servers in one environment do not delay the checks of others', async () => {
    const template = await scene.create('webhook');
    await scene.sql.rows(
      `
      insert into domains select environment_id, gen_random_uuid(), 'n' || n || '.silent.example', kind, state, token, is_owner, sending_enabled, receiving_enabled,
        return_path_seen, judged, missing_seconds, missing_seen_at, checks, checked_at, now() - interval '1 day', null, version, created_at, updated_at, verified_at
      from domains, generate_series(1, 300) n where id = $1`,
      [uuidOf(template.id)],
    );
    scene.zone.trouble('silent.example', 'silent');
    const [environment] = await scene.sql.rows<{ id: number }>(
      'select id from environments where id <> (select environment_id from domains where id = $1) limit 1',
      [uuidOf(template.id)],
    );
    const mine = await scene.create('webhook');
    scene.publish(mine.records);
    // Moves the domain to another environment. The domain's check is due after the checks of all other domains.
    await scene.sql.rows('update domains set environment_id = $2, next_check_at = now() where id = $1', [
      uuidOf(mine.id),
      environment?.id,
    ]);

    await until(
      () => scene.sql.rows<{ state: string }>('select state from domains where id = $1', [uuidOf(mine.id)]),
      ([one]) => one?.state === 'verified',
      WITHIN_MS,
    );

    const [{ waiting = 0 } = {}] = await scene.sql.rows<{ waiting: number }>(
      `select count(*)::int as waiting from domains where host like '%.silent.example' and checks = 0`,
    );
    expect(waiting).toBeGreaterThan(200);
    const metrics = await (await fetch(`${scene.server.url}/metrics`)).text();
    expect(metrics).toMatch(/^posthorn_domain_checks_total\{outcome="verified"\} [1-9]/m);
    expect(Number(/^posthorn_domain_checks_overdue_seconds (\S+)/m.exec(metrics)?.[1])).toBeGreaterThan(80_000);
  });
});
