import { isAscii, isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError, badRequest } from '#kernel/errors.js';
import { BODY_BYTES_MAX } from './body-limit.js';
import { hasMoreMembers } from './json-members.js';

/** Matches `application/json`, other `…/json` types and the `+json` suffix (RFC 6839), with or without parameters. */
const JSON_TYPES = /^[\w!#$&^.-]+\/(?:[\w!#$&^.-]+\+)?json(?:$|;| )/i;

/** Matches escapes of U+0000, of surrogates, and of the characters in `__proto__`. */
const SUSPICIOUS_ESCAPES = /\\u(?:0000|d[89a-f]|00(?:5f|6f|7[024]))/i;

/**
 * Maximum number of strings, objects and lists of a body that is larger than the default limit. Routes with higher limits
 * need them only for long strings. Bodies within the default limit are parsed quickly, whatever they contain.
 */
const MEMBERS_MAX = 100_000;

/**
 * Parsed bodies whose text may have a field named `__proto__`, or has escapes of characters that PostgreSQL may reject.
 * Only these bodies must be searched for them.
 */
const suspects = new WeakSet<object>();

/** Registers the JSON parser. Other types get 415, except in Fastify plugins that register their own parsers. */
export function registerJsonParser(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser(JSON_TYPES, { parseAs: 'buffer' }, (request, body, done) => {
    try {
      done(null, readJson(request, body as Buffer));
    } catch (error) {
      done(error as Error, undefined);
    }
  });
}

/** Returns whether the body may contain a field named `__proto__`, U+0000 or half of a surrogate pair. */
export function isSuspect(body: object): boolean {
  return suspects.has(body);
}

/**
 * Returns the text and the value of a JSON body. Throws 400 if the body is not valid UTF-8 or not valid JSON. A field
 * named `__proto__` stays an own property of its object. `checkRequest` rejects it outside of `@Verbatim()` fields.
 */
export function parseJson(bytes: Buffer): { text: string; value: unknown } {
  const ascii = isAscii(bytes);
  if (!ascii && !isUtf8(bytes)) throw badRequest('The body is not valid UTF-8.');
  const text = bytes.toString(ascii ? 'latin1' : 'utf8');
  const value = parse(text);
  const isSuspicious = text.includes('__proto__') || (text.includes('\\u') && SUSPICIOUS_ESCAPES.test(text));
  if (isSuspicious && typeof value === 'object' && value !== null) suspects.add(value);
  return { text, value };
}

function readJson(request: FastifyRequest, bytes: Buffer): unknown {
  if (request.edge?.takesForm === true)
    throw new ApiError('unsupported_media_type', 'Send the body as application/x-www-form-urlencoded.');
  const { 'content-type': type = '', 'content-encoding': encoding } = request.headers;
  const charset = type.length > 16 ? /charset *= *"?([^";, ]*)/i.exec(type)?.[1] : undefined;
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    throw new ApiError('unsupported_media_type', 'Send the body in UTF-8.');
  }
  if (encoding !== undefined && encoding !== 'identity') {
    throw new ApiError('unsupported_media_type', 'Send the body without a Content-Encoding.');
  }
  if (bytes.length === 0) return undefined;
  if (bytes.length > BODY_BYTES_MAX && hasMoreMembers(bytes, MEMBERS_MAX))
    throw new ApiError(
      'payload_too_large',
      `A body of more than 1 MB has at most ${MEMBERS_MAX.toLocaleString('en')} fields, strings, objects and lists in total.`,
    );
  const { text, value } = parseJson(bytes);
  request.rawBody = bytes;
  request.bodyText = text;
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    // Uses only the position in V8's message. The message also quotes the body, which must not appear in logs and
    // responses.
    const [, position] = /at position (\d+)/.exec((error as Error).message) ?? [];
    throw badRequest(`The body is not valid JSON${position === undefined ? '' : ` (at character ${position})`}.`);
  }
}
