import type { FastifyInstance } from 'fastify';
import { ApiError, badRequest } from '#kernel/errors.js';
import { withRouteConfig } from './route-config.js';

/** Maximum size, which far exceeds any form that Posthorn accepts. */
const FORM_BYTES_MAX = 16_384;

/** Fields of a form. Each name occurs once. */
export type FormFields = Readonly<Record<string, string>>;

/** Accepts only `application/x-www-form-urlencoded`. The body is `FormFields`. */
export const TakesForm = (): MethodDecorator => withRouteConfig({ takesForm: true });

/** Registers the form parser. Routes that do not accept forms still reject forms with 415. */
export function registerFormParser(fastify: FastifyInstance): void {
  fastify.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: FORM_BYTES_MAX },
    (request, body, done) => {
      try {
        if (request.edge.takesForm !== true)
          throw new ApiError('unsupported_media_type', 'Send the body as application/json in UTF-8.');
        done(null, parseForm(body as string));
      } catch (error) {
        done(error as Error, undefined);
      }
    },
  );
}

/**
 * Throws 400 for a repeated field, since two readers might use different values, and for U+0000, which PostgreSQL
 * rejects and OAuth does not allow in any field (RFC 6749, appendix A).
 */
export function parseForm(text: string): FormFields {
  const fields = Object.create(null) as Record<string, string>;
  for (const [name, value] of new URLSearchParams(text)) {
    if (name in fields) throw badRequest(`The field ${name} is there twice.`);
    if (name.includes('\0') || value.includes('\0')) throw badRequest('A field of a form must not contain U+0000.');
    fields[name] = value;
  }
  return fields;
}
