import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { complaintsOf } from '../support/browser.js';
import type { Ids } from './fill.js';
import type { Picture } from './gallery.js';
import { faultsOf } from './page-faults.js';
import { fileOf, placeOf } from './screens.js';

export const RESULTS = path.resolve(import.meta.dirname, '..', 'browser', 'results', 'screenshots');
export const WIDTHS = [375, 1280, 1920] as const;
export type State = 'empty' | 'loading' | 'full' | 'broken' | 'long';

const HEIGHT = 900;
const SETTLE_MS_MAX = 8_000;
/** Time that CSS transitions may still take after the last request of a page. */
const TRANSITION_MS = 250;

const BROKEN_ANSWER = JSON.stringify({
  error: {
    type: 'internal',
    message: 'Something went wrong.',
    request_id: 'req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
    details: {},
  },
});

/** A browser that is signed in to one organization and takes pictures of screens in one state. */
export class Camera {
  private constructor(
    private readonly page: Page,
    private readonly base: string,
    private readonly state: State,
    private readonly complaints: string[],
  ) {}

  static async open(browser: Browser, url: string, key: string, state: State): Promise<Camera> {
    const page = await browser.newPage({
      viewport: { width: 1280, height: HEIGHT },
      locale: 'en-GB',
      timezoneId: 'Europe/Berlin',
      reducedMotion: 'reduce',
    });
    const complaints = complaintsOf(page);
    await page.goto(`${url}/console/live/overview`);
    await page.getByLabel('API key of your organization').fill(key);
    await page.getByRole('button', { name: 'Sign in with the key' }).click();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    const camera = new Camera(page, `${url}/console/live/`, state, complaints);
    await camera.intercept();
    return camera;
  }

  /** Takes the pictures of a screen. Returns an empty list if the organization lacks the objects of the screen. */
  async take(screen: string, ids: Ids, widths: readonly number[]): Promise<Picture[]> {
    const place = placeOf(screen, ids);
    if (place === null) return [];
    this.complaints.length = 0;
    await this.page.setViewportSize({ width: widths[0] ?? 1280, height: HEIGHT });
    await this.page.goto(this.base + place);
    await this.settle();
    const taken: Picture[] = [];
    for (const width of widths) {
      await this.page.setViewportSize({ width, height: HEIGHT });
      for (const isDark of this.state === 'full' ? [false, true] : [false]) {
        await this.page.emulateMedia({ colorScheme: isDark ? 'dark' : 'light' });
        await this.page.waitForTimeout(TRANSITION_MS);
        taken.push(await this.shoot(screen, width, isDark));
      }
    }
    await this.page.emulateMedia({ colorScheme: 'light' });
    return taken;
  }

  async close(): Promise<void> {
    await this.page.unrouteAll({ behavior: 'ignoreErrors' });
    await this.page.close();
  }

  private async shoot(screen: string, width: number, isDark: boolean): Promise<Picture> {
    const file = path.join(this.state, String(width), `${fileOf(screen)}${isDark ? '-dark' : ''}.png`);
    mkdirSync(path.dirname(path.join(RESULTS, file)), { recursive: true });
    await this.page.screenshot({ path: path.join(RESULTS, file), fullPage: true });
    const faults = isDark ? [] : await faultsOf(this.page);
    if (this.state !== 'broken') faults.push(...this.complaints.splice(0).map((text) => `The browser logged: ${text}`));
    return { state: this.state, width, screen, isDark, file, faults };
  }

  /**
   * Answers API calls as the state requires. Does not intercept the session request, because no screen opens without a
   * session.
   */
  private async intercept(): Promise<void> {
    const isApiCall = ({ pathname }: URL): boolean => pathname.includes('/v1/') && !pathname.endsWith('/v1/session');
    if (this.state === 'loading') await this.page.route(isApiCall, () => undefined);
    if (this.state === 'broken')
      await this.page.route(isApiCall, (route) =>
        route.fulfill({
          status: 500,
          contentType: 'application/json',
          // Makes the console repeat the call at once, so that the error appears without the usual delays between
          // retries.
          headers: { 'retry-after': '0' },
          body: BROKEN_ANSWER,
        }),
      );
  }

  /** Waits until the screen shows its content. A screen that is still loading after the limit is shown as it is. */
  private async settle(): Promise<void> {
    await this.page.getByRole('main').waitFor();
    await this.page.waitForTimeout(TRANSITION_MS * 2);
    if (this.state === 'loading') return;
    await this.page
      .waitForFunction(() => document.querySelector('main .skeleton, main [aria-busy="true"]') === null, undefined, {
        timeout: SETTLE_MS_MAX,
      })
      .catch(() => undefined);
    await this.page.waitForTimeout(TRANSITION_MS);
  }
}
