import * as oauth from 'oauth4webapi';
import { type PosthornServer, startServer } from '../support/server.js';
import { as, createKey } from './answers.js';
import { authorizePath, browserOf, csrfOf, form, pkce, registered } from './oauth.js';
import { openSql, type Sql } from './scene.js';
import { fieldOf, type PageAnswer, PlainBrowser } from './signing-in.js';

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const CLI = 'posthorn-cli';

describe('the device grant', () => {
  let server: PosthornServer;
  let sql: Sql;
  /** Each device uses a new client address, because the number of requests per address is limited. */
  let begun = 77;

  beforeAll(async () => {
    server = await startServer({ TRUST_PROXY: '127.0.0.0/8' });
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
  });

  const begin = async (
    clientId = CLI,
    more: Record<string, string> = {},
  ): Promise<{ device_code: string; user_code: string }> =>
    (
      await form(
        server,
        '/oauth/device',
        { client_id: clientId, ...more },
        { 'x-forwarded-for': `192.0.2.${begun++ % 200}` },
      )
    ).json;
  const poll = (code: string, clientId = CLI): ReturnType<typeof form> =>
    form(server, '/oauth/token', { grant_type: GRANT, device_code: code, client_id: clientId });
  /** Moves the time of the last poll back, as if the device had waited for the polling interval. */
  const waited = (): Promise<unknown> => sql.rows(`update oauth_devices set polled_at = polled_at - interval '1 hour'`);

  async function typed(browser: PlainBrowser, userCode: string): Promise<PageAnswer> {
    const page = await browser.get('/oauth/device');
    return browser.post('/oauth/device/code', { csrf_token: csrfOf(page.text), user_code: userCode });
  }

  async function decide(
    browser: PlainBrowser,
    userCode: string,
    choices: Record<string, string> = {},
  ): Promise<PageAnswer> {
    const page = await typed(browser, userCode);
    return browser.post('/oauth/device/decision', {
      csrf_token: csrfOf(page.text),
      user_code: fieldOf(page.text, 'user_code'),
      environment: 'live',
      lifetime: '30',
      scope: 'read',
      decision: 'allow',
      ...choices,
    });
  }

  it('a strict client gets codes, a person approves, and the key has the scope that the person chose', async () => {
    const issuer = new URL(server.url);
    const http = { [oauth.allowInsecureRequests]: true };
    const known = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...http }),
    );
    const client = { client_id: CLI };
    const device = await oauth.processDeviceAuthorizationResponse(
      known,
      client,
      await oauth.deviceAuthorizationRequest(known, client, oauth.None(), {}, http),
    );
    expect(device).toMatchObject({
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      expires_in: 600,
      interval: 5,
      verification_uri: `${server.url}/oauth/device`,
      verification_uri_complete: `${server.url}/oauth/device?user_code=${device.user_code}`,
    });

    const page = await decide(await browserOf(server), ` ${device.user_code.toLowerCase().replace('-', ' ')} `, {
      scope: 'admin',
      lifetime: '90',
    });
    const token = await oauth.processDeviceCodeResponse(
      known,
      client,
      await oauth.deviceCodeGrantRequest(known, client, oauth.None(), device.device_code, http),
    );

    expect(page.text).toContain('The program is signed in');
    expect(token).toMatchObject({ scope: 'admin', expires_in: 90 * 86_400 });
    expect((await server.api('GET', '/v1/keys', undefined, as(token.access_token))).json.data[0]).toMatchObject({
      source: 'oauth',
      client_id: CLI,
      scope: 'admin',
    });
  });

  /** Returns the scopes that the approval page offers, and the scopes that it preselects. */
  const scopesOf = ({ text }: PageAnswer): { offered: string[]; selected: string[] } => {
    const radios = [...text.matchAll(/<input type="radio" name="scope" value="(\w+)" required( checked)?>/g)];
    return {
      offered: radios.map(([, scope = '']) => scope),
      selected: radios.filter(([, , checked]) => checked).map(([, scope = '']) => scope),
    };
  };

  // The scopes that a device requests (RFC 8628, section 3.1), separated by spaces (RFC 6749, section 3.3).
  it.each<[asked: string | undefined, role: 'read' | 'write' | 'admin', selected: string, shown: string]>([
    ['write', 'admin', 'write', 'Read and write'],
    ['admin', 'admin', 'admin', 'Everything'],
    ['read', 'admin', 'read', 'Read only'],
    ['write', 'write', 'write', 'Read and write'],
    ['admin', 'write', 'write', 'Your own role is write: you cannot allow more.'],
    ['write', 'read', 'read', 'Your own role is read: you cannot allow more.'],
    ['read write', 'admin', 'write', 'Read and write'],
    ['write offline_access', 'admin', 'write', 'Read and write'],
    ['nothing', 'admin', 'read', ''],
    [undefined, 'admin', 'read', ''],
  ])(
    'requested scope %s, person with the role %s: the page shows the requested scope and preselects %s',
    async (asked, role, selected, shown) => {
      const { device_code: code, user_code: userCode } = await begin(CLI, asked === undefined ? {} : { scope: asked });
      const browser = await browserOf(
        server,
        role === 'admin' ? server.apiKey : (await createKey(server, { scope: role })).key,
      );

      const page = await typed(browser, userCode);
      const scopes = scopesOf(page);
      await decide(browser, userCode, { scope: scopes.selected[0] ?? '' });

      expect(scopes.selected).toEqual([selected]);
      expect(page.text.includes('<dt>Asks for</dt>')).toBe(shown !== '');
      expect(page.text).toContain(shown);
      expect((await poll(code)).json).toMatchObject({ scope: selected });
    },
  );

  it('the person can grant less than the requested scope', async () => {
    const { device_code: code, user_code: userCode } = await begin(CLI, { scope: 'admin' });
    await decide(await browserOf(server), userCode, { scope: 'read' });

    expect((await poll(code)).json).toMatchObject({ scope: 'read' });
  });

  it.each([
    ['ada-laptop', 'Posthorn command line (ada-laptop)'],
    ['Ada’s <b>Mac</b>\u202e\n.local', 'Posthorn command line (Adas bMacb.local)'],
    ['x'.repeat(300), `Posthorn command line (${'x'.repeat(64)})`],
    ['\n', 'Posthorn command line'],
  ])('the key and the page show the name of the machine in plain characters: %j', async (deviceName, name) => {
    const { device_code: code, user_code: userCode } = await begin(CLI, { scope: 'read', device_name: deviceName });
    const browser = await browserOf(server);
    const page = await typed(browser, userCode);
    await decide(browser, userCode);
    expect((await poll(code)).status).toBe(200);

    const [key] = (await server.api('GET', '/v1/keys')).json.data;
    expect(key).toMatchObject({ name, client_id: CLI, source: 'oauth' });
    expect(page.text.includes('<dt>Runs on</dt>')).toBe(name.includes('('));
    expect(page.text).not.toContain('<b>Mac');
  });

  it('authorization_pending until a person decides; slow_down for polling too often, with a longer interval', async () => {
    const { device_code: code } = await begin();

    const [first, second] = [await poll(code), await poll(code)];
    await sql.rows(`update oauth_devices set polled_at = now() - interval '6 seconds' where polled_at is not null`);
    const third = await poll(code);
    await waited();
    const fourth = await poll(code);

    expect([first, second, third, fourth].map(({ status, json }) => [status, json.error])).toEqual([
      [400, 'authorization_pending'],
      [400, 'slow_down'],
      [400, 'slow_down'],
      [400, 'authorization_pending'],
    ]);
  });

  it('the key is returned only once', async () => {
    const { device_code: code, user_code: userCode } = await begin();
    await decide(await browserOf(server), userCode);

    const answers = await Promise.all([poll(code), poll(code)]);
    await waited();
    const later = await poll(code);

    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect(later.json.error).toBe('invalid_grant');
  });

  it('access_denied when the person denies, expired_token after ten minutes, invalid_grant for another client', async () => {
    const [refused, old, stolen] = [await begin(), await begin(), await begin()];
    const other = await registered(server);
    await decide(await browserOf(server), refused.user_code, { decision: 'deny' });
    await decide(await browserOf(server), stolen.user_code);
    await sql.rows(`update oauth_devices set expires_at = now() where state = 'pending'`);

    expect([
      (await poll(refused.device_code)).json.error,
      (await poll(old.device_code)).json.error,
      (await poll(stolen.device_code, other)).json.error,
    ]).toEqual(['access_denied', 'expired_token', 'invalid_grant']);
    expect((await typed(await browserOf(server), old.user_code)).status).toBe(400);
  });

  it.each<[string, Record<string, unknown>]>([
    ['registered no grant types, which means authorization_code', {}],
    ['names another grant', { grant_types: ['authorization_code', 'refresh_token'] }],
  ])('unauthorized_client for a client that %s (RFC 7591, section 2; RFC 8628, section 3.2)', async (_, metadata) => {
    const { status, json } = await form(server, '/oauth/device', { client_id: await registered(server, metadata) });

    expect([status, json.error]).toEqual([400, 'unauthorized_client']);
  });

  it('a client registered for both grants can use both; a client for devices only needs no redirect URI and gets no authorization code', async () => {
    const both = await registered(server, { grant_types: ['authorization_code', GRANT] });
    const alone = await registered(server, { grant_types: [GRANT], redirect_uris: undefined, response_types: [] });

    const person = await browserOf(server);
    const [page, refused] = [
      await person.get(authorizePath(both, pkce().challenge)),
      await person.get(authorizePath(alone, pkce().challenge)),
    ];
    const begun = [
      await form(server, '/oauth/device', { client_id: both }),
      await form(server, '/oauth/device', { client_id: alone }),
    ];

    expect([page.status, refused.status, ...begun.map(({ status }) => status)]).toEqual([200, 400, 200, 200]);
  });

  it('invalid_client for an unknown client', async () => {
    const { status, json } = await form(server, '/oauth/device', { client_id: 'nobody' });

    expect([status, json.error]).toEqual([401, 'invalid_client']);
  });

  it('phishing: the page shows the client, its address and the code to compare; a link with the code approves nothing', async () => {
    const name = 'Posthorn <b>support</b>';
    const { user_code: userCode } = await begin(await registered(server, { client_name: name, grant_types: [GRANT] }));
    const browser = await browserOf(server);

    const linked = await browser.get(`/oauth/device?user_code=${userCode}`);
    const page = await typed(browser, userCode);

    expect(linked.text).toContain(`value="${userCode}"`);
    expect(linked.text).toContain('letter by letter');
    for (const shown of [
      userCode,
      '192.0.2.',
      '“Posthorn &lt;b&gt;support&lt;/b&gt;”',
      'Nobody verified it',
      'If somebody sent you this code',
    ])
      expect(page.text).toContain(shown);
    expect(page.headers.get('x-frame-options')).toBe('DENY');
    expect(await sql.rows(`select 1 from oauth_devices where state = 'approved' and client_name = $1`, [name])).toEqual(
      [],
    );
  });

  it('guessing codes: five attempts per minute and address, then 429', async () => {
    const browser = await browserOf(server);
    const statuses: number[] = [];
    for (let i = 0; i < 6; i += 1) statuses.push((await typed(browser, 'BBBB-BBBB')).status);

    expect(statuses).toEqual([400, 400, 400, 400, 400, 429]);
  });

  it('403: people cannot grant more than their own scope', async () => {
    const { key } = await createKey(server, { scope: 'write' });
    const { device_code: code, user_code: userCode } = await begin();
    const browser = await browserOf(server, key);

    const page = await typed(browser, userCode);
    const answer = await decide(browser, userCode, { scope: 'admin' });

    expect(page.text).not.toContain('value="admin"');
    expect(answer.status).toBe(403);
    expect((await poll(code)).json.error).toBe('authorization_pending');
  });

  it("CSRF: a form without the session's token, or from another site, decides nothing", async () => {
    const { device_code: code, user_code: userCode } = await begin();
    const browser = await browserOf(server);

    const answers = [
      await decide(browser, userCode, { csrf_token: 'x'.repeat(43) }),
      await browser.post('/oauth/device/decision', {}, { origin: 'https://evil.example.com' }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([403, 403]);
    expect((await poll(code)).json.error).toBe('authorization_pending');
  });

  it('only the SHA-256 hashes of the codes are stored', async () => {
    const { device_code: code, user_code: userCode } = await begin();

    const [row] = await sql.rows<{ text: string }>('select string_agg(d::text, chr(10)) as text from oauth_devices d');

    expect(row?.text).not.toContain(code);
    expect(row?.text).not.toContain(userCode.replace('-', ''));
  });

  it('without a session: redirects to the sign-in, and back with the code', async () => {
    const answer = await new PlainBrowser(server).get('/oauth/device?user_code=BCDF-GHJK');

    expect(answer.headers.get('location')).toBe(
      `/signin?return_to=${encodeURIComponent('/oauth/device?user_code=BCDF-GHJK')}`,
    );
  });
});
