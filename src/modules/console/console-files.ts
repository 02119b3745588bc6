import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { CONTENT_CODINGS, type ContentCoding } from '#http/content-coding.js';
import { filesOfScreens } from './screen-files.js';

export interface ConsoleFile {
  contentType: string;
  bytes: Buffer;
  packed: ReadonlyMap<ContentCoding, Buffer>;
}

export interface ConsolePage {
  bytes: Buffer;
  etag: string;
}

/** File name suffixes of the compressed copies that `console/vite.config.ts` writes. */
const ENDINGS: Readonly<Record<ContentCoding, string>> = { br: '.br', gzip: '.gz' };
const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.png': 'image/png',
};

/** Possible locations of the console's build: relative to the compiled sources, or to the TypeScript sources. */
const PLACES = ['../../../../dist/console', '../../../dist/console', '../../../console'].map((place) =>
  path.resolve(import.meta.dirname, place),
);

/**
 * The files of the console's build. Only assets that exist in the folder can be requested, so a request path never
 * becomes a file system path. Files are read on first request and cached: together they are smaller than one large
 * payload.
 */
export class ConsoleFiles {
  private readonly names: ReadonlySet<string>;
  private readonly kept = new Map<string, ConsoleFile>();
  private readonly pages = new Map<string, ConsolePage>();
  private readonly screens: ReadonlyMap<string, readonly string[]>;
  private portal: string | null | undefined;
  private embed: Buffer | undefined;

  constructor(private readonly folder: string) {
    this.names = new Set(readdirSync(path.join(folder, 'assets')));
    this.screens = filesOfScreens(folder);
  }

  /** Returns the files of the console's build. Null if the console was not built. */
  static find(): ConsoleFiles | null {
    const folder = PLACES.find(
      (place) => existsSync(path.join(place, 'assets')) && existsSync(path.join(place, 'index.html')),
    );
    return folder === undefined ? null : new ConsoleFiles(folder);
  }

  asset(name: string): ConsoleFile | null {
    const contentType = TYPES[path.extname(name)];
    if (contentType === undefined || !this.names.has(name)) return null;
    const kept = this.kept.get(name) ?? { contentType, bytes: this.read(name), packed: this.packed(name) };
    this.kept.set(name, kept);
    return kept;
  }

  /**
   * Returns the console's page for `screen`. Its relative URLs resolve against `base`. For a screen such as
   * "event-types", the page preloads the screen's files, which the browser would otherwise request only after the
   * page's scripts. Caches one page per `base` and `screen`.
   */
  page(base: string, screen = ''): ConsolePage {
    const ahead = this.screens.get(screen) ?? [];
    const key = ahead.length === 0 ? base : `${base} ${screen}`;
    const page = this.pages.get(key) ?? this.makePage(base, ahead);
    this.pages.set(key, page);
    return page;
  }

  /** Returns the portal's page. Pages of `origins` may show it in a frame. Null if the build has no portal. */
  portalPage(base: string, origins: readonly string[]): Buffer | null {
    if (this.portal === undefined) {
      const file = path.join(this.folder, 'portal.html');
      this.portal = existsSync(file) ? readFileSync(file, 'utf8') : null;
    }
    return this.portal === null
      ? null
      : Buffer.from(
          inPlace(
            this.portal,
            base,
            `\n    <meta name="posthorn-portal-origins" content="${attribute(origins.join(' '))}">`,
          ),
        );
  }

  /** Returns the script that embeds the portal in other pages. Null if the build does not contain that script. */
  embedScript(): Buffer | null {
    const file = path.join(this.folder, 'embed', 'portal.js');
    return existsSync(file) ? (this.embed ??= readFileSync(file)) : null;
  }

  private makePage(base: string, ahead: readonly string[]): ConsolePage {
    const page = inPlace(readFileSync(path.join(this.folder, 'index.html'), 'utf8'), base);
    const bytes = Buffer.from(page.replace('</head>', () => `${ahead.map(linkTo).join('')}</head>`));
    return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"` };
  }

  private read(name: string): Buffer {
    return readFileSync(path.join(this.folder, 'assets', name));
  }

  private packed(name: string): Map<ContentCoding, Buffer> {
    return new Map(
      CONTENT_CODINGS.flatMap((coding) =>
        this.names.has(name + ENDINGS[coding]) ? [[coding, this.read(name + ENDINGS[coding])] as const] : [],
      ),
    );
  }
}

/** Returns the page with `base` as the base of its relative URLs, and with the markup `more` in its head. */
function inPlace(page: string, base: string, more = ''): string {
  return page.replace('<head>', () => `<head>\n    <base href="${attribute(base)}">${more}`);
}

/** Returns a preload link. If it differs from the link that the build writes, the browser loads the file twice. */
const linkTo = (file: string): string =>
  `  <link rel="${file.endsWith('.css') ? 'stylesheet' : 'modulepreload'}" crossorigin href="./${attribute(file)}">\n  `;

const attribute = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
