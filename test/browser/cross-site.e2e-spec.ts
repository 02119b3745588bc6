import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expectStatus } from '../api/scene.js';
import { isChromiumInstalled, startBrowser } from '../support/browser.js';
import { type PosthornServer, startServer } from '../support/server.js';

const WAIT_MS_MAX = 60_000;

/** Result of one attack by a script on a page of another origin. */
interface Outcome {
  what: string;
  /** Data that the script could read, or null if it could read nothing. */
  read: string | null;
}

/**
 * Tries every request that a page of another origin can make a browser send, and returns the outcomes. Runs in that
 * page.
 */
async function attack(service: string): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const note = async (what: string, work: () => Promise<string | null>): Promise<void> =>
    void outcomes.push({ what, read: await work().catch(() => null) });
  const text = async (init: RequestInit, path: string): Promise<string | null> => {
    const answer = await fetch(service + path, { credentials: 'include', ...init });
    return (await answer.text()) || null;
  };
  const shown = (tag: string, attribute: string, path: string) => (): Promise<string | null> =>
    new Promise((resolve) => {
      const element = document.createElement(tag);
      element.addEventListener('load', () => {
        try {
          resolve((element as HTMLIFrameElement).contentDocument?.body?.textContent || null);
        } catch {
          resolve(null);
        }
      });
      element.addEventListener('error', () => resolve(null));
      element.setAttribute(attribute, service + path);
      if (tag === 'link') element.setAttribute('rel', 'stylesheet');
      document.body.append(element);
      setTimeout(() => resolve(null), 2_000);
    });
  const form =
    (method: string, path: string, fields: Record<string, string>, encoding: string) => (): Promise<string | null> =>
      new Promise((resolve) => {
        const frame = document.createElement('iframe');
        frame.name = `f${document.querySelectorAll('iframe').length}`;
        const element = document.createElement('form');
        Object.assign(element, { method, action: service + path, target: frame.name, enctype: encoding });
        for (const [name, value] of Object.entries(fields))
          element.append(Object.assign(document.createElement('input'), { name, value }));
        document.body.append(frame, element);
        frame.addEventListener('load', () => {
          try {
            resolve(frame.contentDocument?.body?.textContent || null);
          } catch {
            resolve(null);
          }
        });
        element.submit();
        setTimeout(() => resolve(null), 2_000);
      });
  const opened = (path: string) => (): Promise<string | null> =>
    new Promise((resolve) => {
      const other = window.open(service + path);
      setTimeout(() => {
        try {
          resolve(other?.document.body.textContent || null);
        } catch {
          resolve(null);
        }
      }, 1_500);
    });
  const listened = (path: string) => (): Promise<string | null> =>
    new Promise((resolve) => {
      const source = new EventSource(service + path, { withCredentials: true });
      source.addEventListener('ready', () => resolve('ready'));
      source.onerror = () => resolve(null);
      source.onopen = () => resolve('open');
    });

  const destination = JSON.stringify({ name: 'from another site', type: 'pull' });
  const ours = { 'x-posthorn-console': '1', 'x-posthorn-environment': 'live' };
  // Runs the requests in parallel, because most of them wait for their timeout.
  await Promise.all(
    ['/v1/session', '/v1/org', '/v1/keys', '/v1/events/stream?environment=live', '/signin'].map(async (path) => {
      await note(`fetch GET ${path}`, () => text({}, path));
      await note(`fetch GET ${path} with the header`, () => text({ headers: ours }, path));
      await note(`fetch GET ${path} without CORS`, () => text({ mode: 'no-cors' }, path));
      await note(`image ${path}`, shown('img', 'src', path));
      await note(`script ${path}`, shown('script', 'src', path));
      await note(`stylesheet ${path}`, shown('link', 'href', path));
      await note(`frame ${path}`, shown('iframe', 'src', path));
      await note(`object ${path}`, shown('object', 'data', path));
      await note(`form GET ${path}`, form('get', path, { environment: 'live' }, 'application/x-www-form-urlencoded'));
      await note(`window ${path}`, opened(path));
    }),
  );
  await note('event source', listened('/v1/events/stream?environment=live'));
  await note('fetch POST', () => text({ method: 'POST', body: destination }, '/v1/destinations'));
  await note('fetch POST as JSON', () =>
    text(
      { method: 'POST', body: destination, headers: { ...ours, 'content-type': 'application/json' } },
      '/v1/destinations',
    ),
  );
  await note('fetch POST without CORS', () =>
    text({ method: 'POST', mode: 'no-cors', body: destination }, '/v1/destinations'),
  );
  await note(
    'beacon',
    async () => String(navigator.sendBeacon(`${service}/v1/destinations`, destination)).replace('true', '') || null,
  );
  await note('fetch DELETE', () => text({ method: 'DELETE', headers: ours }, '/v1/session'));
  await note('fetch PATCH', () =>
    text(
      { method: 'PATCH', headers: { ...ours, 'content-type': 'application/json' }, body: '{"name":"Taken over"}' },
      '/v1/org',
    ),
  );
  await note(
    'form POST as text',
    form('post', '/v1/destinations', { '{"name":"from another site","type":"pull","x":"': '"}' }, 'text/plain'),
  );
  await note(
    'form POST',
    form('post', '/v1/destinations', { name: 'from another site', type: 'pull' }, 'application/x-www-form-urlencoded'),
  );
  await note('form sign-out', form('post', '/signout', {}, 'application/x-www-form-urlencoded'));
  await note(
    'form sign-in',
    form('post', '/signin/key', { key: 'ek_live_of_the_attacker' }, 'application/x-www-form-urlencoded'),
  );
  return outcomes;
}

(isChromiumInstalled() ? describe : describe.skip)('the session cookie, and pages of other sites', () => {
  let server: PosthornServer;
  let service: string;
  let browser: Browser;
  let others: Server;
  let context: BrowserContext;
  let own: Page;

  beforeAll(async () => {
    others = createServer(
      (_request, response) =>
        void response
          .writeHead(200, { 'content-type': 'text/html' })
          .end('<!doctype html><title>Another page</title><body></body>'),
    ).listen(0);
    [server, browser] = await Promise.all([
      startServer({ RATE_LIMIT_KEY: 'off', RATE_LIMIT_ORG: 'off' }),
      startBrowser(),
      once(others, 'listening'),
    ]);
    service = `http://localhost:${new URL(server.url).port}`;
    context = await browser.newContext();
    own = await context.newPage();
    own.setDefaultTimeout(WAIT_MS_MAX);
    await own.goto(`${service}/signin`);
    await own.getByLabel('API key of your organization').fill(server.apiKey);
    await own.getByRole('button', { name: 'Sign in with the key' }).click();
    await own.getByRole('heading', { name: 'You are signed in' }).waitFor();
    // The content security policy of this page allows scripts to call the API, as the console's does.
    await own.goto(`${service}/docs`);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    others?.close();
  });

  const asPage = (method: string, path: string, body?: string): Promise<{ status: number; text: string }> =>
    own.evaluate(
      async ([m, p, b]) => {
        const headers = {
          'x-posthorn-console': '1',
          'x-posthorn-environment': 'live',
          ...(b !== undefined && { 'content-type': 'application/json' }),
        };
        const answer = await fetch(p as string, { method: m as string, headers, ...(b !== undefined && { body: b }) });
        return { status: answer.status, text: await answer.text() };
      },
      [method, path, body],
    );

  it("a page on Posthorn's origin reads, writes and streams with only the cookie, which no script can read", async () => {
    const [cookie] = await context.cookies();

    expect(cookie).toMatchObject({
      name: expect.stringMatching(/^posthorn_session_[0-9a-f]{8}$/),
      httpOnly: true,
      sameSite: 'Lax',
      path: '/',
      secure: false,
      domain: 'localhost',
    });
    expect(await own.evaluate(() => document.cookie)).toBe('');
    expect(
      [
        await asPage('GET', '/v1/session'),
        await asPage('POST', '/v1/destinations', '{"name":"ours","type":"pull"}'),
      ].map(({ status }) => status),
    ).toEqual([200, 201]);
    expect(
      await own.evaluate(
        () =>
          new Promise((resolve) => {
            const source = new EventSource('/v1/events/stream?environment=live');
            source.addEventListener('ready', () => {
              source.close();
              resolve('ready');
            });
            source.onerror = () => resolve('refused');
          }),
      ),
    ).toBe('ready');
  });

  it.each([
    ['of another site', '127.0.0.1'],
    ['on another port of this host, which is the same site and gets the cookie', 'localhost'],
  ])(
    'a page %s reads nothing and changes nothing',
    async (_what, host) => {
      const before = [
        expectStatus(await server.api('GET', '/v1/destinations'), 200).text,
        (await server.api('GET', '/v1/org')).text,
        (await server.api('GET', '/v1/sessions')).json.data.length,
      ];
      const page = await context.newPage();
      await page.goto(`http://${host}:${(others.address() as AddressInfo).port}/`);

      const outcomes = await page.evaluate(attack, service);

      expect(outcomes.filter(({ read }) => read !== null)).toEqual([]);
      expect(outcomes.length).toBeGreaterThan(60);
      // The windows that the attack opened show only the response that an unauthenticated user gets.
      const windows = context.pages().filter((each) => each.url().includes('/v1/'));
      expect(windows.length).toBeGreaterThan(2);
      for (const each of windows)
        expect([each.url(), await each.evaluate(() => document.body.textContent)]).toEqual([
          each.url(),
          expect.stringContaining('unauthenticated'),
        ]);
      expect([
        (await server.api('GET', '/v1/destinations')).text,
        (await server.api('GET', '/v1/org')).text,
        (await server.api('GET', '/v1/sessions')).json.data.length,
      ]).toEqual(before);
      expect((await asPage('GET', '/v1/session')).status).toBe(200);
      for (const each of context.pages()) if (each !== own) await each.close();
    },
    180_000,
  );

  it("signing out on Posthorn's origin also signs out the other tabs", async () => {
    expect((await asPage('DELETE', '/v1/session')).status).toBe(204);

    expect(await context.cookies()).toEqual([]);
    expect((await asPage('GET', '/v1/session')).status).toBe(401);
  });
});
