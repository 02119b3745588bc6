import { FIELD_VALUE, TOKEN } from '#engine/headers.js';
import { ExchangeEnded } from './failure.js';

export interface RequestHead {
  readonly text: string;
  /** Whether the head is ASCII, so that it can be joined with a text body. Other heads are sent as Latin-1 bytes. */
  readonly isAscii: boolean;
}

interface Request {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | null;
}

const ASCII_VALUE = /^[\t\x20-\x7e]*$/;
/** Framing and connection headers, which only the HTTP client may set. Requests that contain one are rejected. */
const OURS_ALONE = new Set(['transfer-encoding', 'connection', 'keep-alive', 'upgrade', 'expect', 'te', 'trailer']);
const LEFT_OUT = new Set(['host', 'accept-encoding', 'content-length']);
/** Headers that every delivery has. Their names are known to be valid, so they are not checked for each request. */
const WELL_KNOWN = new Set([
  'content-type',
  'user-agent',
  'webhook-id',
  'webhook-event-type',
  'webhook-timestamp',
  'webhook-signature',
  'traceparent',
]);
/** Methods that always get a content-length. Other methods get none for an empty body (RFC 9110, section 8.6). */
const WITH_BODY = new Set(['POST', 'PUT', 'PATCH', 'QUERY', 'PROPFIND', 'PROPPATCH']);

/**
 * Returns the head of a request on a persistent HTTP/1.1 connection (RFC 9112, section 3). Omits the user, password and
 * fragment of the URL. Ignores the caller's `host` and `accept-encoding`. If a header cannot be sent, throws
 * `ExchangeEnded` (`protocol`) with the header's name.
 */
export function requestHead({ method, url, headers, body }: Request): RequestHead {
  if (!TOKEN.test(method))
    throw new ExchangeEnded('protocol', 'The request is not valid HTTP: its method is not a token.');
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

/** Returns whether to send a header of the caller. False for headers that the HTTP client sets itself. */
function isSent(name: string, value: string, length: number): boolean {
  if (!TOKEN.test(name)) throw invalid('a header', 'an invalid name');
  const lowerName = name.toLowerCase();
  if (OURS_ALONE.has(lowerName))
    throw invalid(lowerName, 'an effect on the connection, which the caller must not control');
  if (lowerName === 'content-length' && value.trim() !== String(length))
    throw invalid(lowerName, 'a length that differs from the body');
  return !LEFT_OUT.has(lowerName);
}

function invalid(name: string, what: string): ExchangeEnded {
  return new ExchangeEnded('protocol', `The request is not valid HTTP: ${name} has ${what}.`);
}
