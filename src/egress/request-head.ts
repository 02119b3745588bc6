import { FIELD_VALUE, TOKEN } from '#engine/headers.js';
import { ExchangeEnded } from './failure.js';

/** What is said before the body. */
export interface RequestHead {
  readonly text: string;
  /** Whether one encoding serves head and body: headers may have characters of Latin-1, which are one byte there. */
  readonly isAscii: boolean;
}

interface Request {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | null;
}

const ASCII_VALUE = /^[\t\x20-\x7e]*$/;
/** How the end of the body is told and what becomes of the connection is this client's to say. */
const OURS_ALONE = new Set(['transfer-encoding', 'connection', 'keep-alive', 'upgrade', 'expect', 'te', 'trailer']);
const LEFT_OUT = new Set(['host', 'accept-encoding', 'content-length']);
/** Names that each delivery has, and of which nothing needs to be found out again. */
const WELL_KNOWN = new Set([
  'content-type',
  'user-agent',
  'webhook-id',
  'webhook-event-type',
  'webhook-timestamp',
  'webhook-signature',
  'traceparent',
]);
/** Theirs is never without a length, even where there is no body; others' is not given one of nothing (RFC 9110, section 8.6). */
const WITH_BODY = new Set(['POST', 'PUT', 'PATCH', 'QUERY', 'PROPFIND', 'PROPPATCH']);

/**
 * The head of a request of HTTP/1.1 (RFC 9112, section 3) for a connection that stays. The URL's user, password and fragment are
 * left out; so are `host` and `accept-encoding` of the caller. Throws `ExchangeEnded` of kind `protocol`, which names a header that cannot be sent.
 */
export function requestHead({ method, url, headers, body }: Request): RequestHead {
  if (!TOKEN.test(method)) throw new ExchangeEnded('protocol', 'The request is not valid HTTP: its method is no word.');
  const length = body === null ? 0 : Buffer.byteLength(body);
  let text = `${method} ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\nconnection: keep-alive\r\n`;
  let isAscii = true;
  for (const name in headers) {
    const value = headers[name] as string;
    if (!WELL_KNOWN.has(name) && !isSent(name, value, length)) continue;
    if (!ASCII_VALUE.test(value)) {
      if (!FIELD_VALUE.test(value)) throw invalid(name, 'characters that cannot be sent');
      isAscii = false;
    }
    text += `${name}: ${value}\r\n`;
  }
  text += length > 0 || WITH_BODY.has(method) ? `content-length: ${length}\r\n\r\n` : '\r\n';
  return { text, isAscii };
}

/** False for what this client says itself. */
function isSent(name: string, value: string, length: number): boolean {
  if (!TOKEN.test(name)) throw invalid('a header', 'a name that is none');
  const lowerName = name.toLowerCase();
  if (OURS_ALONE.has(lowerName)) throw invalid(lowerName, "a meaning for the connection, which is not the caller's");
  if (lowerName === 'content-length' && value.trim() !== String(length))
    throw invalid(lowerName, 'another length than the body');
  return !LEFT_OUT.has(lowerName);
}

function invalid(name: string, what: string): ExchangeEnded {
  return new ExchangeEnded('protocol', `The request is not valid HTTP: ${name} has ${what}.`);
}
