import { type PosthornServer, startServer } from '../support/server.js';
import { as, createKey } from './answers.js';
import { browserOf, CALLBACK, codeFor, csrfOf, form, pkce, registered } from './oauth.js';
import { expectStatus, openSql, type Sql } from './scene.js';
import { signedInMember } from './sessions.js';
import { fieldOf, PlainBrowser } from './signing-in.js';

const OPERATOR_KEY = 'the-key-of-the-operator-in-this-suite';
const CLI = 'posthorn-cli';
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

describe('granted keys', () => {
  let server: PosthornServer;
  let sql: Sql;
  let clientId: string;

  beforeAll(async () => {
    server = await startServer({ TRUST_PROXY: '127.0.0.0/8', OPERATOR_KEY });
    sql = openSql(server);
    clientId = await registered(server);
    // Creates an admin who is not removed later, because the last admin of an organization cannot be removed.
    expectStatus(await server.api('POST', '/v1/members', { email: 'boss@customer.example', role: 'admin' }), 201);
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
  });

  async function member(role: 'read' | 'write' | 'admin'): Promise<{ id: string; browser: PlainBrowser }> {
    const { id, cookie } = await signedInMember(server, sql, role);
    const browser = new PlainBrowser(server);
    browser.cookie = cookie;
    return { id, browser };
  }

  /** Approves an OAuth client. Returns a function that exchanges the authorization code. */
  async function approved(browser: PlainBrowser): Promise<() => ReturnType<typeof form>> {
    const { verifier, challenge } = pkce();
    const code = await codeFor(browser, clientId, challenge);
    return () =>
      form(server, '/oauth/token', {
        grant_type: 'authorization_code',
        client_id: clientId,
        redirect_uri: CALLBACK,
        code,
        code_verifier: verifier,
      });
  }

  /** Approves a program in the device flow. Returns a function with which the program fetches its key. */
  async function program({ cookie }: PlainBrowser, scope: string): Promise<() => ReturnType<typeof form>> {
    // Each program uses a new browser, because attempts to enter codes are counted per client address.
    const browser = new PlainBrowser(server);
    browser.cookie = cookie;
    const device = (
      await form(
        server,
        '/oauth/device',
        { client_id: CLI },
        { 'x-forwarded-for': `198.51.100.${Math.floor(Math.random() * 250)}` },
      )
    ).json;
    const page = await browser.post('/oauth/device/code', {
      csrf_token: csrfOf((await browser.get('/oauth/device')).text),
      user_code: device.user_code,
    });
    const answer = await browser.post('/oauth/device/decision', {
      csrf_token: csrfOf(page.text),
      user_code: fieldOf(page.text, 'user_code'),
      environment: 'live',
      lifetime: '30',
      scope,
      decision: 'allow',
    });
    expect(answer.status).toBe(200);
    return () =>
      form(server, '/oauth/token', { grant_type: DEVICE_GRANT, device_code: device.device_code, client_id: CLI });
  }

  const isIn = async (key: string): Promise<boolean> =>
    (await server.api('GET', '/v1/org', undefined, as(key))).status === 200;
  const keyOf = async (take: () => ReturnType<typeof form>): Promise<string> => {
    const { status, json } = await take();
    expect({ status, json }).toMatchObject({ status: 200 });
    return json.access_token;
  };

  it('removing a member revokes the keys of their applications and programs at once; objects created for the organization stay', async () => {
    const { id, browser } = await member('admin');
    const [agent, cli] = [await keyOf(await approved(browser)), await keyOf(await program(browser, 'admin'))];
    const made = (await server.api('POST', '/v1/keys', { name: 'For the shop', scope: 'read' }, as(cli))).json
      .key as string;
    // A session opened with a granted key can grant further keys. These keys also belong to the original member.
    const second = await keyOf(await approved(await browserOf(server, agent)));
    expect(await Promise.all([agent, cli, made, second].map(isIn))).toEqual([true, true, true, true]);

    expectStatus(await server.api('DELETE', `/v1/members/${id}`), 204);

    expect(await Promise.all([agent, cli, made, second].map(isIn))).toEqual([false, false, true, false]);
    const listed = (await server.api('GET', '/v1/keys?limit=100')).json.data as {
      client_id: string | null;
      revoked_at: string | null;
    }[];
    expect(listed.filter(({ client_id: client, revoked_at: at }) => client !== null && at === null)).toEqual([]);
  });

  it('an application or program gets no key if the granting member is removed before it fetches the key', async () => {
    const { id, browser } = await member('write');
    const [agent, cli] = [await approved(browser), await program(browser, 'write')];

    expectStatus(await server.api('DELETE', `/v1/members/${id}`), 204);

    for (const take of [agent, cli]) {
      const [first, again] = [await take(), await take()];
      expect([first, again].map(({ status, json }) => [status, json.error])).toEqual([
        [400, 'invalid_grant'],
        [400, expect.stringMatching(/^(?:invalid_grant|slow_down)$/)],
      ]);
    }
  });

  it('lowering the role of a member revokes granted keys beyond the new role, and keeps the others', async () => {
    const { id, browser } = await member('admin');
    const [reads, writes, later] = [
      await keyOf(await program(browser, 'read')),
      await keyOf(await program(browser, 'write')),
      await program(browser, 'write'),
    ];

    expectStatus(await server.api('PATCH', `/v1/members/${id}`, { role: 'read' }), 200);

    expect(await Promise.all([reads, writes].map(isIn))).toEqual([true, false]);
    expect((await later()).json.error).toBe('invalid_grant');
  });

  it('revoking a key ends the sessions opened with it, and revokes the keys granted from them', async () => {
    const { key, id } = await createKey(server, { scope: 'write' });
    const browser = await browserOf(server, key);
    const [taken, later] = [await keyOf(await program(browser, 'write')), await approved(browser)];
    const grandchild = await keyOf(await approved(await browserOf(server, taken)));

    expectStatus(await server.api('DELETE', `/v1/keys/${id}`), 204);

    expect(await Promise.all([taken, grandchild].map(isIn))).toEqual([false, false]);
    expect((await later()).json.error).toBe('invalid_grant');
  });

  it('a key that expires: granted keys do not outlive it, also when it is rotated', async () => {
    const { key, id } = await createKey(server, {
      scope: 'read',
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    });
    const { json } = await (await approved(await browserOf(server, key)))();
    expect(json.expires_in).toBeGreaterThan(3_000);
    expect(json.expires_in).toBeLessThanOrEqual(3_600);
    expect(await isIn(json.access_token)).toBe(true);

    expectStatus(await server.api('POST', `/v1/keys/${id}/rotate`, { grace_seconds: 0 }), 200);

    expect(await isIn(json.access_token)).toBe(false);
  });

  describe('a granted key after rotation', () => {
    const idOf = async (key: string): Promise<string> => {
      const rows = (await server.api('GET', '/v1/keys?limit=100')).json.data as { id: string; prefix: string }[];
      return (rows.find(({ prefix }) => key.startsWith(prefix)) as { id: string }).id;
    };
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- each test asserts the fields that it reads
    const rotated = async (key: string, graceSeconds = 3_600): Promise<any> =>
      expectStatus(await server.api('POST', `/v1/keys/${await idOf(key)}/rotate`, { grace_seconds: graceSeconds }), 200)
        .json;

    it('keeps its source, client, granter, scope and expiry', async () => {
      const { browser } = await member('admin');
      for (const take of [await approved(browser), await program(browser, 'write')]) {
        const key = await keyOf(take);
        const old = (await server.api('GET', `/v1/keys/${await idOf(key)}`)).json;

        const made = await rotated(key);
        const again = await rotated(made.key);

        const same = {
          source: 'oauth',
          client_id: old.client_id,
          client_name: old.client_name,
          granted_by: old.granted_by,
          scope: old.scope,
          expires_at: old.expires_at,
        };
        expect(old).toMatchObject({
          source: 'oauth',
          granted_by: expect.stringMatching(/@/),
          expires_at: expect.any(String),
        });
        expect([made, again]).toMatchObject([same, same]);
        expect([await isIn(made.key), await isIn(again.key)]).toEqual([true, true]);
      }
    });

    it('is revoked with the member who granted it, after any number of rotations', async () => {
      const { id, browser } = await member('admin');
      const made = await rotated(await keyOf(await program(browser, 'admin')), 0);
      const again = await rotated(made.key);

      expectStatus(await server.api('DELETE', `/v1/members/${id}`), 204);

      expect([await isIn(made.key), await isIn(again.key)]).toEqual([false, false]);
    });

    it('is revoked when the role of the granter is lowered, and when the key of their sign-in is revoked', async () => {
      const { id, browser } = await member('write');
      const { key, id: keyId } = await createKey(server, { scope: 'write' });
      const [ofRole, ofKey] = [
        await rotated(await keyOf(await program(browser, 'write'))),
        await rotated(await keyOf(await program(await browserOf(server, key), 'write'))),
      ];

      expectStatus(await server.api('PATCH', `/v1/members/${id}`, { role: 'read' }), 200);
      expectStatus(await server.api('DELETE', `/v1/keys/${keyId}`), 204);

      expect([await isIn(ofRole.key), await isIn(ofKey.key)]).toEqual([false, false]);
    });

    it('is revoked with the grant: when the client revokes it, and when the authorization code is used again', async () => {
      const { browser } = await member('admin');
      const [given, take] = [await keyOf(await approved(browser)), await approved(browser)];
      const reused = await keyOf(take);
      const [newOfGiven, newOfReused] = [await rotated(given), await rotated((await rotated(reused, 0)).key)];

      await form(server, '/oauth/revoke', { token: newOfGiven.key, client_id: clientId });
      expect((await take()).json.error).toBe('invalid_grant');

      expect(await Promise.all([given, newOfGiven.key, reused, newOfReused.key].map(isIn))).toEqual([
        false,
        false,
        false,
        false,
      ]);
    });

    it('remains valid when only the old key is revoked', async () => {
      const { browser } = await member('admin');
      const old = await keyOf(await approved(browser));
      const made = await rotated(old);

      expectStatus(await server.api('DELETE', `/v1/keys/${await idOf(old)}`), 204);

      expect([await isIn(old), await isIn(made.key)]).toEqual([false, true]);
    });

    it('409 if the granter has lost access', async () => {
      const { id, browser } = await member('write');
      const key = await keyOf(await program(browser, 'write'));
      const keyId = await idOf(key);
      await sql.rows(
        `update members set role = 'read' where email = (select email from members where role = 'write' and removed_at is null order by id desc limit 1)`,
      );
      expect(id).toBeDefined();

      expect((await server.api('POST', `/v1/keys/${keyId}/rotate`, {})).status).toBe(409);
    });
  });

  it('removing an organization invalidates its authorization codes and device codes', async () => {
    const made = expectStatus(
      await server.api(
        'POST',
        '/v1/orgs',
        { slug: 'gone', name: 'Gone', admin: { email: 'ada@gone.example' } },
        as(OPERATOR_KEY),
      ),
      201,
    ).json;
    const browser = await browserOf(server, made.key);
    const [agent, cli] = [await approved(browser), await program(browser, 'admin')];

    expectStatus(await server.api('DELETE', `/v1/orgs/${made.id}`, undefined, as(OPERATOR_KEY)), 204);

    expect([(await agent()).json.error, (await cli()).json.error]).toEqual(['invalid_grant', 'invalid_grant']);
    expect(
      await sql.rows(
        `select 1 from api_keys k join environments e on e.id = k.environment_id join organizations o on o.id = e.organization_id where o.removed_at is not null and k.revoked_at is null`,
      ),
    ).toEqual([]);
  });

  it('409: a key granted from the last admin key does not count as another admin key', async () => {
    const made = expectStatus(
      await server.api(
        'POST',
        '/v1/orgs',
        { slug: 'alone', name: 'Alone', admin: { email: 'ada@alone.example' } },
        as(OPERATOR_KEY),
      ),
      201,
    ).json;
    const owner = (method: string, path: string, body?: unknown): ReturnType<PosthornServer['api']> =>
      server.api(method, path, body, as(made.key));
    const expiring = expectStatus(
      await owner('POST', '/v1/keys', {
        name: 'Soon',
        scope: 'admin',
        expires_at: new Date(Date.now() + 3_600_000).toISOString(),
      }),
      201,
    ).json;
    await keyOf(await program(await browserOf(server, expiring.key), 'admin'));
    const [first] = (await owner('GET', '/v1/keys')).json.data.filter(
      ({ name }: { name: string }) => name === 'First key',
    );
    await sql.rows(
      'update api_keys set revoked_at = now() where name = $1 and environment_id in (select e.id from environments e join organizations o on o.id = e.organization_id where o.slug = $2)',
      ['First key', 'alone'],
    );
    expect(first).toBeDefined();

    const answer = await server.api('DELETE', `/v1/keys/${expiring.id}`, undefined, as(expiring.key));

    expect(answer.status).toBe(409);
  });
});
