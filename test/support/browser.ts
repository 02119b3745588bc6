import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { hasTool, printed } from './optional-tools.js';

/** Path of Chromium: from the environment variable, or else the path in Debian. */
const EXECUTABLE = process.env['POSTHORN_TEST_CHROMIUM'] ?? '/usr/bin/chromium';

/** Folder of screenshots, which git ignores. */
const SCREENSHOTS = path.resolve(import.meta.dirname, '..', 'browser', 'results');

/** Returns whether Chromium is installed. CI must have it, so that the guarantees for pages are tested. */
export const isChromiumInstalled = (): boolean =>
  hasTool(
    {
      skipped: 'the tests of pages',
      tool: `Chromium at ${EXECUTABLE}`,
      install: 'apt-get install --no-install-recommends chromium, or POSTHORN_TEST_CHROMIUM=FILE',
    },
    () => printed(EXECUTABLE, '--version') !== null,
  );

/** Starts a browser, which is stopped at the end of the suite. `more` are additional arguments of Chromium. */
export function startBrowser(more: readonly string[] = []): Promise<Browser> {
  // Disables the sandbox, because CI runs as root and all pages are Posthorn's own.
  return chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox', '--disable-dev-shm-usage', ...more] });
}

/** Returns a list that collects the errors of a page: of its scripts, console and content security policy. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  return complaints;
}

/** Returns a function that stores a suite's screenshots, in a folder that is emptied before each run of the suite. */
export function screenshotsOf(suite: string): (page: Page, name: string) => Promise<void> {
  const folder = path.join(SCREENSHOTS, suite);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return async (page, name) => void (await page.screenshot({ path: path.join(folder, `${name}.png`) }));
}
