import type { Browser, Page } from 'playwright-core';
import { answerOf, JSON_TYPE, toApiError } from '#http/envelope.js';
import { complaintsOf } from '../support/browser.js';

export const STATES = ['empty', 'loading', 'full', 'broken', 'long'] as const;
export type State = (typeof STATES)[number];

export const HEIGHT = 900;
/** Time for the transitions of a page after its last request. */
export const TRANSITION_MS = 250;
const SETTLE_MS_MAX = 8_000;

/** Response of the API to an unexpected error. */
const BROKEN_ANSWER = answerOf(toApiError(new Error('broken')), 'req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1');

/** The part of the console's router that the tests use. TanStack Router exposes the router to its developer tools. */
interface Router {
  subscribe(event: 'onResolved', listener: () => void): () => void;
  history: { push(href: string): void };
}

/** A browser page that is signed in to one organization and shows the screens of the console in one state. */
export class Visitor {
  private constructor(
    readonly page: Page,
    private readonly base: string,
    readonly state: State,
    /** Errors that the browser logged on the current screen. */
    readonly complaints: string[],
  ) {}

  static async open(browser: Browser, url: string, key: string, state: State): Promise<Visitor> {
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
    const visitor = new Visitor(page, `${url}/console/live/`, state, complaints);
    await visitor.intercept();
    return visitor;
  }

  /** Opens a screen, and waits until it shows its content. */
  async visit(place: string): Promise<void> {
    this.complaints.length = 0;
    await this.page.goto(this.base + place);
    await this.settle();
  }

  /** Opens a screen without loading the page again, as a click on a link does. Takes a fraction of the time of `visit`. */
  async move(place: string): Promise<void> {
    this.complaints.length = 0;
    await this.page.evaluate(
      async (href) => {
        const { __TSR_ROUTER__: router } = globalThis as unknown as { __TSR_ROUTER__: Router };
        const isResolved = new Promise<void>((resolve) => {
          const stop = router.subscribe('onResolved', () => {
            stop();
            resolve();
          });
        });
        router.history.push(href);
        await isResolved;
      },
      new URL(this.base).pathname + place,
    );
    await this.settle();
  }

  async close(): Promise<void> {
    await this.page.unrouteAll({ behavior: 'ignoreErrors' });
    await this.page.close();
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
          status: BROKEN_ANSWER.status,
          contentType: JSON_TYPE,
          // Makes the console repeat the call at once, so that the error appears without the usual waits.
          headers: { 'retry-after': '0' },
          body: BROKEN_ANSWER.body,
        }),
      );
  }

  /** Waits until the screen shows its content. A screen that is still loading after the limit is shown as it is. */
  private async settle(): Promise<void> {
    await this.page.getByRole('main').waitFor();
    await this.page.waitForTimeout(TRANSITION_MS);
    if (this.state === 'loading') return;
    await this.page
      .waitForFunction(() => document.querySelector('main .skeleton, main [aria-busy="true"]') === null, undefined, {
        timeout: SETTLE_MS_MAX,
      })
      .catch(() => undefined);
    await this.page.waitForTimeout(TRANSITION_MS);
  }
}
