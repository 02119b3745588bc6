import { isObject } from './body.js';
import type { Fault } from './fault.js';
import type { HashName, HmacScheme, KeyEncoding, Scheme, SignedPart } from './scheme.js';

export const GENERIC_SCHEMES = [
  'hmac-sha256',
  'hmac-sha1',
  'hmac-sha512',
  'rsa-sha256',
  'ed25519',
  'jwt',
  'bearer',
  'basic',
  'api-key',
] as const;
export type GenericSchemeName = (typeof GENERIC_SCHEMES)[number];

/** How the sender of an endpoint signs, where that differs from the defaults. */
export interface GenericSettings {
  /** Default: `x-signature`; `x-api-key` for `api-key`; `authorization` for `jwt`. */
  header?: string;
  /** Text before the signature. By default, the name of the hash and `=` are optional. */
  prefix?: string;
  /** By default, hex and base64 are distinguished by their length. */
  encoding?: 'hex' | 'base64';
  /** Default: `utf8`, which uses the characters of the secret as the key. */
  keyEncoding?: KeyEncoding;
  /** Header with the time in seconds or milliseconds. By default, there is none and no time limit. */
  timestampHeader?: string;
  /** Default: 300. Requires `timestampHeader`. */
  toleranceSeconds?: number;
  /** Default: `{{body}}`, or `{{timestamp}}.{{body}}`. Also allowed: `{{method}}`, `{{url}}`, `{{headers.name}}`. */
  signed?: string;
  /** For `jwt`, required: URL of the published keys (RFC 7517). */
  jwksUrl?: string;
  issuer?: string;
  /** For `jwt`: value that `aud` must be or contain. */
  audience?: string;
  /** For `jwt`: members that the token must have, with their values. */
  claims?: Record<string, string>;
  /** For `jwt`: name of the member that holds the SHA-256 of the body. */
  bodyHashClaim?: string;
  /** For `jwt`: maximum age in seconds of a token without `exp`. Default: 300. */
  maxAgeSeconds?: number;
}

const TOLERANCE_SECONDS_DEFAULT = 300;
const TOLERANCE_SECONDS_MAX = 86_400;
const PREFIX_LENGTH_MAX = 64;
const TEXT_LENGTH_MAX = 512;
const SIGNED_LENGTH_MAX = 512;
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/;
const PRINTABLE = /^[\x20-\x7e]*$/;
const PLACEHOLDER = /\{\{\s*([^{}]*?)\s*\}\}/;
const HEADER_PLACEHOLDER = /^headers\.(.+)$/;
const ENCODINGS = ['hex', 'base64'];
const KEY_ENCODINGS = ['utf8', 'base64', 'hex', 'whsec'];

const OF_SIGNATURE = [
  'header',
  'prefix',
  'encoding',
  'timestampHeader',
  'toleranceSeconds',
  'signed',
] as const satisfies readonly (keyof GenericSettings)[];
const SETTINGS: Readonly<Record<GenericSchemeName, readonly (keyof GenericSettings)[]>> = {
  'hmac-sha256': [...OF_SIGNATURE, 'keyEncoding'],
  'hmac-sha1': [...OF_SIGNATURE, 'keyEncoding'],
  'hmac-sha512': [...OF_SIGNATURE, 'keyEncoding'],
  'rsa-sha256': OF_SIGNATURE,
  ed25519: OF_SIGNATURE,
  jwt: ['header', 'jwksUrl', 'issuer', 'audience', 'claims', 'bodyHashClaim', 'maxAgeSeconds'],
  bearer: [],
  basic: [],
  'api-key': ['header'],
};

/** Builds the scheme. Call it only for settings without faults. */
export function genericScheme(name: GenericSchemeName, settings: GenericSettings = {}): Scheme {
  switch (name) {
    case 'bearer':
    case 'basic':
      return { kind: name };
    case 'api-key':
      return { kind: 'token', header: (settings.header ?? 'x-api-key').toLowerCase() };
    case 'jwt':
      return {
        kind: 'jwt',
        header: (settings.header ?? 'authorization').toLowerCase(),
        jwksUrl: settings.jwksUrl ?? '',
        issuer: settings.issuer ?? null,
        audience: settings.audience ?? null,
        claims: settings.claims ?? {},
        bodyHashClaim: settings.bodyHashClaim ?? null,
        maxAgeSeconds: settings.maxAgeSeconds ?? TOLERANCE_SECONDS_DEFAULT,
      };
    case 'rsa-sha256':
    case 'ed25519':
      return {
        kind: 'public-key',
        algorithm: name,
        header: (settings.header ?? 'x-signature').toLowerCase(),
        ...(settings.prefix !== undefined && { prefix: settings.prefix }),
        ...signedBy(settings),
      };
    case 'hmac-sha256':
    case 'hmac-sha1':
    case 'hmac-sha512':
      return hmacScheme(name.slice('hmac-'.length) as HashName, settings);
  }
}

function hmacScheme(hash: HashName, settings: GenericSettings): HmacScheme {
  const { prefix } = settings;
  return {
    kind: 'hmac',
    hash,
    headers: [(settings.header ?? 'x-signature').toLowerCase()],
    ...(prefix === undefined ? { prefix: `${hash}=`, prefixOptional: true } : { prefix }),
    keyEncoding: settings.keyEncoding ?? 'utf8',
    ...signedBy(settings),
  };
}

function signedBy({
  encoding,
  signed,
  timestampHeader,
  toleranceSeconds,
}: GenericSettings): Pick<HmacScheme, 'encoding' | 'signed' | 'timestamp'> {
  return {
    encoding: encoding ?? 'either',
    signed: partsOf(signed ?? (timestampHeader === undefined ? '{{body}}' : '{{timestamp}}.{{body}}')),
    ...(timestampHeader !== undefined && {
      timestamp: {
        from: { header: timestampHeader.toLowerCase() },
        unit: 'either',
        toleranceSeconds: toleranceSeconds ?? TOLERANCE_SECONDS_DEFAULT,
      },
    }),
  };
}

/** Returns every fault of the settings. `path` is their path in the request. */
export function genericFaults(json: unknown, path: string, name: GenericSchemeName = 'hmac-sha256'): Fault[] {
  if (name === 'jwt') return [...jwtFaults(json ?? {}, path), ...settingFaults(json ?? {}, path, name)];
  return settingFaults(json, path, name);
}

/** A publisher of keys signs tokens for other parties too, so a token must say that it is for this endpoint. */
function jwtFaults(json: unknown, path: string): Fault[] {
  if (!isObject(json)) return [];
  const faults =
    json.jwksUrl === undefined
      ? [{ path: `${path}.jwksUrl`, message: 'is required for jwt: the URL of the published keys' }]
      : [];
  const isBound = [json.audience, json.issuer, json.claims, json.bodyHashClaim].some((value) => value !== undefined);
  return isBound
    ? faults
    : [
        ...faults,
        {
          path: `${path}.audience`,
          message:
            'is required for jwt, or one of issuer, claims, bodyHashClaim: the same keys also sign tokens for other parties',
        },
      ];
}

function settingFaults(json: unknown, path: string, scheme: GenericSchemeName): Fault[] {
  if (!isObject(json)) return [{ path, message: 'An object is expected.' }];
  const faults = Object.entries(json).flatMap(([name, value]) => {
    const isKnown = SETTINGS[scheme].some((known) => known === name);
    const check = isKnown ? CHECKS[name as keyof GenericSettings] : () => `${scheme} has no such setting.`;
    const message = value === undefined ? null : check(value);
    return message === null ? [] : [{ path: `${path}.${name}`, message }];
  });
  const { signed, timestampHeader } = json;
  if (timestampHeader === undefined && json.toleranceSeconds !== undefined) {
    faults.push({ path: `${path}.toleranceSeconds`, message: 'Needs timestampHeader.' });
  }
  if (typeof signed === 'string' && /\{\{\s*timestamp\s*\}\}/.test(signed) !== (timestampHeader !== undefined)) {
    faults.push({
      path: `${path}.signed`,
      message: '{{timestamp}} and timestampHeader need each other: a time that is not signed proves nothing.',
    });
  }
  return faults;
}

const headerName = (value: unknown): string | null =>
  typeof value === 'string' && HEADER_NAME.test(value) ? null : 'A header name of at most 128 characters is expected.';

const oneOf =
  (allowed: readonly string[]) =>
  (value: unknown): string | null =>
    typeof value === 'string' && allowed.includes(value) ? null : `One of ${allowed.join(', ')} is expected.`;

const CHECKS: Record<keyof GenericSettings, (value: unknown) => string | null> = {
  header: headerName,
  prefix: (value) =>
    typeof value === 'string' && value.length <= PREFIX_LENGTH_MAX && PRINTABLE.test(value)
      ? null
      : `At most ${PREFIX_LENGTH_MAX} printable ASCII characters are expected.`,
  encoding: oneOf(ENCODINGS),
  keyEncoding: oneOf(KEY_ENCODINGS),
  timestampHeader: headerName,
  toleranceSeconds: (value) =>
    Number.isInteger(value) && Number(value) >= 1 && Number(value) <= TOLERANCE_SECONDS_MAX
      ? null
      : `A whole number from 1 to ${TOLERANCE_SECONDS_MAX} is expected.`,
  signed: signedFault,
  jwksUrl: (value) =>
    typeof value === 'string' && value.length <= 2048 && URL.canParse(value) ? null : 'A URL is expected.',
  issuer: textFault,
  audience: textFault,
  bodyHashClaim: textFault,
  claims: (value) =>
    isObject(value) &&
    Object.keys(value).length >= 1 &&
    Object.keys(value).length <= 10 &&
    Object.values(value).every((text) => textFault(text) === null)
      ? null
      : 'An object of 1 to 10 texts is expected.',
  maxAgeSeconds: (value) =>
    Number.isInteger(value) && Number(value) >= 1 && Number(value) <= TOLERANCE_SECONDS_MAX
      ? null
      : `A whole number from 1 to ${TOLERANCE_SECONDS_MAX} is expected.`,
};

function textFault(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= TEXT_LENGTH_MAX
    ? null
    : `A text of 1 to ${TEXT_LENGTH_MAX} characters is expected.`;
}

function signedFault(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > SIGNED_LENGTH_MAX)
    return `A text of at most ${SIGNED_LENGTH_MAX} characters is expected.`;
  const names = value.split(PLACEHOLDER).filter((_, index) => index % 2 === 1);
  const unknown = names.find((name) => partOf(name) === null);
  if (unknown !== undefined)
    return 'Only {{body}}, {{timestamp}}, {{method}}, {{url}} and {{headers.name}} can stand here.';
  return names.includes('body')
    ? null
    : '{{body}} is missing: a signature that does not cover the body proves nothing about it.';
}

/** Splitting at a capture group puts literals at even indexes and placeholders at odd ones. */
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
