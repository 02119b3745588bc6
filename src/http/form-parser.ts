import type { FastifyInstance, FastifyRequest } from 'fastify';
import { multipartFields } from '#engine/inbound/multipart.js';
import { ApiError, badRequest } from '#kernel/errors.js';
import { withRouteConfig } from './route-config.js';

/** Maximum size of a form body, far above the size of Posthorn's forms. */
const FORM_BYTES_MAX = 16_384;

/** Fields of a form. Each name occurs once. */
export type FormFields = Readonly<Record<string, string>>;

/**
 * Marks a route that accepts only `application/x-www-form-urlencoded` and, with `multipart`, `multipart/form-data`. Its
 * body is of type `FormFields`.
 */
export const TakesForm = ({ multipart = false }: { multipart?: boolean } = {}): MethodDecorator =>
  withRouteConfig({ takesForm: true, takesMultipart: multipart });

/** Registers the form parsers. Routes that do not accept forms still reject forms with 415. */
export function registerFormParser(fastify: FastifyInstance): void {
  fastify.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: FORM_BYTES_MAX },
    (request, body, done) => {
      try {
        refuseForms(request, request.edge.takesForm === true);
        done(null, parseForm(body as string));
      } catch (error) {
        done(error as Error, undefined);
      }
    },
  );
  // Registered with a pattern, because an extension may register its own parser for the type by name. Fastify prefers a
  // parser with the exact name.
  fastify.addContentTypeParser(
    /^multipart\/form-data\s*;/i,
    { parseAs: 'buffer', bodyLimit: FORM_BYTES_MAX },
    (request, body, done) => {
      try {
        refuseForms(request, request.edge.takesMultipart === true);
        done(null, fieldsOf(multipartFields(request.headers['content-type'], body as Buffer) ?? []));
      } catch (error) {
        done(error as Error, undefined);
      }
    },
  );
}

function refuseForms({ edge }: FastifyRequest, isTaken: boolean): void {
  if (isTaken) return;
  const type = edge.takesForm === true ? 'application/x-www-form-urlencoded' : 'application/json in UTF-8';
  throw new ApiError('unsupported_media_type', `Send the body as ${type}.`);
}

/**
 * Parses a form. Throws 400 for a repeated field, because readers could use different values. Throws 400 for U+0000,
 * which PostgreSQL rejects and OAuth does not allow (RFC 6749, appendix A).
 */
export function parseForm(text: string): FormFields {
  return fieldsOf(new URLSearchParams(text));
}

function fieldsOf(given: Iterable<[name: string, value: string]>): FormFields {
  const fields = Object.create(null) as Record<string, string>;
  for (const [name, value] of given) {
    if (name in fields) throw badRequest(`The field ${name} is there twice.`);
    if (name.includes('\0') || value.includes('\0')) throw badRequest('A field of a form must not contain U+0000.');
    fields[name] = value;
  }
  return fields;
}
