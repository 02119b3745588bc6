import type { PosthornServer } from '../support/server.js';

/** An answer of a page: what a browser would see, without following redirects. */
export interface PageAnswer {
  status: number;
  headers: Headers;
  text: string;
  /** The cookie that was set, as a `Cookie` header sends it; null for none. */
  cookie: string | null;
}

let browsers = 0;

/** A browser without JavaScript: forms, one cookie, and the headers that browsers send. */
export class PlainBrowser {
  cookie = '';

  /** Where the service trusts this machine as a proxy, every browser comes from an address of its own. */
  constructor(
    private readonly server: Pick<PosthornServer, 'url'>,
    private readonly address = `198.18.${(browsers >> 8) & 255}.${browsers++ & 255}`,
    private readonly fetching: typeof fetch = fetch,
  ) {}

  get(path: string, headers: Record<string, string> = {}): Promise<PageAnswer> {
    return this.ask(path, { headers: { accept: 'text/html', ...headers } });
  }

  post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<PageAnswer> {
    return this.ask(path, {
      method: 'POST',
      body: new URLSearchParams(fields).toString(),
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        origin: new URL(this.server.url).origin,
        'sec-fetch-site': 'same-origin',
        ...headers,
      },
    });
  }

  private async ask(path: string, init: RequestInit): Promise<PageAnswer> {
    const headers = {
      'x-forwarded-for': this.address,
      ...(init.headers as Record<string, string>),
      ...(this.cookie === '' ? {} : { cookie: this.cookie }),
    };
    const response = await this.fetching(new URL(path, this.server.url), { ...init, headers, redirect: 'manual' });
    const set = response.headers.get('set-cookie');
    const cookie = set === null ? null : (set.split(';', 1)[0] ?? '');
    if (cookie !== null) this.cookie = cookie.endsWith('=') ? '' : cookie;
    return { status: response.status, headers: response.headers, text: await response.text(), cookie };
  }
}

/** The value of a hidden field of a page. */
export function fieldOf(page: string, name: string): string {
  return new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? '';
}
