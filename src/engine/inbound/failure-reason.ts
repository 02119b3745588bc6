import { jwtFault, sharedJwtFault } from './jwt.js';
import { PAYPAL_HEADERS } from './paypal.js';
import { parametersOf } from './query.js';
import { headerOf, type ReceivedRequest } from './request.js';
import type { Scheme } from './scheme.js';
import { signatureFault } from './signature-fault.js';
import { verify } from './verify.js';

type Received = Omit<ReceivedRequest, 'ip'>;

export interface FailedUnder {
  secrets: readonly string[];
  nowMs: number;
  /** Published key set or certificate that was passed to `verify`. */
  published?: string | undefined;
}

/** Returns why verification failed, as the end of a sentence. Only the endpoint's owner may see it, not the sender. */
export function failureReason(scheme: Scheme, request: Received, { secrets, nowMs, published }: FailedUnder): string {
  if (secrets.length === 0 && scheme.kind !== 'jwt') return 'the endpoint has no secret yet';
  const missing = missingHeader(scheme, request);
  if (missing !== null) return `the header ${missing} is missing`;
  if (scheme.kind === 'query-token') return queryTokenFault(scheme.name, request);
  const unreadable =
    scheme.kind === 'jwt'
      ? jwtFault(scheme, request, published ?? '', nowMs)
      : scheme.kind === 'shared-jwt'
        ? sharedJwtFault(scheme, request, secrets, nowMs)
        : signatureFault(scheme, request);
  if (unreadable !== null) return unreadable;
  const holdsUnder = (other: Scheme): boolean => verify(other, request, secrets, nowMs, published) === 'verified';
  const relaxed = withoutLimit(scheme);
  if (relaxed !== null && holdsUnder(relaxed.scheme)) {
    const isFuture = relaxed.pastOnly === null ? timeOfStandard(scheme, request) > nowMs : holdsUnder(relaxed.pastOnly);
    return `it is right, but ${isFuture ? 'from the future' : 'too old'}: its time may differ from now by at most ${relaxed.seconds} seconds`;
  }
  return OTHERWISE[scheme.kind] ?? 'it is wrong, or made with another secret';
}

/** Specific failure reasons by kind of scheme. `failureReason` returns a general reason for all other kinds. */
const OTHERWISE: Readonly<Partial<Record<Scheme['kind'], string>>> = {
  token: "the token is not the endpoint's secret",
  bearer: "the token is not the endpoint's secret",
  paypal: "it is wrong, of another webhook, or its certificate is not PayPal's",
  'public-key': 'it is wrong, or made with another key',
  basic: "user and password do not match the endpoint's secret",
  mailgun: 'the body has no timestamp, token and signature that belong together',
  adyen: 'an item of the body has no signature, or a wrong one',
  'client-state': "an item of the body does not repeat the endpoint's secret",
  code: 'the verifier of the preset refused it',
  sns: 'the signature in the body is wrong, or the message is of another topic',
};

function queryTokenFault(name: string, request: Received): string {
  const { length } = parametersOf(request, name);
  if (length === 0) return `the query parameter ${name} is missing`;
  return length > 1
    ? `the query parameter ${name} occurs more than once`
    : `the query parameter ${name} is not the endpoint's secret`;
}

function missingHeader(scheme: Scheme, request: Received): string | null {
  const lacks = (name: string): boolean => (headerOf(request, name) ?? '') === '';
  return neededHeaders(scheme, lacks).find(lacks) ?? null;
}

function neededHeaders(scheme: Scheme, lacks: (name: string) => boolean): string[] {
  switch (scheme.kind) {
    case 'hmac': {
      const signature = scheme.headers.find((name) => !lacks(name)) ?? scheme.headers[0];
      const from = scheme.timestamp?.from;
      return [signature ?? '', ...(typeof from === 'object' && 'header' in from ? [from.header] : [])];
    }
    case 'standard-webhooks': {
      const prefix = scheme.prefixes.find((start) => !lacks(`${start}signature`)) ?? scheme.prefixes[0] ?? '';
      return ['signature', 'timestamp', 'id'].map((name) => prefix + name);
    }
    case 'ed25519':
    case 'ecdsa':
      return [scheme.signatureHeader, scheme.timestampHeader];
    case 'token':
      return [scheme.header];
    case 'basic':
      return ['authorization'];
    case 'twilio':
      return ['x-twilio-signature'];
    case 'bearer':
      return ['authorization'];
    case 'jwt':
    case 'shared-jwt':
      return [scheme.header];
    case 'paypal':
      return [...PAYPAL_HEADERS];
    case 'public-key': {
      const from = scheme.timestamp?.from;
      return [scheme.header, ...(typeof from === 'object' && 'header' in from ? [from.header] : [])];
    }
    case 'query-token':
    case 'mailgun':
    case 'adyen':
    case 'client-state':
    case 'sns':
    case 'code':
    case 'none':
      return [];
  }
}

function timeOfStandard(scheme: Scheme, request: Received): number {
  const prefixes = scheme.kind === 'standard-webhooks' ? scheme.prefixes : [];
  const text = prefixes.map((prefix) => headerOf(request, `${prefix}timestamp`)).find((value) => value !== undefined);
  return Number(text) * 1000;
}

/**
 * Returns the scheme without its time limit, and a variant that limits only the age. Null if `scheme` has no time
 * limit.
 */
function withoutLimit(scheme: Scheme): { scheme: Scheme; pastOnly: Scheme | null; seconds: number } | null {
  if (scheme.kind === 'standard-webhooks')
    return { scheme: { ...scheme, toleranceSeconds: Infinity }, pastOnly: null, seconds: scheme.toleranceSeconds };
  if (
    (scheme.kind !== 'hmac' && scheme.kind !== 'public-key') ||
    scheme.timestamp === undefined ||
    scheme.timestamp.toleranceSeconds === null
  )
    return null;
  const { timestamp } = scheme;
  const { toleranceSeconds: seconds } = scheme.timestamp;
  return {
    scheme: { ...scheme, timestamp: { ...timestamp, toleranceSeconds: null } },
    pastOnly: { ...scheme, timestamp: { ...timestamp, ageOnly: true } },
    seconds,
  };
}
