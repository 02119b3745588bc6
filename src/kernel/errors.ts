/** What went wrong, in the words of the specification's error table; the edge alone knows status codes. */
export type ErrorType =
  | 'bad_request'
  | 'unauthenticated'
  | 'insufficient_scope'
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

/** One fault of a request body: where it stands (`retry.schedule.0`) and what is expected there. */
export interface Fault {
  path: string;
  message: string;
  /** `connectivity` for an address that may not be connected to, whose form is right. */
  check?: 'schema' | 'connectivity';
}

/** An error that a caller is told about. The message says what happened and what to do next, and holds no secret. */
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

/** 400: the request cannot be read (malformed JSON, a bad query or path parameter, a bad header, a bad cursor). */
export const badRequest = (message: string, details?: Record<string, unknown>): ApiError =>
  new ApiError('bad_request', message, details);

/** 404: no such thing in the caller's environment, which includes every other tenant's things. */
export const notFound = (what: string): ApiError => new ApiError('not_found', `No such ${what}.`);

/** 405 with the methods that are taken in `Allow`: the endpoint's owner says which (RFC 9110, section 15.5.6). */
export const methodNotAllowed = (message: string, allowed: readonly string[]): ApiError =>
  new ApiError('method_not_allowed', message, { allowed });

/** 409: the request contradicts what is there. */
export const conflict = (message: string, details?: Record<string, unknown>): ApiError =>
  new ApiError('conflict', message, details);

/**
 * 422 with every fault: of check `schema`, readable JSON that breaks its schema; of check `connectivity` when nothing but addresses
 * that may not be connected to stands in the way.
 */
export function invalid(faults: readonly Fault[]): ApiError {
  const fields = faults.map(({ path, message }) => ({ path, message }));
  const [first] = faults;
  if (first && faults.every(({ check }) => check === 'connectivity')) {
    return new ApiError('validation_failed', first.message, { check: 'connectivity', fields });
  }
  return new ApiError('validation_failed', schemaMessage(fields), { check: 'schema', fields });
}

/** 422 of check `connectivity` or `credentials`: the target cannot be reached or does not let us in. */
export const checkFailed = (check: 'connectivity' | 'credentials', message: string): ApiError =>
  new ApiError('validation_failed', message, { check });

/** 503: storage is away; nothing was accepted and the same request may be sent again. */
export const unavailable = (message: string, retryAfterSeconds = 1): ApiError =>
  new ApiError('unavailable', message, {}, retryAfterSeconds);

function schemaMessage(fields: readonly Fault[]): string {
  const first = fields[0];
  if (!first) return 'The body breaks its schema.';
  const more = fields.length > 1 ? ` (and ${fields.length - 1} more, see details.fields)` : '';
  return `${first.path ? `${first.path}: ` : ''}${first.message}${more}`;
}
