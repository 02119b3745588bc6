import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { isObject, jsonOf, memberOf } from './body.js';
import { contentOf, hmacOf } from './hmac.js';
import { adyenSignature, mailgunSignature } from './in-body.js';
import { signSharedJwt } from './jwt.js';
import type { Preset } from './preset.js';
import type { ReceivedRequest } from './request.js';
import type { HmacScheme, SharedJwtScheme } from './scheme.js';
import { readFirst, type Source } from './source.js';
import { signStandard } from './standard.js';
import { writeTimestamp } from './timestamp.js';
import { signTwilio } from './twilio.js';

type Sample = Omit<ReceivedRequest, 'ip'>;

export interface SampleOptions {
  secret: string;
  /** Whole URL, as the provider would call it. */
  url: string;
  id: string;
  nowMs: number;
}

/** Returns a signed sample. Null if only the provider can sign it, or if the secret is malformed. */
export function signedSample(preset: Preset, options: SampleOptions): Sample | null {
  const request = unsignedSample(preset, options);
  const { verify: scheme } = preset;
  const { secret, nowMs } = options;
  switch (scheme.kind) {
    case 'hmac':
      return signHmac(scheme, request, options);
    case 'standard-webhooks': {
      const seconds = writeTimestamp(nowMs, 's');
      const signature = signStandard(secret, options.id, seconds, request.body);
      const prefix = scheme.prefixes[0] ?? 'webhook-';
      return signature === null
        ? null
        : withHeaders(request, {
            [`${prefix}id`]: options.id,
            [`${prefix}timestamp`]: seconds,
            [`${prefix}signature`]: signature,
          });
    }
    case 'twilio':
      return withHeaders(request, { 'x-twilio-signature': signTwilio(request, secret) });
    case 'token':
      return withHeaders(request, { [scheme.header]: secret });
    case 'basic':
      return withHeaders(request, { authorization: `Basic ${Buffer.from(secret, 'utf8').toString('base64')}` });
    case 'mailgun':
      return signMailgun(request, options);
    case 'adyen':
      return signAdyen(request, secret);
    case 'bearer':
      return withHeaders(request, { authorization: `Bearer ${secret}` });
    case 'shared-jwt':
      return signJwt(scheme, request, options);
    case 'query-token':
      return withQuery(request, `${encodeURIComponent(scheme.name)}=${encodeURIComponent(secret)}`);
    case 'client-state':
    case 'none':
      return request;
    case 'ed25519':
    case 'ecdsa':
    case 'sns':
    case 'public-key':
    case 'jwt':
    case 'paypal':
    case 'code':
      return null;
  }
}

/** Returns the sample without a signature. Contains the secret if the provider sends the secret in the body. */
export function unsignedSample({ sample }: Preset, options: SampleOptions): Sample {
  const { url } = options;
  const headers = Object.entries(sample.headers).map(
    ([name, value]) => [name, fill(value, options, (text) => text)] as const,
  );
  const isJson = sample.body.startsWith('{') || sample.body.startsWith('[');
  const template = sample.body.replace(/"(\{\{(?:seconds|millis)\}\})"/g, '$1');
  const body = fill(template, options, isJson ? (text) => JSON.stringify(text).slice(1, -1) : encodeURIComponent);
  const request = {
    method: 'POST',
    path: '',
    query: URL.canParse(url) ? new URL(url).search.slice(1) : '',
    headers,
    body: Buffer.from(body, 'utf8'),
    url,
  };
  return sample.query === undefined ? request : withQuery(request, sample.query);
}

/**
 * Returns the sample with another event type, or null if that is impossible. Some presets read the type from two
 * places. In this case, the type is split at its first dot.
 */
export function sampleOfType(
  { sample, eventType }: Pick<Preset, 'sample' | 'eventType'>,
  type: string,
): Preset['sample'] | null {
  const request = { headers: Object.entries(sample.headers), body: Buffer.from(sample.body) };
  const recipe = eventType.find((each) => readFirst([each], request, '.') !== undefined);
  const [first, second, ...more] = recipe ?? [];
  if (first === undefined || more.length > 0 || (second !== undefined && second.optional !== true)) return null;
  const dot = second === undefined ? -1 : type.indexOf('.');
  const written = withValue(sample, first, dot < 0 ? type : type.slice(0, dot));
  if (written === null || second === undefined) return written;
  return withValue(written, second, dot < 0 ? undefined : type.slice(dot + 1));
}

function withValue(sample: Preset['sample'], source: Source, value: string | undefined): Preset['sample'] | null {
  if ('header' in source && value !== undefined)
    return { ...sample, headers: { ...sample.headers, [source.header]: value } };
  if (!('member' in source)) return null;
  const json = JSON.parse(sample.body) as unknown;
  const names = source.member.split('.');
  const last = names.pop() ?? '';
  const holder = names.length === 0 ? json : memberOf(json, names.join('.'));
  if (!isObject(holder)) return null;
  const written = holder as Record<string, unknown>;
  if (value === undefined) delete written[last];
  else written[last] = value;
  return { ...sample, body: JSON.stringify(json) };
}

function signHmac(scheme: HmacScheme, request: Sample, { secret, nowMs }: SampleOptions): Sample | null {
  const timestamp = scheme.timestamp === undefined ? '' : writeTimestamp(nowMs, scheme.timestamp.unit);
  const content = contentOf(scheme, request, timestamp);
  const digest = content === null ? null : hmacOf(scheme, secret, content);
  const [header] = scheme.headers;
  if (digest === null || header === undefined) return null;
  const signature = (scheme.prefix ?? '') + digest.toString(scheme.encoding === 'base64' ? 'base64' : 'hex');
  const { list } = scheme;
  const from = scheme.timestamp?.from;
  const stamped = list?.timestamp === undefined ? '' : `${list.timestamp}=${timestamp}${list.separator}`;
  return withHeaders(request, {
    ...(typeof from === 'object' && 'header' in from && { [from.header]: timestamp }),
    [header]: list?.signature === undefined ? signature : `${stamped}${list.signature}=${signature}`,
  });
}

function signJwt(scheme: SharedJwtScheme, request: Sample, { secret, nowMs }: SampleOptions): Sample | null {
  const token = signSharedJwt(scheme, secret, request.body, nowMs);
  return token === null ? null : withHeaders(request, { [scheme.header]: token });
}

function signMailgun(request: Sample, { secret, id, nowMs }: SampleOptions): Sample {
  const timestamp = writeTimestamp(nowMs, 's');
  const token = createHash('sha256').update(id).digest('hex').slice(0, 50);
  const signature = { timestamp, token, signature: mailgunSignature(secret, timestamp, token).toString('hex') };
  const json = jsonOf(request);
  return withBody(request, { ...(isObject(json) ? json : {}), signature });
}

function signAdyen(request: Sample, secret: string): Sample | null {
  const json = jsonOf(request);
  const item = memberOf(json, 'notificationItems.0.NotificationRequestItem');
  const signature = adyenSignature(item, secret);
  if (signature === null || !isObject(json) || !isObject(item)) return null;
  const signed = { ...item, additionalData: { hmacSignature: signature.toString('base64') } };
  return withBody(request, { ...json, notificationItems: [{ NotificationRequestItem: signed }] });
}

function fill(template: string, { id, secret, nowMs }: SampleOptions, escape: (text: string) => string): string {
  const values: Readonly<Record<string, string>> = {
    id,
    secret,
    seconds: String(Math.floor(nowMs / 1000)),
    millis: String(nowMs),
    iso: new Date(nowMs).toISOString(),
  };
  return template.replace(/\{\{(\w+)\}\}/g, (whole, name: string) =>
    values[name] === undefined ? whole : escape(values[name]),
  );
}

function withHeaders(request: Sample, headers: Readonly<Record<string, string>>): Sample {
  return { ...request, headers: [...request.headers, ...Object.entries(headers)] };
}

function withQuery(request: Sample, added: string): Sample {
  const { query, url } = request;
  return {
    ...request,
    query: query === '' ? added : `${query}&${added}`,
    url: `${url}${url.includes('?') ? '&' : '?'}${added}`,
  };
}

function withBody(request: Sample, json: unknown): Sample {
  return { ...request, body: Buffer.from(JSON.stringify(json), 'utf8') };
}
