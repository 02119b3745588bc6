import { contentOf, decodeAll, signedValueOf, timestampOf } from './hmac.js';
import { DIGEST_BYTES } from './keys.js';
import { decodePublicKeySignatures } from './public-key.js';
import { headerOf, type ReceivedRequest } from './request.js';
import type { HmacScheme, PublicKeyScheme, Scheme, SignedPart, StandardScheme, TimestampRule } from './scheme.js';
import { readSignatures, type SignatureTexts } from './signature-header.js';
import { isTimestamp } from './timestamp.js';

type Received = Omit<ReceivedRequest, 'ip'>;

const FORMATS: Readonly<Record<TimestampRule['unit'], string>> = {
  s: 'a whole number of seconds',
  ms: 'a whole number of milliseconds',
  rfc3339: 'a date and time with an offset (RFC 3339)',
  either: 'a number of seconds or milliseconds, or a date and time (RFC 3339)',
};

/**
 * Returns the end of an error sentence if the signature or its timestamp cannot be read, or if a signed part is
 * missing. Otherwise null. Always null for schemes without a signature in a header.
 */
export function signatureFault(scheme: Scheme, request: Received): string | null {
  if (scheme.kind === 'standard-webhooks') return standardFault(scheme, request);
  if (scheme.kind !== 'hmac' && scheme.kind !== 'public-key') return null;
  const names = scheme.kind === 'hmac' ? scheme.headers : [scheme.header];
  const header = names.find((name) => headerOf(request, name) !== undefined) ?? names[0] ?? '';
  const texts = readSignatures(names, scheme.list, request);
  const signature = scheme.list?.signature;
  if (signature !== undefined && texts.signatures.length === 0)
    return `the header ${header} has no part ${signature}=…`;
  return (
    timeFault(scheme, header, texts, request) ??
    encodingFault(scheme, header, texts) ??
    partFault(scheme, texts, request)
  );
}

function timeFault(
  { timestamp: rule, list }: HmacScheme | PublicKeyScheme,
  header: string,
  texts: SignatureTexts,
  request: Received,
): string | null {
  if (rule === undefined) return null;
  const text = timestampOf(rule, texts.timestamp, request);
  const { from } = rule;
  if (text === undefined || text === '') {
    if (from === 'list') return `the header ${header} has no part ${list?.timestamp ?? ''}=…`;
    return 'member' in from ? `the body has no ${from.member}` : `the header ${from.header} is missing`;
  }
  if (isTimestamp(text, rule.unit)) return null;
  const place =
    from === 'list'
      ? `part ${list?.timestamp ?? ''} of the header ${header}`
      : 'member' in from
        ? `${from.member} in the body`
        : `the header ${from.header}`;
  return `the time in ${place} is not ${FORMATS[rule.unit]}`;
}

function encodingFault(
  scheme: HmacScheme | PublicKeyScheme,
  header: string,
  { signatures }: SignatureTexts,
): string | null {
  const decoded =
    scheme.kind === 'hmac' ? decodeAll(scheme, signatures) : decodePublicKeySignatures(scheme, signatures);
  if (decoded.length > 0) return null;
  const { prefix = '' } = scheme;
  const isOptional = scheme.kind === 'hmac' && scheme.prefixOptional === true;
  if (!isOptional && !signatures.some((text) => text.startsWith(prefix)))
    return `the signature in the header ${header} does not begin with ${prefix}`;
  const encoding = scheme.encoding === 'either' ? 'hex or base64' : scheme.encoding;
  const bytes = scheme.kind === 'hmac' ? `${DIGEST_BYTES[scheme.hash]} bytes in ` : '';
  return `the signature in the header ${header} is not ${bytes}${encoding}`;
}

function partFault(
  { signed }: HmacScheme | PublicKeyScheme,
  { timestamp = '' }: SignatureTexts,
  request: Received,
): string | null {
  const part = signed.find((each) => contentOf({ signed: [each] }, request, timestamp) === null);
  return part === undefined ? null : lacking(part, request);
}

function lacking(part: SignedPart, request: Received): string {
  if (part === 'decompressed-body') return 'the body cannot be decompressed, or is too large when decompressed';
  const value = typeof part === 'object' && 'value' in part ? part.value : part;
  if (typeof value !== 'object' || 'literal' in value) return 'the signed content cannot be read';
  if ('header' in value)
    return signedValueOf(value, request) === undefined
      ? `the header ${value.header}, which is signed, is missing`
      : `the header ${value.header}, which is signed, has characters that separate the signed parts`;
  return `the query parameter ${value.query}, which is signed, is missing, repeated or invalid`;
}

function standardFault({ prefixes }: StandardScheme, request: Received): string | null {
  const prefix = prefixes.find((start) => headerOf(request, `${start}signature`) !== undefined) ?? '';
  const timestamp = headerOf(request, `${prefix}timestamp`) ?? '';
  if (!isTimestamp(timestamp, 's')) return `the time in the header ${prefix}timestamp is not ${FORMATS.s}`;
  return /(?:^|[ ,])v1a?,/.test(headerOf(request, `${prefix}signature`) ?? '')
    ? null
    : `the header ${prefix}signature has no signature of version v1 or v1a`;
}
