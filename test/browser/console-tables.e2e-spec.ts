import type { Browser, Locator, Page } from 'playwright-core';
import { isChromiumInstalled, startBrowser } from '../support/browser.js';
import { ConsolePage } from '../support/console-page.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { type PosthornServer, startServer } from '../support/server.js';

/** Name of 128 characters with right-to-left text, emoji and markup. */
const LONG = `Ωμέγα שלום مرحبا 🐎 <b>${'long '.repeat(40)}`.slice(0, 128).trim();
const WIDTH_MIN_PX = 64;
/** Longer than the console shows a toast with a button. */
const TOAST_MS = 15_000;

(isChromiumInstalled() ? describe : describe.skip)('tables, undo and skeletons in the console', () => {
  let server: PosthornServer;
  let browser: Browser;
  let receiver: Receiver;
  let page: Page;
  let shown: ConsolePage;

  beforeAll(async () => {
    [server, browser, receiver] = await Promise.all([
      startServer(),
      startBrowser(),
      startReceiver(({ path }) => (path.includes('broken') ? { status: 500 } : { body: 'thanks' })),
    ]);
    shown = await ConsolePage.open(browser, server, 'console-tables', 'keys');
    page = shown.page;
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    await receiver?.close();
  });

  afterEach(() => {
    expect(shown.wrongs()).toEqual([]);
  });

  const toasts = (): Locator => page.getByRole('region', { name: 'Notifications' });
  const row = (name: string): Locator => page.getByRole('row').filter({ hasText: name });
  const border = (column: string): Locator => page.getByRole('separator', { name: `Width of column ${column}` });
  const header = (column: string): Locator =>
    page.getByRole('columnheader').filter({ hasText: new RegExp(`^${column}$`) });
  const widthOf = async (locator: Locator): Promise<number> => Math.round((await locator.boundingBox())?.width ?? 0);
  const focused = (): Promise<string> =>
    page.evaluate(() => {
      const { activeElement: element } = document;
      return element?.getAttribute('aria-label') ?? element?.getAttribute('title') ?? '';
    });
  const isCut = (locator: Locator): Promise<boolean> =>
    locator.evaluate(
      (element) => element.scrollWidth > element.clientWidth && getComputedStyle(element).textOverflow === 'ellipsis',
    );

  async function drag(column: string, byPx: number): Promise<void> {
    const box = await border(column).boundingBox();
    if (box === null) throw new Error(`The column ${column} has no border to drag.`);
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + byPx / 2, y, { steps: 3 });
    await page.mouse.move(x + byPx, y, { steps: 3 });
    await page.mouse.up();
  }

  /** Holds the responses of the API routes that match, until the returned function is called. */
  async function hold(pattern: string): Promise<() => Promise<void>> {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route(pattern, async (route) => {
      await held;
      await route.continue().catch(() => undefined);
    });
    return async () => {
      release();
      await page.unroute(pattern);
    };
  }

  /** Waits until the page has loaded its counts of pending deliveries. */
  const loaded = (): Promise<void> => page.waitForLoadState('networkidle');

  async function choose(name: string, action: string): Promise<void> {
    await page.getByRole('button', { name: `Actions for ${name}` }).click();
    await page.getByRole('menuitem', { name: action }).click();
  }

  async function create(path: string, body: object): Promise<string> {
    const { json } = await server.api('POST', path, body);
    return (json.id ?? json.uid) as string;
  }

  const statusOf = async (path: string): Promise<unknown> => (await server.api('GET', path)).json.status;

  it('a column is resized by dragging, keeps a minimum width, and is remembered with its ellipsis', async () => {
    for (const name of [LONG, 'Short']) await create('/v1/keys', { name, scope: 'read' });
    await page.reload();
    await row(LONG).waitFor();
    await drag('Prefix', 80);
    const before = await widthOf(header('Name'));
    await drag('Name', -60);
    const name = await widthOf(header('Name'));
    expect(Math.abs(name - (before - 60))).toBeLessThanOrEqual(2);
    expect(Number(await border('Name').getAttribute('aria-valuenow'))).toBe(name);
    const cell = row(LONG).getByRole('cell').first().locator('.cell');
    expect(await isCut(cell)).toBe(true);
    expect(await cell.getAttribute('title')).toBe(LONG);

    await page.reload();
    await row(LONG).waitFor();
    expect(await widthOf(header('Name'))).toBe(name);
    await drag('Prefix', -600);
    expect(await widthOf(header('Prefix'))).toBe(WIDTH_MIN_PX);
    const prefix = row('Short').getByRole('cell').nth(3).locator('.cell');
    expect(await isCut(prefix)).toBe(true);
    await prefix.hover();
    expect(await prefix.getAttribute('title')).toMatch(/…$/);
    expect(await shown.violations('01-resized')).toEqual([]);
  });

  it('the arrow keys resize a column, and Home and a double-click reset it', async () => {
    await border('Scope').focus();
    const before = Number(await border('Scope').getAttribute('aria-valuenow'));
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowLeft');
    await page.waitForFunction(
      ([name, px]) => document.querySelector(`[title^="${name}."]`)?.getAttribute('aria-valuenow') === px,
      ['Width of column Scope', String(before + 16)] as const,
    );
    expect(await border('Scope').getAttribute('aria-valuetext')).toBe(`${before + 16} pixels`);
    expect(await focused()).toMatch(/^Width of column Scope\./);
    await page.keyboard.press('Home');
    expect(Math.abs((await widthOf(header('Scope'))) - before)).toBeLessThan(16);
    await border('Prefix').dblclick();
    await border('Name').dblclick();
    expect(await widthOf(header('Prefix'))).toBeGreaterThan(WIDTH_MIN_PX);
    const stored = await page.evaluate(() => localStorage.getItem('posthorn.preferences'));
    expect(JSON.parse(stored ?? '{}').columnWidths).toEqual({ keys: {} });
  });

  it('for screen readers, the name of a header cell does not contain the name of its border', async () => {
    const session = await page.context().newCDPSession(page);
    const { nodes } = await session.send('Accessibility.getFullAXTree');
    await session.detach();
    const names = nodes.flatMap((node) => (node.role?.value === 'columnheader' ? [node.name?.value] : []));

    expect(names).toEqual(expect.arrayContaining(['Name', 'Status', 'Scope']));
  });

  it('wide columns do not make the page scroll sideways, at any width of the window', async () => {
    await drag('Name', 600);
    await drag('Created via', 200);
    for (const width of [1280, 1440, 1920]) {
      await page.setViewportSize({ width, height: 900 });
      await page.waitForFunction(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);
      await shown.screenshot(`02-wide-${width}`);
    }
    expect(await shown.violations('02-wide')).toEqual([]);
    await page.setViewportSize({ width: 375, height: 812 });
    expect(await page.getByRole('separator').count()).toBe(0);
    expect(await widthOf(row('Short'))).toBeLessThan(375);
    await page.setViewportSize({ width: 1280, height: 900 });
    for (const column of ['Name', 'Created via']) await border(column).dblclick();
  });

  it('the list of events remembers its own widths', async () => {
    const id = await create('/v1/destinations', { name: 'Orders', type: 'https', url: `${receiver.url}/good` });
    await server.api('POST', '/v1/send', { destination: id, event_type: `invoice.${'x'.repeat(90)}`, payload: {} });
    await shown.open('events');
    await row('invoice.').waitFor();
    const before = await widthOf(header('Event type'));
    await drag('Status', -20);
    await drag('Event type', -40);
    await border('Target').focus();
    await page.keyboard.press('ArrowLeft');
    const sized = await widthOf(header('Event type'));
    await page.reload();
    await row('invoice.').waitFor();

    expect(sized).toBeLessThan(before + 20);
    expect(await widthOf(header('Event type'))).toBe(sized);
    expect(await widthOf(row('invoice.').getByRole('cell').nth(2))).toBe(sized);
    expect(await row('invoice.').getByRole('link').getAttribute('title')).toMatch(/^invoice\.x+$/);
    expect(await shown.violations('03-events')).toEqual([]);
    for (const column of ['Status', 'Event type', 'Target']) await border(column).dblclick();
  });

  it('placeholders are as high as the content that replaces them', async () => {
    await create('/v1/destinations', { name: 'Pulled', type: 'pull' });
    const place = async (locator: Locator): Promise<number> => Math.round((await locator.boundingBox())?.y ?? -1);
    for (const [screen, pattern, placeholder, content] of [
      ['destinations', '**/v1/destinations?*', '.skeleton-row', 'tbody tr'],
      ['events', '**/v1/events?*', '.skeleton-row', '.table-rows'],
      ['pull', '**/v1/pull?*', '.skeleton-row', 'tbody tr'],
      ['overview', '**/v1/metrics/overview?*', '.plot', '.plot:not(.skeleton)'],
    ] as const) {
      const release = await hold(pattern);
      await shown.open(screen);
      await page.getByRole('status').filter({ hasText: 'Loading…' }).first().waitFor({ state: 'attached' });
      await page.locator(placeholder).first().waitFor();
      const before = await place(page.locator(placeholder).first());
      expect(await shown.violations(`09-loading-${screen}`)).toEqual([]);
      await release();
      await page.locator(content).first().waitFor();
      const after = await place(page.locator(content).first());
      expect(`${screen} moves by ${Math.abs(after - before) <= 2 ? 0 : after - before} px`).toBe(
        `${screen} moves by 0 px`,
      );
      expect(await shown.violations(`10-loaded-${screen}`)).toEqual([]);
    }
  });

  it('the placeholder of a page has the shape of the page, and is announced once', async () => {
    const id = await create('/v1/destinations', { name: 'Edited', type: 'https', url: `${receiver.url}/good` });
    const template = await create('/v1/templates', { name: 'Receipt' });
    await create('/v1/event-types', { name: 'receipt.sent' });
    await create('/v1/app', { uid: 'initech', name: 'Initech' });
    const loading = page.getByRole('status').filter({ hasText: 'Loading…' });
    const place = async (locator: Locator): Promise<number> => (await locator.first().boundingBox())?.y ?? -1;
    for (const [name, screen, pattern, placeholder, content] of [
      ['destination', `destinations/${id}/edit`, `**/v1/destinations/${id}`, '.skeleton-input', 'form input'],
      ['organization', 'organization', '**/v1/org', '.skeleton-input', 'form input'],
      ['event-type', 'event-types/receipt.sent', '**/v1/event-types/receipt.sent', '.skeleton-input', 'form input'],
      ['template', `templates/${template}`, `**/v1/templates/${template}`, '.skeleton .split', 'form.mail-template'],
      ['application', 'applications/initech/endpoints', '**/v1/app/initech', '.skeleton .tabs', 'nav.tabs'],
    ] as const) {
      const release = await hold(pattern);
      await shown.open(screen);
      await page.locator(placeholder).first().waitFor();
      const before = await place(page.locator(placeholder));
      expect(`${name}: ${await loading.count()}`).toBe(`${name}: 1`);
      expect(await shown.violations(`11-loading-${name}`)).toEqual([]);
      await release();
      await page.locator('main').locator(content).first().waitFor();
      await loading.first().waitFor({ state: 'detached' });
      const movedPx = Math.abs((await place(page.locator('main').locator(content))) - before);
      expect(`${name}: ${movedPx < 24 ? '' : movedPx}`).toBe(`${name}: `);
    }
  });

  it('a destination is disabled in the list at once, and the message undoes it', async () => {
    const id = await create('/v1/destinations', { name: LONG, type: 'https', url: `${receiver.url}/long` });
    await shown.open('destinations');
    await row('Orders').getByText('Healthy').waitFor();
    await row(LONG).getByText('Idle').waitFor();
    await loaded();
    const release = await hold(`**/v1/destinations/${id}`);
    await choose(LONG, 'Disable');
    await row(LONG).getByText('Disabled').waitFor();
    expect(await statusOf(`/v1/destinations/${id}`)).toBe('active');
    expect(await toasts().getByRole('button').count()).toBe(0);
    await release();
    await toasts().getByText('disabled').waitFor();
    expect(await statusOf(`/v1/destinations/${id}`)).toBe('disabled');
    expect(await focused()).toBe(`Actions for ${LONG}`);
    expect(await shown.violations('04-disabled')).toEqual([]);

    await toasts().getByRole('button', { name: 'Undo' }).click();
    await row(LONG).getByText('Idle').waitFor();
    await toasts().getByText('enabled').waitFor();
    expect(await statusOf(`/v1/destinations/${id}`)).toBe('active');
    expect(await toasts().getByRole('button', { name: 'Undo' }).count()).toBe(0);
    expect(await focused()).toBe(`Actions for ${LONG}`);
  });

  it('a change that the API rejects is rolled back, and the message shows the reason until it is closed', async () => {
    await page.route('**/v1/destinations/dst_*', (route) =>
      route.request().method() === 'PATCH'
        ? route.fulfill({ status: 409, json: { error: { type: 'conflict', message: 'Not now.' } } })
        : route.continue(),
    );
    await choose(LONG, 'Disable');
    await page.getByRole('alert').filter({ hasText: 'Change not saved. Not now.' }).waitFor();
    await row(LONG).getByText('Idle').waitFor();
    expect(await shown.violations('05-rejected')).toEqual([]);
    await page.unroute('**/v1/destinations/dst_*');
    await toasts().getByRole('button', { name: 'Dismiss' }).last().click();
    await page.getByRole('alert').waitFor({ state: 'detached' });

    expect(shown.wrongs().every((line) => line.includes('409'))).toBe(true);
  });

  it('on the page of a destination, the keyboard alone disables it and undoes it', async () => {
    await page.getByRole('link', { name: LONG }).click();
    const button = page.getByRole('button', { name: 'Disable', exact: true });
    await page.getByText('Idle').first().waitFor();
    await loaded();
    await button.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Enable', exact: true }).waitFor();
    await toasts().getByRole('button', { name: 'Undo' }).waitFor();
    await page.keyboard.press('z');
    await button.waitFor();
    await toasts().getByText('enabled').waitFor();

    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Disable');
    expect(await shown.violations('06-destination')).toEqual([]);
  });

  it('a destination with pending deliveries asks first, because these fail', async () => {
    const id = await create('/v1/destinations', { name: 'Broken', type: 'https', url: `${receiver.url}/broken` });
    await server.api('POST', '/v1/send', { destination: id, event_type: 'invoice.paid', payload: {} });
    await shown.open(`destinations/${id}`);
    await page.getByText('1 pending').first().waitFor();
    await page.getByRole('button', { name: 'Disable', exact: true }).click();
    await page.getByRole('dialog').getByText('Pending deliveries fail.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
    await toasts().getByText('Broken disabled').waitFor();

    expect(await toasts().getByRole('button', { name: 'Undo' }).count()).toBe(0);
    expect(await statusOf(`/v1/destinations/${id}`)).toBe('disabled');
  });

  it('a destination is disabled without a question if its deliveries ended after the page counted them', async () => {
    const id = await create('/v1/destinations', { name: 'Old count', type: 'https', url: `${receiver.url}/old` });
    await page.route('**/v1/events/count?*', (route) => route.fulfill({ json: { count: 1, is_capped: false } }));
    await shown.open(`destinations/${id}`);
    await page.getByText('1 pending').first().waitFor();
    await page.unroute('**/v1/events/count?*');
    await page.getByRole('button', { name: 'Disable', exact: true }).click();
    await page.getByRole('button', { name: 'Enable', exact: true }).waitFor();
    await toasts().getByRole('button', { name: 'Undo' }).last().waitFor();

    expect(await statusOf(`/v1/destinations/${id}`)).toBe('disabled');
  });

  it('inbound endpoints and endpoints of customers are switched in their lists, with undo', async () => {
    const inbound = await create('/v1/endpoints', { slug: 'hub', name: 'Hub', preset: 'github' });
    await create('/v1/app', { uid: 'acme', name: 'Acme' });
    const own = await create('/v1/app/acme/endpoints', { url: `${receiver.url}/acme` });
    for (const [place, name, action, off, path] of [
      ['endpoints', 'Hub', 'Pause', 'Paused', `/v1/endpoints/${inbound}`],
      ['applications/acme/endpoints', `${receiver.url}/acme`, 'Disable', 'Disabled', `/v1/app/acme/endpoints/${own}`],
    ] as const) {
      await shown.open(place);
      await row(name).waitFor();
      await choose(name, action);
      await row(name)
        .getByText(new RegExp(`${off}$`))
        .waitFor();
      await toasts().getByRole('button', { name: 'Undo' }).waitFor();
      expect(await statusOf(path)).toBe(off.toLowerCase());
      expect(await shown.violations(`07-${action}`)).toEqual([]);
      await page.keyboard.press('z');
      await row(name)
        .getByText(new RegExp(`${off}$`))
        .waitFor({ state: 'detached' });
      await toasts()
        .getByText(/(activated|enabled)$/)
        .waitFor();
      expect(await statusOf(path)).toBe('active');
    }
  });

  it('an endpoint with pending deliveries asks first: with a URL it can be undone, with a destination it cannot', async () => {
    const target = await create('/v1/destinations', { name: 'Shared', type: 'https', url: `${receiver.url}/broken` });
    await create('/v1/app', { uid: 'globex', name: 'Globex' });
    const [own, shared] = [
      await create('/v1/app/globex/endpoints', { url: `${receiver.url}/broken` }),
      await create('/v1/app/globex/endpoints', { destination: target }),
    ];
    const [ownPath, sharedPath] = [`/v1/app/globex/endpoints/${own}`, `/v1/app/globex/endpoints/${shared}`];
    await server.api('POST', '/v1/app/globex/event', { event_type: 'invoice.paid', payload: {} });
    await shown.open('applications/globex/endpoints');
    await row(`${receiver.url}/broken`).getByText('1 pending').waitFor();
    await choose(`${receiver.url}/broken`, 'Disable');
    await page.getByRole('dialog').getByText('Pending deliveries fail at their next attempt').waitFor();
    expect(await shown.violations('12-pending')).toEqual([]);
    expect(await statusOf(ownPath)).toBe('active');
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
    await toasts().getByRole('button', { name: 'Undo' }).waitFor();
    expect(await statusOf(ownPath)).toBe('disabled');
    await page.keyboard.press('z');
    await toasts().getByText(`${receiver.url}/broken enabled`).waitFor();
    expect(await statusOf(ownPath)).toBe('active');

    await choose(target, 'Disable');
    await page.getByRole('dialog').getByText('Pending deliveries are canceled.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
    await toasts().getByText(`${target} disabled`).waitFor();
    expect(await statusOf(sharedPath)).toBe('disabled');
    expect(await toasts().getByRole('button', { name: 'Undo' }).count()).toBe(0);
  });

  it('a suppression that was added manually is removed at once and restored, and the focus is not lost', async () => {
    await server.api('POST', '/v1/suppressions', { email: 'a@example.org' });
    await server.api('POST', '/v1/suppressions', { email: 'b@example.org' });
    await shown.open('suppressions');
    await page.getByRole('button', { name: 'Actions for a@example.org' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Remove' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: 'a@example.org', exact: true }).waitFor({ state: 'detached' });
    await page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'region');
    await toasts().getByText('a@example.org removed from suppressions').waitFor();
    expect((await server.api('GET', '/v1/suppressions?email=a@example.org')).json.data).toEqual([]);
    await page.keyboard.press('z');
    await page.getByRole('cell', { name: 'a@example.org', exact: true }).waitFor();
    await toasts().getByText('a@example.org suppressed').waitFor();

    expect((await server.api('GET', '/v1/suppressions?email=a@example.org')).json.data).toMatchObject([
      { origin: 'manual', expires_at: null, source_id: null },
    ]);
    expect(await shown.violations('08-suppressions')).toEqual([]);
  });

  it('numbers are aligned at the end of their column, below its label, and at the start of a card', async () => {
    await create('/v1/templates', { name: 'Numbers' });
    await shown.open('templates');
    const version = row('Numbers').getByRole('cell').nth(3);
    await version.waitFor();
    const alignments = (): Promise<string[]> =>
      Promise.all(
        [header('Version'), version].map((cell) => cell.evaluate((element) => getComputedStyle(element).textAlign)),
      );
    expect(await alignments()).toEqual(['end', 'end']);
    expect(await version.evaluate((element) => getComputedStyle(element).fontVariantNumeric)).toBe('tabular-nums');

    await page.setViewportSize({ width: 375, height: 812 });
    expect((await alignments())[1]).toBe('start');
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  it('mail tables are cards on a phone, with the control of all rows above them', async () => {
    await create('/v1/topics', { name: LONG.slice(0, 50), default_subscription: 'opt_in' });
    await create('/v1/templates', { name: LONG.slice(0, 100) });
    await create('/v1/aliases', { kind: 'platform', localPart: 'invoices', routes: [] });
    for (const place of ['topics', 'templates', 'inbox', 'suppressions']) {
      await shown.open(place);
      await page.getByRole('table').first().waitFor();
      await page.setViewportSize({ width: 375, height: 812 });
      const cell = page.locator('tbody td').nth(1);
      expect(await cell.evaluate((element) => getComputedStyle(element, '::before').content)).toMatch(/^"\w/);
      expect(await shown.violations(`11-cards-${place}`)).toEqual([]);
    }
  });

  it('a message stays while it is hovered or focused, and closes itself otherwise', async () => {
    const timed = await ConsolePage.open(browser, server, 'console-tables-timed', 'endpoints');
    const message = timed.page.getByRole('region', { name: 'Notifications' }).getByText('Hub paused');
    await timed.page.clock.install();
    await timed.page.getByRole('button', { name: 'Actions for Hub' }).click();
    await timed.page.getByRole('menuitem', { name: 'Pause' }).click();
    await message.hover();
    await timed.page.clock.fastForward(TOAST_MS);
    expect(await message.count()).toBe(1);
    await timed.page.getByRole('button', { name: 'Undo' }).focus();
    await timed.page.mouse.move(10, 10);
    await timed.page.clock.fastForward(TOAST_MS);
    expect(await message.count()).toBe(1);
    await timed.page.getByRole('button', { name: 'Actions for Hub' }).focus();
    await timed.page.clock.fastForward(TOAST_MS);
    await message.waitFor({ state: 'detached' });

    expect(timed.wrongs()).toEqual([]);
    await timed.page.close();
  });
});
