import type { Browser, Page } from 'playwright-core';
import { complaintsOf, isChromiumInstalled, screenshotsOf, startBrowser } from '../support/browser.js';
import { violationsOf } from '../support/console-page.js';
import { type PosthornServer, startServer } from '../support/server.js';

/** Background colors that are lighter than this are bright areas in a dark page. */
const BRIGHTNESS_MAX = 110;

(isChromiumInstalled() ? describe : describe.skip)('Swagger UI in dark mode, and links to operations', () => {
  let server: PosthornServer;
  let browser: Browser;
  let page: Page;
  let complaints: string[];
  const screenshot = screenshotsOf('docs-dark');

  beforeAll(async () => {
    [server, browser] = await Promise.all([startServer(), startBrowser()]);
    page = await browser.newPage({ viewport: { width: 1280, height: 1000 }, colorScheme: 'dark' });
    page.setDefaultTimeout(60_000);
    complaints = complaintsOf(page);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  it('is dark from the first paint, without bright areas and with readable text, and keeps its content security policy', async () => {
    await page.route('**/swagger-ui-init.js', (route) => route.abort());
    await page.goto(`${server.url}/docs`);
    const first = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    complaints.length = 0;
    await page.unroute('**/swagger-ui-init.js');
    await page.goto('about:blank');
    await page.goto(`${server.url}/docs#/Keys/createKey`);
    const block = page.locator('.opblock.is-open[id$="-createKey"]');
    await block.locator('.try-out__btn').click();
    await screenshot(page, '01-operation');
    const contrasts = await lowContrasts(page);
    await page.locator('.auth-wrapper .authorize').first().click();
    await screenshot(page, '02-authorize');
    contrasts.push(...(await lowContrasts(page)));
    await page.locator('.auth-btn-wrapper .btn-done').first().click();

    expect(first).toBe('rgb(28, 32, 34)');
    expect(await brightAreas(page)).toEqual([]);
    expect(contrasts).toEqual([]);
    expect(complaints).toEqual([]);
  }, 240_000);

  it('opens the operation of a link, and otherwise the first section', async () => {
    const opened = async (place: string): Promise<(string | null)[]> => {
      await page.goto('about:blank');
      await page.goto(`${server.url}/docs${place}`);
      await page.locator('h3.opblock-tag[data-is-open=true]').first().waitFor();
      return page
        .locator('h3.opblock-tag[data-is-open=true]')
        .evaluateAll((headings) => headings.map((heading) => heading.getAttribute('data-tag')));
    };

    expect(await opened('#/Event%20types/listEventTypes')).toEqual(['Event types']);
    await page.locator('.opblock.is-open[id$="-listEventTypes"]').waitFor();
    expect(await opened('#/Secrets')).toEqual(['Secrets']);
    expect(await opened('')).toEqual(['Destinations']);
  });

  it('keeps its light colors if the browser prefers them', async () => {
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto('about:blank');
    await page.goto(`${server.url}/docs`);
    await page.locator('.opblock').first().waitFor();

    expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe('rgb(250, 250, 250)');
  });
});

/** Returns the visible elements of the page with a bright background. */
async function brightAreas(page: Page): Promise<string[]> {
  return page.evaluate((limit) => {
    const isBright = (color: string): boolean => {
      const [red = 0, green = 0, blue = 0, alpha = 1] = (color.match(/[\d.]+/g) ?? []).map(Number);
      return alpha > 0.5 && (red + green + blue) / 3 > limit;
    };
    return [
      ...document.querySelectorAll<HTMLElement>(
        'html, body, #swagger-ui div, #swagger-ui section, #swagger-ui textarea',
      ),
    ]
      .filter((element) => element.offsetHeight > 60 && isBright(getComputedStyle(element).backgroundColor))
      .map((element) => element.className);
  }, BRIGHTNESS_MAX);
}

/** Returns the elements whose text has too little contrast, with their colors. */
async function lowContrasts(page: Page): Promise<string[]> {
  const found = (await violationsOf(page)).filter((line) => line.startsWith('color-contrast')).join('\n');
  const texts = found.matchAll(/(<[^>]*>)[^<]*(?:<\/\w+>)? Fix any[^#]*(#\w+), background color: (#\w+)/g);
  return [...new Set([...texts].map(([, element, color, ground]) => `${element} ${color} on ${ground}`))];
}
