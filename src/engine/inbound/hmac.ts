import { Buffer } from 'node:buffer';
import { createHmac } from 'node:crypto';
import { jsonOf } from './body.js';
import { decodeKey, decodeSignature, DIGEST_BYTES, equalBytes } from './keys.js';
import { headerOf, type ReceivedRequest } from './request.js';
import type { HmacScheme, SignedPart, TimestampRule } from './scheme.js';
import { readSource } from './source.js';
import { isFresh } from './timestamp.js';

type Signed = Omit<ReceivedRequest, 'ip'>;

/** Maximum number of compared signatures, more than any provider sends. */
const SIGNATURES_MAX = 100;
/** Characters that HubSpot does not percent-encode in the URL that it signs. */
const HUBSPOT_DECODES = /%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi;

export function verifyHmac(scheme: HmacScheme, request: Signed, secrets: readonly string[], nowMs: number): boolean {
  const { signatures, listTimestamp } = readSignatures(scheme, request);
  const timestamp = scheme.timestamp === undefined ? '' : timestampText(scheme.timestamp, listTimestamp, request);
  if (timestamp === undefined || signatures.length === 0) return false;
  if (scheme.timestamp !== undefined && !isFresh(timestamp, scheme.timestamp, nowMs)) return false;
  const bodies = scheme.alsoReserialized === true ? [request.body, reserialized(request)] : [request.body];
  return bodies.some((body) => {
    const content = body === null ? null : contentOf(scheme, { ...request, body }, timestamp);
    return content !== null && secrets.some((secret) => matches(scheme, secret, content, signatures));
  });
}

/** Returns null if the secret cannot be decoded to a key. */
export function hmacOf(
  scheme: Pick<HmacScheme, 'hash' | 'keyEncoding'>,
  secret: string,
  content: Buffer,
): Buffer | null {
  const key = decodeKey(secret, scheme.keyEncoding);
  return key === null ? null : createHmac(scheme.hash, key).update(content).digest();
}

/** Returns null when the request lacks a part of the signed content. */
export function contentOf(scheme: Pick<HmacScheme, 'signed'>, request: Signed, timestamp: string): Buffer | null {
  const parts: Buffer[] = [];
  for (const part of scheme.signed) {
    const bytes = partOf(part, request, timestamp);
    if (bytes === undefined) return null;
    parts.push(typeof bytes === 'string' ? Buffer.from(bytes, 'utf8') : bytes);
  }
  return Buffer.concat(parts);
}

function matches(scheme: HmacScheme, secret: string, content: Buffer, signatures: readonly Buffer[]): boolean {
  const expected = hmacOf(scheme, secret, content);
  return expected !== null && signatures.some((signature) => equalBytes(signature, expected));
}

function partOf(part: SignedPart, request: Signed, timestamp: string): string | Buffer | undefined {
  if (typeof part === 'object') return 'literal' in part ? part.literal : headerOf(request, part.header);
  switch (part) {
    case 'body':
      return request.body;
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

function timestampText(rule: TimestampRule, listTimestamp: string | undefined, request: Signed): string | undefined {
  return rule.from === 'list' ? listTimestamp : readSource(rule.from, request);
}

function readSignatures(scheme: HmacScheme, request: Signed): { signatures: Buffer[]; listTimestamp?: string } {
  const values = scheme.headers.map((name) => headerOf(request, name)).filter((value) => value !== undefined);
  const { list } = scheme;
  if (list === undefined) return { signatures: decodeAll(scheme, values) };
  const pairs = values
    .flatMap((value) => value.split(list.separator, SIGNATURES_MAX))
    .map((pair) => {
      const cut = pair.indexOf('=');
      return { name: pair.slice(0, Math.max(cut, 0)).trim(), value: pair.slice(cut + 1).trim() };
    });
  return {
    signatures: decodeAll(
      scheme,
      pairs.filter(({ name }) => name === list.signature).map(({ value }) => value),
    ),
    listTimestamp: pairs.find(({ name }) => name === list.timestamp)?.value,
  };
}

function decodeAll(scheme: HmacScheme, texts: readonly string[]): Buffer[] {
  const { prefix = '' } = scheme;
  return texts.slice(0, SIGNATURES_MAX).flatMap((text) => {
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
