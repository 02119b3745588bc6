import { randomUUID } from 'node:crypto';
import { simpleParser } from 'mailparser';
import { Resend } from 'resend';
import { lowestIdAt, showId } from '../../src/kernel/ids.js';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { as, createKey, expectInvalid, expectRefusal } from './answers.js';
import { EMAIL, emailIn, emailOf, rawOf, sendEmail, simulated } from './emailing.js';
import { until } from './polling.js';
import { verifyDomain } from './relay.js';
import { jobIn } from './replaying.js';
import type { Sql, Targets } from './scene.js';
import { eventIn, expectStatus, openSql, RARE_RETRIES, startTargets, uuidOf } from './scene.js';
import { listen } from './system-event-target.js';

const DAY_MS = 86_400_000;
const inHours = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();

describe('scheduled emails', () => {
  let server: PosthornServer;
  let sql: Sql;
  let targets: Targets;
  let testKey: string;

  beforeAll(async () => {
    [server, targets] = await Promise.all([startServer(), startTargets()]);
    sql = openSql(server);
    testKey = (await createKey(server, { scope: 'admin', environment: 'test' })).key;
  });

  afterAll(async () => {
    await sql?.close();
    await Promise.all([server?.stop(), targets?.close()]);
  });

  const schedule = (fields: object = {}, headers: Record<string, string> = {}): Promise<string> =>
    sendEmail(server, { scheduled_at: inHours(1), ...fields }, headers);

  const due = (id: string): Promise<unknown> =>
    sql.rows(`update scheduled_emails set due_at = now(), try_at = now() where id = '${uuidOf(id)}'`);

  it('202: a scheduled email is sent at its time and not before, and keeps its id and its Message-ID', async () => {
    const at = inHours(24 * 29);
    const content = Buffer.from('an invoice').toString('base64');
    const answer = await server.api('POST', '/v1/emails', {
      ...EMAIL,
      scheduled_at: at,
      bcc: simulated('delivered'),
      attachments: [{ filename: 'invoice.txt', content, content_type: 'text/plain' }],
      tags: [{ name: 'kind', value: 'order' }],
    });

    expect([answer.status, answer.json]).toEqual([202, { id: expect.stringMatching(/^evt_/), status: 'scheduled' }]);
    const { id } = answer.json as { id: string };
    const before = await emailOf(server, id);
    expect(before).toMatchObject({
      status: 'scheduled',
      scheduled_at: at,
      from: EMAIL.from,
      to: [EMAIL.to],
      subject: EMAIL.subject,
      attempts: [],
      timeline: [],
      size_bytes: 0,
      captured: true,
      recipients: [{ status: 'scheduled' }, { status: 'scheduled' }],
      attachments: [{ filename: 'invoice.txt', content_type: 'text/plain', size_bytes: 10 }],
      tags: [{ name: 'kind', value: 'order' }],
    });
    expectRefusal(await server.api('GET', `/v1/emails/${id}/raw`), 404);
    expectRefusal(await server.api('GET', `/v1/events/${id}`), 404);
    await due(id);
    const after = await emailIn(server, id, 'delivered');
    expect(after).toMatchObject({
      message_id: before.message_id,
      created_at: before.created_at,
      bcc: before.bcc,
      recipients: [{ status: 'delivered' }, { status: 'delivered' }],
    });
    expect(after.timeline).toHaveLength(4);
    const { attachments, messageId } = await simpleParser(await rawOf(server, id));
    expect([messageId, attachments.map((each) => [each.filename, each.content.toString()])]).toEqual([
      before.message_id,
      [['invoice.txt', 'an invoice']],
    ]);
    expect((await eventIn(server, id, 'delivered')).event_type).toBe('email.send');
    expect(await sql.rows(`select 1 from scheduled_emails where id = '${uuidOf(id)}'`)).toEqual([]);
  });

  it('retention is counted from sending, however long the email was scheduled', async () => {
    const id = await schedule();
    const old = lowestIdAt(Date.now() - 25 * DAY_MS);
    await sql.rows(
      `update scheduled_emails set id = '${old}', due_at = now(), try_at = now() where id = '${uuidOf(id)}'`,
    );

    await emailIn(server, showId('evt', old), 'delivered');

    const sent = await sql.rows<{ days: number }>(
      `select expires_on - current_date as days from emails where id = '${old}' union all select expires_on - current_date from events where id = '${old}'`,
    );
    expect(sent).toHaveLength(2);
    for (const { days } of sent) expect(days).toBeGreaterThanOrEqual(29);
  });

  it.each<[string, () => object]>([
    ['a time in the past', () => ({ scheduled_at: '2020-01-01T00:00:00Z' })],
    ['a time in the past under its alternative name', () => ({ scheduledAt: inHours(-1) })],
  ])('202: %s means now', async (_what, fields) => {
    const answer = await server.api('POST', '/v1/emails', { ...EMAIL, ...fields() });

    expect([answer.status, answer.json.status]).toEqual([202, 'sending']);
    await emailIn(server, answer.json.id, 'delivered');
  });

  it('202: the same Idempotency-Key twice schedules once and repeats the response', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const body = { ...EMAIL, subject: 'only once', scheduled_at: inHours(2) };

    const [first, second] = [
      await server.api('POST', '/v1/emails', body, key),
      await server.api('POST', '/v1/emails', body, key),
    ];

    expect([first.status, second.status, second.text]).toEqual([202, 202, first.text]);
    expect(await sql.rows(`select 1 as one from scheduled_emails where subject = 'only once'`)).toEqual([{ one: 1 }]);
  });

  it('204: a scheduled email is cancelled, again without effect; 404 for another environment', async () => {
    const id = await schedule();

    expectRefusal(await server.api('DELETE', `/v1/emails/${id}`, undefined, as(testKey)), 404);
    expectStatus(await server.api('DELETE', `/v1/emails/${id}`), 204);

    expectStatus(await server.api('DELETE', `/v1/emails/${id}`), 204);
    expect((await emailOf(server, id)).status).toBe('canceled');
    expect(await sql.rows(`select 1 from scheduled_emails where id = '${uuidOf(id)}'`)).toEqual([]);
  });

  const canceledEmail = async (): Promise<string> => {
    const id = await schedule();
    expectStatus(await server.api('DELETE', `/v1/emails/${id}`), 204);
    return id;
  };

  it('a canceled email ends as a canceled delivery without an attempt, and no job sends it', async () => {
    const since = new Date().toISOString();
    const id = await canceledEmail();
    expect(await eventIn(server, id, 'failed')).toMatchObject({ deliveries: [{ reason: 'cancelled' }], attempts: [] });
    const job = async (body: object): Promise<object> => {
      const filter = { event_type: 'email.send', since };
      const { id: jobId } = expectStatus(await server.api('POST', '/v1/replays', { filter, ...body }), 202).json;
      return jobIn(server, jobId, 'completed');
    };

    expect(await job({ action: 'recover' })).toMatchObject({ skipped: 1, excluded: 0, enqueued: 0 });
    expect(await job({ action: 'recover', include_cancelled: true })).toMatchObject({ excluded: 1, enqueued: 0 });
    expect(await job({ action: 'replay' })).toMatchObject({ skipped: 0, excluded: 1, enqueued: 0 });
    expect((await eventIn(server, id, 'failed')).deliveries).toHaveLength(1);
  });

  it('409: a canceled email is not replayed, and is no dead letter', async () => {
    const id = await canceledEmail();
    await eventIn(server, id, 'failed');

    const replay = await server.api('POST', `/v1/events/${id}/replay`);
    const redriven = expectStatus(await server.api('POST', '/v1/dlq/redrive', {}), 202);

    expectRefusal(replay, 409);
    expect(replay.json.error.details).toEqual({ reason: 'cancelled' });
    expect(redriven.json).toEqual({ redriven: 0, skipped: 0 });
    expect((await server.api('GET', '/v1/events?status=dlq')).json.data).toEqual([]);
    expect((await eventIn(server, id, 'failed')).deliveries).toHaveLength(1);
  });

  it('409: an email that was sent cannot be cancelled', async () => {
    const id = await sendEmail(server);

    expectRefusal(await server.api('DELETE', `/v1/emails/${id}`), 409);
    expectRefusal(await server.api('POST', `/v1/emails/${id}/cancel`), 409);

    await emailIn(server, id, 'delivered');
  });

  it('an address suppressed meanwhile gets no email, and an address already suppressed is reported at once', async () => {
    await verifyDomain(server, sql, 'mail.example.com');
    const [later, already] = ['later@x.example', 'already@x.example'];
    expectStatus(await server.api('POST', '/v1/suppressions', { email: already }), 201);
    const id = await schedule({ from: 'shop@mail.example.com', to: later });

    expectStatus(await server.api('POST', '/v1/suppressions', { email: later }), 201);
    await due(id);

    expect((await emailIn(server, id, 'suppressed')).timeline).toMatchObject([
      { type: 'rejected', subtype: 'suppressed', recipient: later },
    ]);
    expect(
      (
        await server.api('POST', '/v1/emails', {
          ...EMAIL,
          from: 'shop@mail.example.com',
          to: already,
          scheduled_at: inHours(1),
        })
      ).json.status,
    ).toBe('suppressed');
  });

  it('a sender that lost its permission: the email fails with a reason, and a system event reports it', async () => {
    const systemTarget = await listen(server, targets);
    await verifyDomain(server, sql, 'lost.example.com');
    const id = await schedule({ from: 'shop@lost.example.com', to: 'a@x.example' });
    expectRefusal(
      await server.api('POST', '/v1/emails', { ...EMAIL, from: 'shop@never.example.com', scheduled_at: inHours(1) }),
      422,
    );

    await sql.rows(`update domains set sending_enabled = false, state = 'failed' where host = 'lost.example.com'`);
    await sql.rows(`select pg_notify('posthorn', 'sending_domain:*')`);
    await due(id);

    const email = await emailIn(server, id, 'failed');
    expect(email.timeline).toMatchObject([
      {
        type: 'rejected',
        subtype: 'domain_not_verified',
        detail: expect.stringContaining('lost.example.com is not a verified sending domain'),
      },
    ]);
    expect((await eventIn(server, id, 'failed')).status).toBe('failed');
    expect((await systemTarget.waitFor('email.failed'))[0]?.data.items).toEqual([
      {
        email: id,
        recipient: 'a@x.example',
        subtype: 'domain_not_verified',
        detail: email.timeline[0].detail,
        at: expect.any(String),
        count: 1,
      },
    ]);
  });

  it('an email that cannot be released does not delay others', async () => {
    const [broken, well] = [await schedule(), await schedule()];
    await sql.rows(
      `update scheduled_emails set due_at = now() - interval '1 hour', try_at = now(), draft = draft - 'to' where id = '${uuidOf(broken)}'`,
    );

    await due(well);

    await emailIn(server, well, 'delivered');
    const [row] = await sql.rows<{ tries: number; rests: boolean }>(
      `select tries, try_at > now() as rests from scheduled_emails where id = '${uuidOf(broken)}'`,
    );
    expect(row?.tries).toBeGreaterThan(0);
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(Number(/^posthorn_scheduled_emails_overdue_seconds (\S+)$/m.exec(metrics)?.[1])).toBeGreaterThan(3_000);
    await sql.rows(`delete from scheduled_emails where id = '${uuidOf(broken)}'`);
  });

  it('GET /v1/emails lists scheduled emails among the others, in pages, and alone under their status', async () => {
    const key = (await createKey(server, { scope: 'admin', environment: 'test' })).key;
    const ids: string[] = [];
    for (const later of [false, true, false, true, true])
      ids.push(await sendEmail(server, later ? { scheduled_at: inHours(1) } : {}, as(key)));
    const list = async (
      query: string,
    ): Promise<{ data: { id: string; status: string; scheduled_at?: string }[]; next_cursor: string | null }> =>
      expectStatus(await server.api('GET', `/v1/emails${query}`, undefined, as(key)), 200).json as never;

    const first = await list('?limit=3');
    const second = await list(`?limit=3&cursor=${first.next_cursor}`);

    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual([...ids].reverse());
    expect(first.data[0]).toMatchObject({ status: 'scheduled', scheduled_at: expect.any(String) });
    const [page] = [await list('?status=scheduled&limit=2')];
    const rest = await list(`?status=scheduled&limit=2&cursor=${page?.next_cursor}`);
    expect([...(page?.data ?? []), ...rest.data].map(({ id }) => id)).toEqual([ids[4], ids[3], ids[1]]);
    expect([
      rest.next_cursor,
      (await list('?status=sending')).data.filter(({ id }) => ids.includes(id) && [1, 3, 4].includes(ids.indexOf(id))),
    ]).toEqual([null, []]);
  });

  it('202: an email with a time in a batch is rejected alone, because a batch cannot be scheduled', async () => {
    const { status, json } = await server.api('POST', '/v1/emails/batch', [
      { ...EMAIL, scheduled_at: inHours(1) },
      EMAIL,
    ]);

    expect([status, json.data]).toEqual([
      202,
      [
        { id: null, error: { type: 'validation_failed', message: expect.stringContaining('batch') } },
        { id: expect.stringMatching(/^evt_/) },
      ],
    ]);
    expectInvalid(
      await server.api('POST', '/v1/emails', { ...EMAIL, scheduled_at: 'tomorrow' }),
      'schema',
      'scheduled_at',
    );
  });

  it('the resend package can schedule, read and cancel', async () => {
    const resend = new Resend(server.apiKey, { baseUrl: `${server.url}/v1` });
    const { data: sent } = await resend.emails.send({ ...EMAIL, scheduledAt: 'in 10 min' });
    const { data: read } = await resend.emails.get(sent?.id ?? '');

    const { data: cancelled, error } = await resend.emails.cancel(sent?.id ?? '');

    expect([(read as { scheduled_at?: string | null } | null)?.scheduled_at, cancelled, error]).toEqual([
      expect.stringMatching(/Z$/),
      { object: 'email', id: sent?.id },
      null,
    ]);
    expect((await resend.emails.get(sent?.id ?? '')).data?.last_event).toBe('canceled');
  });

  it('three hundred due emails of one environment do not delay an email of another', async () => {
    const many = await schedule();
    const one = await schedule({}, as(testKey));
    const ofMany = (column: string): string => `substr(${column}::text, 1, 32) = substr('${uuidOf(many)}', 1, 32)`;
    await sql.rows(`
      insert into scheduled_emails
      select environment_id, overlay(id::text placing lpad(to_hex(i), 4, '0') from 33)::uuid, due_at, try_at, tries, '<' || i || '@x.example>', is_captured, sender, to_list, subject, draft, files
      from scheduled_emails, generate_series(1, 300) i where id = '${uuidOf(many)}' on conflict do nothing`);
    await sql.rows(`
      update scheduled_emails set due_at = now() - (case when id = '${uuidOf(one)}' then 0 else 60 end) * interval '1 second', try_at = now()
      where id = '${uuidOf(one)}' or ${ofMany('id')}`);

    await until(
      () => emailOf(server, one, as(testKey)),
      ({ status }) => status === 'delivered',
      60_000,
    );
    await until(
      () => sql.rows(`select 1 from scheduled_emails where ${ofMany('id')}`),
      (rows) => rows.length === 0,
      60_000,
    );
    // Counts the emails of the other environment that were sent before the email `one`: those with a lower transaction
    // id (xmin).
    const [before] = await sql.rows<{ count: number }>(`
      select count(*)::int as count from events e, events o
      where o.id = '${uuidOf(one)}' and e.environment_id <> o.environment_id and ${ofMany('e.id')} and e.xmin::text::bigint < o.xmin::text::bigint`);
    expect(before?.count).toBeLessThan(50);
  });

  it('a canceled email is counted like any canceled event', async () => {
    const api = (method: string, path: string, body?: object): Promise<ApiAnswer> =>
      server.api(method, path, body, as(testKey));
    const counts = async (): Promise<number[]> => {
      const { total } = (await api('GET', '/v1/metrics/overview?range=1h')).json;
      const { text } = await server.api('GET', '/metrics');
      const results = /^posthorn_deliveries_total\{outcome="failed"\} (\d+)/m.exec(text)?.[1];
      return [total.received, total.failed, Number(results ?? 0)];
    };
    const addedBy = async (cancel: () => Promise<unknown>): Promise<number[]> => {
      const before = await counts();
      await cancel();
      const after = await until(counts, ([, failed = 0]) => failed > (before[1] as number));
      return after.map((count, i) => count - (before[i] as number));
    };
    const [received = 0] = await counts();
    const draft = { name: 'A target', type: 'https', url: targets.open(() => ({ status: 500 })).url, ...RARE_RETRIES };
    const { id: destination } = expectStatus(await api('POST', '/v1/destinations', draft), 201).json;
    const body = { destination, event_type: 'test.sent', payload: {} };
    const { message_id: event } = expectStatus(await api('POST', '/v1/send', body), 202).json;
    await until(
      async () => (await api('GET', `/v1/events/${event}`)).json,
      ({ attempts }) => attempts.length === 1,
    );
    await until(counts, ([now = 0]) => now > received);

    const ofEvent = await addedBy(() => api('POST', `/v1/events/${event}/cancel`));
    const ofEmail = await addedBy(async () => {
      const { id } = expectStatus(await api('POST', '/v1/emails', { ...EMAIL, scheduled_at: inHours(1) }), 202).json;
      return api('DELETE', `/v1/emails/${id}`);
    });

    expect([ofEvent, ofEmail]).toEqual([
      [0, 1, 0],
      [1, 1, 0],
    ]);
  });
});
