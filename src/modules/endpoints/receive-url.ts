import type { Fault } from '#kernel/errors.js';
import { INGEST_PREFIX } from './contract.js';

/** The address of an endpoint as given by the caller, in one or more fields. All given fields must agree. */
export interface GivenAddress {
  /** For example `https://hooks.example.com/in/acme/stripe`. `/in` and the organization's slug may be omitted. */
  url?: string | null;
  /** For example `stripe`: the single segment after the organization's slug. */
  slug?: string | null;
  /** For example `acme/stripe`, or `stripe`. */
  path?: string | null;
}

export interface AddressBase {
  /** BASE_URL without a trailing slash. It may have a path. */
  baseUrl: string;
  organizationSlug: string;
  /** Custom host. Its paths contain neither `/in` nor the organization's slug. Omitted for the platform's host. */
  customHost?: string;
  /** Current path of the endpoint. It remains valid if the organization's slug changes. */
  currentPath?: string;
}

/**
 * Resolved address. `path` is `acme/stripe` or, on a custom host, `stripe` or empty. `name` is the default display
 * name.
 */
export interface Address {
  path: string;
  name: string;
}

const SEGMENTS_MAX = 8;
const SLUG = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const SEGMENT = /^[A-Za-z0-9._~-]{1,64}$/;
/**
 * Matches the parts of a URL. The class `URL` alone is not sufficient, because it silently resolves dots, drops line
 * breaks and encodes characters.
 */
const URL_PARTS = /^(?<scheme>https?):\/\/(?<host>[^/?#@\\\s]+)(?<path>\/.*)?$/is;

/** Parses the given address. Returns all errors together. */
export function resolveAddress(given: GivenAddress, base: AddressBase): Address | { faults: Fault[] } {
  const readings = (['url', 'slug', 'path'] as const).flatMap((field) => {
    const text = given[field] ?? null;
    return text === null ? [] : [{ field, reading: READERS[field](text, base) }];
  });
  if (readings.length === 0)
    return { faults: [{ path: 'url', message: 'is required, or slug or path instead of it' }] };
  const faults = readings.flatMap(({ field, reading }) =>
    typeof reading === 'string' ? [{ path: field, message: reading }] : [],
  );
  if (faults.length > 0) return { faults };
  const paths = readings.map(({ field, reading }) => ({ field, path: (reading as string[]).join('/') }));
  const path = paths[0]?.path ?? '';
  const others = paths.filter((other) => other.path !== path);
  if (others.length > 0) return { faults: others.map((other) => disagreement(other.field, other.path, path)) };
  return { path, name: base.customHost === undefined ? nameOf(path) : path || base.customHost };
}

/** Builds a URL on a custom host. It uses https, because the proxy in front of Posthorn terminates TLS. */
export function customUrl(host: string, path: string): string {
  return `https://${host}/${path}`;
}

export function receiveUrl(baseUrl: string, path: string): string {
  return `${baseUrl}${INGEST_PREFIX}${path}`;
}

/** Returns the host as in URLs: in lower case, with a port only if it is not the scheme's default. */
export function ingestHost(baseUrl: string): string {
  return new URL(baseUrl).host;
}

/** Returns whether a URL belongs to one of Posthorn's own endpoints, which a proxy or transform must not call. */
export function isReceiveUrl(url: URL, baseUrl: string): boolean {
  return url.host === ingestHost(baseUrl) && url.pathname.startsWith(basePath(baseUrl) + INGEST_PREFIX);
}

/** Segments of the whole path, or an error message. */
type Reading = string[] | string;

const READERS: Readonly<Record<keyof GivenAddress, (text: string, base: AddressBase) => Reading>> = {
  url: readUrl,
  slug: (text, { organizationSlug, customHost }) =>
    SLUG.test(text)
      ? [...(customHost === undefined ? [organizationSlug] : []), text]
      : 'must be 1 to 64 lower-case letters, digits, - and _, and begin with a letter or a digit',
  path: (text, base) => readSegments(text, base),
};

function readUrl(text: string, base: AddressBase): Reading {
  const { scheme = '', host = '', path = '' } = URL_PARTS.exec(text)?.groups ?? {};
  const origin = `${scheme}://${host}`;
  if (host === '' || !URL.canParse(origin))
    return 'must be an absolute http or https URL without user name and password';
  const expected = base.customHost ?? ingestHost(base.baseUrl);
  if (new URL(origin).host !== expected) return `must be on ${expected}, where this service receives`;
  if (/[?#]/.test(path)) return 'must have no query and no fragment';
  if (base.customHost !== undefined) return path === '' || path === '/' ? [] : readSegments(path, base);
  const prefix = basePath(base.baseUrl);
  const rest = path === prefix || path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path;
  const isPrefixed = `${rest}/`.startsWith(INGEST_PREFIX);
  const relative = isPrefixed ? rest.slice(INGEST_PREFIX.length - 1) : rest;
  return relative === '' || relative === '/' ? [base.organizationSlug] : readSegments(relative, base);
}

/** Returns the segments of a path, or an error message. Ignores a slash at the start and at the end. */
function readSegments(text: string, { organizationSlug, currentPath, customHost }: AddressBase): Reading {
  if (/[?#]/.test(text)) return 'must have no query and no fragment';
  if (text.includes('%')) return 'must have no percent-encoding: letters, digits, ., _, ~ and - need none';
  const given = text.replace(/^\//, '').replace(/\/$/, '').split('/');
  if (given.includes('')) return 'must have no empty segment (//)';
  if (given.includes('.') || given.includes('..')) return 'must have no segment . or ..';
  if (!given.every((segment) => SEGMENT.test(segment)))
    return 'must consist of segments of 1 to 64 letters, digits, ., _, ~ and -';
  const isWhole = customHost !== undefined || given[0] === organizationSlug || given.join('/') === currentPath;
  const segments = isWhole ? given : [organizationSlug, ...given];
  return segments.length > SEGMENTS_MAX
    ? `must have at most ${SEGMENTS_MAX} segments${customHost === undefined ? ", the organization's slug included" : ''}`
    : segments;
}

function nameOf(path: string): string {
  const slash = path.indexOf('/');
  return slash === -1 ? path : path.slice(slash + 1);
}

function disagreement(field: string, path: string, first: string): Fault {
  return {
    path: field,
    message: `leads to ${path}, and another given value to ${first}: give one of url, slug and path`,
  };
}

function basePath(baseUrl: string): string {
  return new URL(baseUrl).pathname.replace(/\/$/, '');
}
