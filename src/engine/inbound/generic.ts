import { isObject } from './body.js';
import type { Fault } from './fault.js';
import {
  type HashName,
  type HeaderList,
  type HmacScheme,
  type JwtHmac,
  type KeyEncoding,
  LIST_SEPARATORS,
  type Scheme,
  type SignedPart,
  type TokenRules,
} from './scheme.js';

export const GENERIC_SCHEMES = [
  'hmac-sha256',
  'hmac-sha1',
  'hmac-sha512',
  'rsa-sha256',
  'ed25519',
  'jwt',
  'jwt-hs256',
  'jwt-hs384',
  'jwt-hs512',
  'bearer',
  'basic',
  'api-key',
] as const;
export type GenericSchemeName = (typeof GENERIC_SCHEMES)[number];

/** Settings that describe how a sender signs. Each omitted setting has a default. */
export interface GenericSettings {
  /** Header to verify. Default: `x-signature`. For `api-key`: `x-api-key`. For tokens: `authorization`. */
  header?: string;
  /** For `api-key`: query parameter that contains the key, instead of a header. */
  queryParameter?: string;
  /** Text before the signature in the header. Default: an optional hash name and `=`, such as `sha256=`. */
  prefix?: string;
  /** Encoding of the signature. By default, hex and base64 are distinguished by length. */
  encoding?: 'hex' | 'base64';
  /** Encoding of the secret. With the default `utf8`, its characters are the key. */
  keyEncoding?: KeyEncoding;
  /** Text between the parts of a header such as `t=…,v1=…`, or between several signatures. Default: `,`. */
  separator?: HeaderList['separator'];
  /** Name of the header part with the signature, such as `v1`. The part may occur several times. */
  signatureField?: string;
  /** Name of the header part with the timestamp, such as `t`. Requires `signatureField`. */
  timestampField?: string;
  /**
   * Header with the timestamp in seconds, milliseconds or RFC 3339. By default, there is no timestamp and no time
   * limit.
   */
  timestampHeader?: string;
  /**
   * Maximum difference from the current time, in seconds. Default: 300. Requires `timestampHeader` or `timestampField`.
   */
  toleranceSeconds?: number;
  /**
   * Template of the signed content. Default: `{{body}}`, or `{{timestamp}}.{{body}}`. Also allowed:
   * `{{decompressedBody}}`, `{{method}}`, `{{url}}`, `{{headers.name}}`, `{{query.name}}`.
   */
  signed?: string;
  /** For `jwt`, required: URL of the published keys (RFC 7517). */
  jwksUrl?: string;
  issuer?: string;
  /** For tokens: value that `aud` must be or contain. */
  audience?: string;
  /** For tokens: claims that the token must have, with their values. */
  claims?: Record<string, string>;
  /** For tokens: name of the claim with the SHA-256 of the body. */
  bodyHashClaim?: string;
  /**
   * Maximum age of a token without `exp`, in seconds. Default: 300. If this is set, even a token that contains a hash
   * of the body needs `exp` or `iat`.
   */
  maxAgeSeconds?: number;
}

const TOLERANCE_SECONDS_DEFAULT = 300;
const TOLERANCE_SECONDS_MAX = 86_400;
const PREFIX_LENGTH_MAX = 64;
const TEXT_LENGTH_MAX = 512;
const SIGNED_LENGTH_MAX = 512;
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/;
const FIELD_NAME = /^[A-Za-z0-9_.-]{1,32}$/;
const PARAMETER_NAME = /^[\x21-\x7e]{1,128}$/;
const PRINTABLE = /^[\x20-\x7e]*$/;
const PLACEHOLDER = /\{\{\s*([^{}]*?)\s*\}\}/;
const VALUE_PLACEHOLDER = /^(headers|query)\.(.+)$/;
const ENCODINGS = ['hex', 'base64'];
const KEY_ENCODINGS = ['utf8', 'base64', 'hex', 'whsec'];

const OF_SIGNATURE = [
  'header',
  'prefix',
  'encoding',
  'separator',
  'signatureField',
  'timestampField',
  'timestampHeader',
  'toleranceSeconds',
  'signed',
] as const satisfies readonly (keyof GenericSettings)[];
const OF_TOKEN = [
  'header',
  'issuer',
  'audience',
  'claims',
  'bodyHashClaim',
  'maxAgeSeconds',
] as const satisfies readonly (keyof GenericSettings)[];
const SETTINGS: Readonly<Record<GenericSchemeName, readonly (keyof GenericSettings)[]>> = {
  'hmac-sha256': [...OF_SIGNATURE, 'keyEncoding'],
  'hmac-sha1': [...OF_SIGNATURE, 'keyEncoding'],
  'hmac-sha512': [...OF_SIGNATURE, 'keyEncoding'],
  'rsa-sha256': OF_SIGNATURE,
  ed25519: OF_SIGNATURE,
  jwt: [...OF_TOKEN, 'jwksUrl'],
  'jwt-hs256': [...OF_TOKEN, 'keyEncoding'],
  'jwt-hs384': [...OF_TOKEN, 'keyEncoding'],
  'jwt-hs512': [...OF_TOKEN, 'keyEncoding'],
  bearer: [],
  basic: [],
  'api-key': ['header', 'queryParameter'],
};

/** Builds the verification scheme from the settings. Call it only for settings without faults. */
export function genericScheme(name: GenericSchemeName, settings: GenericSettings = {}): Scheme {
  switch (name) {
    case 'bearer':
    case 'basic':
      return { kind: name };
    case 'api-key':
      return settings.queryParameter === undefined
        ? { kind: 'token', header: (settings.header ?? 'x-api-key').toLowerCase() }
        : { kind: 'query-token', name: settings.queryParameter };
    case 'jwt':
      return { kind: 'jwt', jwksUrl: settings.jwksUrl ?? '', ...tokenRules(settings) };
    case 'jwt-hs256':
    case 'jwt-hs384':
    case 'jwt-hs512':
      return {
        kind: 'shared-jwt',
        algorithms: [name.slice('jwt-'.length).toUpperCase() as JwtHmac],
        keyEncoding: settings.keyEncoding ?? 'utf8',
        ...tokenRules(settings),
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

function tokenRules(settings: GenericSettings): TokenRules {
  const { header, issuer, audience, claims, bodyHashClaim, maxAgeSeconds } = settings;
  return {
    header: (header ?? 'authorization').toLowerCase(),
    issuer: issuer ?? null,
    audience: audience ?? null,
    claims: claims ?? {},
    bodyHashClaim: bodyHashClaim ?? null,
    maxAgeSeconds: maxAgeSeconds ?? TOLERANCE_SECONDS_DEFAULT,
    ...(bodyHashClaim !== undefined && maxAgeSeconds === undefined && { isTimeless: true }),
  };
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

function signedBy(settings: GenericSettings): Pick<HmacScheme, 'encoding' | 'signed' | 'timestamp' | 'list'> {
  const { encoding, signed, separator, signatureField, timestampField, timestampHeader, toleranceSeconds } = settings;
  const from =
    timestampField !== undefined
      ? ('list' as const)
      : timestampHeader === undefined
        ? null
        : { header: timestampHeader.toLowerCase() };
  return {
    encoding: encoding ?? 'either',
    signed: partsOf(signed ?? (from === null ? '{{body}}' : '{{timestamp}}.{{body}}')),
    ...((separator ?? signatureField) !== undefined && {
      list: {
        separator: separator ?? ',',
        ...(signatureField !== undefined && { signature: signatureField }),
        ...(timestampField !== undefined && { timestamp: timestampField }),
      },
    }),
    ...(from !== null && {
      timestamp: { from, unit: 'either', toleranceSeconds: toleranceSeconds ?? TOLERANCE_SECONDS_DEFAULT },
    }),
  };
}

/** Returns every fault of the settings. `path` is their path in the request. */
export function genericFaults(json: unknown, path: string, name: GenericSchemeName = 'hmac-sha256'): Fault[] {
  if (name === 'jwt') return [...jwtFaults(json ?? {}, path), ...settingFaults(json ?? {}, path, name)];
  return settingFaults(json, path, name);
}

/** Returns the faults of JWT settings. The settings must exclude tokens that the issuer signs for other recipients. */
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
  return [...faults, ...togetherFaults(json, path)];
}

/** Returns the faults of settings that require or exclude other settings. */
function togetherFaults(json: Readonly<Record<string, unknown>>, path: string): Fault[] {
  const { signed, timestampHeader, timestampField, signatureField, toleranceSeconds, header, queryParameter } = json;
  const hasTime = timestampHeader !== undefined || timestampField !== undefined;
  const faults: [setting: string, isFault: boolean, message: string][] = [
    [
      'timestampField',
      timestampField !== undefined && (timestampHeader !== undefined || signatureField === undefined),
      'Needs signatureField, and excludes timestampHeader: the time is in the same header as the signature.',
    ],
    [
      'signatureField',
      signatureField !== undefined && signatureField === timestampField,
      'Must differ from timestampField.',
    ],
    ['toleranceSeconds', toleranceSeconds !== undefined && !hasTime, 'Needs timestampHeader or timestampField.'],
    [
      'signed',
      typeof signed === 'string' && /\{\{\s*timestamp\s*\}\}/.test(signed) !== hasTime,
      '{{timestamp}} needs timestampHeader or timestampField, and they need it: a time that is not signed proves nothing.',
    ],
    [
      'queryParameter',
      queryParameter !== undefined && header !== undefined,
      'Excludes header: the key is in one place.',
    ],
  ];
  return faults.flatMap(([setting, isFault, message]) => (isFault ? { path: `${path}.${setting}`, message } : []));
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
  separator: oneOf(LIST_SEPARATORS),
  signatureField: fieldName,
  timestampField: fieldName,
  queryParameter: (value) =>
    typeof value === 'string' && PARAMETER_NAME.test(value)
      ? null
      : 'A parameter name of 1 to 128 printable ASCII characters without spaces is expected.',
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

function fieldName(value: unknown): string | null {
  return typeof value === 'string' && FIELD_NAME.test(value)
    ? null
    : 'A name of 1 to 32 letters, digits or _.- characters is expected.';
}

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
    return 'Only {{body}}, {{decompressedBody}}, {{timestamp}}, {{method}}, {{url}}, {{headers.name}} and {{query.name}} can stand here.';
  // The signed text need not contain the body: some providers sign only the id of an object in the query.
  return names.some((name) => name === 'body' || name === 'decompressedBody' || name.startsWith('query.'))
    ? null
    : '{{body}} is missing: a signature that does not cover the body proves nothing about it.';
}

/**
 * Returns the parts of the template. Splitting at a capture group puts literals at even and placeholders at odd
 * indexes.
 */
function partsOf(signed: string): SignedPart[] {
  return signed.split(PLACEHOLDER).flatMap((text, index) => {
    if (index % 2 === 1) return partOf(text) ?? [];
    return text === '' ? [] : { literal: text };
  });
}

function partOf(name: string): SignedPart | null {
  if (name === 'body' || name === 'timestamp' || name === 'method' || name === 'url') return name;
  if (name === 'decompressedBody') return 'decompressed-body';
  const [, kind, of = ''] = VALUE_PLACEHOLDER.exec(name) ?? [];
  if (kind === 'headers' && HEADER_NAME.test(of)) return { header: of.toLowerCase() };
  return kind === 'query' && PARAMETER_NAME.test(of) ? { query: of } : null;
}
