import type { FastifyRequest } from 'fastify';
import type { ApiError, ErrorType } from '#kernel/errors.js';
import { statusOf } from './envelope.js';
import { withRouteConfig } from './route-config.js';
import { routeNamesOf } from './routes.js';

/** Top-level fields of an error response that the `resend` package reads. */
export interface ResendFields {
  name: string;
  message: string;
  statusCode: number;
}

/** Error names of the `resend` package, by error type. For other types, the name depends on the error's details. */
const NAMES: Readonly<Partial<Record<ErrorType, string>>> = {
  insufficient_scope: 'restricted_api_key',
  forbidden: 'invalid_access',
  not_found: 'not_found',
  method_not_allowed: 'method_not_allowed',
  rate_limited: 'rate_limit_exceeded',
  not_implemented: 'application_error',
  unavailable: 'internal_server_error',
  internal: 'internal_server_error',
};

const BY_REASON: Readonly<Record<string, string>> = {
  key_invalid: 'invalid_idempotency_key',
  key_reused: 'invalid_idempotent_request',
  in_flight: 'concurrent_idempotent_requests',
};

/** Every possible name, for the OpenAPI document. */
export const RESEND_ERROR_NAMES = [
  ...new Set([...Object.values(NAMES), ...Object.values(BY_REASON)]),
  'missing_api_key',
  'invalid_api_key',
  'invalid_attachment',
  'missing_required_field',
  'validation_error',
];

/** Class decorator for a controller: its error responses also have `name`, `message` and `statusCode` at the top level. */
export function ResendErrors(): ClassDecorator {
  return (target) => {
    const prototype = target.prototype as object;
    for (const name of routeNamesOf(prototype))
      withRouteConfig({ resendErrors: true })(prototype, name, Object.getOwnPropertyDescriptor(prototype, name) ?? {});
  };
}

/**
 * Returns whether the errors of a request also have the fields that the `resend` package reads. Without a route, every
 * error below /v1 has them, because the package has methods for paths that Posthorn does not have.
 */
export function hasResendErrors({ edge, is404, url }: Pick<FastifyRequest, 'edge' | 'is404' | 'url'>): boolean {
  return is404 ? /^[^?]*\/v1\//.test(url) : edge?.resendErrors === true;
}

export function resendFields(error: ApiError, { headers }: Pick<FastifyRequest, 'headers'>): ResendFields {
  return {
    name: nameOf(error, Boolean(headers.authorization)),
    message: error.message,
    statusCode: statusOf(error),
  };
}

function nameOf({ type, details }: ApiError, hasKey: boolean): string {
  if (type === 'unauthenticated') return hasKey ? 'invalid_api_key' : 'missing_api_key';
  const { reason } = details;
  const ofReason = typeof reason === 'string' ? BY_REASON[reason] : undefined;
  return ofReason ?? NAMES[type] ?? ofFields(details['fields']);
}

/** Returns the error name for an invalid request. The first fault determines the name. */
function ofFields(fields: unknown): string {
  const [first] = Array.isArray(fields) ? (fields as { path?: unknown; message?: unknown }[]) : [];
  if (first?.message === 'is required') return 'missing_required_field';
  return /^(?:emails\.\d+\.)?attachments\b/.test(String(first?.path)) ? 'invalid_attachment' : 'validation_error';
}
