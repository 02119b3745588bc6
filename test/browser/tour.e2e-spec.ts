import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { complaintsOf, isChromiumInstalled, screenshotsOf, startBrowser } from '../support/browser.js';
import { violationsOf, WAIT_MS_MAX } from '../support/console-page.js';
import {
  type Block,
  type HandStep,
  makeTourPlace,
  readTour,
  type TourPlace,
  TourShell,
} from '../support/readme-tour.js';

/** Commands of the first start, which the README describes before the tour. They run outside the tour's shell. */
const FIRST_START = {
  script:
    'PORT=0 SMTP_PORT=0 npm start > "$TMPDIR/first.log" 2>&1 &\nexport FIRST=$!\nuntil grep -q "^Swagger UI" "$TMPDIR/first.log" || ! kill -0 $FIRST; do sleep 1; done\ncat "$TMPDIR/first.log"',
};
const FIRST_STOP = { script: 'kill $FIRST\nwait $FIRST\nrm "$TMPDIR/first.log"' };
/** URL of the service in the README. The test replaces it with a URL that has a free port. */
const SHOWN = 'http://127.0.0.1:41234';

/** Follows the tour in the README like a new user: in a shell, then in the console with the names in the README. */
describe('the tour of the README', () => {
  const tour = readTour();
  const hasBrowser = isChromiumInstalled();
  let place: TourPlace;
  let shell: TourShell;
  let browser: Browser | undefined;

  beforeEach(() => {
    place = makeTourPlace();
  });

  afterEach(async () => {
    await browser?.close();
    browser = undefined;
    await shell?.close();
  });

  it('after a first start that has ended, runs the shell and the console part, and leaves no files', async () => {
    shell = new TourShell(place);
    const started = await shell.run(FIRST_START);
    await shell.run(FIRST_STOP);
    const before = filesOf(place);

    await expectPrinted(tour.before);
    if (hasBrowser) {
      await walkThroughConsole();
      await expectPrinted(tour.after);
    }
    await expectPrinted(tour.end);

    expect(started).toMatch(/^Live admin key: ek_live_/m);
    expectNothingLeft(before);
  }, 600_000);

  it('while the first start still runs, runs the shell part, leaves no files, and the first start continues', async () => {
    shell = new TourShell(place);
    const url = /listening on (\S+)/.exec(await shell.run(FIRST_START))?.[1] ?? '';
    const before = filesOf(place);
    const running = shell.leftRunning().length;

    await expectPrinted(tour.before);
    await expectPrinted(tour.end);

    expect((await fetch(`${url}/health/ready`)).status).toBe(200);
    expect(filesOf(place)).toEqual(before);
    expect(shell.leftRunning().length).toBe(running);
    await shell.run(FIRST_STOP);
  }, 600_000);

  it('twice, in a shell with settings of another installation and a used data directory, runs the shell part and leaves no files', async () => {
    const exported = {
      DATA_DIR: path.join(place.temporary, 'used'),
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing',
      BASE_URL: 'https://hooks.example.com',
      PORT: '1',
      SMTP_PORT: '1',
      BOOTSTRAP_API_KEY: 'ek_live_00000000000000000000',
      EMAIL_TRANSPORT: 'smtp://127.0.0.1:1',
      HOST: '192.0.2.1',
      ROLE: 'worker',
      CONSOLE: 'off',
    };
    shell = new TourShell(place, exported);
    await shell.run({ script: FIRST_START.script.replace('PORT=0', 'DATABASE_URL= ROLE= HOST= BASE_URL= PORT=0') });
    await shell.run(FIRST_STOP);
    const before = filesOf(place);

    for (let i = 0; i < 2; i += 1) {
      await expectPrinted(tour.before);
      await expectPrinted(tour.end);
    }

    expect(before.some((file) => file.endsWith('master.key'))).toBe(true);
    expectNothingLeft(before);
  }, 600_000);

  it('its loops are bounded, and it writes into no folder of the clone', () => {
    const script = [...tour.before, ...tour.after, ...tour.end].map((block) => block.script).join('\n');

    expect(tour.before.length).toBeGreaterThan(7);
    expect(tour.after.length).toBeGreaterThan(0);
    expect(script).not.toMatch(/\b(?:until|while)\b/);
    expect(script).not.toMatch(/\bsleep [^1]/);
    expect(script.indexOf('cd $TOUR')).toBeLessThan(script.indexOf('export KEY'));
  });

  async function walkThroughConsole(): Promise<void> {
    browser = await startBrowser();
    const take = screenshotsOf('tour');
    const page = await browser.newPage({
      viewport: { width: 1280, height: 900 },
      locale: 'en-GB',
      timezoneId: 'Europe/Berlin',
    });
    page.setDefaultTimeout(WAIT_MS_MAX);
    const complaints = complaintsOf(page);
    const [key = '', url = ''] = (await shell.run({ script: 'echo $KEY $POSTHORN' })).trim().split(' ');
    const steps = byHand(page, key);

    expect(tour.steps).toHaveLength(steps.length);
    for (const [i, step] of tour.steps.entries()) {
      const left = new Words(step, url);
      await steps[i]?.(left);
      // The test must use every name in the README, because an unused name may be missing on the page.
      expect({ step: step.text, left: left.rest() }).toEqual({ step: step.text, left: [] });
      await take(page, `${i + 1}`);
    }

    expect(await violationsOf(page)).toEqual([]);
    // Expected errors: the initial 401, and over plain http the Cross-Origin-Opener-Policy header of the sign-in page.
    expect(complaints.filter((line) => !line.includes('401') && !line.includes('Cross-Origin-Opener-Policy'))).toEqual(
      [],
    );
    for (const [width, scheme] of [
      [1280, 'dark'],
      [375, 'light'],
      [375, 'dark'],
    ] as const) {
      await page.setViewportSize({ width, height: 812 });
      await page.emulateMedia({ colorScheme: scheme });
      await take(page, `event-${width}-${scheme}`);
    }
  }

  async function expectPrinted(blocks: readonly Block[]): Promise<void> {
    for (const block of blocks) {
      const printed = await shell.run(block);
      if (block.expected !== null)
        expect(printed.trim().replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, SHOWN)).toBe(block.expected);
    }
  }

  function expectNothingLeft(before: readonly string[]): void {
    expect(filesOf(place)).toEqual(before);
    expect(shell.leftRunning()).toEqual([]);
  }
});

/** Returns the files in the clone and in the temporary folder, without PostgreSQL's files, which change at any time. */
function filesOf({ clone, temporary }: TourPlace): string[] {
  return [clone, temporary].flatMap(namesBelow).sort();
}

function namesBelow(folder: string): string[] {
  // Does not use the option `recursive`, which would follow links to folders in which other programs write at the same
  // time.
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const name = path.join(folder, entry.name);
    return entry.isDirectory() && entry.name !== 'postgres' ? [name, ...namesBelow(name)] : [name];
  });
}

/** The quoted texts of a step in the README. Each text is used once, in order. */
class Words {
  private readonly names: string[];
  private readonly values: string[];

  constructor({ names, values }: HandStep, url: string) {
    this.names = [...names];
    this.values = values.map((value) => value.replace(SHOWN, url));
  }

  /** Returns the next name in the step: of a button, field, link or heading. */
  name(): string {
    return this.names.shift() ?? 'a name that the README does not say';
  }

  value(): string {
    return this.values.shift() ?? 'a value that the README does not say';
  }

  rest(): string[] {
    return [...this.names, ...this.values];
  }
}

/** Actions for each step of the README. The name of each element comes from the README. */
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
      await page
        .getByRole('navigation', { name: 'Main' })
        .getByRole('link', { name: words.name(), exact: true })
        .click();
      const type = words.value();
      // Opens the event in the top row. Rows of earlier runs are below this row.
      await page.locator('[aria-rowindex="2"]').getByRole('link', { name: type, exact: true }).click();
      await page.getByRole('heading', { name: type, exact: true }).waitFor();
    },
    async (words) => {
      const attempts = region(words.name());
      await attempts.getByText(words.value(), { exact: true }).waitFor();
      await attempts.getByText(words.name(), { exact: true }).click();
      await attempts.locator('pre', { hasText: words.value() }).waitFor();
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
      const second = region(words.name())
        .getByRole('list')
        .first()
        .getByRole('listitem')
        .filter({ hasText: words.value() });
      await second.getByText('HTTP 200', { exact: true }).waitFor();
      // The new attempt has not changed which form of the payload the page shows.
      expect(await page.getByRole('button', { name: 'As sent', pressed: true }).count()).toBe(1);
      expect(await region('Timeline').locator('.attempt').count()).toBe(2);
    },
  ];
}
