import type { Browser, Page } from 'playwright-core';
import { isChromiumInstalled, startBrowser } from '../support/browser.js';
import { codeEditor, codeOf, pasteCode } from '../support/code-editor.js';
import { ConsolePage, HOSTILE } from '../support/console-page.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import type { PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';

const CHUNK = '**/assets/editor-*.js';
/** JSON with everything that an editor could change: exact numbers, escapes, white space and unusual characters. */
const EXACT = `{\t"id": 12345678901234567890,\n  "price": 1.10e+2, "escaped": "\\u00e4\\u2028\\/\\ud83d\\ude00",\n\n "text": "ä\u2028\u00a0\u200b\u202e😀 ${'x'.repeat(3000)}"  }`;
const HOSTILE_JSON = JSON.stringify({ items: HOSTILE }, null, 2);
const NESTED = '{\n  "order": {\n    "items": [\n      1,\n      2\n    ]\n  },\n  "paid": true\n}';
const KEY_MS_MAX = 1_000;

(isChromiumInstalled() ? describe : describe.skip)('the code editor of the console', () => {
  let server: PosthornServer;
  let browser: Browser;
  let receiver: Receiver;
  let shown: ConsolePage;
  let page: Page;
  let sendPage: string;

  beforeAll(async () => {
    [server, browser, receiver] = await Promise.all([sharedServer(), startBrowser(), startReceiver()]);
    const destination = await server.api('POST', '/v1/destinations', {
      name: 'Orders',
      type: 'https',
      url: receiver.url,
    });
    shown = await ConsolePage.open(browser, server, 'console-editor', 'overview');
    page = shown.page;
    await shown.open(`destinations/${destination.json.id}`);
    await page.getByRole('link', { name: 'Send an event' }).last().click();
    await page.getByRole('heading', { name: 'Send an event' }).waitFor();
    sendPage = page.url();
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    await receiver?.close();
  });

  afterEach(() => {
    expect(shown.wrongs()).toEqual([]);
  });

  const payload = () => codeEditor(page, 'Payload');
  const typedPayload = () => page.getByLabel('Payload');
  /** Sends the event, and returns the bytes that the destination received. */
  const sent = async (): Promise<string | undefined> => {
    const count = receiver.requests.length;
    await page.getByRole('button', { name: 'Send event' }).click();
    await receiver.waitFor(count + 1);
    return receiver.requests.at(-1)?.rawBody.toString();
  };

  it('is loaded only where it is shown, colors the text, and adds no style element', async () => {
    await payload().waitFor();
    const loaded: string[] = [];
    page.on('request', (request) => loaded.push(request.url()));
    await shown.open('events');
    await page.getByRole('heading', { name: 'Events', exact: true }).waitFor();
    expect(loaded.filter((url) => url.includes('/editor-'))).toEqual([]);
    await page.goto(sendPage);
    await pasteCode(payload(), NESTED);
    await payload().locator('.code-key').nth(2).waitFor();
    expect(loaded.filter((url) => url.includes('/editor-'))).toHaveLength(1);

    expect(await codeOf(payload())).toBe(NESTED);
    expect(await payload().locator('.code-key').allTextContents()).toEqual(['"order"', '"items"', '"paid"']);
    expect(await page.locator('style').count()).toBe(0);
    expect(await page.locator('.cm-scroller').evaluate((element) => getComputedStyle(element).display)).toBe('flex');
    expect(await shown.violations('01-colors')).toEqual([]);
  });

  it('folds with the keyboard and with a click, and unfolds', async () => {
    await page.locator('.cm-line').nth(1).click();
    await page.keyboard.press('Control+Shift+BracketLeft');
    expect(await page.locator('.cm-line').allTextContents()).toEqual(['{', '  "order": {…},', '  "paid": true', '}']);
    expect(await shown.violations('02-folded')).toEqual([]);
    await payload().focus();
    await page.keyboard.press('Control+Shift+BracketRight');
    expect(await codeOf(payload())).toBe(NESTED);
    await page.locator('.cm-line').nth(1).click();
    for (const lines of [['{', '  "order": {…},', '  "paid": true', '}'], NESTED.split('\n')]) {
      await page.keyboard.press('Control+Period');
      expect(await page.locator('.cm-line').allTextContents()).toEqual(lines);
    }
    await page.locator('.cm-foldGutter [title="Fold line"]').first().click();
    expect(await page.locator('.cm-line').allTextContents()).toEqual(['{…}']);
    expect(await sent()).toBe(NESTED);
    await page.locator('.cm-foldPlaceholder').click();
    expect(await codeOf(payload())).toBe(NESTED);
  });

  it('shows an error in its line and as text, and underlines it', async () => {
    await payload().press('Control+a');
    await page.keyboard.insertText('{\n  "id": ,\n  "a": [1\n}');
    await page.locator('.code-line.faulty').waitFor();
    await page.locator('.code-fault', { hasText: '(line 2)' }).waitFor();
    expect(await page.locator('.code-line.faulty').textContent()).toBe('  "id": ,');
    expect(await page.locator('.code-line.faulty').getAttribute('data-fault')).not.toBe('');
    expect(await page.locator('.cm-lineNumbers .faulty').textContent()).toBe('2');
    expect(await payload().getAttribute('aria-invalid')).toBe('true');
    const notes = page.locator(`[id="${await payload().getAttribute('aria-describedby')}"]`);
    expect(await notes.innerText()).toContain('(line 2)');
    await payload().locator('.code-bad').first().waitFor();
    expect(await shown.violations('03-error')).toEqual([]);
    await page.getByRole('button', { name: 'Go to line 2' }).click();
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.type('7');
    await page.keyboard.press('Control+End');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('End');
    await page.keyboard.type(']');
    await page.locator('.code-fault').waitFor({ state: 'detached' });
    expect(await payload().getAttribute('aria-invalid')).toBe('false');
    expect(await page.locator('.code-line.faulty, .code-bad').count()).toBe(0);
    expect(await page.locator('.cm-matchingBracket').count()).toBe(2);
  });

  it('Tab indents, and after Escape it leaves the field in both directions', async () => {
    await payload().press('Control+a');
    await page.keyboard.type('{}');
    await payload().press('Control+Home');
    await page.keyboard.press('Tab');
    expect(await codeOf(payload())).toBe('  {}');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    expect(await payload().evaluate((element) => element === document.activeElement)).toBe(false);
    await page.keyboard.press('Shift+Tab');
    expect(await payload().evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.press('Tab');
    expect(await codeOf(payload())).toMatch(/^ {4}\{\}|^ {2}\{\} {2}$/);
    await page.keyboard.press('Shift+Tab');
    expect(await payload().evaluate((element) => element === document.activeElement)).toBe(false);
    await page.getByText('Payload', { exact: true }).click();
    expect(await payload().evaluate((element) => element === document.activeElement)).toBe(true);
  });

  it('keeps every character, and line breaks become line feeds as in a text area', async () => {
    await pasteCode(payload(), EXACT);
    await page.keyboard.press('Control+End');
    expect(await sent()).toBe(EXACT);
    await pasteCode(payload(), '{\r\n"a": 1,\r"b": 2}');
    expect(await sent()).toBe('{\n"a": 1,\n"b": 2}');
    await pasteCode(payload(), HOSTILE_JSON);
    expect(await shown.violations('04-hostile')).toEqual([]);
    expect(await sent()).toBe(HOSTILE_JSON);
    await payload().focus();
    await page.keyboard.press('Control+z');
    expect(await codeOf(payload())).toBe('{\n"a": 1,\n"b": 2}');
  });

  it.each([
    ['lines', `{"items": [\n${Array.from({ length: 30_000 }, (_, at) => `  {"id": ${at}, "n": "x"}`).join(',\n')}\n]}`],
    ['a single line', JSON.stringify({ items: Array.from({ length: 30_000 }, (_, id) => ({ id, name: 'item' })) })],
  ])('a payload of 1 MB in %s stays usable', async (_, text) => {
    const large = text.replace(/\]\}$/, `], "end": "${'e'.repeat(1_000_000 - text.length)}"}`);
    await pasteCode(payload(), large);
    await payload().press('Control+Home');
    const startedAt = performance.now();
    await page.keyboard.press('ArrowRight');
    for (const key of [' ', 'Backspace']) await page.keyboard.press(key);
    await payload().evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));

    expect(performance.now() - startedAt).toBeLessThan(3 * KEY_MS_MAX);
    // Compared as a boolean, because Jest takes minutes to describe a difference of this size.
    expect((await sent()) === large).toBe(true);
  });

  it('takes over from a text area without a jump, with the typed text, the caret and the focus', async () => {
    let release = (): void => undefined;
    const isReleased = new Promise<void>((resolve) => (release = resolve));
    await page.route(CHUNK, async (route) => {
      await isReleased;
      await route.continue();
    });
    await page.goto(sendPage);
    await typedPayload().fill('{"a": 1}');
    for (let step = 0; step < 2; step += 1) await page.keyboard.press('ArrowLeft');
    const places = () =>
      page.evaluate(() =>
        [...document.querySelectorAll('.code-box, main button, main h2')].map((element) => {
          const { top, left, width, height } = element.getBoundingClientRect();
          return [top, left, width, height].map(Math.round).join();
        }),
      );
    const before = await places();
    expect(await shown.violations('05-loading')).toEqual([]);
    await typedPayload().focus();
    release();
    await payload().waitFor();

    expect(await page.locator('.code-box textarea').count()).toBe(0);
    expect(await places()).toEqual(before);
    await page.keyboard.type('0');
    expect(await codeOf(payload())).toBe('{"a": 01}');
    await page.unroute(CHUNK);
  });

  it('a text area takes its place if it cannot be loaded', async () => {
    await page.route(CHUNK, (route) => route.abort());
    await page.goto(sendPage);
    await typedPayload().fill('{"id": }');
    await page.getByText('(line 1)').waitFor();
    await page.getByRole('button', { name: 'Go to line 1' }).click();
    await page.keyboard.press('Control+a');
    await page.keyboard.type(NESTED);
    expect(await typedPayload().inputValue()).toBe(NESTED);
    expect(await shown.violations('06-text-area')).toEqual([]);
    expect(await sent()).toBe(NESTED);
    expect(await page.locator('.cm-editor').count()).toBe(0);
    await page.unroute(CHUNK);

    // The browser logs the blocked file as an error.
    expect(shown.wrongs().filter((line) => !line.includes('ERR_FAILED'))).toEqual([]);
  });

  it('works at 200 % zoom, without motion and in forced colors', async () => {
    await page.emulateMedia({ reducedMotion: 'reduce', forcedColors: 'active' });
    await page.setViewportSize({ width: 640, height: 450 });
    await page.goto(sendPage);
    await pasteCode(payload(), '{\n  "id": \n}');
    await page.locator('.code-line.faulty').waitFor();
    await shown.screenshot('07-forced-colors-640');
    const moving = await page.evaluate(() => document.getAnimations().length);
    const isWide = await page.evaluate(
      () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
    );
    await page.emulateMedia({ reducedMotion: null, forcedColors: null });
    await page.setViewportSize({ width: 1280, height: 900 });

    expect({ moving, isWide }).toEqual({ moving: 0, isWide: false });
  });
});
