import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import puppeteer, { type Browser, type Page } from 'puppeteer-core';
import { hasTool, printed } from './optional-tools.js';

/** Path of Firefox: from the environment variable, or else the path in Debian. */
const EXECUTABLE = process.env['POSTHORN_TEST_FIREFOX'] ?? '/usr/bin/firefox-esr';
const SCREENSHOTS = path.resolve(import.meta.dirname, '..', 'browser', 'results', 'firefox');

/** Returns whether Firefox is installed. CI must have it. */
export const isFirefoxInstalled = (): boolean =>
  hasTool(
    {
      skipped: 'the tests of pages in Firefox',
      tool: `Firefox at ${EXECUTABLE}`,
      install: 'apt-get install --no-install-recommends firefox-esr, or POSTHORN_TEST_FIREFOX=FILE',
    },
    () => printed(EXECUTABLE, '--version') !== null,
  );

/**
 * Starts Debian's Firefox with Puppeteer, over WebDriver BiDi. Playwright supports only its own build of Firefox and
 * versions newer than Debian's. `preferences` are those of about:config.
 */
export function startFirefox(preferences: Record<string, unknown> = {}): Promise<Browser> {
  return puppeteer.launch({
    browser: 'firefox',
    executablePath: EXECUTABLE,
    extraPrefsFirefox: { 'intl.accept_languages': 'en-GB', ...preferences },
  });
}

/** Returns a list that collects the errors of a page: of its scripts, console and content security policy. */
export function complaintsInFirefox(page: Page): string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  return complaints;
}

/** Returns a function that stores screenshots of the suite, in a folder that is emptied first. */
export function firefoxScreenshots(): (page: Page, name: string) => Promise<void> {
  rmSync(SCREENSHOTS, { recursive: true, force: true });
  mkdirSync(SCREENSHOTS, { recursive: true });
  return async (page, name) => void (await page.screenshot({ path: path.join(SCREENSHOTS, `${name}.png`) }));
}
