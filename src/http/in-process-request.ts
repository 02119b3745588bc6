import { hash } from 'node:crypto';
import type { Type } from '@nestjs/common';
import { badRequest, invalid } from '#kernel/errors.js';
import type { IdempotentRequest } from '#kernel/idempotency.js';
import type { Tenant } from '#kernel/tenant.js';
import { parseJson } from './body-parser.js';
import { routeOf } from './idempotency-key.js';
import { routeConfigOf } from './route-config.js';

/** A request that code in this process makes, after the checks of its route. */
export interface InProcessRequest<Body> {
  body: Body;
  bodyText: string;
  idempotency: IdempotentRequest | null;
}

/** The handler whose body checks apply, and the path with which a key is stored. */
export interface InProcessRoute<Controller extends object> {
  controller: Type<Controller>;
  handler: keyof Controller & string;
  path: string;
}

const KEY_LENGTH_MAX = 255;
/** Stands for the HTTP method, so that keys of code and keys of HTTP requests never collide. */
const METHOD = 'CODE';

/**
 * Serializes the body and checks it like the body of an HTTP request to the same handler. Throws 400 for a body that
 * JSON cannot represent or an invalid key, and 422 for an invalid body.
 */
export function inProcessRequest<Body, Controller extends object>(
  tenant: Tenant,
  { controller, handler, path }: InProcessRoute<Controller>,
  given: Body,
  key: string | undefined,
): InProcessRequest<Body> {
  const bytes = Buffer.from(jsonOf(given));
  const { text, value } = parseJson(bytes);
  const { checkBody } = routeConfigOf(
    (controller.prototype as Record<string, () => unknown>)[handler] as () => unknown,
  );
  const body = (checkBody === undefined ? value : checkBody(value, text)) as Body;
  const { environmentId } = tenant;
  const idempotency =
    key === undefined
      ? null
      : { environmentId, route: routeOf(METHOD, path), key: uuidOf(key), fingerprint: hash('sha256', bytes, 'buffer') };
  return { body, bodyText: text, idempotency };
}

function jsonOf(given: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(given);
  } catch {
    throw badRequest('The body cannot be written as JSON.');
  }
  if (text === undefined) throw invalid([{ path: '', message: 'The body must be a JSON object.' }]);
  return text;
}

/** Derives the stored key, a UUID of version 8 (RFC 9562, section 5.8), from any text. */
function uuidOf(key: string): string {
  if (typeof key !== 'string' || key === '' || key.length > KEY_LENGTH_MAX)
    throw badRequest(`The idempotency key must have 1 to ${KEY_LENGTH_MAX} characters.`);
  const digits = hash('sha256', key, 'hex');
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-8${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
}
