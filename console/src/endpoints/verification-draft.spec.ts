import {
  exampleHeaders,
  forScheme,
  fromClaimLines,
  headerFormatOf,
  readVerification,
  settingsOf,
  toClaimLines,
  type VerificationSettings,
  withHeaderFormat,
  withTimestampPlace,
  writeVerification,
} from './verification-draft';

describe('settings of the verification', () => {
  it('removed settings leave no trace, and the defaults are an empty text', () => {
    expect(writeVerification({ header: 'x-a' }, { header: undefined })).toBe('');
    expect(readVerification('')).toEqual({});
    expect(readVerification('{')).toBeNull();
    expect(readVerification(writeVerification({ header: 'x-a' }, { prefix: 'v1=' }))).toEqual({
      header: 'x-a',
      prefix: 'v1=',
    });
  });

  it.each([
    ['hmac-sha256', true],
    ['ed25519', false],
    ['jwt-hs256', true],
    ['jwt', false],
    ['bearer', false],
  ])('%s has the encoding of the secret: %j', (scheme, isAccepted) => {
    expect(settingsOf(scheme).includes('keyEncoding')).toBe(isAccepted);
  });

  it.each([
    ['{"header":"x-a","keyEncoding":"hex"}', 'ed25519', { header: 'x-a' }],
    ['{"header":"x-a","signed":"{{body}}"}', 'jwt', {}],
    ['{"prefix":"v1="}', 'bearer', {}],
  ])('%s for %s is %j', (text, scheme, settings) => {
    expect(readVerification(forScheme(text, 'hmac-sha256', scheme))).toEqual(settings);
  });

  it('text that is not JSON stays for the user to correct', () => {
    expect(forScheme('{', 'none', 'jwt')).toBe('{');
  });
});

describe('the structure of the signature header', () => {
  it.each(['single', 'list', 'parts'] as const)('%s is read as it was written', (format) => {
    const text = writeVerification({ separator: ';', signatureField: 'h1' }, withHeaderFormat(format));

    expect(headerFormatOf(readVerification(text) ?? {})).toBe(format);
  });

  it.each<[VerificationSettings, 'none' | 'header' | 'part', VerificationSettings]>([
    [{}, 'header', { timestampHeader: 'x-timestamp' }],
    [{ timestampHeader: 'x-t', toleranceSeconds: 5 }, 'part', { timestampField: 't', toleranceSeconds: 5 }],
    [{ timestampField: 't', toleranceSeconds: 5 }, 'none', {}],
    [{ timestampField: 't', signed: '{{timestamp}}:{{body}}' }, 'none', {}],
    [{ signed: 'v0:{{body}}' }, 'header', { timestampHeader: 'x-timestamp' }],
    [{ signed: 'v0:{{body}}' }, 'none', { signed: 'v0:{{body}}' }],
  ])('%j with the time in %s is %j', (settings, place, expected) => {
    expect(readVerification(writeVerification(settings, withTimestampPlace(place, settings)))).toEqual(expected);
  });
});

describe('exampleHeaders', () => {
  it.each<[string, VerificationSettings, string[]]>([
    ['hmac-sha256', {}, ['x-signature: 5257a869e7ecebed…']],
    [
      'hmac-sha256',
      { header: 'x-acme', timestampHeader: 'x-time', prefix: 'v0=', encoding: 'base64' },
      ['x-acme: v0=K7gNU3sdo+OL0w…', 'x-time: 1795253400'],
    ],
    [
      'ed25519',
      { signatureField: 'h1', timestampField: 'ts', separator: ';' },
      ['x-signature: ts=1795253400;h1=5257a869e7ecebed…'],
    ],
    ['hmac-sha1', { separator: ' ' }, ['x-signature: 5257a869e7ecebed… 5257a869e7ecebed…']],
    ['jwt-hs256', {}, ['authorization: Bearer eyJhbGciOi…']],
    ['jwt', { header: 'x-token' }, ['x-token: eyJhbGciOi…']],
    ['api-key', { queryParameter: 'token' }, ['?token=…']],
    ['api-key', {}, ['x-api-key: …']],
    ['bearer', {}, ['authorization: Bearer …']],
    ['none', {}, []],
  ])('%s %j', (scheme, settings, headers) => {
    expect(exampleHeaders(scheme, settings)).toEqual(headers);
  });
});

describe('claims', () => {
  it.each([
    ['', {}],
    ['a=b\n\n https://example.com/role = x=y ', { a: 'b', 'https://example.com/role': 'x=y' }],
    ['a=b\nc', 2],
    ['a=', 1],
  ])('%j is %j', (text, claims) => {
    expect(fromClaimLines(text)).toEqual(claims);
  });

  it('claims are read as they were written', () => {
    expect(fromClaimLines(toClaimLines({ a: 'b', 'c:d': 'e=f' }))).toEqual({ a: 'b', 'c:d': 'e=f' });
  });
});
