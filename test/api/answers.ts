import type { ApiAnswer, PosthornServer } from '../support/server.js';

const TYPES: Readonly<Record<number, string>> = {
  400: 'bad_request',
  401: 'unauthenticated',
  403: 'insufficient_scope',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'bad_request',
  409: 'conflict',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  422: 'validation_failed',
  429: 'rate_limited',
  431: 'bad_request',
  500: 'internal',
  501: 'not_implemented',
  503: 'internal',
};

export const REQUEST_ID = /^req_[0-9A-HJKMNP-TV-Z]{26}$/;

/** Matches an RFC 3339 timestamp in UTC with milliseconds. */
export const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/** Expects the API's standard error body without further fields. The error type must match the status. */
export function expectRefusal(apiAnswer: ApiAnswer, status: number): void {
  expect({ status: apiAnswer.status, text: apiAnswer.text }).toEqual({
    status,
    text: expect.stringMatching(/^\{"error":/),
  });
  const { type, message, request_id: requestId, details, ...unknown } = apiAnswer.json.error;
  expect(unknown).toEqual({});
  const { error: _envelope, ...beside } = apiAnswer.json;
  // Errors of email operations also have the fields from which the `resend` package reads an error.
  if (Object.keys(beside).length > 0)
    expect(beside).toEqual({ name: expect.stringMatching(/^[a-z_]+$/), message, statusCode: status });
  expect(type).toBe(TYPES[status]);
  expect(message).toMatch(/^\S.*[^\s]$/s);
  expect(message).not.toMatch(/node_modules|\bat .*\.[jt]s:\d|QueryFailedError|syntax error at|relation "/);
  expect(requestId).toMatch(REQUEST_ID);
  expect(apiAnswer.headers.get('x-request-id')).toBe(requestId);
  expect(details).toEqual(expect.objectContaining({}));
  expect(apiAnswer.headers.get('content-type')).toBe('application/json; charset=utf-8');
}

/** Expects a 422 with a validation error at each path in `paths`. Returns the paths of all validation errors. */
export function expectInvalid(
  apiAnswer: ApiAnswer,
  check: 'schema' | 'credentials' | 'connectivity',
  ...paths: string[]
): string[] {
  expectRefusal(apiAnswer, 422);
  const { details } = apiAnswer.json.error;
  expect(details.check).toBe(check);
  const found = ((details.fields ?? []) as { path: string; message: string }[]).map(({ path }) => path);
  expect(found).toEqual(expect.arrayContaining(paths));
  return found;
}

/** Expects the three rate limit headers, with consistent whole numbers. */
export function expectRateLimitHeaders(headers: Headers): void {
  const [limit, remaining, reset] = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'].map((name) =>
    headers.get(name),
  );
  for (const value of [limit, remaining, reset]) expect(value).toMatch(/^\d+$/);
  expect(Number(limit)).toBeGreaterThan(0);
  expect(Number(remaining)).toBeLessThanOrEqual(Number(limit));
}

/** Creates an API key through the API. Returns the whole response; `key` is the secret text. */
export async function createKey(
  server: PosthornServer,
  body: Record<string, unknown>,
): Promise<{ id: string; key: string }> {
  const answer = await server.api('POST', '/v1/keys', { name: 'A key', ...body });
  expect({ status: answer.status, text: answer.text }).toEqual({ status: 201, text: expect.any(String) });
  return answer.json;
}

/** Operator key for the servers of suites that create organizations. */
export const OPERATOR_KEY = 'an-operator-key-of-more-than-32-characters';

/** Creates an organization on a server that has OPERATOR_KEY. Returns the header of its admin key. */
export async function newOrganization(server: PosthornServer): Promise<Record<string, string>> {
  const body = { slug: 'neighbour', name: 'A neighbour', admin: { email: 'admin@neighbour.example' } };
  const { status, text, json } = await server.api('POST', '/v1/orgs', body, as(OPERATOR_KEY));
  expect({ status, text }).toEqual({ status: 201, text: expect.any(String) });
  return as(json.key);
}

/** Returns the header that authenticates a call with another key. */
export function as(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}
