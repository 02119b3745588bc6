import { HttpException } from '@nestjs/common';
import { isUnreachable } from '#kernel/database/retry-until-available.js';
import { ApiError, badRequest, type ErrorType, noSuch, unavailable } from '#kernel/errors.js';
import { fromHttpException } from './http-exceptions.js';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** An error response, as the exception filter sends it and an idempotency record stores it. */
export interface ErrorAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** HTTP status of each error type, as documented for the API. */
const STATUS: Readonly<Record<ErrorType, number>> = {
  bad_request: 400,
  unauthenticated: 401,
  insufficient_scope: 403,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  validation_failed: 422,
  rate_limited: 429,
  not_implemented: 501,
  unavailable: 503,
  internal: 500,
};

const MB = 1_048_576;

const FASTIFY_ERRORS: Readonly<Record<string, (bodyBytesMax: number) => ApiError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: (bodyBytesMax) =>
    new ApiError('payload_too_large', `The body is larger than ${Math.floor(bodyBytesMax / MB)} MB.`),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new ApiError('unsupported_media_type', 'Send the body as application/json in UTF-8.'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => badRequest('The body is not as long as Content-Length says.'),
  FST_ERR_BAD_URL: () => badRequest('The path is not a valid percent-encoded URL path.'),
  FST_ERR_MAX_PARAM_LENGTH: () => badRequest('A part of the path is too long.'),
  FST_ERR_HANDLER_TIMEOUT: () =>
    unavailable('The request took too long. Send it again; an Idempotency-Key makes that safe.'),
};

/**
 * Converts an error. An unexpected error becomes `internal`, without its message. `bodyBytesMax` is the route's limit.
 */
export function toApiError(error: unknown, bodyBytesMax = MB): ApiError {
  if (error instanceof ApiError) return error;
  // Nest wraps errors of Fastify's parsers in an `HttpException`, as its `cause`.
  if (error instanceof HttpException)
    return clientStatusOf(error.cause) === null
      ? (fromHttpException(error) ?? toApiError(undefined))
      : toApiError(error.cause, bodyBytesMax);
  const known = FASTIFY_ERRORS[codeOf(error)];
  if (known) return known(bodyBytesMax);
  const status = clientStatusOf(error);
  if (status !== null)
    return status === 403 || status === 404 ? noSuch('path') : badRequest('The request could not be read.');
  if (isUnreachable(error))
    return unavailable('The service cannot reach its database. Nothing was accepted; send the request again.');
  return new ApiError(
    'internal',
    'Something went wrong on our side. Send the request again; an Idempotency-Key makes that safe.',
  );
}

export const statusOf = (error: ApiError): number => STATUS[error.type];

/** Returns the error envelope with the additional fields `more`, and the headers for this type of error. */
export function answerOf(error: ApiError, requestId: string, more: object = {}): ErrorAnswer {
  const headers: Record<string, string> = {};
  if (error.type === 'unauthenticated') headers['www-authenticate'] = 'Bearer';
  const { allowed } = error.details;
  if (error.type === 'method_not_allowed' && Array.isArray(allowed)) headers['allow'] = allowed.join(', ');
  const retryAfter = retryAfterOf(error);
  if (retryAfter !== undefined) headers['retry-after'] = String(retryAfter);
  return { status: statusOf(error), headers, body: envelope(error, requestId, more) };
}

/** Returns the error envelope as JSON. The API has one error type for all 5xx statuses except 501. */
function envelope({ type, message, details }: ApiError, requestId: string, more: object): string {
  const wireType = type === 'unavailable' ? 'internal' : type;
  return JSON.stringify({ error: { type: wireType, message, request_id: requestId, details }, ...more });
}

function retryAfterOf(error: ApiError): number | undefined {
  if (error.retryAfterSeconds !== undefined) return error.retryAfterSeconds;
  return error.type === 'unavailable' || error.details['reason'] === 'in_flight' ? 1 : undefined;
}

/** Returns the HTTP status that Fastify or a plugin assigned to an error of the client. Null for other errors. */
function clientStatusOf(error: unknown): number | null {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : null;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : null;
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return typeof code === 'string' ? code : '';
}
