import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** A built file, as it is answered with. */
export interface ConsoleFile {
  contentType: string;
  /** By content coding; `identity` is always there. */
  copies: ReadonlyMap<Encoding, Buffer>;
}

/** The page that every screen begins with. */
export interface ConsolePage {
  bytes: Buffer;
  etag: string;
}

/** What a browser may ask for, best first. */
export const ENCODINGS = ['br', 'gzip', 'identity'] as const;
export type Encoding = (typeof ENCODINGS)[number];

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.svg': 'image/svg+xml', '.woff2': 'font/woff2', '.png': 'image/png',
};

/** Next to the compiled sources, or below the package when the sources themselves run. */
const PLACES = ['../../../../dist/console', '../../../dist/console', '../../../console'].map((place) => path.resolve(import.meta.dirname, place));

/**
 * What the build of the console left. The names of assets are those of the folder and no others, so that no path of a request ever
 * becomes one of the disk. They are read at their first request and kept: all together are smaller than one large payload.
 */
export class ConsoleFiles {
  private readonly names: ReadonlySet<string>;
  private readonly kept = new Map<string, ConsoleFile>();

  constructor(private readonly folder: string) {
    this.names = new Set(readdirSync(path.join(folder, 'assets')));
  }

  /** Null when the console was not built. */
  static find(): ConsoleFiles | null {
    const folder = PLACES.find((place) => existsSync(path.join(place, 'assets')) && existsSync(path.join(place, 'index.html')));
    return folder === undefined ? null : new ConsoleFiles(folder);
  }

  /** The asset of this name; null for what the build did not make. */
  asset(name: string): ConsoleFile | null {
    const contentType = TYPES[path.extname(name)];
    if (contentType === undefined || !this.names.has(name)) return null;
    const kept = this.kept.get(name) ?? { contentType, copies: this.read(name) };
    this.kept.set(name, kept);
    return kept;
  }

  /** The page, whose relative addresses begin at `base`. */
  page(base: string): ConsolePage {
    const text = readFileSync(path.join(this.folder, 'index.html'), 'utf8');
    const bytes = Buffer.from(text.replace('<head>', `<head>\n    <base href="${base.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}">`));
    return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"` };
  }

  private read(name: string): Map<Encoding, Buffer> {
    const copies = new Map<Encoding, Buffer>();
    for (const [encoding, ending] of [['br', '.br'], ['gzip', '.gz'], ['identity', '']] as const) {
      if (encoding === 'identity' || this.names.has(name + ending)) copies.set(encoding, readFileSync(path.join(this.folder, 'assets', name + ending)));
    }
    return copies;
  }
}

/** The best coding that a client takes (RFC 9110, section 12.5.3), of those that there are. */
export function encodingFor(acceptEncoding: string | undefined, copies: ReadonlyMap<Encoding, unknown>): Encoding {
  const taken = new Set((acceptEncoding ?? '').split(',').map((part) => part.trim().toLowerCase()).filter((part) => !/;\s*q=0(\.0*)?$/.test(part)).map((part) => part.split(';')[0]));
  return ENCODINGS.find((encoding) => copies.has(encoding) && taken.has(encoding)) ?? 'identity';
}
