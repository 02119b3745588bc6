import { ApiError, type ErrorType, unavailable } from '#kernel/errors.js';
import { answerOf } from './envelope.js';
import { keyReused } from './idempotency-key.js';
import { RESEND_ERROR_NAMES } from './resend-errors.js';

interface SharedResponse {
  status: number;
  name: string;
  description: string;
  example: ApiError;
}

const EXAMPLE_REQUEST_ID = 'req_01JDZ3V5K8Q2M4N6P8R0T2W4Y6';

/** Status that Node's HTTP parser sends before the request is counted against a quota. */
const HEADERS_TOO_LARGE = 431;

const RESPONSES: readonly SharedResponse[] = [
  shared(
    'BadRequest',
    'The request cannot be read: malformed JSON, or an invalid parameter, header or cursor.',
    error('bad_request', 'The body is not valid JSON (at character 17).'),
  ),
  shared(
    'Unauthenticated',
    'The key is missing, unknown, expired or revoked.',
    error('unauthenticated', 'Send a valid API key.'),
  ),
  shared(
    'InsufficientScope',
    'The key lacks the required scope.',
    error('insufficient_scope', 'This needs a key of scope write; this one has scope read.', {
      required: 'write',
      scope: 'read',
    }),
  ),
  shared('NotFound', "The key's environment does not have this resource.", error('not_found', 'No such destination.')),
  shared(
    'Conflict',
    'The resource already exists, or the Idempotency-Key is in use or was used with another body.',
    keyReused(),
  ),
  shared('PayloadTooLarge', 'The body is too large.', error('payload_too_large', 'The body is larger than 1 MB.')),
  shared(
    'UnsupportedMediaType',
    'The body is not JSON in UTF-8.',
    error('unsupported_media_type', 'Send the body as application/json in UTF-8.'),
  ),
  shared(
    'ValidationFailed',
    'The request is not valid. `details.check` names the failed check: `schema`, `credentials`, `connectivity`, or `policy` (a rule of an extension).',
    error('validation_failed', 'name: is required', {
      check: 'schema',
      fields: [{ path: 'name', message: 'is required' }],
    }),
  ),
  {
    status: HEADERS_TOO_LARGE,
    name: 'HeadersTooLarge',
    description: 'The request line and headers are larger than 16 KB.',
    example: error('bad_request', 'The request line and headers are larger than 16 KB.'),
  },
  shared(
    'RateLimited',
    'Too many requests. Retry after the time in `Retry-After`.',
    error('rate_limited', 'Too many requests. Try again in 12 s.'),
  ),
  shared(
    'InternalError',
    'A server error. Retry with backoff; this is safe with an Idempotency-Key.',
    error('internal', 'Something went wrong on our side. Send the request again; an Idempotency-Key makes that safe.'),
  ),
  shared(
    'Unavailable',
    'Storage is unavailable. Nothing was accepted; send the request again after `Retry-After`.',
    unavailable('The service cannot reach its database. Nothing was accepted; send the request again.'),
  ),
];

export function sharedResponse(status: number): string | undefined {
  return RESPONSES.find((response) => response.status === status)?.name;
}

export const RATE_LIMIT_HEADERS = referTo(['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']);

export const SHARED_COMPONENTS = {
  headers: {
    'RateLimit-Limit': integerHeader(
      'Number of requests that the quota allows: the quota of the key or of the organization, whichever is stricter.',
      6000,
    ),
    'RateLimit-Remaining': integerHeader('Number of requests that are currently left in the quota.', 5999),
    'RateLimit-Reset': integerHeader('Whole seconds until the quota is full again.', 1),
    'Retry-After': integerHeader('Whole seconds to wait before the next try.', 1),
  },
  responses: Object.fromEntries(RESPONSES.map((response) => [response.name, responseObject(response)])),
  schemas: { Error: errorSchema(), EmailError: emailErrorSchema(), OAuthError: oauthErrorSchema() },
};

function responseObject({ status, description, example }: SharedResponse): Record<string, unknown> {
  const waits = status === 429 || status === 503 ? referTo(['Retry-After']) : {};
  const value = JSON.parse(answerOf(example, EXAMPLE_REQUEST_ID).body) as unknown;
  return {
    description,
    headers: status === HEADERS_TOO_LARGE ? {} : { ...RATE_LIMIT_HEADERS, ...waits },
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' }, example: value } },
  };
}

function shared(name: string, description: string, example: ApiError): SharedResponse {
  return { status: answerOf(example, '').status, name, description, example };
}

function error(type: ErrorType, message: string, details: Record<string, unknown> = {}): ApiError {
  return new ApiError(type, message, details);
}

function errorSchema(): { properties: Record<string, unknown> } & Record<string, unknown> {
  const types = [...new Set(RESPONSES.map(({ example }) => example.type)), 'forbidden', 'not_implemented'].filter(
    (type) => type !== 'unavailable',
  );
  return {
    type: 'object',
    description: 'Body of every response that is not 2xx.',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        description: 'Description of the error.',
        required: ['type', 'message', 'request_id', 'details'],
        properties: {
          type: {
            type: 'string',
            enum: types,
            description: 'Error type, for programs.',
            examples: ['validation_failed'],
          },
          message: {
            type: 'string',
            description: 'Description of the problem and of the next step, for people.',
            examples: ['payload: is required'],
          },
          request_id: {
            type: 'string',
            description: 'Id of the request in the logs.',
            examples: [EXAMPLE_REQUEST_ID],
          },
          details: {
            type: 'object',
            additionalProperties: true,
            description:
              'Additional data that depends on the error type, such as `check` and `fields` for validation_failed.',
            examples: [{ check: 'schema', fields: [{ path: 'payload', message: 'is required' }] }],
          },
        },
      },
    },
  };
}

function emailErrorSchema(): Record<string, unknown> {
  return {
    type: 'object',
    description: 'Body of every response of an email or domain operation that is not 2xx.',
    required: ['error', 'name', 'message', 'statusCode'],
    properties: {
      ...errorSchema().properties,
      name: {
        type: 'string',
        enum: RESEND_ERROR_NAMES,
        description: 'Error name of the `resend` package.',
        examples: ['validation_error'],
      },
      message: { type: 'string', description: 'Same as `error.message`.', examples: ['to: is required'] },
      statusCode: { type: 'integer', description: 'Status of the response.', examples: [422] },
    },
  };
}

function oauthErrorSchema(): Record<string, unknown> {
  return {
    type: 'object',
    description: 'An OAuth error (RFC 6749, section 5.2).',
    required: ['error', 'error_description'],
    properties: {
      error: { type: 'string', description: 'Error code, for programs.', examples: ['invalid_grant'] },
      error_description: {
        type: 'string',
        description: 'Description of the problem, for people.',
        examples: ['The code is unknown, used or expired.'],
      },
    },
  };
}

function integerHeader(description: string, example: number): Record<string, unknown> {
  return { description, schema: { type: 'integer', minimum: 0 }, example };
}

function referTo(names: readonly string[]): Record<string, { $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
