import type { PosthornServer } from '../support/server.js';

/** Response of a page as a browser receives it, without following redirects. */
export interface PageAnswer {
  status: number;
  headers: Headers;
  text: string;
  /** Cookie that was set, in the format of a `Cookie` header; null if none was set. */
  cookie: string | null;
}

let browsers = 0;

/** A browser without JavaScript: it submits forms, keeps one cookie and sends the headers of a browser. */
export class PlainBrowser {
  cookie = '';

  /** Each browser has its own client address if the service trusts this machine as a proxy. */
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

export function fieldOf(page: string, name: string): string {
  return new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? '';
}
