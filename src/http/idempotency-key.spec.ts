import { ApiError, badRequest, conflict, invalid, noSuch, unavailable } from '#kernel/errors.js';
import { keyInFlight, keyReused, mayHaveSucceeded, parseKey, routeOf } from './idempotency-key.js';

const KEY = '8e03978e-40d5-43dd-bc93-6894a57f9324';

describe('the Idempotency-Key header', () => {
  it.each([KEY, `"${KEY}"`, KEY.toUpperCase(), ` ${KEY} `])('%j is the key', (header) => {
    expect(parseKey(header)).toBe(KEY);
  });

  it.each([
    '',
    'abc',
    `"${KEY}`,
    `${KEY}"`,
    `'${KEY}'`,
    `${KEY}, ${KEY}`,
    KEY.replaceAll('-', ''),
    `{${KEY}}`,
    `${KEY}0`,
    [KEY, KEY],
  ])('400 for %j', (header) => {
    expect(() => parseKey(header)).toThrow(expect.objectContaining({ type: 'bad_request' }));
  });
});

describe('the Idempotency-Key header of email operations', () => {
  it.each(['a', 'order-4711', 'welcome/user 1', '"quoted"', '~'.repeat(256)])('%j becomes a UUID', (header) => {
    const key = parseKey(header, true);

    expect(key).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect([parseKey(header, true), parseKey(`${header.slice(1)}!`, true)]).toEqual([
      key,
      expect.not.stringMatching(key),
    ]);
  });

  it('a UUID stays the same as on other routes', () => {
    expect(parseKey(`"${KEY}"`, true)).toBe(KEY);
  });

  it.each(['', 'x'.repeat(257), 'naïve', 'a\tb', 'a\0', [KEY, KEY]])('400 for %j', (header) => {
    expect(() => parseKey(header, true)).toThrow(
      expect.objectContaining({ type: 'bad_request', details: { reason: 'key_invalid' } }),
    );
  });
});

describe('the scope of a key', () => {
  it('is method and path, without the query', () => {
    expect(routeOf('POST', '/v1/send?dry=1')).toBe('POST /v1/send');
    expect(routeOf('POST', '/v1/send')).toBe('POST /v1/send');
  });

  it('stays short enough for an index for any path, and differs for different paths', () => {
    const [a, b] = ['a', 'b'].map((end) => routeOf('POST', `/v1/app/${'x'.repeat(4000)}${end}/event`));

    expect(a).not.toBe(b);
    expect(a?.length).toBeLessThan(100);
  });
});

describe('the errors for which an earlier answer is looked up', () => {
  it.each<[ApiError, boolean]>([
    [noSuch('x'), true],
    [conflict('x'), true],
    [invalid([]), true],
    [badRequest('x'), false],
    [new ApiError('unauthenticated', 'x'), false],
    [new ApiError('insufficient_scope', 'x'), false],
    [new ApiError('rate_limited', 'x'), false],
    [new ApiError('internal', 'x'), false],
    [unavailable('x'), false],
    [keyReused(), false],
    [keyInFlight(), false],
  ])('%s: %s', (error, asks) => {
    expect(mayHaveSucceeded(error)).toBe(asks);
  });
});
