import { readFileSync } from 'node:fs';
import type { Browser, Locator, Page } from 'playwright-core';
import { isChromiumInstalled, startBrowser } from '../support/browser.js';
import { ConsolePage, HOSTILE, WAIT_MS_MAX } from '../support/console-page.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { type PosthornServer, startServer } from '../support/server.js';

const PERSON = `Ada ${HOSTILE[0] ?? ''}`;

(isChromiumInstalled() ? describe : describe.skip)(
  'secrets, members, sessions, the audit log, the organization and jobs in the console',
  () => {
    let server: PosthornServer;
    let browser: Browser;
    let receiver: Receiver;
    let page: Page;
    let shown: ConsolePage;
    let dialog: Locator;

    beforeAll(async () => {
      // No worker runs, so jobs stay pending.
      [server, browser, receiver] = await Promise.all([startServer({ ROLE: 'api' }), startBrowser(), startReceiver()]);
      shown = await ConsolePage.open(browser, server, 'console-admin', 'secrets');
      page = shown.page;
      dialog = page.getByRole('dialog');
    });

    afterAll(async () => {
      await browser?.close();
      await server?.stop();
      await receiver?.close();
    });

    afterEach(() => {
      expect(shown.wrongs()).toEqual([]);
    });

    const confirm = async (name: string, typed?: string): Promise<void> => {
      if (typed !== undefined) await dialog.getByLabel(/^Type/).fill(typed);
      await dialog.getByRole('button', { name, exact: true }).click();
      await dialog.waitFor({ state: 'detached' });
    };

    /** Chooses an action from the menu of a row. */
    const act = async (row: string, action: string): Promise<void> => {
      await page.getByRole('button', { name: `Actions for ${row}` }).click();
      await page.getByRole('menuitem', { name: action, exact: true }).click();
    };

    it('a secret: created, given a new value, its uses shown, and deleted once it is unused', async () => {
      await page.getByText('No secrets yet').waitFor();
      expect(await shown.violations('01-secrets-empty')).toEqual([]);
      await page.getByRole('button', { name: 'New secret' }).click();
      await page.getByLabel('Name').fill('CRM_TOKEN');
      await page.getByLabel('Value', { exact: true }).fill('the-first-value');
      await page.getByLabel('Description').fill(HOSTILE[1] ?? '');
      expect(await shown.violations('02-new-secret')).toEqual([]);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('{{secrets.CRM_TOKEN}}').waitFor();
      await act('CRM_TOKEN', 'Replace value');
      await page.getByLabel('Value', { exact: true }).fill('the-second-value');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('cell', { name: '2', exact: true }).waitFor();
      const destination = (
        await server.api('POST', '/v1/destinations', { name: 'CRM', type: 'https', url: receiver.url })
      ).json.id as string;
      const used = await server.api('PATCH', `/v1/destinations/${destination}`, {
        headers: { 'x-token': '{{secrets.CRM_TOKEN}}' },
      });
      expect(used.status).toBe(200);
      await act('CRM_TOKEN', 'Used in');
      await dialog.getByRole('link', { name: 'CRM', exact: true }).waitFor();
      expect(await dialog.getByRole('button', { name: 'Delete' }).count()).toBe(0);
      expect(await shown.violations('03-secret-use')).toEqual([]);
      await page.keyboard.press('Escape');
      expect(await page.content()).not.toContain('the-second-value');
      await server.api('PATCH', `/v1/destinations/${destination}`, { headers: {} });
      await shown.open('secrets');
      await act('CRM_TOKEN', 'Used in');
      await dialog.getByRole('button', { name: 'Delete' }).click();
      await confirm('Delete', 'CRM_TOKEN');
      await page.getByText('No secrets yet').waitFor();
    });

    it('a member: added, given another role, removed', async () => {
      await shown.navigate('Members');
      await page.getByText('No members yet').waitFor();
      await page.getByRole('button', { name: 'Add member' }).click();
      await page.getByLabel('Email address').fill('ada@example.com');
      await page.getByLabel('Name').fill(PERSON);
      await confirm('Add member');
      await page.getByLabel(`Role of ${PERSON}`).selectOption('write');
      await dialog.getByText('gets the Write role').waitFor();
      await confirm('Change role');
      expect((await server.api('GET', '/v1/members')).json.data).toMatchObject([
        { email: 'ada@example.com', role: 'write', name: PERSON },
      ]);
      expect(await shown.violations('04-members')).toEqual([]);
      await act(PERSON, 'Remove');
      await confirm('Remove', 'ada@example.com');
      await page.getByText('No members yet').waitFor();
    });

    it('sessions: the session of another browser is ended, and that browser is signed out within five seconds', async () => {
      const other = await browser.newContext({ userAgent: `Other ${HOSTILE[0] ?? ''}` });
      const theirs = await other.newPage();
      theirs.setDefaultTimeout(WAIT_MS_MAX);
      await theirs.goto(`${server.url}/signin?return_to=/console`);
      await theirs.getByLabel('API key of your organization').fill(server.apiKey);
      await theirs.getByRole('button', { name: 'Sign in with the key' }).click();
      await theirs.getByRole('navigation', { name: 'Main' }).waitFor();
      await shown.navigate('Sessions');
      const row = page.getByRole('row').filter({ hasText: HOSTILE[0] ?? '' });
      await row.waitFor();
      expect(await page.getByRole('row').filter({ hasText: 'this session' }).count()).toBe(1);
      expect(await shown.violations('05-sessions')).toEqual([]);
      await row.getByRole('button', { name: /^Actions for/ }).click();
      await page.getByRole('menuitem', { name: 'End session' }).click();
      await confirm('End session');
      await row.waitFor({ state: 'detached' });
      await theirs.getByText('You are signed out.').waitFor();
      await other.close();
    });

    it('the organization: renamed, with another retention and a destination for system events', async () => {
      await shown.navigate('Organization');
      await page.getByLabel('Name', { exact: true }).fill(`Acme ${HOSTILE[0] ?? ''}`);
      await page.getByLabel('Event retention in days').fill('7');
      await page.getByLabel('Destination for system events').selectOption({ label: 'CRM' });
      expect(await shown.violations('06-organization')).toEqual([]);
      await Promise.all([
        page.waitForResponse((response) => response.request().method() === 'PATCH'),
        page.getByRole('button', { name: 'Save' }).click(),
      ]);

      expect((await server.api('GET', '/v1/org')).json).toMatchObject({
        name: `Acme ${HOSTILE[0] ?? ''}`,
        retention_days: 7,
        system_destination: expect.stringMatching(/^dst_/),
      });
      await page.getByText('Example circuit.opened').click();
      await page.locator('pre').filter({ hasText: '"circuit.opened"' }).waitFor();
    });

    it('the audit log: filtered by its address, with the values before and after a change, and exported', async () => {
      await shown.navigate('Audit log');
      await page.getByRole('combobox', { name: 'Action' }).fill('PATCH /v1/org');
      await page.keyboard.press('Enter');
      await page.waitForURL(/action=PATCH/);
      await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1);
      await page.getByRole('button', { name: /^Details: API key .+ changed the organization$/ }).click();
      expect(await page.locator('pre').first().innerText()).toContain('"name": "Default"');
      expect(await page.locator('pre').nth(1).innerText()).toContain('Acme <img');
      expect(await shown.violations('07-audit')).toEqual([]);
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Export JSON Lines' }).click(),
      ]);

      const lines = readFileSync(await file.path(), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { action: string });
      expect(lines.map(({ action }) => action)).toEqual(['PATCH /v1/org']);
    });

    it('a pending job is stopped', async () => {
      const { id } = (await server.api('POST', '/v1/destinations', { name: 'Later', type: 'https', url: receiver.url }))
        .json as { id: string };
      await server.api('POST', `/v1/destinations/${id}/recover`, {
        since: new Date(Date.now() - 3_600_000).toISOString(),
      });
      await shown.open('jobs?state=pending');
      await page.getByRole('link', { name: 'Retry of failed deliveries' }).click();
      await page.getByRole('button', { name: 'Stop job' }).click();
      await confirm('Stop job');
      await page.getByText('Stopping after').or(page.getByText('Stopped')).first().waitFor();

      expect(await shown.violations('08-job')).toEqual([]);
    });

    it('pull consumers: waiting events of a destination, its acknowledged position, and links to both', async () => {
      await shown.open('pull');
      await page.getByText('No pull consumers yet').waitFor();
      const destination = (
        await server.api('POST', '/v1/destinations', { name: `Warehouse ${HOSTILE[0] ?? ''}`, type: 'pull' })
      ).json.id as string;
      for (let i = 0; i < 3; i += 1)
        await server.api('POST', '/v1/send', { destination, event_type: 'invoice.paid', payload: { i } });
      const batch = async () => (await server.api('GET', `/v1/pull/${destination}?limit=1&wait=5`)).json;
      let [first] = [await batch()];
      for (let tries = 0; first.data.length === 0 && tries < 20; tries += 1) first = await batch();
      await server.api('POST', `/v1/pull/${destination}/ack`, { cursor: first.next_cursor });
      await page.reload();
      const row = page.getByRole('row').filter({ hasText: 'Warehouse' });
      await row.getByRole('cell', { name: '2', exact: true }).waitFor();
      await row.getByRole('link', { name: first.data[0].id }).waitFor();
      expect(await shown.violations('09-pull')).toEqual([]);
      await row.getByRole('link', { name: 'Warehouse' }).click();
      await page.waitForURL(`**/destinations/${destination}`);
    });

    it('a user with the role read is offered no changes and sees which role can make them', async () => {
      const { key } = (await server.api('POST', '/v1/keys', { name: 'Reader', scope: 'read' })).json as { key: string };
      const reader = await ConsolePage.open(browser, server, 'console-admin-reader', 'secrets', key);
      await reader.page.getByText('Read-only access.').waitFor();

      expect(await reader.page.getByRole('button', { name: 'New secret' }).count()).toBe(0);
      expect(await reader.page.getByRole('navigation', { name: 'Main' }).getByRole('link').allInnerTexts()).toEqual([
        'Overview',
        'Events',
        'Destinations',
        'Inbound endpoints',
        'Applications',
        'Event types',
        'Emails',
        'Templates',
        'Topics',
        'Inbox',
        'Suppressions',
        'Domains',
        'Pull consumers',
        'Jobs',
        'Secrets',
        'Organization',
      ]);
      await reader.navigate('Organization');
      await reader.page.getByText('Only admins can change these settings.').waitFor();
      expect(await reader.page.getByRole('button', { name: 'Save' }).count()).toBe(0);
      for (const place of ['members', 'sessions', 'audit']) {
        await reader.open(place);
        await reader.page.getByText('Requires the admin role.').waitFor();
      }
      expect(reader.wrongs()).toEqual([]);
      await reader.page.close();
    });
  },
);
