import type { Schemas } from '../api/client';
import { readObject, writeJson } from '../kit/json/read-json';

export type VerificationSettings = Schemas['VerificationConfig'];
type Setting = keyof VerificationSettings;
/** Changes of settings. `undefined` removes a setting. */
export type VerificationChanges = { readonly [Name in Setting]?: VerificationSettings[Name] | undefined };

/** Form that a scheme needs. `fixed` has no settings. */
export type SchemeForm = 'none' | 'fixed' | 'api-key' | 'signature' | 'token';

export const SEPARATORS = [',', ';', ' ', '&', '|'] as const;
/** Placeholders that the signed content can contain. `name` stands for the name of a header or query parameter. */
export const PLACEHOLDERS = [
  '{{body}}',
  '{{decompressedBody}}',
  '{{timestamp}}',
  '{{method}}',
  '{{url}}',
  '{{headers.name}}',
  '{{query.name}}',
] as const;

const OF_SIGNATURE: readonly Setting[] = [
  'header',
  'prefix',
  'encoding',
  'separator',
  'signatureField',
  'timestampField',
  'timestampHeader',
  'toleranceSeconds',
  'signed',
];
const OF_TOKEN: readonly Setting[] = ['header', 'issuer', 'audience', 'claims', 'bodyHashClaim', 'maxAgeSeconds'];

export function formOf(scheme: string): SchemeForm {
  if (scheme === 'none' || scheme === 'preset') return 'none';
  if (scheme === 'bearer' || scheme === 'basic') return 'fixed';
  if (scheme === 'api-key') return 'api-key';
  return scheme.startsWith('jwt') ? 'token' : 'signature';
}

/** Returns whether the secret is a shared key, whose encoding can be chosen, and not a public key. */
export function hasSharedKey(scheme: string): boolean {
  return scheme.startsWith('hmac-') || scheme.startsWith('jwt-');
}

/** Returns the settings that a scheme accepts. The API rejects all others. */
export function settingsOf(scheme: string): readonly Setting[] {
  const keyEncoding: readonly Setting[] = hasSharedKey(scheme) ? ['keyEncoding'] : [];
  const settings: Readonly<Record<SchemeForm, readonly Setting[]>> = {
    signature: [...OF_SIGNATURE, ...keyEncoding],
    token: [...OF_TOKEN, ...(scheme === 'jwt' ? (['jwksUrl'] as const) : keyEncoding)],
    'api-key': ['header', 'queryParameter'],
    fixed: [],
    none: [],
  };
  return settings[formOf(scheme)];
}

/** Reads the settings from their JSON. Returns null for text that is not a JSON object. */
export function readVerification(text: string): VerificationSettings | null {
  const { value, fault } = readObject(text, '');
  return fault === null ? (value ?? {}) : null;
}

/** Applies changes to settings and returns them as JSON. Returns an empty text if all settings have their defaults. */
export function writeVerification(settings: VerificationSettings, changes: VerificationChanges): string {
  const changed = Object.fromEntries(
    Object.entries({ ...settings, ...changes }).filter(([, value]) => value !== undefined),
  );
  return Object.keys(changed).length === 0 ? '' : writeJson(changed);
}

/**
 * Returns the settings, as JSON, that the new scheme also accepts. Keeps the header only if both schemes are of the
 * same kind, because signatures, keys and tokens are sent in different headers.
 */
export function forScheme(text: string, before: string, scheme: string): string {
  const settings = readVerification(text);
  if (settings === null) return text;
  const accepted = settingsOf(scheme).filter((name) => name !== 'header' || formOf(before) === formOf(scheme));
  return writeVerification(
    Object.fromEntries(Object.entries(settings).filter(([name]) => accepted.some((each) => each === name))),
    {},
  );
}

/** Structure of the signature header: one signature, several signatures, or named parts such as `t=…,v1=…`. */
export type HeaderFormat = 'single' | 'list' | 'parts';

export function headerFormatOf({ separator, signatureField }: VerificationSettings): HeaderFormat {
  if (signatureField !== undefined) return 'parts';
  return separator === undefined ? 'single' : 'list';
}

/** Returns the changes that set another structure of the header. */
export function withHeaderFormat(format: HeaderFormat): VerificationChanges {
  const none = { separator: undefined, signatureField: undefined, timestampField: undefined };
  if (format === 'parts') return { separator: undefined, signatureField: 'v1' };
  return format === 'list' ? { ...none, separator: ',' } : none;
}

export type TimestampPlace = 'none' | 'header' | 'part';

export function timestampPlaceOf({ timestampField, timestampHeader }: VerificationSettings): TimestampPlace {
  if (timestampField !== undefined) return 'part';
  return timestampHeader === undefined ? 'none' : 'header';
}

/**
 * Returns the changes that set where the signing time is read. Also removes a template of the signed content that
 * contains the time although none is read, or lacks it although one is read.
 */
export function withTimestampPlace(place: TimestampPlace, { signed }: VerificationSettings): VerificationChanges {
  const isSigned = /\{\{\s*timestamp\s*\}\}/.test(signed ?? '');
  const changes = isSigned === (place !== 'none') ? {} : { signed: undefined };
  if (place === 'header') return { ...changes, timestampField: undefined, timestampHeader: 'x-timestamp' };
  if (place === 'part') return { ...changes, timestampField: 't', timestampHeader: undefined };
  return { ...changes, timestampField: undefined, timestampHeader: undefined, toleranceSeconds: undefined };
}

/** Returns the signed content in effect. */
export function signedContentOf(settings: VerificationSettings): string {
  return settings.signed ?? defaultContentOf(timestampPlaceOf(settings));
}

export function defaultContentOf(place: TimestampPlace): string {
  return place === 'none' ? '{{body}}' : '{{timestamp}}.{{body}}';
}

/** Returns the headers of an example request, so that the user can compare them with a request of the sender. */
export function exampleHeaders(scheme: string, settings: VerificationSettings): string[] {
  const { header, queryParameter, timestampHeader } = settings;
  const examples: Readonly<Record<SchemeForm, string[]>> = {
    signature: [
      `${header ?? 'x-signature'}: ${exampleSignature(settings)}`,
      ...(timestampHeader === undefined ? [] : [`${timestampHeader}: 1795253400`]),
    ],
    token: [header === undefined ? 'authorization: Bearer eyJhbGciOi…' : `${header}: eyJhbGciOi…`],
    'api-key': [queryParameter === undefined ? `${header ?? 'x-api-key'}: …` : `?${queryParameter}=…`],
    fixed: [scheme === 'basic' ? 'authorization: Basic …' : 'authorization: Bearer …'],
    none: [],
  };
  return examples[formOf(scheme)];
}

function exampleSignature(settings: VerificationSettings): string {
  const { encoding, prefix = '', separator = ',', signatureField = '', timestampField } = settings;
  const signature = `${prefix}${encoding === 'base64' ? 'K7gNU3sdo+OL0w…' : '5257a869e7ecebed…'}`;
  const format = headerFormatOf(settings);
  if (format === 'single') return signature;
  if (format === 'list') return [signature, signature].join(separator);
  const time = timestampField === undefined ? [] : [`${timestampField}=1795253400`];
  return [...time, `${signatureField}=${signature}`].join(separator);
}

/** Returns claims as editable lines: `name=value`. */
export function toClaimLines(claims: Readonly<Record<string, string>>): string {
  return Object.entries(claims)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n');
}

/** Parses lines of the form `name=value`. Returns the claims, or the number of the first invalid line. */
export function fromClaimLines(text: string): Record<string, string> | number {
  const claims: Record<string, string> = {};
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const [, name, value] = /^\s*([^=]+?)\s*=\s*(.+?)\s*$/.exec(line) ?? [];
    if (name === undefined || value === undefined) return index + 1;
    claims[name] = value;
  }
  return claims;
}
