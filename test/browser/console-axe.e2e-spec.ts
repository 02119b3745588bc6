import type { Browser } from 'playwright-core';
import { type Scene, startScene, type Visit } from '../screenshots/scene.js';
import { placeOf } from '../screenshots/screens.js';
import { HEIGHT, type State, STATES, Visitor } from '../screenshots/visitor.js';
import { isChromiumInstalled, startBrowser } from '../support/browser.js';
import { violationsOf } from '../support/console-page.js';

/** Number of pages that visit the screens of a state at the same time. */
const VISITORS = 2;
const PHONE_PX = 375;
const DESKTOP_PX = 1280;
/** Rules whose result depends on the color scheme. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

(isChromiumInstalled() ? describe : describe.skip)('every screen of the console', () => {
  let scene: Scene;
  let browser: Browser;

  beforeAll(async () => {
    [scene, browser] = await Promise.all([startScene(STATES), startBrowser()]);
  }, 180_000);

  afterAll(async () => {
    await browser?.close();
    await scene?.close();
  });

  it.each(STATES)(
    '%s: has no axe violation, in light and dark, and at phone width, no raw Markdown, and no error twice',
    async (state) => {
      const visits = scene.visitsOf(state).flatMap((visit) => splitScreens(visit, VISITORS));
      const results = await Promise.all(visits.map((visit) => walk(state, visit)));

      expect(results.reduce((count, { visited }) => count + visited, 0)).toBeGreaterThan(30);
      expect(results.flatMap(({ violations }) => violations)).toEqual([]);
    },
    300_000,
  );

  /** Returns the number of visited screens, and their violations. */
  async function walk(state: State, { key, ids, screens }: Visit): Promise<{ visited: number; violations: string[] }> {
    const visitor = await Visitor.open(browser, scene.url, key, state);
    const violations: string[] = [];
    let visited = 0;
    for (const screen of screens) {
      const place = placeOf(screen, ids);
      if (place === null) continue;
      visited += 1;
      violations.push(...(await check(visitor, place)).map((text) => `${screen} (${state}) ${text}`));
    }
    await visitor.close();
    return { visited, violations };
  }

  async function check(visitor: Visitor, place: string): Promise<string[]> {
    try {
      await visitor.move(place);
    } catch (error) {
      return [`does not open: ${String(error)}`];
    }
    const { page } = visitor;
    const found = (await page.evaluate(findMarkdown)).map((text) => `shows Markdown: ${text}`);
    found.push(...(await page.evaluate(findRepeatedFaults)).map((text) => `shows an error twice: ${text}`));
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      found.push(...(await violationsOf(page, colorScheme === 'dark' ? COLOR_RULES : null)));
    }
    await page.setViewportSize({ width: PHONE_PX, height: HEIGHT });
    found.push(...(await violationsOf(page)).map((text) => `at ${PHONE_PX} px: ${text}`));
    await page.setViewportSize({ width: DESKTOP_PX, height: HEIGHT });
    return found;
  }
});

/** Returns texts that show Markdown instead of its meaning. Runs in the browser, so it uses nothing outside this function. */
function findMarkdown(): string[] {
  const texts: string[] = [];
  const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = nodes.nextNode(); node !== null; node = nodes.nextNode())
    if (
      /`[^`]+`|\*\*\w|\]\(http/.test(node.textContent ?? '') &&
      node.parentElement?.closest('code, pre, textarea, script') === null
    )
      texts.push((node.textContent ?? '').trim());
  return texts;
}

/** Splits the screens of a visit into `count` visits. */
function splitScreens({ screens, ...rest }: Visit, count: number): Visit[] {
  return Array.from({ length: count }, (_, part) => ({
    ...rest,
    screens: screens.filter((_screen, index) => index % count === part),
  }));
}

/** Returns errors that the page shows more than once. Runs in the browser, so it uses nothing outside this function. */
function findRepeatedFaults(): string[] {
  const texts = [...document.querySelectorAll('.fault')].map((fault) => fault.firstElementChild?.textContent ?? '');
  return texts.filter((text, index) => texts.indexOf(text) !== index);
}
