import { isObject } from './body.js';
import type { Fault } from './fault.js';
import type { HashName, HmacScheme, KeyEncoding, SignatureEncoding, SignedPart } from './scheme.js';

/** The values of `verification` that need no preset. */
export const GENERIC_SCHEMES = ['hmac-sha256', 'hmac-sha1', 'hmac-sha512'] as const;
export type GenericSchemeName = (typeof GENERIC_SCHEMES)[number];

/** How an endpoint's own sender signs, where it differs from the defaults. */
export interface GenericSettings {
  /** `x-signature` by default. */
  header?: string;
  /** What stands before the signature. By default the name of the hash and `=` may stand there. */
  prefix?: string;
  /** By default hex and base64 are told apart by the length. */
  encoding?: 'hex' | 'base64';
  /** `utf8` by default: the secret's own characters are the key. */
  keyEncoding?: KeyEncoding;
  /** A header with the time in seconds or milliseconds; by default there is none and no limit. */
  timestampHeader?: string;
  /** 300 by default; only beside `timestampHeader`. */
  toleranceSeconds?: number;
  /**
   * What is signed, with `{{body}}`, `{{timestamp}}`, `{{method}}`, `{{url}}` and `{{headers.name}}`; by default
   * `{{body}}`, or `{{timestamp}}.{{body}}` beside `timestampHeader`.
   */
  signed?: string;
}

const TOLERANCE_SECONDS_DEFAULT = 300;
const TOLERANCE_SECONDS_MAX = 86_400;
const PREFIX_LENGTH_MAX = 64;
const SIGNED_LENGTH_MAX = 512;
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/;
const PRINTABLE = /^[\x20-\x7e]*$/;
const PLACEHOLDER = /\{\{\s*([^{}]*?)\s*\}\}/;
const HEADER_PLACEHOLDER = /^headers\.(.+)$/;
const ENCODINGS = ['hex', 'base64'];
const KEY_ENCODINGS = ['utf8', 'base64', 'hex', 'whsec'];

/** The scheme of an endpoint without a preset; only for settings without faults. */
export function genericScheme(name: GenericSchemeName, settings: GenericSettings = {}): HmacScheme {
  const hash = name.slice('hmac-'.length) as HashName;
  const { timestampHeader, prefix } = settings;
  const encoding: SignatureEncoding = settings.encoding ?? 'either';
  return {
    kind: 'hmac',
    hash,
    headers: [(settings.header ?? 'x-signature').toLowerCase()],
    ...(prefix === undefined ? { prefix: `${hash}=`, prefixOptional: true } : { prefix }),
    encoding,
    keyEncoding: settings.keyEncoding ?? 'utf8',
    signed: partsOf(settings.signed ?? (timestampHeader === undefined ? '{{body}}' : '{{timestamp}}.{{body}}')),
    ...(timestampHeader !== undefined && {
      timestamp: {
        from: { header: timestampHeader.toLowerCase() },
        unit: 'either',
        toleranceSeconds: settings.toleranceSeconds ?? TOLERANCE_SECONDS_DEFAULT,
      },
    }),
  };
}

/** Every reason why `json` can't be the settings of a generic scheme; empty when it can. `path` is where it stands in the request. */
export function genericFaults(json: unknown, path: string): Fault[] {
  if (!isObject(json)) return [{ path, message: 'An object is expected.' }];
  const faults = Object.entries(json).flatMap(([name, value]) => {
    const check = Object.hasOwn(CHECKS, name) ? CHECKS[name as keyof GenericSettings] : () => 'There is no such setting.';
    const message = value === undefined ? null : check(value);
    return message === null ? [] : [{ path: `${path}.${name}`, message }];
  });
  const { signed, timestampHeader } = json;
  if (timestampHeader === undefined && json.toleranceSeconds !== undefined) {
    faults.push({ path: `${path}.toleranceSeconds`, message: 'Needs timestampHeader.' });
  }
  if (typeof signed === 'string' && /\{\{\s*timestamp\s*\}\}/.test(signed) !== (timestampHeader !== undefined)) {
    faults.push({ path: `${path}.signed`, message: '{{timestamp}} and timestampHeader need each other: a time that is not signed proves nothing.' });
  }
  return faults;
}

const headerName = (value: unknown): string | null =>
  typeof value === 'string' && HEADER_NAME.test(value) ? null : 'A header name of at most 128 characters is expected.';

const oneOf = (allowed: readonly string[]) => (value: unknown): string | null =>
  typeof value === 'string' && allowed.includes(value) ? null : `One of ${allowed.join(', ')} is expected.`;

const CHECKS: Record<keyof GenericSettings, (value: unknown) => string | null> = {
  header: headerName,
  prefix: (value) => typeof value === 'string' && value.length <= PREFIX_LENGTH_MAX && PRINTABLE.test(value)
    ? null : `At most ${PREFIX_LENGTH_MAX} printable ASCII characters are expected.`,
  encoding: oneOf(ENCODINGS),
  keyEncoding: oneOf(KEY_ENCODINGS),
  timestampHeader: headerName,
  toleranceSeconds: (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= TOLERANCE_SECONDS_MAX
    ? null : `A whole number from 1 to ${TOLERANCE_SECONDS_MAX} is expected.`,
  signed: signedFault,
};

function signedFault(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > SIGNED_LENGTH_MAX) return `A text of at most ${SIGNED_LENGTH_MAX} characters is expected.`;
  const names = value.split(PLACEHOLDER).filter((_, index) => index % 2 === 1);
  const unknown = names.find((name) => partOf(name) === null);
  if (unknown !== undefined) return 'Only {{body}}, {{timestamp}}, {{method}}, {{url}} and {{headers.name}} can stand here.';
  return names.includes('body') ? null : '{{body}} is missing: a signature that does not cover the body proves nothing about it.';
}

/** Splitting at a group puts texts at even places and placeholders at odd ones. */
function partsOf(signed: string): SignedPart[] {
  return signed.split(PLACEHOLDER).flatMap((text, index) => {
    if (index % 2 === 1) return partOf(text) ?? [];
    return text === '' ? [] : { literal: text };
  });
}

function partOf(name: string): SignedPart | null {
  if (name === 'body' || name === 'timestamp' || name === 'method' || name === 'url') return name;
  const header = HEADER_PLACEHOLDER.exec(name)?.[1];
  return header !== undefined && HEADER_NAME.test(header) ? { header: header.toLowerCase() } : null;
}
