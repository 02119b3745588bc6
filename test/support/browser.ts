import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { hasTool, printed } from './optional-tools.js';

/** Debian's Chromium, or another one by its path. */
const EXECUTABLE = process.env['POSTHORN_TEST_CHROMIUM'] ?? '/usr/bin/chromium';

/** Where screenshots go; git ignores it. */
const SCREENSHOTS = path.resolve(import.meta.dirname, '..', 'browser', 'results');

/** Whether there is a Chromium to run. CI must have one: what is promised of pages is not left untested there. */
export const isChromiumInstalled = (): boolean =>
  hasTool(
    {
      skipped: 'the tests of pages',
      tool: `Chromium at ${EXECUTABLE}`,
      install: 'apt-get install --no-install-recommends chromium, or POSTHORN_TEST_CHROMIUM=FILE',
    },
    () => printed(EXECUTABLE, '--version') !== null,
  );

/** A browser that is stopped with its suite; `more` are arguments of Chromium. */
export function startBrowser(more: readonly string[] = []): Promise<Browser> {
  // Without the sandbox: CI is root, and what is shown is ours.
  return chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox', '--disable-dev-shm-usage', ...more] });
}

/** Everything that a page complains about: errors of its scripts, of the console and of its content policy. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  return complaints;
}

/** Pictures of one suite, in a folder that holds those of its last run only. */
export function screenshotsOf(suite: string): (page: Page, name: string) => Promise<void> {
  const folder = path.join(SCREENSHOTS, suite);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return async (page, name) => void (await page.screenshot({ path: path.join(folder, `${name}.png`) }));
}
