import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { type PosthornServer, startServer } from '../support/server.js';
import { as, createKey, expectRefusal } from './answers.js';
import { CALLBACK, codeFor as codeForClient, form, pkce, registered } from './oauth.js';
import { until } from './polling.js';
import { expectStatus, openSql, type Sql } from './scene.js';
import { fieldOf, PlainBrowser } from './signing-in.js';

const ENDED_WITHIN_MS = 5_000;
const OPERATOR_KEY = 'the-key-of-the-operator-in-this-suite';

describe('sign-in', () => {
  const mails: { to: string[]; raw: string }[] = [];
  let relay: SMTPServer;
  let server: PosthornServer;
  let second: PosthornServer;
  let sql: Sql;
  let people = 0;

  beforeAll(async () => {
    relay = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      logger: false,
      onData: (stream, session, callback) =>
        void text(stream.setEncoding('latin1')).then((raw) => {
          mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), raw });
          callback();
        }, callback),
    });
    await new Promise<void>((resolve) => void relay.listen(0, '127.0.0.1', resolve));
    const { port } = relay.server.address() as AddressInfo;
    server = await startServer({
      EMAIL_TRANSPORT: `smtp://127.0.0.1:${port}?tls=off`,
      PLATFORM_DOMAIN: 'hooks.example.com',
      TRUST_PROXY: '127.0.0.0/8',
      OPERATOR_KEY,
    });
    second = await startServer(server.env);
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql?.close();
    await second?.stop();
    await server?.stop();
    await new Promise<void>((resolve) => void relay.close(() => resolve()));
  });

  beforeEach(() => (people += 1));

  async function member(role = 'write'): Promise<{ id: string; email: string }> {
    const email = `person-${people}@customer.example`;
    return expectStatus(await server.api('POST', '/v1/members', { email: email.toUpperCase(), role }), 201).json;
  }

  async function codeFor(browser: PlainBrowser, email: string): Promise<{ ticket: string; code: string }> {
    const page = await browser.post('/signin/email', { email });
    const mail = await until(
      async () => mails.find(({ to }) => to.includes(email)),
      (found) => found !== undefined,
      20_000,
    );
    return { ticket: fieldOf(page.text, 'ticket'), code: /Subject: (\d{6})/.exec(mail?.raw ?? '')?.[1] ?? '' };
  }

  async function signedIn(email: string): Promise<PlainBrowser> {
    const browser = new PlainBrowser(server);
    const answer = await browser.post('/signin/code', await codeFor(browser, email));
    expect(answer.status).toBe(303);
    return browser;
  }

  const isIn = async (browser: PlainBrowser, at = server): Promise<boolean> => {
    const elsewhere = new PlainBrowser(at);
    elsewhere.cookie = browser.cookie;
    return (await elsewhere.get('/signin')).text.includes('You are signed in');
  };

  describe('the page', () => {
    it('200: runs no script, loads only one stylesheet of Posthorn, and cannot be framed', async () => {
      const browser = new PlainBrowser(server);
      const page = await browser.get('/signin');
      const style = await browser.get('/pages/style.css');

      expect(page.status).toBe(200);
      expect(page.text).not.toMatch(/<script|<style|style="|onclick=/);
      expect(page.headers.get('content-security-policy')).toBe(
        "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      );
      expect(page.headers.get('referrer-policy')).toBe('same-origin');
      expect(page.headers.get('cache-control')).toBe('no-store');
      expect([style.status, style.headers.get('content-type')]).toEqual([200, 'text/css; charset=utf-8']);
    });

    it('text in the URL is escaped or omitted', async () => {
      const browser = new PlainBrowser(server);

      const own = await browser.get(`/signin?return_to=${encodeURIComponent('/x?"><script>alert(1)</script>')}`);
      const foreign = await browser.get('/signin?return_to=https%3A%2F%2Fevil.example');

      expect(own.text).not.toContain('<script>');
      expect(foreign.text).not.toContain('evil.example');
    });

    it('a sign-in method that is not configured is not offered, and the page says who can configure it', async () => {
      const plain = await startServer();
      const page = await new PlainBrowser(plain).get('/signin');
      await plain.stop();

      expect(page.text).toContain('EMAIL_TRANSPORT');
      expect(page.text).not.toContain('action="/signin/email"');
    });
  });

  describe('with an API key', () => {
    it('303: the cookie is not readable by scripts or other sites, and the page leads back', async () => {
      const browser = new PlainBrowser(server);

      const answer = await browser.post('/signin/key', { key: server.apiKey, return_to: '/signin?a=b' });

      expect([answer.status, answer.headers.get('location')]).toEqual([303, '/signin?a=b']);
      expect(answer.headers.get('set-cookie')).toMatch(
        /^posthorn_session_[0-9a-f]{8}=[A-Za-z0-9_-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/,
      );
      expect(await isIn(browser)).toBe(true);
      expect(await isIn(browser, second)).toBe(true);
    });

    it('401: an invalid key opens no session', async () => {
      const browser = new PlainBrowser(server);

      const answer = await browser.post('/signin/key', { key: 'ek_live_000000000000000000000000' });

      expect([answer.status, answer.cookie]).toEqual([401, null]);
      expect(answer.text).toContain('role="alert"');
    });

    it.each(['https://evil.example/', '//evil.example', '/\\evil.example'])(
      '303: does not redirect to another site: %s',
      async (return_to) => {
        const answer = await new PlainBrowser(server).post('/signin/key', { key: server.apiKey, return_to });

        expect(answer.headers.get('location')).toBe('/signin');
      },
    );

    it('revoking the key ends its sessions, on every node', async () => {
      const browser = new PlainBrowser(server);
      const { id, key } = await createKey(server, { scope: 'read' });
      await browser.post('/signin/key', { key });
      expect(await isIn(browser, second)).toBe(true);

      expectStatus(await server.api('DELETE', `/v1/keys/${id}`), 204);

      expect(await isIn(browser)).toBe(false);
      await until(
        () => isIn(browser, second),
        (still) => !still,
        ENDED_WITHIN_MS,
      );
    });
  });

  describe('with a code', () => {
    it('303: the member is signed in, once for each code', async () => {
      const { email, id } = await member();
      const browser = new PlainBrowser(server);
      const given = await codeFor(browser, email);

      const [first, again] = [
        await browser.post('/signin/code', given),
        await new PlainBrowser(server).post('/signin/code', given),
      ];

      expect([first.status, again.status]).toEqual([303, 401]);
      expect((await browser.get('/signin')).text).toContain(email);
      expect((await server.api('GET', `/v1/members/${id}`)).json.last_signed_in_at).not.toBeNull();
      const { data } = (await server.api('GET', '/v1/sessions')).json;
      expect(data.find((session: { email: string }) => session.email === email)).toMatchObject({
        how: 'code',
        member: id,
        key: null,
      });
    });

    it('401: after five wrong codes the right one is rejected too', async () => {
      const { email } = await member();
      const browser = new PlainBrowser(server);
      const { ticket, code } = await codeFor(browser, email);
      const wrong = code === '000000' ? '000001' : '000000';

      const answers = [];
      for (let i = 0; i < 5; i += 1) answers.push((await browser.post('/signin/code', { ticket, code: wrong })).status);

      expect(answers).toEqual([401, 401, 401, 401, 401]);
      expect((await browser.post('/signin/code', { ticket, code })).status).toBe(401);
    });

    it('401: a code is invalid without the ticket of the browser that requested it', async () => {
      const { email } = await member();
      const { code } = await codeFor(new PlainBrowser(server), email);

      const answer = await new PlainBrowser(server).post('/signin/code', { ticket: 'a'.repeat(43), code });

      expect([answer.status, answer.cookie]).toEqual([401, null]);
    });

    it('a member of several organizations chooses one, and only the choice uses up the code', async () => {
      const { email } = await member();
      const other = expectStatus(
        await server.api(
          'POST',
          '/v1/orgs',
          { slug: 'other', name: 'The Other One', admin: { email } },
          as(OPERATOR_KEY),
        ),
        201,
      ).json;
      const browser = new PlainBrowser(server);
      const given = await codeFor(browser, email);

      const choice = await browser.post('/signin/code', given);
      expect([choice.status, choice.cookie]).toEqual([200, null]);
      const chosen = /name="member" value="([^"]+)" required> The Other One/.exec(choice.text)?.[1] ?? '';
      expect((await browser.post('/signin/code', { ...given, member: chosen })).status).toBe(303);

      expect((await browser.get('/signin')).text).toContain('The Other One');
      expect((await server.api('GET', '/v1/sessions', undefined, as(other.key))).json.data).toHaveLength(1);
    });

    it('an unknown address gets the same page as a member, and no email', async () => {
      const { email } = await member();
      const shown = (page: string): string => page.replace(/value="[A-Za-z0-9_-]{43}"/, '');
      const [known, unknown] = [
        await new PlainBrowser(server).post('/signin/email', { email }),
        await new PlainBrowser(server).post('/signin/email', { email: `nobody-${people}@customer.example` }),
      ];

      expect([unknown.status, shown(unknown.text)]).toEqual([known.status, shown(known.text)]);
      await until(async () => mails.some(({ to }) => to.includes(email)), Boolean, 20_000);
      expect(mails.some(({ to }) => to.includes(`nobody-${people}@customer.example`))).toBe(false);
    });

    it('429: five codes per hour from one address, also concurrently; a code that was sent stays counted', async () => {
      const { email } = await member();
      const browser = new PlainBrowser(server);
      const given = await codeFor(browser, email);

      const answers = await Promise.all(Array.from({ length: 12 }, () => browser.post('/signin/email', { email })));

      expect(answers.map(({ status }) => status).sort()).toEqual([
        200, 200, 200, 200, 429, 429, 429, 429, 429, 429, 429, 429,
      ]);
      expect(answers.find(({ status }) => status === 429)?.text).toContain('remains valid');
      expect(await sql.rows('select 1 from sign_in_codes where email = $1', [email])).toHaveLength(5);
      expect((await browser.post('/signin/code', given)).status).toBe(303);
    });

    it('requesting codes for a member until 429 does not lock the member out, even from many addresses', async () => {
      const { email } = await member();
      const home = await signedIn(email);
      const strangers = Array.from({ length: 8 }, () => new PlainBrowser(server));
      const asked = (
        await Promise.all(
          strangers.map(async (stranger) =>
            Promise.all(Array.from({ length: 6 }, () => stranger.post('/signin/email', { email }))),
          ),
        )
      ).flat();

      expect(asked.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(8 * 6 - 20);
      expect((await new PlainBrowser(server).post('/signin/email', { email })).status).toBe(429);
      home.cookie = '';
      // Waits until all codes have been sent. Otherwise a late code could be mistaken for the code requested next.
      const codes = asked.filter(({ status }) => status === 200).length + 1;
      await until(
        async () => mails.filter(({ to }) => to.includes(email)).length,
        (count) => count >= codes,
        20_000,
      );
      mails.length = 0;
      expect((await home.post('/signin/code', await codeFor(home, email))).status).toBe(303);
    });

    it('429: also for an unknown address', async () => {
      const browser = new PlainBrowser(server);
      const answers = [];
      for (let i = 0; i < 6; i += 1)
        answers.push(await browser.post('/signin/email', { email: `nobody-${people}@customer.example` }));

      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
    });

    it('the code is in no table and no log', async () => {
      const { email } = await member();
      const { code, ticket } = await codeFor(new PlainBrowser(server), email);
      const [row] = await sql.rows<{ row: string }>(
        'select sign_in_codes::text as row from sign_in_codes where email = $1',
        [email],
      );

      expect(row?.row).not.toContain(code);
      expect(row?.row).not.toContain(ticket);
      expect(server.logs()).not.toContain(code);
    });
  });

  describe('an application that gets a key', () => {
    const admin = async (): Promise<string> => {
      const email = `admin-${people}@customer.example`;
      expectStatus(await server.api('POST', '/v1/members', { email, role: 'admin' }), 201);
      return email;
    };
    const notices = (email: string): { raw: string }[] =>
      mails.filter(({ to, raw }) => to.includes(email) && raw.includes('An application was given access'));

    it('the admins and the member who approved it are notified by email, and no others', async () => {
      const [boss, other, { email }] = [await admin(), `other-${people}@customer.example`, await member('read')];
      expectStatus(await server.api('POST', '/v1/members', { email: other, role: 'write' }), 201);
      const browser = await signedIn(email);
      const clientId = await registered(server, { client_name: 'Helper https://evil.example' }, `198.51.100.${people}`);
      const { verifier, challenge } = pkce();
      const code = await codeForClient(browser, clientId, challenge);
      expect([notices(boss), notices(email)]).toEqual([[], []]);

      const exchanged = await form(server, '/oauth/token', {
        grant_type: 'authorization_code',
        client_id: clientId,
        redirect_uri: CALLBACK,
        code,
        code_verifier: verifier,
      });
      expect(exchanged.status).toBe(200);

      for (const address of [boss, email]) {
        const [mail] = await until(
          async () => notices(address),
          (found) => found.length > 0,
          20_000,
        );
        const raw = mail?.raw.replaceAll('=\r\n', '') ?? '';
        expect(raw).toContain(`Approved by: ${email}`);
        expect(raw).toMatch(/Key: ek_[0-9A-Z]{26}/);
        expect(raw).not.toContain('evil.example');
        expect(raw).not.toContain(exchanged.json.access_token);
      }
      expect([notices(boss), notices(email), notices(other)].map(({ length }) => length)).toEqual([1, 1, 0]);
      await sql.rows(`update members set role = 'read' where email = $1`, [boss]);
    });

    it('a program that signs in by the device flow is reported too', async () => {
      const boss = await admin();
      const browser = new PlainBrowser(server);
      await browser.post('/signin/key', { key: server.apiKey });
      const device = (await form(server, '/oauth/device', { client_id: 'posthorn-cli' })).json;
      const page = await browser.post('/oauth/device/code', {
        csrf_token: fieldOf((await browser.get('/oauth/device')).text, 'csrf_token'),
        user_code: device.user_code,
      });
      const answer = await browser.post('/oauth/device/decision', {
        csrf_token: fieldOf(page.text, 'csrf_token'),
        user_code: device.user_code,
        scope: 'read',
        environment: 'live',
        lifetime: '1',
        decision: 'allow',
      });
      expect(answer.status).toBe(200);

      const issued = await form(server, '/oauth/token', {
        grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
        client_id: 'posthorn-cli',
        device_code: device.device_code,
      });

      expect(issued.status).toBe(200);
      await until(
        async () => notices(boss),
        (found) => found.length > 0,
        20_000,
      );
      await sql.rows(`update members set role = 'read' where email = $1`, [boss]);
    });
  });

  describe('a session', () => {
    it('ends on every node when the member is removed', async () => {
      const { email, id } = await member();
      const browser = await signedIn(email);
      expect(await isIn(browser, second)).toBe(true);

      expectStatus(await server.api('DELETE', `/v1/members/${id}`), 204);

      expect(await isIn(browser)).toBe(false);
      await until(
        () => isIn(browser, second),
        (still) => !still,
        ENDED_WITHIN_MS,
      );
    });

    it('ends when an admin ends it, and is no longer listed', async () => {
      const { email } = await member();
      const browser = await signedIn(email);
      const find = async () =>
        (await server.api('GET', '/v1/sessions')).json.data.find(
          (session: { email: string }) => session.email === email,
        );

      expectStatus(await server.api('DELETE', `/v1/sessions/${(await find()).id}`), 204);

      expect(await isIn(browser)).toBe(false);
      expect(await find()).toBeUndefined();
    });

    it('gets a new role at once, and shows it', async () => {
      const { email, id } = await member('read');
      const browser = await signedIn(email);
      expect((await browser.get('/signin')).text).toContain('<dd>read</dd>');

      expectStatus(await server.api('PATCH', `/v1/members/${id}`, { role: 'write' }), 200);

      expect((await browser.get('/signin')).text).toContain('<dd>write</dd>');
    });

    it('ends after twelve hours without a request, and after seven days in any case', async () => {
      const { email } = await member();
      const [idle, old] = [await signedIn(email), new PlainBrowser(server)];
      await old.post('/signin/key', { key: server.apiKey });
      await sql.rows(
        `update sessions s set last_seen_at = now() - interval '13 hours' from members m where m.id = s.member_id and m.email = $1`,
        [email],
      );
      await sql.rows(`update sessions set expires_at = now() - interval '1 second' where key_id is not null`);
      await sql.rows(`select pg_notify('posthorn', 'session:*')`);

      await until(
        () => isIn(idle),
        (still) => !still,
        ENDED_WITHIN_MS,
      );
      await until(
        () => isIn(old),
        (still) => !still,
        ENDED_WITHIN_MS,
      );
    });

    it('sign-out requires its own CSRF token, ends the session, and deletes the cookie', async () => {
      const browser = new PlainBrowser(server);
      await browser.post('/signin/key', { key: server.apiKey });
      const { cookie } = browser;
      const token = fieldOf((await browser.get('/signin')).text, 'csrf_token');

      const forged = await browser.post('/signout', { csrf_token: 'x' });
      expect([forged.status, await isIn(browser)]).toEqual([403, true]);
      const answer = await browser.post('/signout', { csrf_token: token });

      expect(answer.headers.get('set-cookie')).toContain('Max-Age=0');
      browser.cookie = cookie;
      expect(await isIn(browser)).toBe(false);
    });

    it('its token is in no table', async () => {
      const browser = new PlainBrowser(server);
      await browser.post('/signin/key', { key: server.apiKey });
      const token = browser.cookie.split('=')[1] ?? '-';

      const rows = await sql.rows<{ row: string }>('select sessions::text as row from sessions');

      expect(rows.filter(({ row }) => row.includes(token) || row.includes(Buffer.from(token).toString('hex')))).toEqual(
        [],
      );
    });
  });

  describe('requests from another site', () => {
    it.each<Record<string, string>>([
      { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      { origin: 'null', 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'same-site' },
    ])('403: a sign-in with %j is rejected', async (headers) => {
      const answer = await new PlainBrowser(server).post('/signin/key', { key: server.apiKey }, headers);

      expect([answer.status, answer.cookie]).toEqual([403, null]);
      expect(answer.headers.get('content-type')).toContain('text/html');
    });

    it('415: only pages accept a form, and they accept nothing else', async () => {
      expectRefusal(
        await server.api('POST', '/v1/keys', 'name=a', { 'content-type': 'application/x-www-form-urlencoded' }),
        415,
      );
      expect((await server.api('POST', '/signin/key', { key: server.apiKey })).status).toBe(415);
    });
  });

  describe('members', () => {
    it('403: a key of the test environment cannot create a member, who would have access to both', async () => {
      const { key } = await createKey(server, { scope: 'admin', environment: 'test' });

      expectRefusal(
        await server.api('POST', '/v1/members', { email: 'me@customer.example', role: 'admin' }, as(key)),
        403,
      );
    });

    it('409: the last admin cannot be removed, and an address can be a member only once', async () => {
      const { id, email } = await member('admin');

      expectRefusal(await server.api('POST', '/v1/members', { email, role: 'read' }), 409);
      expectRefusal(await server.api('PATCH', `/v1/members/${id}`, { role: 'read' }), 409);
      expectRefusal(await server.api('DELETE', `/v1/members/${id}`), 409);
      await sql.rows('update members set role = $1 where email = $2', ['read', email]);
    });

    it('422: an invalid address', async () => {
      expectRefusal(
        await server.api('POST', '/v1/members', { email: 'Ada <ada@customer.example>', role: 'read' }),
        422,
      );
    });
  });

  it('429: attempts are counted per client address, over all sign-in methods', async () => {
    const browser = new PlainBrowser(second);
    const answers = [];
    for (let i = 0; i < 25 && answers.at(-1) !== 429; i += 1)
      answers.push((await browser.post('/signin/key', { key: 'ek_live_none' })).status);

    expect(answers.at(-1)).toBe(429);
    expect((await browser.post('/signin/code', { ticket: 'a', code: '1' })).headers.get('retry-after')).toMatch(
      /^\d+$/,
    );
  });
});
