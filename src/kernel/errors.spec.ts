import { ApiError, badRequest, checkFailed, conflict, invalid, noSuch, notFound, unavailable } from './errors.js';

describe('errors', () => {
  it.each([
    ['badRequest', badRequest('No.', { at: 3 }), { type: 'bad_request', message: 'No.', details: { at: 3 } }],
    ['badRequest without details', badRequest('No.'), { type: 'bad_request', message: 'No.', details: {} }],
    [
      'notFound',
      notFound('The month is closed.', { month: 11 }),
      { type: 'not_found', message: 'The month is closed.', details: { month: 11 } },
    ],
    ['noSuch', noSuch('destination'), { type: 'not_found', message: 'No such destination.', details: {} }],
    [
      'conflict',
      conflict('Twice.', { reason: 'x' }),
      { type: 'conflict', message: 'Twice.', details: { reason: 'x' } },
    ],
    [
      'checkFailed',
      checkFailed('connectivity', 'Refused.'),
      { type: 'validation_failed', message: 'Refused.', details: { check: 'connectivity' } },
    ],
    [
      'unavailable',
      unavailable('Away.', 5),
      { type: 'unavailable', message: 'Away.', details: {}, retryAfterSeconds: 5 },
    ],
    ['unavailable without a time', unavailable('Away.'), { type: 'unavailable', retryAfterSeconds: 1 }],
  ])('%s says what happened', (_what, error, expected) => {
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject(expected);
  });

  it.each([
    ['nothing', [], 'The body breaks its schema.'],
    ['one fault', [{ path: 'retry.schedule.0', message: 'must be a number' }], 'retry.schedule.0: must be a number'],
    ['a fault of the whole body', [{ path: '', message: 'must be an object' }], 'must be an object'],
    [
      'more',
      [
        { path: 'a', message: 'x' },
        { path: 'b', message: 'y' },
        { path: 'c', message: 'z' },
      ],
      'a: x (and 2 more, see details.fields)',
    ],
  ])('invalid names the first fault and returns every one: %s', (_what, fields, message) => {
    expect(invalid(fields)).toMatchObject({ type: 'validation_failed', message, details: { check: 'schema', fields } });
  });
});
