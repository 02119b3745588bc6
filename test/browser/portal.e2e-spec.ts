import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { type BrowserContext, chromium, type Frame, type Page } from 'playwright-core';
import { as, createKey } from '../api/answers.js';
import { emit, endpointAt } from '../api/applications.js';
import { until } from '../api/polling.js';
import { openPortal } from '../api/portals.js';
import { expectStatus, startTargets, type Targets } from '../api/scene.js';
import { complaintsOf, isChromiumInstalled, screenshotsOf } from '../support/browser.js';
import { HOSTILE, violationsOf } from '../support/console-page.js';
import { type PosthornServer, startServer } from '../support/server.js';

const BUILT = path.resolve(import.meta.dirname, '../../dist/console');
const WAIT_MS_MAX = 60_000;
const FIRST_LOAD_BYTES_MAX = 200_000;
const LOGO =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

interface Example {
  createHost: (options: { posthorn: string; key: string; application: string; portal?: object }) => Server;
}

(isChromiumInstalled() ? describe : describe.skip)("the customers' portal in Chromium", () => {
  let server: PosthornServer;
  let service: string;
  let targets: Targets;
  let context: BrowserContext;
  let profile: string;
  let testKey: Record<string, string>;
  let key: string;
  const hosts: Server[] = [];
  const take = screenshotsOf('portal');

  beforeAll(async () => {
    targets = await startTargets();
    server = await startServer({ EGRESS_ALLOW_HTTP: 'true', EGRESS_ALLOW_CIDRS: '127.0.0.0/8' });
    service = server.url.replace('127.0.0.1', 'localhost');
    key = (await createKey(server, { scope: 'admin', environment: 'test' })).key;
    testKey = as(key);
    // The browser blocks cookies and storage of other sites, as more and more browsers do by default.
    profile = mkdtempSync(path.join(tmpdir(), 'posthorn-portal-'));
    mkdirSync(path.join(profile, 'Default'));
    writeFileSync(
      path.join(profile, 'Default', 'Preferences'),
      JSON.stringify({ profile: { block_third_party_cookies: true, cookie_controls_mode: 1 } }),
    );
    context = await chromium.launchPersistentContext(profile, {
      executablePath: process.env['POSTHORN_TEST_CHROMIUM'] ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-dev-shm-usage', '--test-third-party-cookie-phaseout'],
      viewport: { width: 1280, height: 900 },
      locale: 'en-GB',
      timezoneId: 'Europe/Berlin',
    });
    context.setDefaultTimeout(WAIT_MS_MAX);
  });

  afterAll(async () => {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
    for (const host of hosts) host.close();
    await server.stop();
    await targets.close();
  });

  /** Opens a portal of the test environment. The returned URL has the host name `localhost`, which the browser uses. */
  async function opened(application: string, fields: object = {}): Promise<{ id: string; token: string; url: string }> {
    const { url, ...rest } = await openPortal(server, application, fields, testKey);
    return { ...rest, url: url.replace('127.0.0.1', 'localhost') };
  }

  const made = async (fields: object = {}): Promise<string> =>
    expectStatus(await server.api('POST', '/v1/app', { name: 'Globex', ...fields }, testKey), 201).json.id as string;

  const endpointIn = async (application: string, description: string, type: string): Promise<{ id: string }> =>
    expectStatus(
      await server.api(
        'POST',
        `/v1/app/${application}/endpoints`,
        { url: targets.open().url, description, event_types: [type] },
        testKey,
      ),
      201,
    ).json;

  /** Opens the portal page outside of a frame, and records its errors and its requests to other hosts. */
  async function page(url: string): Promise<{ page: Page; wrongs: () => string[] }> {
    const shown = await context.newPage();
    const complaints = complaintsOf(shown);
    shown.on('request', (request) => {
      if (!request.url().startsWith(service) && !request.url().startsWith('data:'))
        complaints.push(`asked ${request.url()}`);
    });
    await shown.goto(url);
    return { page: shown, wrongs: () => complaints.splice(0) };
  }

  /** Serves a page of another site under this loopback host name, and returns its URL. */
  async function hostAt(name: 'localhost' | '127.0.0.1', serve: Server): Promise<string> {
    serve.listen(0, '127.0.0.1');
    await once(serve, 'listening');
    hosts.push(serve);
    return `http://${name}:${(serve.address() as AddressInfo).port}`;
  }

  it('first steps to a resent delivery: endpoint with types, test, secret, filter, deliveries, recovery, disable, delete', async () => {
    const application = await made();
    for (const [name, example] of [
      ['invoice.paid', { amount: 4200 }],
      ['invoice.sent', null],
      ['customer.created', null],
    ] as const) {
      expectStatus(
        await server.api(
          'POST',
          '/v1/event-types',
          {
            name,
            description: `That is ${name}.`,
            group: name.startsWith('invoice') ? 'Billing' : null,
            ...(example && { example, schema: { type: 'object' } }),
          },
          testKey,
        ),
        201,
      );
    }
    const target = targets.open((_post, index) =>
      index < 2 ? { status: 200, body: 'thanks' } : { status: 410, body: 'gone' },
    );
    const { url } = await opened(application, {
      theme: { accent: '#ffd400', radius: 10, logo: LOGO },
      return_url: 'http://localhost:9/settings',
    });
    const { page: shown, wrongs } = await page(url);
    const click = (name: string): Promise<void> => shown.getByRole('button', { name, exact: true }).click();

    await shown.getByText('No endpoints yet').waitFor();
    expect([shown.url(), await shown.title()]).toEqual([url.split('#')[0], 'Webhooks · Globex']);
    expect(await violations(shown, 'empty')).toEqual([]);
    await click('Add endpoint');
    await shown.getByLabel('Endpoint URL').fill(target.url);
    await click('Check URL');
    await shown.getByText('Reachable.').waitFor();
    await shown.getByLabel('Description').fill('Production');
    await shown.getByLabel('Selected types only').check();
    await shown.getByRole('checkbox', { name: /^invoice\.\*/ }).check();
    expect(await shown.getByRole('checkbox', { name: /^invoice\.paid/ }).isDisabled()).toBe(true);
    await shown.getByLabel('Other type or pattern').fill('order.*');
    await shown.getByRole('button', { name: 'Add', exact: true }).click();
    await shown.getByText('Filter and headers').click();
    await shown
      .getByRole('textbox', { name: 'Filter', exact: true })
      .fill('{"path": "$.amount", "op": "gte",\n"value": 12345678901234567890}');
    await shown.locator('form').getByRole('button', { name: 'Add endpoint' }).click();
    await shown.getByText(/^Filter: 12345678901234567890 cannot be stored exactly\..*\(line 2\)$/).waitFor();
    await shown
      .getByRole('textbox', { name: 'Filter', exact: true })
      .fill('{"path": "$.amount", "op": "gte", "value": "1"}');
    await shown.getByLabel('Headers').fill('x-team: billing');
    expect(await violations(shown, 'new')).toEqual([]);
    await shown.locator('form').getByRole('button', { name: 'Add endpoint' }).click();
    await shown.getByText('Endpoint created.').waitFor();
    const [endpoint] = (await server.api('GET', `/v1/app/${application}/endpoints`, undefined, testKey)).json.data;
    expect(endpoint).toMatchObject({
      url: target.url,
      description: 'Production',
      event_types: ['invoice.*', 'order.*'],
      headers: { 'x-team': 'billing' },
    });

    await click('Send test event');
    await shown.getByText('Sent. Response: 200').waitFor();
    await click('Show');
    const {
      json: { secret },
    } = await server.api('GET', `/v1/app/${application}/endpoints/${endpoint.id}/secret`, undefined, testKey);
    await shown.getByText(secret).waitFor();
    await shown.getByText('Verify requests').click();
    for (const language of ['JavaScript', 'Python', 'Go', 'Ruby', 'PHP', 'Java']) {
      await shown.getByLabel('Use the Standard Webhooks library').selectOption(language);
      expect(await shown.locator('details pre').last().textContent()).toContain('WEBHOOK_SECRET');
    }
    await click('Rotate secret');
    await shown.locator('.why').getByRole('button', { name: 'Rotate secret' }).click();
    await until(
      async () => shown.locator('.secret').textContent(),
      (text) => text !== secret && text !== null && text.startsWith('whsec_'),
      WAIT_MS_MAX,
    );
    expect(await violations(shown, 'endpoint')).toEqual([]);

    await emit({ ...server, api: (method, where, body) => server.api(method, where, body, testKey) }, application, {
      payload: { amount: 12, note: HOSTILE[0] },
    });
    await target.arrived(2);
    const failing = await emit(
      { ...server, api: (method, where, body) => server.api(method, where, body, testKey) },
      application,
      { payload: { amount: 13 } },
    );
    await target.arrived(3);
    await shown.getByRole('navigation').getByRole('button', { name: 'Deliveries' }).click();
    await shown.getByLabel('Status').selectOption({ index: 3 });
    await shown.getByRole('cell', { name: 'invoice.paid' }).waitFor();
    expect(await shown.locator('tbody tr').count()).toBe(1);
    await shown.getByLabel('Status').selectOption('');
    expect(await violations(shown, 'deliveries')).toEqual([]);
    await shown.locator('tbody tr').first().getByRole('button').click();
    await shown.getByText('HTTP 410').waitFor();
    await shown.getByText('"amount": 13').waitFor();
    expect(await violations(shown, 'delivery')).toEqual([]);
    // The receiver answered 410, which disabled the endpoint. The customer enables it and resends the failed events.
    target.answerBy(() => ({ status: 200, body: 'back' }));
    await shown.getByRole('navigation').getByRole('button', { name: 'Endpoints' }).click();
    await click('Production');
    await click('Enable');
    await click('Disable');
    await click('Cancel');
    await shown.getByRole('main').getByRole('button', { name: 'Deliveries' }).click();
    await shown.locator('tbody tr').first().getByRole('button').click();
    await click('Resend');
    await shown.getByText('Resend started.').waitFor();
    await shown.getByText('HTTP 200').waitFor();
    expect((await target.arrived(4)).at(-1)?.headers['webhook-id']).toBe(failing.message_id);
    await shown.getByRole('navigation').getByRole('button', { name: 'Endpoints' }).click();
    await click('Production');
    await shown.getByRole('button', { name: 'Resend failed' }).click();
    await shown.getByText('Resend started.').waitFor();
    await shown.getByRole('navigation').getByRole('button', { name: 'Event types' }).click();
    await shown.locator('summary', { hasText: 'invoice.paid' }).click();
    await shown.getByText('"amount": 4200').waitFor();
    expect(await violations(shown, 'catalogue')).toEqual([]);

    await shown.getByRole('navigation').getByRole('button', { name: 'Endpoints' }).click();
    await click('Production');
    await click('Edit');
    await shown.getByLabel('Description').fill(HOSTILE[1] ?? '');
    await click('Save');
    await shown.getByRole('heading', { name: HOSTILE[1] }).waitFor();
    await click('Delete');
    await shown.getByRole('group', { name: 'Delete' }).getByRole('button', { name: 'Delete' }).click();
    await shown.getByText('No endpoints yet').waitFor();
    expect(wrongs()).toEqual([]);
    expect(await shown.evaluate(() => [location.hash, document.cookie, localStorage.length])).toEqual(['', '', 0]);
    await shown.close();
  });

  it('F5 and Back keep the portal and its screen, and the token is only in this tab and removed when the session ends', async () => {
    const application = await made();
    const endpoint = await endpointAt(
      { ...server, api: (method, where, body) => server.api(method, where, body, testKey) },
      application,
      targets.open().url,
      { description: 'Production' },
    );
    const { id, token, url } = await opened(application);
    const { page: shown, wrongs } = await page(url);
    const endpoints = shown.getByRole('heading', { name: 'Endpoints', exact: true });
    await shown.getByRole('button', { name: 'Production' }).click();
    await shown.getByRole('heading', { name: 'Production' }).waitFor();

    await shown.reload();
    await shown.getByRole('heading', { name: 'Production' }).waitFor();
    await shown.goBack();
    await endpoints.waitFor();
    await shown.goForward();
    await shown.getByRole('heading', { name: 'Production' }).waitFor();
    expect(wrongs()).toEqual([]);
    await shown.goto(`${service}/health/live`);
    await shown.goBack();
    await shown.getByRole('heading', { name: 'Production' }).waitFor();

    const kept = await shown.evaluate(() => ({
      address: location.href,
      state: JSON.stringify(history.state),
      cookie: document.cookie,
      local: localStorage.length,
      session: Object.entries(sessionStorage),
    }));
    expect(kept).toEqual({
      address: url.split('#')[0],
      state: JSON.stringify({ portal: { at: 'endpoint', id: endpoint.id } }),
      cookie: '',
      local: 0,
      session: [[`posthorn.portal /portal/${id}`, token]],
    });
    const other = await context.newPage();
    await other.goto(url.split('#')[0] ?? '');
    await other.getByText('Session ended').waitFor();
    const second = await opened(application);
    await shown.goto(second.url.split('#')[0] ?? '');
    await shown.getByText('Session ended').waitFor();
    await shown.goto(url.split('#')[0] ?? '');
    await endpoints.waitFor();

    expectStatus(await server.api('DELETE', `/v1/app/${application}/portal`, undefined, testKey), 204);
    await until(
      async () => {
        await shown.reload();
        return shown.getByText('Session ended').isVisible();
      },
      (isClosed) => isClosed,
      WAIT_MS_MAX,
    );
    expect(await shown.evaluate(() => sessionStorage.length)).toBe(0);
    await Promise.all([shown.close(), other.close()]);
  }, 180_000);

  it('lists endpoints in pages, loads the metrics of visible ones, and names an endpoint of a later page', async () => {
    const application = await made();
    const first = (await endpointIn(application, 'First of all', 'a.b')).id;
    for (let n = 0; n < 59; n += 1) await endpointIn(application, `Endpoint ${n}`, 'c.d');
    expectStatus(
      await server.api('POST', `/v1/app/${application}/event`, { event_type: 'a.b', payload: {} }, testKey),
      202,
    );
    const { page: shown, wrongs } = await page((await opened(application)).url);
    const asked: string[] = [];
    shown.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await shown.reload();
    const cards = shown.locator('.cards > li');
    await cards.nth(49).waitFor({ state: 'attached' });
    await shown.getByText('in the last 24 hours').first().waitFor();
    const metrics = asked.filter((place) => place.endsWith('/stats')).length;

    expect(await cards.count()).toBe(50);
    expect(metrics).toBeLessThan(25);
    await shown.getByRole('button', { name: 'Deliveries', exact: true }).click();
    await shown.getByRole('cell', { name: 'First of all' }).waitFor({ state: 'attached' });
    expect(asked.filter((place) => place.endsWith(`/endpoints/${first}`))).toHaveLength(1);
    await shown.getByRole('button', { name: 'Endpoints', exact: true }).click();
    await shown.getByRole('button', { name: 'Load more' }).click();
    await cards.nth(59).waitFor({ state: 'attached' });
    expect(await shown.getByText('First of all').count()).toBe(1);
    expect(wrongs()).toEqual([]);
    await shown.close();
  });

  it('Back does not lead to the form of an endpoint that was created', async () => {
    const { page: shown } = await page((await opened(await made())).url);
    await shown.getByRole('button', { name: 'Add endpoint' }).click();
    await shown.getByLabel('Endpoint URL').fill(targets.open().url);
    await shown.locator('form').getByRole('button', { name: 'Add endpoint' }).click();
    await shown.getByText('Endpoint created.').waitFor();

    await shown.goBack();
    await shown.getByRole('heading', { name: 'Endpoints', exact: true }).waitFor();
    expect(await shown.locator('form').count()).toBe(0);
    await shown.close();
  });

  it('shows only permitted actions, in the language of the call, and none to a read-only user', async () => {
    const application = await made({ name: HOSTILE[3] });
    await endpointAt(
      { ...server, api: (method, where, body) => server.api(method, where, body, testKey) },
      application,
      targets.open().url,
      { description: HOSTILE[2] },
    );
    const { page: german, wrongs } = await page(
      (await opened(application, { permissions: ['view'], locale: 'de-AT', theme: { scheme: 'dark' } })).url,
    );
    await german.getByRole('heading', { name: 'Endpunkte' }).waitFor();
    expect(await german.getByRole('button', { name: 'Endpunkt hinzufügen' }).count()).toBe(0);
    await german.locator('.card-link').click();
    await german.getByText('Keine Zustellungen in den letzten 24 Stunden').waitFor();
    for (const name of ['Bearbeiten', 'Anzeigen', 'Test-Event senden', 'Erneut senden'])
      expect(await german.getByRole('button', { name }).count()).toBe(0);
    expect(
      await german.evaluate(() => [document.documentElement.lang, document.documentElement.dataset['scheme']]),
    ).toEqual(['de', 'dark']);
    await take(german, 'german-dark');
    const preview = expectStatus(await server.api('POST', `/v1/app/${application}/portal/preview`, {}, testKey), 201)
      .json as { url: string };
    const { page: looking, wrongs: others } = await page(preview.url.replace('127.0.0.1', 'localhost'));
    await looking.getByText('Preview of the customer portal.').waitFor();
    expect([wrongs(), others()]).toEqual([[], []]);
    await Promise.all([german.close(), looking.close()]);
  });

  it.each(['light', 'dark'] as const)('shows the brand: logo, color, font and radius, in %s', async (scheme) => {
    const { page: shown, wrongs } = await page(
      (
        await opened(await made(), {
          theme: { scheme, accent: '#8a1c5b', radius: 0, font: 'mono', logo: LOGO },
        })
      ).url,
    );
    await shown.getByText('No endpoints yet').waitFor();
    expect(
      await shown.evaluate(() => {
        const button = document.querySelector('button.primary');
        if (button === null) return null;
        const { fontFamily, borderRadius, backgroundColor } = getComputedStyle(button);
        return {
          isMono: fontFamily.endsWith('monospace'),
          borderRadius,
          isBrand:
            backgroundColor ===
            getComputedStyle(document.querySelector('.tab[aria-current]') ?? button).borderBottomColor,
          isLogoShown: (document.querySelector<HTMLImageElement>('.brand img')?.naturalWidth ?? 0) > 0,
          fonts: document.fonts.size,
        };
      }),
    ).toEqual({ isMono: true, borderRadius: '0px', isBrand: true, isLogoShown: true, fonts: 0 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await shown.emulateMedia({ colorScheme });
      expect(await violationsOf(shown)).toEqual([]);
    }
    await take(shown, `brand-${scheme}`);
    expect(wrongs()).toEqual([]);
    await shown.close();
  });

  it('in the frame of the example: only on an allowed origin, as high as its content, renewed without a reload, without cookies or storage', async () => {
    const application = await made();
    const { createHost } = (await import(
      path.resolve(import.meta.dirname, '../../examples/portal/server.mjs')
    )) as Example;
    const [allowed, denied] = [
      await hostAt('127.0.0.1', createHost({ posthorn: service, key, application })),
      await hostAt('127.0.0.1', createHost({ posthorn: service, key, application })),
    ];
    expectStatus(await server.api('PATCH', '/v1/org', { portal_origins: [allowed] }, testKey), 200);
    const host = await context.newPage();
    const complaints = complaintsOf(host);
    await host.goto(allowed);
    const frame = await portalFrame(host);
    await frame.getByText('No endpoints yet').waitFor();
    // Checks that the browser denies storage to the frame, and that the frame's address contains no token.
    const storage = await frame.evaluate(() => {
      try {
        return sessionStorage.length;
      } catch (error) {
        return (error as Error).name;
      }
    });
    expect(storage).toBe('SecurityError');
    expect(frame.url()).not.toContain('#');
    const low = await host.locator('iframe').evaluate((element) => element.clientHeight);
    await frame.getByRole('button', { name: 'Add endpoint' }).click();
    await frame.getByLabel('Endpoint URL').fill('https://a.example/');
    await until(
      () => host.locator('iframe').evaluate((element) => element.clientHeight),
      (height) => height > low,
      WAIT_MS_MAX,
    );
    await take(host, 'framed');

    // The page's session is closed. The page gets another session in the background and keeps the entered values.
    expectStatus(await server.api('DELETE', `/v1/app/${application}/portal`, undefined, testKey), 204);
    await frame.getByRole('button', { name: 'Check URL' }).click();
    await until(
      async () =>
        (await server.api('GET', `/v1/app/${application}/portal`, undefined, testKey)).json.data.length as number,
      (count) => count === 1,
      WAIT_MS_MAX,
    );
    await frame.getByRole('button', { name: 'Check URL' }).click();
    await frame.getByText('Not reachable yet.').waitFor();
    expect(await frame.getByLabel('Endpoint URL').inputValue()).toBe('https://a.example/');
    // The browser logs only the 401 as an error.
    expect(complaints.filter((line) => !line.includes('401'))).toEqual([]);

    const elsewhere = await context.newPage();
    const refusals = complaintsOf(elsewhere);
    await elsewhere.goto(denied);
    await until(
      async () => refusals.join(' '),
      (said) => /frame-ancestors/.test(said),
      WAIT_MS_MAX,
    );
    expect(elsewhere.frames().some((each) => each.url().includes('/portal/'))).toBe(false);
    await Promise.all([host.close(), elsewhere.close()]);
  });

  it('accepts tokens only from the embedding page and for the same application, and sends messages only to its origin', async () => {
    const [application, other] = [await made({ name: 'Ours' }), await made({ name: 'Theirs' })];
    const [first, foreign, next] = [
      await opened(application),
      await opened(other),
      await opened(application, { permissions: ['view'] }),
    ];
    const host = createServer((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Host</title>'),
    );
    const allowed = await hostAt('127.0.0.1', host);
    expectStatus(await server.api('PATCH', '/v1/org', { portal_origins: [allowed] }, testKey), 200);
    await until(
      async () => (await fetch(first.url.replace('localhost', '127.0.0.1'))).headers.get('content-security-policy'),
      (policy) => policy?.includes(allowed) === true,
      WAIT_MS_MAX,
    );
    const shown = await context.newPage();
    await shown.goto(allowed);
    await shown.evaluate((url) => {
      Object.assign(globalThis, { heard: [] });
      addEventListener('message', ({ data, origin }) =>
        (globalThis as unknown as { heard: unknown[] }).heard.push([data, origin]),
      );
      document.body.append(Object.assign(document.createElement('iframe'), { src: url, name: 'portal' }));
    }, first.url);
    const frame = await portalFrame(shown);
    await frame.getByRole('button', { name: 'Add endpoint' }).waitFor();
    const heard = (): Promise<[{ source: string; type: string }, string][]> =>
      shown.evaluate(() => (globalThis as unknown as { heard: [{ source: string; type: string }, string][] }).heard);
    const say = (message: object): Promise<void> =>
      shown.evaluate(
        ([data, origin]) =>
          (document.querySelector('iframe') as HTMLIFrameElement).contentWindow?.postMessage(data, origin),
        [message, service] as const,
      );

    expect((await heard()).map(([{ type }]) => type)).toEqual(expect.arrayContaining(['ready', 'resize']));
    expect(new Set((await heard()).map(([{ source }, origin]) => `${source} ${origin}`))).toEqual(
      new Set([`posthorn-portal ${service}`]),
    );
    // The page ignores another application's token, a token from the frame itself, and a message without a source.
    await say({ source: 'posthorn-host', type: 'token', token: foreign.token });
    await frame.evaluate((token) => window.postMessage({ source: 'posthorn-host', type: 'token', token }), next.token);
    await say({ type: 'token', token: next.token });
    await say({ source: 'posthorn-host', type: 'token', token: '<img src=x onerror=alert(1)>' });
    await frame.getByRole('button', { name: 'Add endpoint' }).click();
    expect(await frame.getByRole('heading', { name: 'Ours' }).count()).toBe(1);
    await say({ source: 'posthorn-host', type: 'token', token: next.token });
    await frame.getByRole('button', { name: 'Cancel' }).click();
    await frame.getByText('Ask your provider to add one.').waitFor();
    expect(await frame.getByRole('button', { name: 'Add endpoint' }).count()).toBe(0);
    await shown.close();
  });

  it(`the first load is at most ${FIRST_LOAD_BYTES_MAX} bytes of script as gzip, and the script for hosts 2 KB`, () => {
    const read = (name: string): string => readFileSync(path.join(BUILT, name), 'utf8');
    const loaded = new Set<string>();
    const load = (name: string): void => {
      if (loaded.has(name)) return;
      loaded.add(name);
      for (const [, other = ''] of read(`assets/${name}`).matchAll(/(?:from|import)\s*["'`]\.\/([\w-]+\.js)["'`]/g))
        load(other);
    };
    for (const [, name = ''] of read('portal.html').matchAll(/assets\/([\w-]+\.js)/g)) load(name);
    const sum = [...loaded].reduce((bytes, name) => bytes + statSync(path.join(BUILT, 'assets', `${name}.gz`)).size, 0);

    expect(readdirSync(path.join(BUILT, 'assets')).length).toBeGreaterThan(loaded.size);
    expect(sum).toBeGreaterThan(60_000);
    expect(sum).toBeLessThan(FIRST_LOAD_BYTES_MAX);
    expect(read('embed/portal.js')).toMatch(/export\s*\{[^}]*mountPortal/);
    expect(read('embed/portal.js')).not.toMatch(/\bimport\b/);
    expect(Math.max(read('embed/portal.js').length, gzipSync(read('embed/portal.js')).length)).toBeLessThan(2_048);
  });

  /**
   * Returns the violations that axe finds in light and dark mode, in a wide window and on a phone. Takes a screenshot
   * of each.
   */
  async function violations(shown: Page, name: string): Promise<string[]> {
    const found: string[] = [];
    for (const [width, height] of [
      [1280, 900],
      [375, 812],
    ] as const) {
      await shown.setViewportSize({ width, height });
      for (const colorScheme of ['light', 'dark'] as const) {
        await shown.emulateMedia({ colorScheme });
        await take(shown, `${name}-${width}-${colorScheme}`);
        found.push(...(await violationsOf(shown)));
      }
      if (await shown.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth))
        found.push(`${name} scrolls sideways at ${width}`);
    }
    await shown.emulateMedia({ colorScheme: 'light' });
    await shown.setViewportSize({ width: 1280, height: 900 });
    return found;
  }

  async function portalFrame(host: Page): Promise<Frame> {
    await host.locator('iframe').waitFor();
    return until(
      async () => host.frames().find((each) => each.url().includes('/portal/')) ?? null,
      (frame) => frame !== null,
      WAIT_MS_MAX,
    ) as Promise<Frame>;
  }
});
