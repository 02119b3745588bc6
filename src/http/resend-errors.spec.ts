import { ApiError, badRequest, conflict, invalid, noSuch, unavailable } from '#kernel/errors.js';
import { keyInFlight, keyReused, parseKey } from './idempotency-key.js';
import { RESEND_ERROR_NAMES, resendFields } from './resend-errors.js';

const WITH_KEY = { headers: { authorization: 'Bearer ek_live_x' } };

describe('resendFields', () => {
  it.each<[ApiError, string, number]>([
    [new ApiError('unauthenticated', 'x'), 'invalid_api_key', 401],
    [new ApiError('insufficient_scope', 'x'), 'restricted_api_key', 403],
    [new ApiError('forbidden', 'x'), 'invalid_access', 403],
    [noSuch('email'), 'not_found', 404],
    [new ApiError('method_not_allowed', 'x'), 'method_not_allowed', 405],
    [conflict('The email was sent.'), 'validation_error', 409],
    [keyReused(), 'invalid_idempotent_request', 409],
    [keyInFlight(), 'concurrent_idempotent_requests', 409],
    [new ApiError('payload_too_large', 'x'), 'validation_error', 413],
    [badRequest('x'), 'validation_error', 400],
    [invalid([{ path: 'to', message: 'is wrong' }]), 'validation_error', 422],
    [invalid([{ path: 'to', message: 'is required' }]), 'missing_required_field', 422],
    [invalid([{ path: 'attachments.0.content', message: 'is wrong' }]), 'invalid_attachment', 422],
    [invalid([{ path: 'emails.3.attachments', message: 'is wrong' }]), 'invalid_attachment', 422],
    [invalid([]), 'validation_error', 422],
    [new ApiError('validation_failed', 'x', { fields: 'none', reason: 5 }), 'validation_error', 422],
    [new ApiError('rate_limited', 'x'), 'rate_limit_exceeded', 429],
    [new ApiError('internal', 'x'), 'internal_server_error', 500],
    [new ApiError('not_implemented', 'x'), 'application_error', 501],
    [unavailable('x'), 'internal_server_error', 503],
  ])('%s is %s', (error, name, statusCode) => {
    expect(resendFields(error, WITH_KEY)).toEqual({ name, message: error.message, statusCode });
    expect(RESEND_ERROR_NAMES).toContain(name);
  });

  it('without a key, the key is missing', () => {
    const error = new ApiError('unauthenticated', 'x');

    for (const headers of [{}, { authorization: '' }])
      expect(resendFields(error, { headers }).name).toBe('missing_api_key');
  });

  it('a malformed idempotency key has its own name', () => {
    let name: string | undefined;
    try {
      parseKey('ö', true);
    } catch (error) {
      ({ name } = resendFields(error as ApiError, WITH_KEY));
    }

    expect(name).toBe('invalid_idempotency_key');
  });
});
