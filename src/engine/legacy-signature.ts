import type { Buffer } from 'node:buffer';
import { createHmac } from 'node:crypto';
import { forwardedHeaderFaults, type HeaderFault } from './headers.js';

export const LEGACY_ALGORITHMS = ['sha256', 'sha1', 'sha512', 'sha384', 'md5'] as const;
export const LEGACY_ENCODINGS = ['hex', 'base64'] as const;

/** Signature of the tenant's earlier webhook system, which receivers still verify: an HMAC in a custom header. */
export interface LegacyScheme {
  header: string;
  algorithm: (typeof LEGACY_ALGORITHMS)[number];
  encoding: (typeof LEGACY_ENCODINGS)[number];
  /** Template of the signed content: literal text, `{id}`, `{timestamp}` and, once, `{body}`. */
  content: string;
  /** Template of the header value: literal text, `{id}`, `{timestamp}` and `{signature}`. */
  format: string;
  /** Name of the header with the timestamp. Null if none is sent. */
  timestampHeader: string | null;
  idHeader: string | null;
}

export interface LegacySignature extends LegacyScheme {
  key: Buffer;
}

/** Default values of the optional fields: HMAC-SHA-256 of the body alone, in hex. */
export const DEFAULT_LEGACY_SCHEME: Readonly<Omit<LegacyScheme, 'header'>> = Object.freeze({
  algorithm: 'sha256',
  encoding: 'hex',
  content: '{body}',
  format: '{signature}',
  timestampHeader: null,
  idHeader: null,
});

const PLACEHOLDER = /\{([^{}]*)\}/g;
const BODY = '{body}';
const VALUE_TEXT = /^(?! )[\x20-\x7e]*(?<! )$/;

/** Returns the faults of a scheme, including conflicts with static headers. Paths start with `legacy_signature`. */
export function legacySchemeFaults(
  scheme: LegacyScheme,
  staticHeaders: Readonly<Record<string, string>>,
): HeaderFault[] {
  const taken = new Set(Object.keys(staticHeaders).map((name) => name.toLowerCase()));
  const faults: HeaderFault[] = [];
  const add = (field: string, message: string | null | undefined): void => {
    if (message) faults.push({ path: `legacy_signature.${field}`, message });
  };
  for (const [field, name] of [
    ['header', scheme.header],
    ['timestamp_header', scheme.timestampHeader],
    ['id_header', scheme.idHeader],
  ] as const) {
    if (name === null) continue;
    add(field, nameFault(name, taken));
    taken.add(name.toLowerCase());
  }
  add('content', templateFault(scheme.content, ['id', 'timestamp', 'body'], 'body'));
  if (scheme.content.split(BODY).length > 2) add('content', 'holds {body} more than once');
  add(
    'format',
    VALUE_TEXT.test(scheme.format) ? null : 'consists of visible ASCII characters, with spaces between them only',
  );
  add('format', templateFault(scheme.format, ['id', 'timestamp', 'signature'], 'signature'));
  return faults;
}

/** Returns the legacy headers with lower-case names. `legacy` must have no faults. A string body is signed as UTF-8. */
export function legacyHeaders(
  legacy: LegacySignature,
  id: string,
  timestampSeconds: number,
  body: string | Buffer,
): Record<string, string> {
  const timestamp = String(timestampSeconds);
  const [before = '', after = ''] = legacy.content.split(BODY);
  const hmac = createHmac(legacy.algorithm, legacy.key);
  hmac.update(filled(before, { id, timestamp })).update(body).update(filled(after, { id, timestamp }));
  const headers = {
    [legacy.header.toLowerCase()]: filled(legacy.format, { id, timestamp, signature: hmac.digest(legacy.encoding) }),
  };
  if (legacy.timestampHeader !== null) headers[legacy.timestampHeader.toLowerCase()] = timestamp;
  if (legacy.idHeader !== null) headers[legacy.idHeader.toLowerCase()] = id;
  return headers;
}

function nameFault(name: string, taken: ReadonlySet<string>): string | null {
  const [fault] = forwardedHeaderFaults({ [name]: '' });
  if (fault) return fault.message;
  return taken.has(name.toLowerCase()) ? 'is already a header of this destination' : null;
}

function templateFault(template: string, known: readonly string[], needed: string): string | null {
  const names = [...template.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
  // Rejects a brace outside a placeholder. Such a brace belongs to a misspelled placeholder, which would be signed as
  // text.
  if (names.some((name) => !known.includes(name)) || /[{}]/.test(template.replace(PLACEHOLDER, ''))) {
    return `has braces around something other than ${known.join(', ')}`;
  }
  return names.includes(needed) ? null : `needs {${needed}}`;
}

function filled(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(PLACEHOLDER, (_whole, name: string) => values[name] ?? '');
}
