import type { FastifyReply } from 'fastify';
import { type Html, html, type HtmlValue } from './html.js';

/** An HTML page for people. It works without JavaScript. */
export interface Page {
  title: string;
  body: HtmlValue;
  /** Language of the page. `en` by default. */
  lang?: string;
  /** Name in the page's title and header. Default: `Posthorn`. Empty for none. */
  brand?: string;
}

export interface PageOptions {
  /** HTTP status. 200 by default. */
  status?: number;
  /** Path of BASE_URL without a trailing slash, because a proxy may serve the pages below a path. */
  basePath?: string;
  /** Other origins that a form may submit or redirect to. Browsers also check the target of a redirect. */
  formTargets?: readonly string[];
  /** Headers to add or replace. */
  headers?: Readonly<Record<string, string>>;
}

export const STYLE_PATH = '/pages/style.css';

/** Posthorn's mark. It is the same picture as the icon of the console. */
const MARK =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0a58b5"/><path d="M8 16a8 8 0 1 1 8 8H8v-3h8a5 5 0 1 0-5-5v3H8z" fill="#fff"/><circle cx="16" cy="16" r="2" fill="#fff"/></svg>';
const ICON = `data:image/svg+xml;base64,${Buffer.from(MARK).toString('base64')}`;
/** URL of an empty icon, for pages without Posthorn's brand. Without an icon, browsers request `/favicon.ico`. */
export const NO_ICON = 'data:,';

/**
 * Returns headers that forbid scripts, framing, caching, and all resources except the stylesheet and the icon. The
 * referrer policy is `same-origin`, because with `no-referrer`, browsers would send `Origin: null` with a form, and the
 * origin check would fail.
 */
export function pageHeaders({ formTargets = [] }: Pick<PageOptions, 'formTargets'> = {}): Record<string, string> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': [
      "default-src 'none'",
      "style-src 'self'",
      'img-src data:',
      ["form-action 'self'", ...formTargets].join(' '),
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
  };
}

export function documentOf({ title, body, lang = 'en', brand = 'Posthorn' }: Page, basePath = ''): Html {
  return html`<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}${brand === '' ? null : ` · ${brand}`}</title>
<link rel="icon" href="${brand === 'Posthorn' ? ICON : NO_ICON}">
<link rel="stylesheet" href="${basePath}${STYLE_PATH}">
</head>
<body>
<header><span class="brand">${brand}</span></header>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`;
}

export function sendPage(reply: FastifyReply, page: Page, options: PageOptions = {}): void {
  reply
    .code(options.status ?? 200)
    .headers({ ...pageHeaders(options), ...options.headers })
    .send(String(documentOf(page, options.basePath)));
}
