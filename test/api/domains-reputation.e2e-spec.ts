import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { as, createKey, expectInvalid, expectRefusal, TIMESTAMP } from './answers.js';
import { emailAfter, emailIn, emailOf, sendEmail } from './emailing.js';
import { until } from './polling.js';
import { type Relay, startRelay, verifyDomain } from './relay.js';
import type { Sql, Targets } from './scene.js';
import { expectStatus, makeDue, openSql, startTargets, uuidOf, WITHIN_MS } from './scene.js';
import { listen, type SystemEventTarget } from './system-event-target.js';

const SIMULATOR = 'simulator.posthorn.example';
const DEFAULTS = {
  bounce_rate_warning: 0.05,
  bounce_rate_pause: 0.1,
  complaint_rate_warning: 0.001,
  complaint_rate_pause: 0.005,
  minimum_sent: 100,
};

describe('the reputation of a domain', () => {
  let server: PosthornServer;
  let relay: Relay;
  let targets: Targets;
  let system: SystemEventTarget;
  let sql: Sql;
  let made = 0;

  beforeAll(async () => {
    [relay, targets] = await Promise.all([startRelay(), startTargets()]);
    server = await startServer({ EMAIL_TRANSPORT: relay.url, PLATFORM_DOMAIN: 'posthorn.example' });
    sql = openSql(server);
    system = await listen(server, targets);
    relay.refuseRecipients((address) => {
      if (address.startsWith('gone')) return { code: 550, text: '5.1.1 No such user' };
      return address.startsWith('later') ? { code: 451, text: '4.7.1 Try again later' } : null;
    });
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
    await relay?.close();
    await targets?.close();
  });

  /** Creates a domain that may send, with these thresholds. Returns its id and host. */
  async function domainWith(thresholds: object | null): Promise<{ id: string; host: string }> {
    const host = `m${(made += 1)}.customer.example`;
    await verifyDomain(server, sql, host);
    const [row] = await sql.rows<{ id: string }>('select id from domains where host = $1', [host]);
    const { data } = expectStatus(await server.api('GET', '/v1/domains'), 200).json;
    const { id } = data.find((each: { id: string }) => uuidOf(each.id) === row?.id);
    if (thresholds !== null) expectStatus(await server.api('PATCH', `/v1/domains/${id}`, { thresholds }), 200);
    return { id, host };
  }

  const send = (host: string, ...to: string[]): Promise<string> =>
    sendEmail(server, { from: `Shop <shop@${host}>`, to: to.map((name) => `${name}@${host}.recipients.example`) });
  const reputationOf = async (id: string): Promise<ApiAnswer['json']> =>
    expectStatus(await server.api('GET', `/v1/domains/${id}/reputation`), 200).json;
  const becomes = (id: string, reputation: string): Promise<ApiAnswer['json']> =>
    until(
      () => reputationOf(id),
      (found) => found.reputation === reputation,
      WITHIN_MS,
    );
  const counted = (id: string, sent: number): Promise<ApiAnswer['json']> =>
    until(
      () => reputationOf(id),
      ({ last_24_hours }) => last_24_hours.sent === sent,
      WITHIN_MS,
    );
  const concernOf = async (id: string): Promise<ApiAnswer['json']> =>
    (await server.api('GET', '/v1/attention')).json.data.find(({ subject }: { subject: string }) => subject === id);

  it('counts recipients with their bounces, but not deferred ones, the simulator or the test environment', async () => {
    const { id, host } = await domainWith(null);
    expect(await reputationOf(id)).toMatchObject({
      reputation: 'healthy',
      cause: null,
      changed_at: null,
      resumed_at: null,
      thresholds: DEFAULTS,
      last_24_hours: { sent: 0, delivered: 0, bounced: 0, complained: 0, bounce_rate: null, complaint_rate: null },
    });

    await emailIn(server, await send(host, 'a', 'b', 'gone'), 'bounced');
    await emailAfter(server, await send(host, 'later'), 1);
    const simulated = await sendEmail(server, { from: `shop@${host}`, to: [`bounced@${SIMULATOR}`] });
    await emailIn(server, simulated, 'bounced');
    await emailIn(server, await sendEmail(server, { from: `shop@${SIMULATOR}`, to: [`gone@${host}`] }), 'delivered');
    await emailIn(server, await send(host, 'c'), 'delivered');

    const { last_24_hours, last_7_days } = await counted(id, 4);
    expect(last_24_hours).toEqual({
      sent: 4,
      delivered: 3,
      bounced: 1,
      complained: 0,
      bounce_rate: 0.25,
      complaint_rate: 0,
    });
    expect(last_7_days).toEqual(last_24_hours);
    expect((await reputationOf(id)).reputation).toBe('healthy');
  });

  it('at the warning limit: the domain keeps sending, with a system event and an entry in /v1/attention', async () => {
    const { id, host } = await domainWith({ minimum_sent: 2, bounce_rate_warning: 0.5, bounce_rate_pause: null });

    await emailIn(server, await send(host, 'a', 'gone'), 'bounced');

    expect(await becomes(id, 'at_risk')).toMatchObject({
      cause: 'bounce_rate',
      changed_at: expect.stringMatching(TIMESTAMP),
    });
    const [event] = await system.waitFor('domain.at_risk', (all) =>
      all.some(({ data }) => data.items[0]?.['domain'] === id),
    );
    expect(event?.data.items).toContainEqual(
      expect.objectContaining({
        domain: id,
        host,
        cause: 'bounce_rate',
        rate: 0.5,
        sent: 2,
        bounced: 1,
        complained: 0,
      }),
    );
    expect(await concernOf(id)).toMatchObject({ type: 'domain.at_risk', name: host });
    await emailIn(server, await send(host, 'b', 'c', 'd'), 'delivered');
    expect((await becomes(id, 'healthy')).cause).toBeNull();
    expect(await concernOf(id)).toBeUndefined();
  });

  it('at the pause limit: new emails get 422, accepted and scheduled ones wait without attempts, and resuming sends them', async () => {
    const { id, host } = await domainWith({ minimum_sent: 2, bounce_rate_pause: 0.5 });
    const waiting = await send(host, 'later-waits');
    const scheduled = await sendEmail(server, {
      from: `shop@${host}`,
      to: [`scheduled@${host}`],
      scheduled_at: 'in 1 hour',
    });
    await emailAfter(server, waiting, 1);

    await emailIn(server, await send(host, 'gone', 'a'), 'bounced');

    expect(await becomes(id, 'paused')).toMatchObject({ cause: 'bounce_rate' });
    expect((await server.api('GET', `/v1/domains/${id}`)).json).toMatchObject({
      state: 'verified',
      reputation: 'paused',
      sending_enabled: false,
    });
    const email = { from: `shop@${host}`, to: 'a@b.example', subject: 'x', text: 'x' };
    const refused = await server.api('POST', '/v1/emails', email);
    expect(refused.status).toBe(422);
    expect(refused.json.error.details).toMatchObject({ reason: 'domain_paused', fields: [{ path: 'from' }] });
    const batch = expectStatus(await server.api('POST', '/v1/emails/batch', [email]), 202).json;
    expect(batch.data[0]).toMatchObject({
      id: null,
      error: { type: 'validation_failed', message: expect.stringContaining('is paused') },
    });
    expect(await concernOf(id)).toMatchObject({ type: 'domain.paused', name: host });
    await system.waitFor('domain.paused', (all) => all.some(({ data }) => data.items[0]?.['domain'] === id));
    expect(await (await fetch(`${server.url}/metrics`)).text()).toMatch(/^posthorn_domains_paused 1$/m);

    // A second attempt may come before the pause, because retries are jittered.
    const { attempts: before } = await emailOf(server, waiting);
    relay.refuseRecipients(() => null);
    await sql.rows(`update scheduled_emails set due_at = now(), try_at = now() where id = $1`, [uuidOf(scheduled)]);
    await emailIn(server, scheduled, 'sending');
    await makeDue(sql, waiting);
    for (const each of [waiting, scheduled]) {
      const [due] = await until(
        () =>
          sql.rows<{ seconds: number }>(
            'select extract(epoch from due_at - now())::float8 as seconds from due_deliveries where event_id = $1 and claimed_by is null',
            [uuidOf(each)],
          ),
        ([row]) => (row?.seconds ?? 0) > 60,
        WITHIN_MS,
      );
      expect(due?.seconds).toBeLessThanOrEqual(300);
    }
    expect((await emailOf(server, waiting)).attempts).toHaveLength(before.length);
    expect((await emailOf(server, scheduled)).attempts).toEqual([]);
    expect(relay.taken.filter(({ to }) => to.some((address) => /^(later-waits|scheduled)@/.test(address)))).toEqual([]);

    const resumed = expectStatus(await server.api('POST', `/v1/domains/${id}/resume`), 200).json;
    expect(resumed).toMatchObject({ reputation: 'healthy', sending_enabled: true });
    for (const each of [waiting, scheduled]) {
      await makeDue(sql, each);
      await emailIn(server, each, 'delivered');
    }
    await emailIn(server, await send(host, 'b'), 'delivered');
    // Bounces before the domain's sending was resumed no longer count.
    const after = await counted(id, 5);
    expect(after).toMatchObject({ reputation: 'healthy', cause: null, resumed_at: expect.stringMatching(TIMESTAMP) });
    expectStatus(await server.api('POST', `/v1/domains/${id}/resume`), 200);
    expect((await reputationOf(id)).resumed_at).toBe(after.resumed_at);
    const { data } = expectStatus(await server.api('GET', `/v1/audit?limit=10`), 200).json;
    expect(data[0]).toMatchObject({ resource_type: 'domains', resource_id: id });
  });

  it('complaints pause a domain; counts of more than 24 hours ago have no effect', async () => {
    const { id, host } = await domainWith({ minimum_sent: 3 });
    const insert = (hoursAgo: number, sent: number, complained: number) =>
      sql.rows(
        `insert into domain_mail_counts (environment_id, domain_id, start, sent, delivered, bounced, complained)
         select environment_id, id, date_trunc('hour', now()) - $2 * interval '1 hour', $3, $3, 0, $4 from domains where id = $1`,
        [uuidOf(id), hoursAgo, sent, complained],
      );
    await insert(30, 10, 10);
    await emailIn(server, await send(host, 'a', 'b', 'c'), 'delivered');
    expect(await counted(id, 3)).toMatchObject({
      reputation: 'healthy',
      last_7_days: { sent: 13, complained: 10, complaint_rate: 0.769231 },
    });

    await insert(2, 100, 1);
    await emailIn(server, await send(host, 'd'), 'delivered');

    expect(await becomes(id, 'paused')).toMatchObject({ cause: 'complaint_rate' });
  });

  it('PATCH thresholds: omitted limits get their defaults, and null restores all', async () => {
    const { id } = await domainWith({ bounce_rate_pause: null, minimum_sent: 7 });

    expect((await reputationOf(id)).thresholds).toEqual({ ...DEFAULTS, bounce_rate_pause: null, minimum_sent: 7 });
    expectStatus(await server.api('PATCH', `/v1/domains/${id}`, { thresholds: null }), 200);
    expect((await reputationOf(id)).thresholds).toEqual(DEFAULTS);
  });

  it.each<[string, object, string]>([
    ['a negative rate', { bounce_rate_warning: -0.1 }, 'thresholds.bounce_rate_warning'],
    ['a rate in percent', { bounce_rate_pause: 10 }, 'thresholds.bounce_rate_pause'],
    ['a rate as a string', { complaint_rate_pause: '0.1' }, 'thresholds.complaint_rate_pause'],
    ['no minimum', { minimum_sent: 0 }, 'thresholds.minimum_sent'],
    ['a fraction of a recipient', { minimum_sent: 1.5 }, 'thresholds.minimum_sent'],
    ['a pause below the warning', { bounce_rate_warning: 0.2 }, 'thresholds.bounce_rate_pause'],
    ['a warning of null', { bounce_rate_warning: null }, 'thresholds.bounce_rate_warning'],
    ['an unknown limit', { open_rate: 1 }, 'thresholds.open_rate'],
  ])('422: thresholds with %s', async (_what, thresholds, path) => {
    const { id } = await domainWith(null);

    expectInvalid(await server.api('PATCH', `/v1/domains/${id}`, { thresholds }), 'schema', path);
  });

  it('422: thresholds with another change, or of a webhook domain', async () => {
    const { id } = await domainWith(null);
    const body = { domain: 'hooks.customer.example', kind: 'webhook' };
    const webhook = expectStatus(await server.api('POST', '/v1/domains', body), 201).json;

    const both = { kind: 'email-send', thresholds: null };
    expectInvalid(await server.api('PATCH', `/v1/domains/${id}`, both), 'schema', 'thresholds');
    expectInvalid(await server.api('PATCH', `/v1/domains/${webhook.id}`, { thresholds: {} }), 'schema', 'thresholds');
  });

  it('404: the reputation of a domain of another environment, which cannot resume it either', async () => {
    const { id } = await domainWith(null);
    const { key } = await createKey(server, { scope: 'admin', environment: 'test' });

    expectRefusal(await server.api('GET', `/v1/domains/${id}/reputation`, undefined, as(key)), 404);
    expectRefusal(await server.api('POST', `/v1/domains/${id}/resume`, undefined, as(key)), 404);
  });
});
