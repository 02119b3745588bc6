import { isAscii, isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError, badRequest } from '#kernel/errors.js';

/** Matches `application/json`, other `…/json` types and the `+json` suffix (RFC 6839), with or without parameters. */
const JSON_TYPES = /^[\w!#$&^.-]+\/(?:[\w!#$&^.-]+\+)?json(?:$|;| )/i;

/**
 * Parsed bodies whose text has escapes of characters that PostgreSQL may reject. Only these bodies must be searched for
 * the characters.
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

/** Returns whether the body may contain U+0000 or half of a surrogate pair. */
export function isSuspect(body: object): boolean {
  return suspects.has(body);
}

/** Returns the text and the value of a JSON body. Throws 400 if the body is not valid UTF-8 or not valid JSON. */
export function parseJson(bytes: Buffer): { text: string; value: unknown } {
  const ascii = isAscii(bytes);
  if (!ascii && !isUtf8(bytes)) throw badRequest('The body is not valid UTF-8.');
  const text = bytes.toString(ascii ? 'latin1' : 'utf8');
  const value = parse(text);
  const escaped = text.includes('\\u');
  if (text.includes('__proto__') || (escaped && /\\u005f/i.test(text))) dropPrototypes(value);
  if (escaped && typeof value === 'object' && value !== null && /\\u(?:0000|d[89a-f])/i.test(text)) suspects.add(value);
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

/** Deletes `__proto__` keys, which `JSON.parse` keeps. Assigning such a key to an object would set its prototype. */
function dropPrototypes(value: unknown): void {
  const rest: unknown[] = [value];
  while (rest.length > 0) {
    const next = rest.pop();
    if (typeof next !== 'object' || next === null) continue;
    if (Object.hasOwn(next, '__proto__')) delete (next as Record<string, unknown>)['__proto__'];
    for (const inner of Object.values(next)) rest.push(inner);
  }
}
