import type { FastifyInstance } from 'fastify';
import { ApiError, badRequest } from '#kernel/errors.js';
import { withRouteConfig } from './route-config.js';

/** Much longer than any form of ours. */
const FORM_BYTES_MAX = 16_384;

/** The fields of a form, each once. */
export type FormFields = Readonly<Record<string, string>>;

/** The route takes `application/x-www-form-urlencoded` and nothing else; its body is `FormFields`. */
export const TakesForm = (): MethodDecorator => withRouteConfig({ takesForm: true });

/** Reads forms for the routes that take them; for every other route a form is 415 as before. */
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

/** Throws 400 for a field that is there twice, since two readers might each take another one, and for U+0000, which PostgreSQL refuses and OAuth has in no field (RFC 6749, appendix A). */
export function parseForm(text: string): FormFields {
  const fields = Object.create(null) as Record<string, string>;
  for (const [name, value] of new URLSearchParams(text)) {
    if (name in fields) throw badRequest(`The field ${name} is there twice.`);
    if (name.includes('\0') || value.includes('\0')) throw badRequest('A field of a form must not contain U+0000.');
    fields[name] = value;
  }
  return fields;
}
