import { run } from '../support/program.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { as, createKey, expectRefusal } from './answers.js';
import { until } from './polling.js';
import { expectStatus, openSql, type Sql, startTargets, type Targets, uuidOf } from './scene.js';
import { PlainBrowser } from './signing-in.js';
import { smtpPortOf, SmtpTalk } from './smtp-client.js';
import { loggedIn, submissionPortOf } from './submitting.js';

const OPERATOR_KEY = 'an-operator-key-of-more-than-32-characters';
const ENDED_WITHIN_MS = 5_000;

interface Made {
  id: string;
  key: string;
  test_key: string;
  admin: { id: string; email: string; role: string };
}

describe('organizations, managed by the operator', () => {
  let server: PosthornServer;
  let second: PosthornServer;
  let targets: Targets;
  let sql: Sql;
  let count = 0;

  beforeAll(async () => {
    [server, targets] = await Promise.all([startServer({ OPERATOR_KEY, TRUST_PROXY: '127.0.0.0/8' }), startTargets()]);
    second = await startServer(server.env);
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql?.close();
    await second?.stop();
    await server?.stop();
    await targets?.close();
  });

  const operate = (method: string, path: string, body?: unknown) => server.api(method, path, body, as(OPERATOR_KEY));

  async function make(slug = `made-${(count += 1)}`): Promise<Made> {
    return expectStatus(
      await operate('POST', '/v1/orgs', { slug, name: 'Made', admin: { email: `Ada@${slug}.example` } }),
      201,
    ).json;
  }

  it('201: with its first admin and valid keys, one for each environment', async () => {
    const made = await make('acme');

    expect(made.admin).toMatchObject({ email: 'ada@acme.example', role: 'admin' });
    for (const key of [made.key, made.test_key])
      expect((await server.api('GET', '/v1/org', undefined, as(key))).json).toMatchObject({
        id: made.id,
        slug: 'acme',
        name: 'Made',
      });
    expect((await operate('GET', '/v1/orgs')).json.data.map(({ slug }: { slug: string }) => slug)).toContain('acme');
    expect((await server.api('GET', '/v1/members', undefined, as(made.key))).json.data).toHaveLength(1);
  });

  it('409 and 422: a slug that is taken, and an invalid one', async () => {
    await make('taken');

    expectRefusal(
      await operate('POST', '/v1/orgs', { slug: 'taken', name: 'A', admin: { email: 'a@b.example' } }),
      409,
    );
    expectRefusal(
      await operate('POST', '/v1/orgs', { slug: 'Not A Slug', name: 'A', admin: { email: 'a@b.example' } }),
      422,
    );
    expectRefusal(await operate('POST', '/v1/orgs', { slug: 'fine', name: 'A', admin: { email: 'nobody' } }), 422);
  });

  it('401: the routes accept only the operator key, and other routes do not accept it', async () => {
    const { key: admin } = await createKey(server, { scope: 'admin' });
    for (const key of [admin, `${OPERATOR_KEY}x`, OPERATOR_KEY.slice(1), '']) {
      expectRefusal(
        await server.api('GET', '/v1/orgs', undefined, { authorization: key === '' ? '' : `Bearer ${key}` }),
        401,
      );
    }
    for (const path of ['/v1/org', '/v1/keys', '/v1/events', '/v1/audit', '/v1/members'])
      expectRefusal(await operate('GET', path), 401);
    expectRefusal(await operate('POST', '/v1/send', {}), 401);
  });

  it('401: without OPERATOR_KEY the routes reject every key', async () => {
    const plain = await startServer();
    const answers = [
      await plain.api('GET', '/v1/orgs', undefined, as(OPERATOR_KEY)),
      await plain.api('GET', '/v1/orgs'),
    ];
    await plain.stop();

    for (const answer of answers) expectRefusal(answer, 401);
  });

  it('550 and 535: mail that ends after the removal of its organization is neither received nor sent', async () => {
    const mailing = await startServer({
      ...server.env,
      EMAIL_TRANSPORT: 'capture:',
      PLATFORM_DOMAIN: 'posthorn.example',
      SMTP_PORT: '0',
      SUBMISSION_PORT: '0',
      LOG_LEVEL: 'info',
    });
    try {
      const made = await make();
      const alias = { kind: 'platform', localPart: 'theirs', destinationIds: [], forward_to: ['them@else.example'] };
      const { address } = expectStatus(await mailing.api('POST', '/v1/aliases', alias, as(made.test_key)), 201).json;
      const receiving = await SmtpTalk.greeted(smtpPortOf(mailing));
      const submission = await loggedIn(await submissionPortOf(mailing, 'without STARTTLS'), made.test_key);
      for (const talk of [receiving, submission]) {
        await talk.say('MAIL FROM:<ada@theirs.example>');
        expect(await talk.say(`RCPT TO:<${address}>`)).toMatch(/^250 /);
        expect(await talk.say('DATA')).toMatch(/^354 /);
        talk.write('From: ada@theirs.example\r\nTo: you@theirs.example\r\nSubject: Late\r\n');
      }

      expectStatus(await operate('DELETE', `/v1/orgs/${made.id}`), 204);
      await until(
        () => mailing.api('GET', '/v1/org', undefined, as(made.test_key)),
        ({ status }) => status === 401,
        ENDED_WITHIN_MS,
      );

      expect(await receiving.say('\r\nLate\r\n.')).toMatch(/^550 5\.1\.1 /);
      expect(await submission.say('\r\nLate\r\n.')).toMatch(/^535 5\.7\.8 .*revoked/);
      receiving.close();
      submission.close();
    } finally {
      await mailing.stop();
    }
  });

  it('204: removal ends all access on every node within five seconds, and erases the configuration', async () => {
    const made = await make();
    const owner = as(made.key);
    const target = targets.open();
    const destination = expectStatus(
      await server.api('POST', '/v1/destinations', { name: 'Theirs', type: 'https', url: target.url }, owner),
      201,
    ).json.id as string;
    const endpoint = expectStatus(
      await server.api('POST', '/v1/endpoints', { slug: 'theirs', destinations: [destination] }, owner),
      201,
    ).json;
    expectStatus(await server.api('POST', '/v1/secrets', { name: 'TOKEN', value: 'tok_1' }, owner), 201);
    expectStatus(await server.api('POST', '/v1/templates', { name: 'Theirs', text: 'a' }, owner), 201);
    expectStatus(await server.api('POST', `/v1/app/customer-1/event`, { event_type: 'a', payload: {} }, owner), 202);
    const browser = new PlainBrowser(server);
    await browser.post('/signin/key', { key: made.key });
    expect((await fetch(endpoint.url, { method: 'POST', body: 'a' })).status).toBe(200);

    expectStatus(await operate('DELETE', `/v1/orgs/${made.id}`), 204);

    expectRefusal(await server.api('GET', '/v1/org', undefined, owner), 401);
    await until(
      () => second.api('GET', '/v1/org', undefined, owner),
      ({ status }) => status === 401,
      ENDED_WITHIN_MS,
    );
    expect((await browser.get('/signin')).text).not.toContain('You are signed in');
    await until(
      async () => (await fetch(endpoint.url, { method: 'POST', body: 'b' })).status,
      (status) => status === 404,
      ENDED_WITHIN_MS,
    );
    const erased = await until(
      async () => (await operate('GET', `/v1/orgs/${made.id}`)).json,
      ({ erased_at }) => erased_at !== null,
      30_000,
    );
    expect(erased).toMatchObject({ name: 'Removed', slug: expect.stringMatching(/^removed-/) });
    expectRefusal(await operate('DELETE', `/v1/orgs/${made.id}`), 404);
    const left = await sql.rows<{ table: string }>(
      `
      select 'destinations' as table from destinations d join environments e on e.id = d.environment_id where e.organization_id = $1
      union all select 'endpoints' from endpoints d join environments e on e.id = d.environment_id where e.organization_id = $1
      union all select 'secrets' from secrets d join environments e on e.id = d.environment_id where e.organization_id = $1
      union all select 'template_versions' from template_versions d join environments e on e.id = d.environment_id where e.organization_id = $1
      union all select 'members' from members where organization_id = $1
      union all select 'sessions' from sessions where organization_id = $1`,
      [uuidOf(made.id)],
    );
    expect(left).toEqual([]);
    expectStatus(await server.api('GET', '/v1/org'), 200);
  });

  it('409: the slug of a removed organization stays reserved', async () => {
    const { id } = await make('given-up');
    await operate('DELETE', `/v1/orgs/${id}`);

    expectRefusal(
      await operate('POST', '/v1/orgs', { slug: 'given-up', name: 'A', admin: { email: 'a@b.example' } }),
      409,
    );
  });

  it('the audit log contains every operation, without the keys', async () => {
    const made = await make();
    await operate('DELETE', `/v1/orgs/${made.id}`);

    const rows = await sql.rows<{ action: string; actor_kind: string; row: string }>(
      'select action, actor_kind, audit_log::text as row from audit_log where resource_id = $1 order by id',
      [made.id],
    );

    expect(rows.map(({ action, actor_kind }) => [action, actor_kind])).toEqual([
      ['POST /v1/orgs', 'operator'],
      ['DELETE /v1/orgs/:id', 'operator'],
    ]);
    const { data } = expectStatus(await operate('GET', `/v1/operator/audit?resource=${made.id}`), 200).json;
    expect(data.map(({ action, actor }: { action: string; actor: { kind: string } }) => [action, actor.kind])).toEqual([
      ['DELETE /v1/orgs/:id', 'operator'],
      ['POST /v1/orgs', 'operator'],
    ]);
    expect((await server.api('GET', `/v1/audit?resource=${made.id}`)).json.data).toEqual([]);
    for (const { row } of rows)
      for (const key of [made.key, made.test_key, OPERATOR_KEY]) expect(row).not.toContain(key);
  });

  it('the command can also create, list and remove organizations', async () => {
    const made = await run('orgs', server.env, [
      'create',
      '--slug',
      'by-command',
      '--name',
      'By command',
      '--admin-email',
      'ada@command.example',
    ]);
    expect(made).toMatchObject({ code: 0, err: '' });
    const [id = '', key = ''] = [/org_\w+/.exec(made.out)?.[0], /ek_live_\w+/.exec(made.out)?.[0]];
    expectStatus(await server.api('GET', '/v1/org', undefined, as(key)), 200);

    expect((await run('orgs', server.env, ['list'], 'files')).out).toContain(`${id}  by-command  By command`);
    expect(await run('orgs', server.env, ['remove', id])).toMatchObject({ code: 0 });

    await until(
      () => server.api('GET', '/v1/org', undefined, as(key)),
      ({ status }) => status === 401,
      ENDED_WITHIN_MS,
    );
    expect(await run('orgs', server.env, ['create', '--slug', 'UPPER'])).toMatchObject({ code: 1 });
    expect(await sql.rows('select action from audit_log where resource_id = $1 order by id', [id])).toEqual([
      { action: 'posthorn orgs create' },
      { action: 'posthorn orgs remove' },
    ]);
  });

  it('409: the last organization cannot be removed', async () => {
    const alone = await startServer({ OPERATOR_KEY });
    const [only] = (await alone.api('GET', '/v1/orgs', undefined, as(OPERATOR_KEY))).json.data;
    const answer = await alone.api('DELETE', `/v1/orgs/${only.id}`, undefined, as(OPERATOR_KEY));
    await alone.stop();

    expectRefusal(answer, 409);
  });
});
