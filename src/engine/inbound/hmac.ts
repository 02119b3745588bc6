import { Buffer } from 'node:buffer';
import { createHmac } from 'node:crypto';
import { jsonOf } from './body.js';
import { decodeKey, decodeSignature, DIGEST_BYTES, equalBytes } from './keys.js';
import { parametersOf } from './query.js';
import { headerOf, type ReceivedRequest } from './request.js';
import type { HmacScheme, SignedPart, SignedValue, TimestampRule } from './scheme.js';
import { readSignatures } from './signature-header.js';
import { readSource } from './source.js';
import { isFresh } from './timestamp.js';
import { unpackedBody } from './unpacked.js';

type Signed = Omit<ReceivedRequest, 'ip'>;

/** Characters that HubSpot decodes in the URL before it signs the URL. */
const HUBSPOT_DECODES = /%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi;

export function verifyHmac(scheme: HmacScheme, request: Signed, secrets: readonly string[], nowMs: number): boolean {
  const texts = readSignatures(scheme.headers, scheme.list, request);
  const signatures = decodeAll(scheme, texts.signatures);
  const timestamp = scheme.timestamp === undefined ? '' : timestampOf(scheme.timestamp, texts.timestamp, request);
  if (timestamp === undefined || signatures.length === 0) return false;
  if (scheme.timestamp !== undefined && !isFresh(timestamp, scheme.timestamp, nowMs)) return false;
  const bodies = scheme.alsoReserialized === true ? [request.body, reserialized(request)] : [request.body];
  return bodies.some((body) => {
    const content = body === null ? null : contentOf(scheme, { ...request, body }, timestamp);
    return content !== null && secrets.some((secret) => matches(scheme, secret, content, signatures));
  });
}

/** Returns the HMAC of the content, or null if the secret cannot be decoded to a key with `keyEncoding`. */
export function hmacOf(
  scheme: Pick<HmacScheme, 'hash' | 'keyEncoding'>,
  secret: string,
  content: Buffer,
): Buffer | null {
  const key = decodeKey(secret, scheme.keyEncoding);
  return key === null ? null : createHmac(scheme.hash, key).update(content).digest();
}

/** Returns the signed content, or null if the request lacks a part of it. */
export function contentOf(scheme: Pick<HmacScheme, 'signed'>, request: Signed, timestamp: string): Buffer | null {
  const parts: Buffer[] = [];
  for (const part of scheme.signed) {
    const bytes = partOf(part, request, timestamp);
    if (bytes === undefined || bytes === null) return null;
    parts.push(typeof bytes === 'string' ? Buffer.from(bytes, 'utf8') : bytes);
  }
  return Buffer.concat(parts);
}

function matches(scheme: HmacScheme, secret: string, content: Buffer, signatures: readonly Buffer[]): boolean {
  const expected = hmacOf(scheme, secret, content);
  return expected !== null && signatures.some((signature) => equalBytes(signature, expected));
}

function partOf(part: SignedPart, request: Signed, timestamp: string): string | Buffer | null | undefined {
  if (typeof part === 'object') return literalOrValue(part, request);
  switch (part) {
    case 'body':
      return request.body;
    case 'decompressed-body':
      return unpackedBody(request);
    case 'timestamp':
      return timestamp;
    case 'method':
      return request.method;
    case 'url':
      return request.url;
    case 'decoded-url':
      return request.url.replace(HUBSPOT_DECODES, decodeURIComponent);
  }
}

function literalOrValue(part: Exclude<SignedPart, string>, request: Signed): string | undefined {
  if ('literal' in part) return part.literal;
  if (!('value' in part)) return signedValueOf(part, request);
  // Rejects a repeated parameter. `signedValueOf` would treat it as missing, and missing parts are not signed, so an
  // attacker could remove the part from the signed content.
  if ('query' in part.value && parametersOf(request, part.value.query).length > 1) return undefined;
  const value = signedValueOf(part.value, request) ?? '';
  if (value === '') return '';
  // Rejects a value that contains the separator, because it could imitate the following parts.
  return value.includes(part.after) ? undefined : part.before + value + part.after;
}

/** Returns the value of a signed part. Undefined if the request lacks it or repeats the query parameter. */
export function signedValueOf(of: SignedValue, request: Signed): string | undefined {
  if ('header' in of) return headerOf(request, of.header);
  const values = parametersOf(request, of.query);
  if (values.length !== 1) return undefined;
  return of.isLowerCased === true ? values[0]?.toLowerCase() : values[0];
}

export function timestampOf(
  rule: TimestampRule,
  inList: string | undefined,
  request: Pick<ReceivedRequest, 'headers' | 'body'>,
): string | undefined {
  return rule.from === 'list' ? inList : readSource(rule.from, request);
}

export function decodeAll(scheme: HmacScheme, texts: readonly string[]): Buffer[] {
  const { prefix = '' } = scheme;
  return texts.flatMap((text) => {
    const hasPrefix = text.startsWith(prefix);
    if (!hasPrefix && scheme.prefixOptional !== true) return [];
    return (
      decodeSignature(hasPrefix ? text.slice(prefix.length) : text, scheme.encoding, DIGEST_BYTES[scheme.hash]) ?? []
    );
  });
}

function reserialized(request: Signed): Buffer | null {
  const json = jsonOf(request);
  return json === undefined ? null : Buffer.from(JSON.stringify(json), 'utf8');
}
