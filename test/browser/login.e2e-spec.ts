import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { until } from '../api/polling.js';
import { openSql, type Sql, WITHIN_MS } from '../api/scene.js';
import { freePort } from '../durability/processes.js';
import { isChromiumInstalled, screenshotsOf, startBrowser } from '../support/browser.js';
import { command, type Running, start } from '../support/command.js';
import { type PosthornServer, startServer } from '../support/server.js';

/** `posthorn login` against the service itself, with a user in a browser. */
(isChromiumInstalled() ? describe : describe.skip)('posthorn login', () => {
  let server: PosthornServer;
  let current: PosthornServer;
  let browser: Browser;
  let page: Page;
  let sql: Sql;
  let folder: string;
  const screenshot = screenshotsOf('login');

  beforeAll(async () => {
    [server, browser] = await Promise.all([startServer({ PORT: String(await freePort()) }), startBrowser()]);
    current = server;
    sql = openSql(server);
    folder = mkdtempSync(path.join(tmpdir(), 'posthorn-login-'));
    page = await (await browser.newContext({ viewport: { width: 900, height: 900 } })).newPage();
    page.setDefaultTimeout(WITHIN_MS);
  });

  afterAll(async () => {
    await browser?.close();
    await sql?.close();
    if (current !== server) await current?.stop();
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const envOf = (user: string): Record<string, string> => ({ HOME: folder, XDG_CONFIG_HOME: path.join(folder, user) });
  const fileOf = (user: string): string => path.join(folder, user, 'posthorn', 'credentials.json');

  /** Starts a login and returns the address that the user has to open. */
  async function login(user: string): Promise<{ running: Running; address: string; code: string }> {
    const running = start(envOf(user), ['login', '--url', server.url, '--scope', 'write']);
    await running.said(/compare the code: [A-Z]{4}-[A-Z]{4}/);
    const [, address = '', code = ''] = /Open (\S+) and compare the code: (\S+)/.exec(running.err) ?? [];
    return { running, address, code };
  }

  /** Acts as the user: opens the address, signs in if necessary, compares the code and decides. */
  async function decide(
    { address, code }: { address: string; code: string },
    decision: 'Allow' | 'Refuse',
  ): Promise<void> {
    await page.goto(address);
    const key = page.getByLabel('API key of your organization');
    if (await key.isVisible()) {
      await key.fill(server.apiKey);
      await page.getByRole('button', { name: 'Sign in with the key' }).click();
    }
    expect(await page.getByLabel('Code').inputValue()).toBe(code);
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByRole('heading', { name: 'Allow this program?' }).waitFor();
    if (decision === 'Allow') await page.getByLabel('Read and write').check();
    await screenshot(page, `${decision.toLowerCase()}-consent`);
    await page.getByRole('button', { name: decision }).click();
    await page
      .getByRole('heading', { name: decision === 'Allow' ? 'The program is signed in' : /.+/ })
      .first()
      .waitFor();
  }

  const ended = async ({ child }: Running): Promise<number | null> =>
    until(
      async () => child.exitCode,
      (exitCode) => exitCode !== null,
      60_000,
    );
  const polled = (): Promise<unknown> =>
    until(
      () => sql.rows('select 1 from oauth_devices where polled_at is not null'),
      (rows) => rows.length > 0,
      WITHIN_MS,
    );

  it('approved in the browser: the key is stored for the user only, whoami accepts it, logout revokes it, and the login survives a restart and slow_down', async () => {
    // A folder and a file from an earlier version, readable by all users.
    mkdirSync(path.dirname(fileOf('ada')), { recursive: true });
    writeFileSync(fileOf('ada'), '{"current":null,"sessions":{}}');
    chmodSync(path.dirname(fileOf('ada')), 0o777);
    chmodSync(fileOf('ada'), 0o666);
    const begun = await login('ada');
    await polled();
    // The next poll comes too soon, so the response is slow_down.
    await sql.rows(`update oauth_devices set polled_at = now() + interval '3 seconds'`);
    await decide(begun, 'Allow');
    await until(
      () => sql.rows<{ s: number }>('select interval_seconds as s from oauth_devices'),
      ([row]) => row?.s === 10,
      WITHIN_MS,
    );
    // Kills the service, so that the poll after slow_down finds no service.
    await current.kill('SIGKILL');
    const nobody = net.createServer((socket) => socket.destroy()).listen(Number(server.env['PORT']), '127.0.0.1');
    await once(nobody, 'connection');
    nobody.close();
    await once(nobody, 'close');
    current = await startServer(server.env);

    expect(await ended(begun.running)).toBe(0);
    expect([statSync(fileOf('ada')).mode & 0o777, statSync(path.dirname(fileOf('ada'))).mode & 0o777]).toEqual([
      0o600, 0o700,
    ]);
    const key =
      Object.values(
        (JSON.parse(readFileSync(fileOf('ada'), 'utf8')) as { sessions: Record<string, { api_key: string }> }).sessions,
      )[0]?.api_key ?? '';
    expect(begun.running.out + begun.running.err).not.toContain(key);
    const who = await command(envOf('ada'), ['whoami', '--json']);
    expect(JSON.parse(who.out)).toMatchObject({
      url: server.url,
      environment: 'live',
      source: 'login',
      scope: 'write',
    });
    expect(who.out).not.toContain(key);
    expect((await command(envOf('ada'), ['events'])).code).toBe(0);

    expect(await command(envOf('ada'), ['logout'])).toMatchObject({ code: 0 });

    expect(readFileSync(fileOf('ada'), 'utf8')).not.toContain(key);
    expect((await command({ ...envOf('ada'), POSTHORN_URL: server.url, POSTHORN_API_KEY: key }, ['events'])).code).toBe(
      3,
    );
    expect((await command(envOf('ada'), ['whoami', '--url', server.url])).code).toBe(3);
  }, 180_000);

  it('refused in the browser, and expired: exit code 3, and no key is stored', async () => {
    const refused = await login('ben');
    await decide(refused, 'Refuse');
    const late = await login('cleo');
    await sql.rows(`update oauth_devices set expires_at = now() where state = 'pending'`);

    expect(await Promise.all([ended(refused.running), ended(late.running)])).toEqual([3, 3]);
    expect([refused.running.err, late.running.err]).toEqual([
      expect.stringContaining('The login was denied.'),
      expect.stringContaining('The login was not approved in time.'),
    ]);
    for (const user of ['ben', 'cleo'])
      expect((await command(envOf(user), ['whoami', '--url', server.url])).code).toBe(3);
  });

  it('logout from an unreachable service: the local key is deleted, and a warning says that it is still valid', async () => {
    expect(await command(envOf('dora'), ['login', '--with-key', '--url', server.url], server.apiKey)).toMatchObject({
      code: 0,
    });
    const kept = JSON.parse(readFileSync(fileOf('dora'), 'utf8')) as {
      sessions: Record<string, { is_granted: boolean }>;
    };
    const away = `http://127.0.0.1:${await freePort()}`;
    writeFileSync(
      fileOf('dora'),
      JSON.stringify({ current: away, sessions: { [away]: { ...kept.sessions[server.url], is_granted: true } } }),
    );

    const logout = await command(envOf('dora'), ['logout']);

    expect(logout).toMatchObject({
      code: 1,
      err: expect.stringContaining('The key was deleted from this machine but not revoked'),
    });
    expect(readFileSync(fileOf('dora'), 'utf8')).not.toContain(server.apiKey);
  });
});
