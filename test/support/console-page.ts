import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { complaintsOf, screenshotsOf } from './browser.js';
import type { PosthornServer } from './server.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Time limit that is longer than any working page takes. */
export const WAIT_MS_MAX = 60_000;

/** Sixty texts that an unsafe page, spreadsheet, terminal or URL would interpret. */
export const HOSTILE: readonly string[] = [
  '<img src=x onerror=alert(1)>',
  '"><script>alert(1)</script>',
  '{{constructor.constructor("alert(1)")()}}',
  '</title><svg onload=alert(1)>',
  '\u202Egnp.exe',
  'javascript:alert(1)',
  '<script>alert(1)</script>',
  '<svg/onload=alert(1)>',
  '<iframe srcdoc="<script>alert(1)</script>">',
  '<body onload=alert(1)>',
  '<details open ontoggle=alert(1)>',
  '<input autofocus onfocus=alert(1)>',
  '<a href="javascript:alert(1)">x</a>',
  '<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
  '<template><script>alert(1)</script></template>',
  '<link rel=stylesheet href=//evil.example/x.css>',
  '<meta http-equiv=refresh content="0;url=//evil.example">',
  '<base href=//evil.example/>',
  '<object data=//evil.example/x.swf></object>',
  '<embed src=//evil.example/x>',
  '<video><source onerror=alert(1)></video>',
  '<audio src=x onerror=alert(1)>',
  '<form action=//evil.example><button>go</button></form>',
  '</script><script>alert(1)</script>',
  '</textarea><script>alert(1)</script>',
  '</style><script>alert(1)</script>',
  '</pre><img src=x onerror=alert(1)>',
  '<!--><script>alert(1)//-->',
  ']]><script>alert(1)</script>',
  "'-alert(1)-'",
  '";alert(1);//',
  '`${alert(1)}`',
  '\\";alert(1)//',
  "' onmouseover='alert(1)",
  '" style="position:fixed;inset:0;background:url(//evil.example/x)"',
  '#{7*7}',
  '${7*7}',
  '<%= 7*7 %>',
  '[[${7*7}]]',
  '{%raw%}{{7*7}}',
  '*{7*7}',
  '=HYPERLINK("http://evil.example","click")',
  "+1+cmd|'/C calc'!A0",
  '-2+3',
  '@SUM(1+1)',
  '=1+1;=1+1',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:msgbox(1)',
  '//evil.example/x',
  'https://evil.example@console.example/',
  '../../../../etc/passwd',
  '%2e%2e%2f%00',
  '%3Cscript%3Ealert(1)%3C%2Fscript%3E',
  "'; drop table events; --",
  '$(touch /tmp/x)',
  '`id`',
  '__proto__',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '\u2066\u2067evil\u2069\u200B\uFEFF',
];

/** A server: the address of its console and an API key that allows a sign-in. */
type Served = Pick<PosthornServer, 'url' | 'apiKey'>;

/** The console in a browser, signed in. Records the page's errors and the requests that the page sends elsewhere. */
export class ConsolePage {
  private readonly complaints: string[];
  private readonly foreign: string[] = [];

  private constructor(
    readonly page: Page,
    private readonly server: Served,
    private readonly take: (page: Page, name: string) => Promise<void>,
  ) {
    this.complaints = complaintsOf(page);
    page.on('request', (request) => {
      if (!request.url().startsWith(server.url) && !request.url().startsWith('blob:')) this.foreign.push(request.url());
    });
  }

  /** Opens `place` ("events?status=dlq") of the live environment, signed in with an API key. */
  static async open(
    browser: Browser,
    server: Served,
    suite: string,
    place: string,
    key = server.apiKey,
  ): Promise<ConsolePage> {
    const page = await browser.newPage({
      viewport: { width: 1280, height: 900 },
      locale: 'en-GB',
      timezoneId: 'Europe/Berlin',
    });
    page.setDefaultTimeout(WAIT_MS_MAX);
    const opened = new ConsolePage(page, server, screenshotsOf(suite));
    await opened.open(place);
    await page.getByLabel('API key of your organization').fill(key);
    await page.getByRole('button', { name: 'Sign in with the key' }).click();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    // Expected errors: the first request without a session, and over plain http a header of the sign-in page.
    opened.complaints.splice(
      0,
      opened.complaints.length,
      ...opened.complaints.filter((line) => !line.includes('401') && !line.includes('Cross-Origin-Opener-Policy')),
    );
    return opened;
  }

  async open(place: string): Promise<void> {
    await this.page.goto(`${this.server.url}/console/live/${place}`);
  }

  async navigate(name: string): Promise<void> {
    await this.page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();
  }

  /** Stores a screenshot in the suite's folder. */
  async screenshot(name: string): Promise<void> {
    await this.take(this.page, name);
  }

  /** Returns and clears the recorded errors and foreign addresses. The list is empty if there were none. */
  wrongs(): string[] {
    return [...this.complaints.splice(0), ...this.foreign.splice(0)];
  }

  /**
   * Returns axe's violations on the screen in light and dark mode, on a wide window and on a phone, with a screenshot
   * of each.
   */
  async violations(name: string): Promise<string[]> {
    const found: string[] = [];
    for (const [width, height] of [
      [1280, 900],
      [375, 812],
    ] as const) {
      await this.page.setViewportSize({ width, height });
      for (const colorScheme of ['light', 'dark'] as const) {
        await this.page.emulateMedia({ colorScheme });
        await this.screenshot(`${name}-${width}-${colorScheme}`);
        found.push(...(await violationsOf(this.page)));
      }
      if (await this.page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth))
        found.push(`${name} scrolls sideways at ${width}`);
    }
    await this.page.emulateMedia({ colorScheme: 'light' });
    await this.page.setViewportSize({ width: 1280, height: 900 });
    return found;
  }
}

/** Returns axe's violations on a page in its current state: of all rules, or only of `rules`. */
export async function violationsOf(page: Page, rules: readonly string[] | null = null): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE);
  return page.evaluate(async (runOnly) => {
    const { violations } = await (
      globalThis as unknown as {
        axe: {
          run(options: object): Promise<{
            violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
          }>;
        };
      }
    ).axe.run({ resultTypes: ['violations'], ...(runOnly && { runOnly }) });
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('; ')}`,
    );
  }, rules);
}
