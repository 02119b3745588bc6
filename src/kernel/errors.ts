/** Types of the errors that the API returns. Only the HTTP layer maps them to status codes. */
export type ErrorType =
  | 'bad_request'
  | 'unauthenticated'
  | 'insufficient_scope'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'validation_failed'
  | 'rate_limited'
  | 'not_implemented'
  | 'unavailable'
  | 'internal';

/** One fault of a request body: its path (`retry.schedule.0`) and the expected value. */
export interface Fault {
  path: string;
  message: string;
  /** `connectivity` if the value is a well-formed address that Posthorn may not connect to. */
  check?: 'schema' | 'connectivity';
}

/** Maximum length of the path of a fault. Names and the depth of fields are chosen by the client. */
const PATH_CHARACTERS_MAX = 300;

/** Returns a path, cut after the maximum length with an ellipsis. */
export function shownPath(path: string): string {
  return path.length <= PATH_CHARACTERS_MAX ? path : `${path.slice(0, PATH_CHARACTERS_MAX - 1)}…`;
}

/**
 * An error that is returned to the caller. The message says what happened and what to do next, and contains no secret.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly type: ErrorType,
    message: string,
    readonly details: Record<string, unknown> = {},
    readonly retryAfterSeconds?: number,
  ) {
    super(message);
  }
}

/** 400: the request cannot be parsed (malformed JSON, an invalid query or path parameter, header or cursor). */
export const badRequest = (message: string, details?: Record<string, unknown>): ApiError =>
  new ApiError('bad_request', message, details);

/** 404: the resource does not exist in the caller's environment. Resources of other tenants are treated as missing. */
export const notFound = (message: string, details?: Record<string, unknown>): ApiError =>
  new ApiError('not_found', message, details);

/** 404 for the resource with this noun: `endpoint`, `event type`. */
export const noSuch = (noun: string): ApiError => notFound(`No such ${noun}.`);

/** 405, with the accepted methods in `Allow` (RFC 9110, section 15.5.6). */
export const methodNotAllowed = (message: string, allowed: readonly string[]): ApiError =>
  new ApiError('method_not_allowed', message, { allowed });

/** 409: the request conflicts with the current state. */
export const conflict = (message: string, details?: Record<string, unknown>): ApiError =>
  new ApiError('conflict', message, details);

/**
 * 422 with every fault. The check is `connectivity` if the only faults are addresses that Posthorn may not connect to,
 * otherwise `schema`.
 */
export function invalid(faults: readonly Fault[]): ApiError {
  const fields = faults.map(({ path, message }) => ({ path: shownPath(path), message }));
  const [first] = faults;
  if (first && faults.every(({ check }) => check === 'connectivity')) {
    return new ApiError('validation_failed', first.message, { check: 'connectivity', fields });
  }
  return new ApiError('validation_failed', schemaMessage(fields), { check: 'schema', fields });
}

/** 422 with check `connectivity` or `credentials`: the target cannot be reached or rejects the login. */
export const checkFailed = (check: 'connectivity' | 'credentials', message: string): ApiError =>
  new ApiError('validation_failed', message, { check });

/** 503: the storage is unavailable. Nothing was accepted, and the same request may be sent again. */
export const unavailable = (message: string, retryAfterSeconds = 1): ApiError =>
  new ApiError('unavailable', message, {}, retryAfterSeconds);

function schemaMessage(fields: readonly Fault[]): string {
  const first = fields[0];
  if (!first) return 'The body breaks its schema.';
  const more = fields.length > 1 ? ` (and ${fields.length - 1} more, see details.fields)` : '';
  return `${first.path ? `${first.path}: ` : ''}${first.message}${more}`;
}
