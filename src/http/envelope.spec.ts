import { ForbiddenException, HttpException, NotFoundException } from '@nestjs/common';
import { ApiError, badRequest, conflict, type ErrorType, invalid, noSuch, unavailable } from '#kernel/errors.js';
import { answerOf, statusOf, toApiError } from './envelope.js';

const ID = 'req_01JDZ3V5K8Q2M4N6P8R0T2W4Y6';

function coded(message: string, fields: Record<string, unknown>): Error {
  return Object.assign(new Error(message), fields);
}

describe('the status of an error', () => {
  it.each<[ErrorType, number]>([
    ['bad_request', 400],
    ['unauthenticated', 401],
    ['insufficient_scope', 403],
    ['forbidden', 403],
    ['not_found', 404],
    ['conflict', 409],
    ['payload_too_large', 413],
    ['unsupported_media_type', 415],
    ['validation_failed', 422],
    ['rate_limited', 429],
    ['internal', 500],
    ['not_implemented', 501],
    ['unavailable', 503],
  ])('of %s is %i', (type, status) => {
    expect(statusOf(new ApiError(type, 'x'))).toBe(status);
  });
});

describe('the answer to an error', () => {
  it('is the envelope, with an empty `details` if there are none', () => {
    const { status, body } = answerOf(noSuch('destination'), ID);

    expect(status).toBe(404);
    expect(JSON.parse(body)).toEqual({
      error: { type: 'not_found', message: 'No such destination.', request_id: ID, details: {} },
    });
  });

  it('has the same bytes for the same error, since it is stored before it is sent', () => {
    const error = invalid([{ path: 'name', message: 'is required' }]);

    expect(answerOf(error, ID)).toEqual(answerOf(error, ID));
  });

  it('has type `internal` and a Retry-After for unavailable storage', () => {
    const { status, headers, body } = answerOf(unavailable('Away.'), ID);

    expect([status, headers['retry-after']]).toEqual([503, '1']);
    expect(JSON.parse(body)).toMatchObject({ error: { type: 'internal' } });
  });

  it.each<[string, ApiError, Record<string, string>]>([
    ['401 names the scheme', new ApiError('unauthenticated', 'x'), { 'www-authenticate': 'Bearer' }],
    ['429 says when', new ApiError('rate_limited', 'x', {}, 7), { 'retry-after': '7' }],
    ['409 in flight has a Retry-After', conflict('x', { reason: 'in_flight' }), { 'retry-after': '1' }],
    ['any other 409 has none', conflict('x', { reason: 'key_reused' }), {}],
    ['400 says nothing', badRequest('x'), {}],
  ])('%s', (_, error, headers) => {
    expect(answerOf(error, ID).headers).toEqual(headers);
  });
});

const TOO_LARGE = coded('x', { code: 'FST_ERR_CTP_BODY_TOO_LARGE', statusCode: 413 });

describe('the conversion of other errors', () => {
  it.each<[string, unknown, ErrorType]>([
    ['a bug', new TypeError('secret'), 'internal'],
    ['a thrown value that is not an error', 'secret', 'internal'],
    ['a broken constraint', coded('duplicate key secret', { code: '23505' }), 'internal'],
    ['a database that is shutting down', coded('terminating', { code: '57P01' }), 'unavailable'],
    ['too many connections', coded('sorry', { code: '53300' }), 'unavailable'],
    ['a statement that TypeORM wrapped', coded('x', { driverError: coded('x', { code: '08006' }) }), 'unavailable'],
    ['no connection', coded('connect', { code: 'ECONNREFUSED' }), 'unavailable'],
    ['a broken connection', new Error('Connection terminated unexpectedly'), 'unavailable'],
    ['a timeout of the connection pool', new Error('timeout exceeded when trying to connect'), 'unavailable'],
    ['a body that is too large', TOO_LARGE, 'payload_too_large'],
    [
      'an unsupported content type',
      coded('x', { code: 'FST_ERR_CTP_INVALID_MEDIA_TYPE', statusCode: 415 }),
      'unsupported_media_type',
    ],
    ['a bad path', coded('x', { code: 'FST_ERR_BAD_URL', statusCode: 400 }), 'bad_request'],
    ['a path that is too long', coded('x', { code: 'FST_ERR_MAX_PARAM_LENGTH', statusCode: 414 }), 'bad_request'],
    ['a handler that takes too long', coded('x', { code: 'FST_ERR_HANDLER_TIMEOUT', statusCode: 503 }), 'unavailable'],
    ['a client that disconnected', coded('aborted', { code: 'ECONNRESET', statusCode: 400 }), 'bad_request'],
    ['a file outside of the folder', coded('Forbidden', { statusCode: 403 }), 'not_found'],
    ['an unknown route', new NotFoundException('Cannot GET /x'), 'not_found'],
    ["an extension's guard", new ForbiddenException('Not for you.'), 'forbidden'],
    ['what Nest wraps', new HttpException('x', 413, { cause: TOO_LARGE }), 'payload_too_large'],
    ['a status outside of the table', new HttpException('x', 418), 'bad_request'],
    ["a 5xx of Nest's own", new HttpException('secret', 500), 'internal'],
  ])('%s', (_, error, type) => {
    const apiError = toApiError(error);

    expect(apiError.type).toBe(type);
    expect(answerOf(apiError, ID).body).not.toContain('secret');
  });
});
