import { Buffer } from 'node:buffer';
import { FIELD_VALUE } from '../headers.js';
import { isObject } from './body.js';
import type { Fault } from './fault.js';
import type { SynchronousAnswer } from './request.js';
import { STEERING_HEADERS } from './steering-headers.js';

/**
 * Types of response. `static` sends the same response to every request. All other types answer a provider's handshake.
 */
export const RESPONSE_TYPES = [
  'static',
  'meta-challenge',
  'slack-challenge',
  'zoom-challenge',
  'x-crc',
  'ebay-challenge',
  'dropbox-challenge',
  'msgraph-challenge',
  'okta-challenge',
  'asana-handshake',
  'discord-ping',
  'twitch-challenge',
  'sns-confirm',
  'monday-challenge',
] as const;
export type ResponseType = (typeof RESPONSE_TYPES)[number];

/** For every type, `status`, `body` and `headers` define the response to requests that are not handshakes. */
export interface ResponseSettings {
  type: ResponseType;
  /** For `meta-challenge`, required: the text that was entered in Meta's console. */
  verifyToken?: string;
  /** Secret for `zoom-challenge`, `x-crc` and `twitch-challenge`, if it differs from the endpoint's secret. */
  secret?: string;
  /** For `ebay-challenge`, required. For `slack-challenge`: the legacy token of the app. */
  verificationToken?: string;
  /** For `ebay-challenge`, required: the URL as registered with eBay. */
  endpointUrl?: string;
  status?: number;
  body?: string;
  headers?: Readonly<Record<string, string>>;
}

const STATUS_DEFAULT = 200;
const BODILESS: ReadonlySet<unknown> = new Set([204, 205, 304]);
const TEXT_LENGTH_MAX = 1024;
const BODY_BYTES_MAX = 64 * 1024;
const HEADERS_MAX = 32;
const VALUE_LENGTH_MAX = 4096;
/** Token of RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/;
const EDGE_WHITESPACE = /^[ \t]|[ \t]$/;
/** Headers of the connection, and headers that affect more than this response, such as `set-cookie`. */
const FORBIDDEN_NAMES: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'proxy-connection',
  'proxy-authenticate',
  'content-length',
  'content-encoding',
  'date',
  ...STEERING_HEADERS,
  'set-cookie',
  'set-cookie2',
  'strict-transport-security',
  'clear-site-data',
  'service-worker-allowed',
  'alt-svc',
  'public-key-pins',
]);
const REQUIRED: Readonly<Partial<Record<ResponseType, readonly (keyof ResponseSettings)[]>>> = {
  'meta-challenge': ['verifyToken'],
  'ebay-challenge': ['verificationToken', 'endpointUrl'],
};

/** Returns every fault of an endpoint's `response`. `path` is its path in the request. */
export function responseFaults(json: unknown, path = 'response'): Fault[] {
  if (!isObject(json)) return [{ path, message: 'An object is expected.' }];
  const type = RESPONSE_TYPES.find((known) => known === json.type);
  if (type === undefined)
    return [{ path: `${path}.type`, message: `One of ${RESPONSE_TYPES.join(', ')} is expected.` }];
  const faults = Object.entries(json).flatMap(([name, value]) => fieldFaults(name, value, `${path}.${name}`));
  for (const name of REQUIRED[type] ?? []) {
    if (json[name] === undefined) faults.push({ path: `${path}.${name}`, message: `The type ${type} needs this.` });
  }
  if (BODILESS.has(json.status) && typeof json.body === 'string' && json.body !== '') {
    faults.push({ path: `${path}.body`, message: 'An answer with this status has no body.' });
  }
  return faults;
}

export function answerHeaderFaults(headers: unknown, path: string): Fault[] {
  if (!isObject(headers)) return [{ path, message: 'An object of strings is expected.' }];
  const entries = Object.entries(headers);
  if (entries.length > HEADERS_MAX) return [{ path, message: `An answer has at most ${HEADERS_MAX} headers.` }];
  const seen = new Set<string>();
  return entries.flatMap(([name, value]) => {
    const message = seen.has(name.toLowerCase()) ? 'The same name occurs twice.' : headerFault(name, value);
    seen.add(name.toLowerCase());
    return message === null ? [] : [{ path: `${path}.${name}`, message }];
  });
}

/** Returns the configured response, which does not depend on the request. Header names are in lower case. */
export function staticAnswer(settings: Pick<ResponseSettings, 'status' | 'body' | 'headers'>): SynchronousAnswer {
  const { status = STATUS_DEFAULT, body = '' } = settings;
  const headers = Object.entries(settings.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const);
  const hasType = headers.some(([name]) => name === 'content-type');
  const plain: [string, string][] = body === '' || hasType ? [] : [['content-type', 'text/plain; charset=utf-8']];
  return { status, headers: Object.fromEntries([...plain, ...headers]), body };
}

export function answersEvents(settings: ResponseSettings): boolean {
  return (
    settings.type === 'static' ||
    settings.status !== undefined ||
    settings.body !== undefined ||
    settings.headers !== undefined
  );
}

function fieldFaults(name: string, value: unknown, path: string): Fault[] {
  if (value === undefined) return [];
  switch (name) {
    case 'type':
      return [];
    case 'verifyToken':
    case 'secret':
    case 'verificationToken':
    case 'endpointUrl':
      return asFaults(path, textFault(value));
    case 'status':
      return asFaults(path, isStatus(value) ? null : 'A status from 200 to 599 is expected.');
    case 'body':
      return asFaults(path, isBody(value) ? null : `A text of at most ${BODY_BYTES_MAX} bytes is expected.`);
    case 'headers':
      return answerHeaderFaults(value, path);
    default:
      return asFaults(path, 'There is no such setting.');
  }
}

function asFaults(path: string, message: string | null): Fault[] {
  return message === null ? [] : [{ path, message }];
}

function textFault(value: unknown): string | null {
  const isText = typeof value === 'string' && value !== '' && value.length <= TEXT_LENGTH_MAX;
  return isText ? null : `A text of 1 to ${TEXT_LENGTH_MAX} characters is expected.`;
}

function isStatus(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 200 && Number(value) <= 599;
}

function isBody(value: unknown): boolean {
  return typeof value === 'string' && Buffer.byteLength(value) <= BODY_BYTES_MAX;
}

function headerFault(name: string, value: unknown): string | null {
  if (!TOKEN.test(name)) return "A header name consists of at most 128 letters, digits and !#$%&'*+-.^_`|~.";
  if (FORBIDDEN_NAMES.has(name.toLowerCase())) return 'This header is set by the service or by the connection.';
  if (
    typeof value !== 'string' ||
    value.length > VALUE_LENGTH_MAX ||
    !FIELD_VALUE.test(value) ||
    EDGE_WHITESPACE.test(value)
  ) {
    return `At most ${VALUE_LENGTH_MAX} visible Latin-1 characters are expected, without a space at either end.`;
  }
  return null;
}
