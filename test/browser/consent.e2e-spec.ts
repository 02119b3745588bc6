import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { authorizePath, form, pkce, registered } from '../api/oauth.js';
import { openSql } from '../api/scene.js';
import { sessionCookieName } from '../api/sessions.js';
import { complaintsOf, isChromiumInstalled, screenshotsOf, startBrowser } from '../support/browser.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { type PosthornServer, startServer } from '../support/server.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Time limit for a page to show the expected content. A page that works is faster. */
const WAIT_MS_MAX = 60_000;

(isChromiumInstalled() ? describe : describe.skip)('sign-in, consent and device pages in a browser', () => {
  let server: PosthornServer;
  let browser: Browser;
  let client: Receiver;
  let page: Page;
  let complaints: string[];
  const screenshot = screenshotsOf('consent');

  beforeAll(async () => {
    [server, browser, client] = await Promise.all([
      startServer(),
      startBrowser(),
      startReceiver(() => ({ body: 'You can close this page.', headers: { 'content-type': 'text/plain' } })),
    ]);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    await client?.close();
  });

  beforeEach(async () => {
    // Does not bypass the pages' Content-Security-Policy, because the pages must work without scripts. The test can
    // still run the accessibility checker in the page.
    const context = await browser.newContext({ viewport: { width: 900, height: 1100 } });
    page = await context.newPage();
    page.setDefaultTimeout(WAIT_MS_MAX);
    complaints = complaintsOf(page);
  });

  afterEach(() => page.context().close());

  /** Returns the violations that the accessibility checker finds, in light and dark mode, and on a phone. */
  async function violations(): Promise<string[]> {
    const found: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.evaluate(AXE);
      found.push(
        ...(await page.evaluate(async () => {
          const { violations: all } = await (
            globalThis as unknown as {
              axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
            }
          ).axe.run();
          return all.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
        })),
      );
    }
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 320, height: 800 });
    if (await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth))
      found.push('scrolls sideways on a phone');
    await page.setViewportSize({ width: 900, height: 1100 });
    return found;
  }

  /** Returns the session of a member who signed in with a code. */
  async function memberSession(): Promise<string> {
    await server.api('POST', '/v1/members', { email: 'ada@example.com', role: 'read' });
    const token = randomBytes(32).toString('base64url');
    const sql = openSql(server);
    await sql.rows(
      `insert into sessions (organization_id, id, hash, member_id, how, network, user_agent, created_at, last_seen_at, expires_at)
       select organization_id, gen_random_uuid(), $1, id, 'code', '127.0.0.1', 'test', now(), now(), now() + interval '1 hour' from members where email = 'ada@example.com'`,
      [createHash('sha256').update(token).digest()],
    );
    await sql.close();
    return token;
  }

  async function signIn(): Promise<void> {
    await page.getByLabel('API key of your organization').fill(server.apiKey);
    await page.getByRole('button', { name: 'Sign in with the key' }).click();
  }

  it('consent: from the application through the sign-in to the question, and back with a code that can be exchanged for a key', async () => {
    const redirect = `${client.url}/callback`;
    const clientId = await registered(server, {
      client_name: 'An assistant with a long name that says what it is for',
      redirect_uris: [redirect],
    });
    const { verifier, challenge } = pkce();

    await page.goto(server.url + authorizePath(clientId, challenge, { redirect_uri: redirect }));
    expect(await violations()).toEqual([]);
    await screenshot(page, '01-sign-in');
    await signIn();
    await page.getByRole('heading', { name: 'Allow access?' }).waitFor();
    expect(await violations()).toEqual([]);
    await screenshot(page, '02-consent');
    await page.getByLabel('For how long').selectOption('7');
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.waitForURL(`${redirect}?**`);

    const given = new URL(page.url()).searchParams;
    expect(given.get('iss')).toBe(server.url);
    const { json } = await form(server, '/oauth/token', {
      grant_type: 'authorization_code',
      code: given.get('code') ?? '',
      client_id: clientId,
      redirect_uri: redirect,
      code_verifier: verifier,
    });
    expect(json).toMatchObject({ access_token: expect.stringMatching(/^ek_live_/), expires_in: 7 * 86_400 });
    expect(complaints).toEqual([]);
  });

  it('consent: refused with the keyboard alone, without an environment chosen', async () => {
    const redirect = `${client.url}/callback`;
    const clientId = await registered(server, { redirect_uris: [redirect] });

    await page.goto(server.url + authorizePath(clientId, pkce().challenge, { redirect_uri: redirect }));
    await signIn();
    await page.getByRole('button', { name: 'Refuse' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(`${redirect}?**`);

    expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied');
    expect(complaints).toEqual([]);
  });

  it('consent: a member chooses one of the environments', async () => {
    const redirect = `${client.url}/callback`;
    const clientId = await registered(server, { redirect_uris: [redirect] });
    const { verifier, challenge } = pkce();
    await page
      .context()
      .addCookies([{ name: await sessionCookieName(server), value: await memberSession(), url: server.url }]);

    await page.goto(server.url + authorizePath(clientId, challenge, { redirect_uri: redirect }));
    expect(await violations()).toEqual([]);
    await screenshot(page, '07-consent-of-a-member');
    await page.getByLabel('Test').check();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.waitForURL(`${redirect}?**`);

    const code = new URL(page.url()).searchParams.get('code') ?? '';
    const { json } = await form(server, '/oauth/token', {
      grant_type: 'authorization_code',
      code,
      client_id: clientId,
      redirect_uri: redirect,
      code_verifier: verifier,
    });
    expect(json.access_token).toMatch(/^ek_test_/);
    expect(
      (await server.api('GET', '/v1/keys', undefined, { authorization: `Bearer ${json.access_token}` })).status,
    ).toBe(403);
  });

  it('an invalid authorization request shows its error to the user after the sign-in', async () => {
    const address = server.url + authorizePath('AAAAAAAAAAAAAAAAAAAAAA', pkce().challenge);
    await page.goto(address);
    await signIn();
    await page.getByRole('alert').waitFor();

    const response = await page.goto(address);

    expect(response?.status()).toBe(400);
    expect(await violations()).toEqual([]);
    await screenshot(page, '03-unknown-client');
  });

  it('device: a wrong code, the right code, the requested permissions, and the confirmation', async () => {
    const device = (await form(server, '/oauth/device', { client_id: 'posthorn-cli' })).json;

    await page.goto(device.verification_uri);
    await signIn();
    await page.getByLabel('Code').fill('BBBB-BBBB');
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByRole('alert').waitFor();
    expect(await violations()).toEqual([]);
    await screenshot(page, '04-device-wrong-code');
    await page.getByLabel('Code').fill(device.user_code.toLowerCase());
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByRole('heading', { name: 'Allow this program?' }).waitFor();
    expect(await violations()).toEqual([]);
    await screenshot(page, '05-device-consent');
    await page.getByLabel('Read and write').check();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByRole('heading', { name: 'The program is signed in' }).waitFor();
    expect(await violations()).toEqual([]);
    await screenshot(page, '06-device-done');

    const { json } = await form(server, '/oauth/token', {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: device.device_code,
      client_id: 'posthorn-cli',
    });
    expect(json).toMatchObject({ scope: 'write', access_token: expect.stringMatching(/^ek_live_/) });
    // The browser logs the 400 for the wrong code as an error. There are no other errors.
    expect(complaints.filter((line) => !line.includes('400 (Bad Request)'))).toEqual([]);
  });
});
