import type { FastifyReply } from 'fastify';
import { type Html, html, type HtmlValue } from './html.js';

/** A page for people: plain HTML that works without JavaScript. */
export interface Page {
  title: string;
  body: HtmlValue;
}

/** What may differ between pages. */
export interface PageOptions {
  /** 200 when left out. */
  status?: number;
  /** The path of BASE_URL, without a trailing slash: pages may stand below a path of their host. */
  basePath?: string;
  /**
   * Origins beside our own that a form of the page, or where it is redirected, may lead to: browsers hold a redirect behind a
   * form against `form-action` too.
   */
  formTargets?: readonly string[];
}

/** Where the one stylesheet of all pages is. */
export const STYLE_PATH = '/pages/style.css';

/**
 * The headers of a page: nothing runs, nothing is loaded but our stylesheet, no frame shows it, no cache keeps it. The
 * referrer stays within the origin: `no-referrer` would make browsers send `Origin: null` with a form, which we look at.
 */
export function pageHeaders({ formTargets = [] }: Pick<PageOptions, 'formTargets'> = {}): Record<string, string> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': [
      "default-src 'none'",
      "style-src 'self'",
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

/** The whole document around a page. */
export function documentOf({ title, body }: Page, basePath = ''): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Posthorn</title>
<link rel="stylesheet" href="${basePath}${STYLE_PATH}">
</head>
<body>
<header><span class="brand">Posthorn</span></header>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`;
}

/** Answers with a page. */
export function sendPage(reply: FastifyReply, page: Page, options: PageOptions = {}): void {
  reply
    .code(options.status ?? 200)
    .headers(pageHeaders(options))
    .send(String(documentOf(page, options.basePath)));
}
