import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { SMTPServer } from 'smtp-server';
import { until } from '../api/polling.js';
import { complaintsOf, isChromiumInstalled, screenshotsOf, startBrowser } from '../support/browser.js';
import { type PosthornServer, startServer } from '../support/server.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const WAIT_MS_MAX = 60_000;

(isChromiumInstalled() ? describe : describe.skip)('the sign-in pages', () => {
  const codes: string[] = [];
  let relay: SMTPServer;
  let server: PosthornServer;
  let browser: Browser;
  const screenshot = screenshotsOf('sign-in');

  beforeAll(async () => {
    relay = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      logger: false,
      onData: (stream, _session, callback) =>
        void text(stream.setEncoding('latin1')).then((raw) => {
          codes.push(/Subject: (\d{6})/.exec(raw)?.[1] ?? '');
          callback();
        }, callback),
    });
    await new Promise<void>((resolve) => void relay.listen(0, '127.0.0.1', resolve));
    const { port } = relay.server.address() as AddressInfo;
    [server, browser] = await Promise.all([
      startServer({
        EMAIL_TRANSPORT: `smtp://127.0.0.1:${port}?tls=off`,
        PLATFORM_DOMAIN: 'hooks.example.com',
        OIDC_ISSUER: 'https://login.customer.example',
        OIDC_CLIENT_ID: 'posthorn',
      }),
      startBrowser(),
    ]);
    await server.api('POST', '/v1/members', { email: 'ada@customer.example', name: 'Ada', role: 'admin' });
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    await new Promise<void>((resolve) => void relay.close(() => resolve()));
  });

  async function open(
    options: Parameters<Browser['newContext']>[0] = {},
  ): Promise<{ context: BrowserContext; page: Page; complaints: string[] }> {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    page.setDefaultTimeout(WAIT_MS_MAX);
    return { context, page, complaints: complaintsOf(page) };
  }

  /**
   * Returns the violations that the accessibility checker finds. Injects the checker past the page's
   * Content-Security-Policy.
   */
  async function violations(page: Page): Promise<string[]> {
    const session = await page.context().newCDPSession(page);
    const evaluate = async (expression: string): Promise<unknown> => {
      const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
        expression,
        awaitPromise: true,
        returnByValue: true,
      });
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
      return result.value;
    };
    await evaluate(`${AXE}; undefined`);
    return (await evaluate(
      'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" ")))',
    )) as string[];
  }

  it('a member signs in with a code and out again, without JavaScript', async () => {
    const { context, page, complaints } = await open({ javaScriptEnabled: false });
    await page.goto(`${server.url}/signin?return_to=%2Fsignin%3Fwelcome%3D1`);
    await screenshot(page, 'sign-in');

    await page.getByLabel('Your address').fill('ada@customer.example');
    await page.getByRole('button', { name: 'Mail me a code' }).click();
    await page.getByLabel('Code').fill(
      await until(
        async () => codes.at(-1) ?? '',
        (code) => code !== '',
        WAIT_MS_MAX,
      ),
    );
    await screenshot(page, 'code');
    await page.getByRole('button', { name: 'Sign in' }).click();

    await page.getByRole('heading', { name: 'You are signed in' }).waitFor();
    expect(new URL(page.url()).search).toBe('?welcome=1');
    expect(await page.getByText('ada@customer.example').count()).toBe(1);
    await screenshot(page, 'signed-in');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
    expect(await context.cookies()).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it.each(['light', 'dark'] as const)(
    '%s: the accessibility checker finds nothing on any of the pages',
    async (colorScheme) => {
      const { context, page } = await open({ colorScheme, viewport: { width: 320, height: 700 } });
      const found: string[] = [];

      await page.goto(`${server.url}/signin`);
      found.push(...(await violations(page)));
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
      await screenshot(page, `narrow-${colorScheme}`);
      await page.getByLabel('API key of your organization').fill('ek_live_none');
      await page.getByRole('button', { name: 'Sign in with the key' }).click();
      await page.getByRole('alert').waitFor();
      found.push(...(await violations(page)));
      await screenshot(page, `refused-${colorScheme}`);
      await page.getByLabel('Your address').fill('nobody@customer.example');
      await page.getByRole('button', { name: 'Mail me a code' }).click();
      await page.getByLabel('Code').waitFor();
      found.push(...(await violations(page)));
      await page.goto(`${server.url}/signin`);
      await page.getByLabel('API key of your organization').fill(server.apiKey);
      await page.getByRole('button', { name: 'Sign in with the key' }).click();
      await page.getByRole('heading', { name: 'You are signed in' }).waitFor();
      found.push(...(await violations(page)));

      expect(found).toEqual([]);
      await context.close();
    },
  );

  it('the form has labels, tab order and focus for the keyboard', async () => {
    const { context, page } = await open();
    await page.goto(`${server.url}/signin`);
    const stops: string[] = [];
    for (let i = 0; i < 5; i += 1) {
      await page.keyboard.press('Tab');
      stops.push(
        String(
          await page.evaluate('(document.activeElement.labels?.[0] ?? document.activeElement).textContent.trim()'),
        ),
      );
    }

    expect(stops).toEqual([
      "Continue to your company's sign-in",
      'Your address',
      'Mail me a code',
      'API key of your organization',
      'Sign in with the key',
    ]);
    await context.close();
  });

  it('no other page can show it in a frame', async () => {
    const { context, page } = await open();
    await page.route('http://frames.example/', (route) =>
      route.fulfill({ contentType: 'text/html', body: `<iframe src="${server.url}/signin"></iframe>` }),
    );
    await page.goto('http://frames.example/');
    const shown = await until(
      async () => page.frames()[1]?.url() ?? '',
      (url) => url.startsWith('chrome-error:'),
      WAIT_MS_MAX,
    );

    expect(shown).toBe('chrome-error://chromewebdata/');
    expect(await page.frameLocator('iframe').getByLabel('Your address').count()).toBe(0);
    await context.close();
  });
});
