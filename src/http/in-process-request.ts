import { hash } from 'node:crypto';
import type { Type } from '@nestjs/common';
import { badRequest, invalid } from '#kernel/errors.js';
import type { IdempotentRequest } from '#kernel/idempotency.js';
import type { Tenant } from '#kernel/tenant.js';
import { parseJson } from './body-parser.js';
import { keyOfText, routeOf } from './idempotency-key.js';
import { routeConfigOf } from './route-config.js';

/** A request from code in this process, checked like an HTTP request to its route. */
export interface InProcessRequest<Body> {
  body: Body;
  bodyText: string;
  idempotency: IdempotentRequest | null;
}

/**
 * Route whose rules apply to an in-process request: its body is checked as in an HTTP request to this route, and
 * idempotency keys are scoped to the route's path.
 */
export interface InProcessRoute<Controller extends object> {
  controller: Type<Controller>;
  handler: keyof Controller & string;
  path: string;
}

const KEY_LENGTH_MAX = 255;
/** Stored instead of the HTTP method, so that idempotency keys from code never match keys of HTTP requests. */
const METHOD = 'CODE';

/**
 * Returns the request after checking its body like the body of an HTTP request to the handler. Throws 400 for an
 * invalid key or a body that JSON cannot represent, and 422 for an invalid body.
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
      : {
          environmentId,
          route: routeOf(METHOD, path),
          key: keyUuid(key),
          fingerprint: hash('sha256', bytes, 'buffer'),
        };
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

/** Returns the UUID under which an idempotency key is stored. Throws 400 if the text of the key is invalid. */
export function keyUuid(key: string): string {
  if (typeof key !== 'string' || key === '' || key.length > KEY_LENGTH_MAX)
    throw badRequest(`The idempotency key must have 1 to ${KEY_LENGTH_MAX} characters.`);
  return keyOfText(key);
}
