import { decodedBytes, findNamed, namesIn } from './parameter-names.js';
import type { ReceivedRequest } from './request.js';

/** Method, path and query of a received request, as its event stores them. */
export type RequestLine = Pick<ReceivedRequest, 'method' | 'path' | 'query'>;

/** Returns the method, path and query. Returns null for an event that was not received. */
export function requestLineOf({
  method,
  path,
  query,
}: { [K in keyof RequestLine]: string | null }): RequestLine | null {
  return method === null || path === null || query === null ? null : { method, path, query };
}

/** Parts of the received request line that a delivery repeats. */
export interface Forwarding {
  method: boolean;
  path: boolean;
  query: boolean;
}

export const DEFAULT_FORWARDING: Readonly<Forwarding> = Object.freeze({ method: false, path: false, query: true });

export const UNSAFE_PATH =
  'Not sent: the path of the received request contains `..`, which could lead out of the path of the destination.';

/**
 * Returns the target's URL, extended by the received path and query. Returns null if the path could escape the target's
 * own path, even if only after a proxy or a server decodes it.
 */
export function forwardedUrl(
  target: URL,
  { path, query }: Pick<RequestLine, 'path' | 'query'>,
  forward: Pick<Forwarding, 'path' | 'query'>,
): URL | null {
  const suffix = forward.path ? path : '';
  const received = forward.query ? query : '';
  if (suffix === '' && received === '') return target;
  if (suffix !== '' && climbs(suffix)) return null;
  const url = new URL(target.href);
  // Assigns the path, because resolving `//host` against the URL would replace the host.
  if (suffix !== '') url.pathname = `${url.pathname.replace(/\/$/, '')}${suffix}`;
  if (received !== '') {
    const own = url.search.slice(1);
    const added = own === '' ? received : without(received, namesIn(own));
    url.search = [own, added].filter((text) => text !== '').join('&');
  }
  return url;
}

/** Removes the parameters whose name a server could read as one of `names` (from `namesOf`). Keeps empty parameters. */
export function withoutParameters(query: string, names: ReadonlySet<string>): string {
  return names.size === 0 || query === '' ? query : without(query, names);
}

function without(query: string, names: ReadonlySet<string>): string {
  return query
    .split('&')
    .filter((part) => findNamed(part, names) < 0)
    .join('&');
}

const DECODINGS_MAX = 5;

/** Returns whether a segment is `..`, even after repeated decoding. Some servers also split at `\` and cut at `;`. */
function climbs(path: string): boolean {
  let text = path;
  for (let decodings = 0, before = ''; text !== before; decodings += 1) {
    if (decodings > DECODINGS_MAX) return true;
    [before, text] = [text, decodedBytes(text)];
  }
  return text.split(/[/\\]/).some((segment) => isParent(segment));
}

function isParent(segment: string): boolean {
  const [name = ''] = segment.split(';', 1);
  // Ignores spaces and control characters around the dots, as some servers do.
  return name.replace(/[^!-~]/g, '') === '..';
}
