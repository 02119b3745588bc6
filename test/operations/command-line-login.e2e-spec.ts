import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { command } from '../support/command.js';
import type { PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';

/** `posthorn login` against an authorization server with scripted answers. */
describe('posthorn login', () => {
  let server: PosthornServer;
  let folder: string;
  let oauth: Server;
  let url: string;
  let asked: { path: string; fields: Record<string, string> }[];
  let answers: { status: number; body: object }[];
  let mayRevoke = true;

  beforeAll(async () => {
    server = await sharedServer();
    folder = mkdtempSync(path.join(tmpdir(), 'posthorn-cli-login-'));
    oauth = createServer((request: IncomingMessage, response) => {
      void text(request).then((body) => {
        const at = request.url ?? '';
        const form = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true;
        if (request.method === 'POST')
          asked.push({
            path: at,
            fields: form ? Object.fromEntries(new URLSearchParams(body)) : (JSON.parse(body) as Record<string, string>),
          });
        const said =
          at === '/.well-known/oauth-authorization-server'
            ? {
                status: 200,
                body: {
                  issuer: url,
                  device_authorization_endpoint: `${url}/oauth/device`,
                  token_endpoint: `${url}/oauth/token`,
                  revocation_endpoint: 'https://evil.example/oauth/revoke',
                },
              }
            : at === '/oauth/device'
              ? {
                  status: 200,
                  body: {
                    device_code: 'device',
                    user_code: 'WDJB-MJHT',
                    verification_uri: `${url}/oauth/device`,
                    verification_uri_complete: `${url}/oauth/device?user_code=WDJB-MJHT`,
                    expires_in: 600,
                    interval: 0.05,
                  },
                }
              : at === '/oauth/token'
                ? (answers.shift() ?? { status: 400, body: { error: 'expired_token' } })
                : at === '/oauth/revoke'
                  ? { status: mayRevoke ? 200 : 500, body: {} }
                  : { status: 404, body: {} };
        response.writeHead(said.status, { 'content-type': 'application/json' }).end(JSON.stringify(said.body));
      });
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => oauth.once('listening', resolve));
    url = `http://127.0.0.1:${(oauth.address() as AddressInfo).port}`;
  });

  beforeEach(() => {
    asked = [];
    answers = [];
  });

  afterAll(() => {
    oauth.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const signedOut = (): Record<string, string> => ({ HOME: folder, XDG_CONFIG_HOME: path.join(folder, 'login') });
  const file = (): string => path.join(folder, 'login', 'posthorn', 'credentials.json');

  it('shows the code, polls no more often than allowed, stores the key readable for the user only, and logout revokes the key', async () => {
    answers.push(
      { status: 400, body: { error: 'authorization_pending' } },
      { status: 400, body: { error: 'slow_down' } },
      { status: 200, body: { access_token: server.apiKey, token_type: 'Bearer', scope: 'write', expires_in: 86_400 } },
    );

    const login = await command(signedOut(), ['login', '--url', url, '--scope', 'write']);

    expect(login.code).toBe(0);
    expect(login.out).toMatch(
      new RegExp(
        `^Signed in at ${url}: scope write, environment live, until \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC\\.\n$`,
      ),
    );
    expect(login.err).toContain('WDJB-MJHT');
    expect(login.out + login.err).not.toContain(server.apiKey);
    expect(asked.map((each) => each.path)).toEqual(['/oauth/device', '/oauth/token', '/oauth/token', '/oauth/token']);
    expect(asked[0]?.fields).toEqual({ client_id: 'posthorn-cli', scope: 'write', device_name: hostname() });
    expect(asked[3]?.fields).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: 'device',
      client_id: 'posthorn-cli',
    });
    expect([statSync(file()).mode & 0o777, statSync(path.dirname(file())).mode & 0o777]).toEqual([0o600, 0o700]);

    const logout = await command(signedOut(), ['logout']);

    expect(logout.code).toBe(0);
    // The request must not go to the address in manipulated metadata.
    expect(asked.at(-1)).toEqual({
      path: '/oauth/revoke',
      fields: { token: server.apiKey, client_id: 'posthorn-cli' },
    });
    expect(readFileSync(file(), 'utf8')).not.toContain(server.apiKey);
    expect((await command(signedOut(), ['whoami', '--url', url])).code).toBe(3);
  });

  it('a second login revokes the previous key after storing the new one, and prints the granted scopes if they differ from the requested ones', async () => {
    const granted = (key: string, more: object = {}): (typeof answers)[number] => ({
      status: 200,
      body: { access_token: key, token_type: 'Bearer', ...more },
    });
    answers.push(
      granted('ek_live_first', { scope: 'write', expires_in: 60 }),
      { status: 400, body: { error: 'access_denied' } },
      granted('ek_test_second', { scope: 'read' }),
    );
    const revoked = (): unknown[] => asked.filter(({ path: at }) => at === '/oauth/revoke').map(({ fields }) => fields);
    await command(signedOut(), ['login', '--url', url]);
    await command(signedOut(), ['login', '--url', url]);
    expect(revoked()).toEqual([]);
    expect(readFileSync(file(), 'utf8')).toContain('ek_live_first');

    const again = await command(signedOut(), ['login', '--url', url, '--json']);

    expect(revoked()).toEqual([{ token: 'ek_live_first', client_id: 'posthorn-cli' }]);
    expect(JSON.parse(again.out)).toEqual({
      url,
      signed_in: true,
      scope: 'read',
      environment: 'test',
      expires_at: null,
    });
    expect(again.err).toContain('You requested scope write and received read.');
    expect(readFileSync(file(), 'utf8')).not.toContain('ek_live_first');
    await command(signedOut(), ['logout', '--url', url]);
  });

  it('a failed revocation is reported and does not undo the login; a key that was set by hand is not revoked', async () => {
    mayRevoke = false;
    answers.push(
      { status: 200, body: { access_token: 'ek_live_first', scope: 'write' } },
      { status: 200, body: { access_token: 'ek_live_second', scope: 'write' } },
    );
    await command(signedOut(), ['login', '--url', url]);
    const second = await command(signedOut(), ['login', '--url', url]);
    mayRevoke = true;
    await command(signedOut(), ['logout', '--url', url]);
    const by = (): string[] =>
      asked.filter(({ path: at }) => at === '/oauth/revoke').map(({ fields }) => fields['token'] ?? '');
    expect(by()).toEqual(['ek_live_first', 'ek_live_second']);

    await command(signedOut(), ['login', '--with-key', '--url', server.url], server.apiKey);
    await command(signedOut(), ['login', '--with-key', '--url', server.url], server.apiKey);

    expect(second).toMatchObject({
      code: 0,
      err: expect.stringContaining('The key of the earlier login was replaced here but not revoked'),
    });
    expect(second.err).not.toContain('ek_live_');
    expect((await server.api('GET', '/v1/org')).status).toBe(200);
  });

  it('requests again with known scopes only', async () => {
    expect(await command(signedOut(), ['login', '--url', url, '--scope', 'everything'])).toMatchObject({
      code: 2,
      err: '--scope must be read, write or admin.\n',
    });
    expect(asked).toEqual([]);
  });

  it('a foreign page in front of the service, or a redirect, ends the login without a code', async () => {
    const portal = createServer(
      (request, response) =>
        void (request.url === '/oauth/device' || mayRevoke
          ? response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')
          : response.writeHead(302, { location: 'https://evil.example/a?b' }).end()),
    ).listen(0, '127.0.0.1');
    await new Promise((resolve) => portal.once('listening', resolve));
    const there = `http://127.0.0.1:${(portal.address() as AddressInfo).port}`;
    const page = await command(signedOut(), ['login', '--url', there]);
    mayRevoke = false;
    const redirect = await command(signedOut(), ['login', '--url', there]);
    mayRevoke = true;
    portal.close();

    expect(page).toMatchObject({
      code: 1,
      out: '',
      err: `${there} does not respond like Posthorn. Is this the URL of the service?\n`,
    });
    expect(redirect).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('with a redirect to https://evil.example, which is not followed'),
    });
  });

  it.each(['access_denied', 'expired_token', 'invalid_grant'])(
    '%s ends the login with exit code 3, and no key is stored',
    async (error) => {
      answers.push({ status: 400, body: { error } });

      expect((await command(signedOut(), ['login', '--url', url])).code).toBe(3);
      expect((await command(signedOut(), ['whoami', '--url', url])).code).toBe(3);
    },
  );

  it('--with-key stores a valid key, and the environment overrides it', async () => {
    const bad = await command(signedOut(), ['login', '--with-key', '--url', server.url], 'ek_live_x\n');
    const good = await command(signedOut(), ['login', '--with-key', '--url', server.url], `${server.apiKey}\n`);
    const who = await command(signedOut(), ['whoami', '--json']);
    const overridden = await command({ ...signedOut(), POSTHORN_API_KEY: 'ek_live_x' }, ['whoami']);

    expect([bad.code, good.code, overridden.code]).toEqual([3, 0, 3]);
    expect(JSON.parse(who.out)).toMatchObject({ url: server.url, source: 'login' });
  });
});
