import type { Browser, Page } from 'playwright-core';
import { freePort } from '../durability/processes.js';
import { complaintsOf, isChromiumInstalled, screenshotsOf, startBrowser } from '../support/browser.js';
import { PATIENCE_MS, violationsOf } from '../support/console-page.js';
import { type Block, type HandStep, layOutTour, TourShell } from '../support/readme-tour.js';

/** The tour of the README, as somebody new does it: in a shell, and then in the console by the names that the README says. */
describe('the tour of the README', () => {
  const { directory, tour } = layOutTour();
  const hasBrowser = isChromiumInstalled();
  let shell: TourShell;
  let url: string;
  let browser: Browser | undefined;

  beforeAll(async () => {
    const port = await freePort();
    url = `http://localhost:${port}`;
    shell = new TourShell(directory, port);
    if (hasBrowser) browser = await startBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    await shell?.close();
  });

  it('word by word prints what the README shows', async () => {
    expect(tour.before.length).toBeGreaterThan(7);
    for (const block of tour.before) await expectPrinted(block);
  }, 120_000);

  (hasBrowser ? it : it.skip)('goes on in the console: signed in with the key of the start, the event just sent is seen with its attempts, replayed, and arrives', async () => {
    const take = screenshotsOf('tour');
    const page = await (browser as Browser).newPage({ viewport: { width: 1280, height: 900 }, locale: 'en-GB', timezoneId: 'Europe/Berlin' });
    page.setDefaultTimeout(PATIENCE_MS);
    const complaints = complaintsOf(page);
    const key = (await shell.run({ script: `sed -n 's/^Live admin key: //p' posthorn.log`, expected: null })).trim();
    const steps = byHand(page, key);

    expect(tour.steps).toHaveLength(steps.length);
    for (const [i, step] of tour.steps.entries()) {
      const left = new Words(step, url);
      await steps[i]?.(left);
      // A name that the README says and nobody looked for may be gone from the page.
      expect({ step: step.text, left: left.rest() }).toEqual({ step: step.text, left: [] });
      await take(page, `${i + 1}`);
    }
    for (const block of tour.after) await expectPrinted(block);

    expect(tour.after.length).toBeGreaterThan(0);
    expect(await violationsOf(page)).toEqual([]);
    // Being signed out at first is told by the browser as an error, and over plain http what the page of the sign-in asks of it; nothing else is.
    expect(complaints.filter((line) => !line.includes('401') && !line.includes('Cross-Origin-Opener-Policy'))).toEqual([]);
    for (const [width, scheme] of [[1280, 'dark'], [375, 'light'], [375, 'dark']] as const) {
      await page.setViewportSize({ width, height: 812 });
      await page.emulateMedia({ colorScheme: scheme });
      await take(page, `event-${width}-${scheme}`);
    }
  }, 120_000);

  async function expectPrinted(block: Block): Promise<void> {
    const printed = await shell.run(block);
    if (block.expected !== null) expect(printed.trim().replaceAll(/localhost:\d+/g, 'localhost:3000')).toBe(block.expected);
  }
});

/** The words of a step, each of which is taken once and in their order. */
class Words {
  private readonly names: string[];
  private readonly values: string[];

  constructor({ names, values }: HandStep, url: string) {
    this.names = [...names];
    this.values = values.map((value) => value.replace('http://localhost:3000', url));
  }

  /** The next name of a button, a field, a link or a heading. */
  name(): string {
    return this.names.shift() ?? 'a name that the README does not say';
  }

  /** The next value. */
  value(): string {
    return this.values.shift() ?? 'a value that the README does not say';
  }

  rest(): string[] {
    return [...this.names, ...this.values];
  }
}

/** What hands do at each step of the README: that it is a field, a button or a heading is known here, and which one the README says. */
function byHand(page: Page, key: string): ((words: Words) => Promise<void>)[] {
  const region = (name: string) => page.getByRole('region', { name, exact: true });
  return [
    async (words) => {
      await page.goto(words.value());
      await page.getByLabel(words.name()).fill(key);
      await page.getByRole('button', { name: words.name(), exact: true }).click();
      await page.getByRole('heading', { name: words.name(), exact: true }).waitFor();
      await page.getByText('Loading…', { exact: true }).waitFor({ state: 'detached' });
    },
    async (words) => {
      await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: words.name(), exact: true }).click();
      const type = words.value();
      // The one on top: rows of what came before are below it.
      await page.locator('[aria-rowindex="2"]').getByRole('link', { name: type, exact: true }).click();
      await page.getByRole('heading', { name: type, exact: true }).waitFor();
    },
    async (words) => {
      const attempts = region(words.name());
      await attempts.getByText(words.value(), { exact: true }).waitFor();
      await attempts.getByText(words.name(), { exact: true }).click();
      await attempts.getByText(words.value(), { exact: true }).waitFor();
      const payload = region(words.name());
      await payload.getByText(words.name(), { exact: true }).click();
      await payload.getByText(words.value(), { exact: true }).waitFor();
    },
    async (words) => {
      await page.getByRole('button', { name: words.name(), exact: true }).click();
      await page.getByRole('dialog').getByRole('button', { name: words.name(), exact: true }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    },
    async (words) => {
      const second = region(words.name()).getByRole('list').first().getByRole('listitem').filter({ hasText: words.value() });
      await second.getByText('HTTP 200', { exact: true }).waitFor();
      // What somebody reads stays as it was.
      expect(await page.getByRole('button', { name: 'As sent', pressed: true }).count()).toBe(1);
      expect(await region('Attempts').getByRole('list').first().getByRole('listitem').count()).toBe(2);
    },
  ];
}
