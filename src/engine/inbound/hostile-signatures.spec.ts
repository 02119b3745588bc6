import { Buffer } from 'node:buffer';
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { growthOf, LINEAR } from '../../../test/support/cpu-time.js';
import { failureReason } from './failure-reason.js';
import { forwardedFrom } from './forward.js';
import { withoutParameters } from './forwarded-url.js';
import { genericFaults, genericScheme, type GenericSchemeName, type GenericSettings } from './generic.js';
import { signSharedJwt } from './jwt.js';
import { parametersOf, sealedNames, secretParameters, withReplaced } from './query.js';
import type { SharedJwtScheme } from './scheme.js';
import { secretFault } from './secret-fault.js';
import { secretHeaders } from './secret-headers.js';
import { verify } from './verify.js';

const NOW = Date.parse('2026-11-22T12:00:00.000Z');
const SECONDS = NOW / 1000;
const BODY = '{"a":1}';
const mac = (content: string): string => createHmac('sha256', 's3cret').update(content).digest('hex');
const stamped = (time: string | number): string => mac(`${time}.${BODY}`);

interface Asked {
  headers?: Record<string, string>;
  query?: string;
  secret?: string;
}

function check(
  name: GenericSchemeName,
  settings: GenericSettings,
  { headers = {}, query = '', secret }: Asked,
): string {
  expect(genericFaults(settings, 'c', name)).toEqual([]);
  const request = {
    method: 'POST',
    path: '',
    query,
    url: `https://in.example.com/x${query === '' ? '' : `?${query}`}`,
    headers: Object.entries(headers),
    body: Buffer.from(BODY),
  };
  const scheme = genericScheme(name, settings);
  const secrets = [secret ?? 's3cret'];
  const verdict = verify(scheme, request, secrets, NOW);
  if (verdict === 'failed') expect(failureReason(scheme, request, { secrets, nowMs: NOW })).toMatch(/^.{10,300}$/);
  return verdict;
}

describe('a header of several parts', () => {
  const settings: GenericSettings = { signatureField: 'v1', timestampField: 't' };
  const many = (count: number, last: string): string => `${`v1=${'0'.repeat(64)},`.repeat(count)}${last}`;

  it.each<[string, string, string]>([
    ['a valid one', `t=${SECONDS},v1=${stamped(SECONDS)}`, 'verified'],
    ['another order and spaces', ` v1 = ${stamped(SECONDS)} , t = ${SECONDS} `, 'verified'],
    ['capital hexadecimal digits', `t=${SECONDS},v1=${stamped(SECONDS).toUpperCase()}`, 'verified'],
    ['base64', `t=${SECONDS},v1=${Buffer.from(stamped(SECONDS), 'hex').toString('base64')}`, 'verified'],
    [
      'base64 without padding',
      `t=${SECONDS},v1=${Buffer.from(stamped(SECONDS), 'hex').toString('base64').replace('=', '')}`,
      'verified',
    ],
    ['a second time, which is not signed', `t=${SECONDS},t=${SECONDS + 9},v1=${stamped(SECONDS)}`, 'verified'],
    ['an old signature with a current time before it', `t=${SECONDS},t=1,v1=${stamped(1)}`, 'failed'],
    ['an old signature with a current time after it', `t=1,t=${SECONDS},v1=${stamped(1)}`, 'failed'],
    ['a name in capitals', `T=${SECONDS},V1=${stamped(SECONDS)}`, 'failed'],
    ['another separator', `t=${SECONDS};v1=${stamped(SECONDS)}`, 'failed'],
    ['the 99th signature', many(98, `v1=${stamped(SECONDS)},t=${SECONDS}`), 'verified'],
    ['the signature after 10,000 others', many(10_000, `v1=${stamped(SECONDS)},t=${SECONDS}`), 'failed'],
    ['a very long value', `t=${SECONDS},v1=${'0'.repeat(1_000_000)}`, 'failed'],
    ['a very long time', `t=${'9'.repeat(100_000)},v1=${stamped(SECONDS)}`, 'failed'],
    ['only separators', ','.repeat(100_000), 'failed'],
    ['only equals signs', '='.repeat(100_000), 'failed'],
    ['names of the prototype', `__proto__=1,constructor=${stamped(SECONDS)}`, 'failed'],
    ['an object', '{"t":1}', 'failed'],
  ])('%s: %#', async (_what, value, verdict) => {
    const verdictOf = (text: string): string => check('hmac-sha256', settings, { headers: { 'x-signature': text } });

    expect(verdictOf(value)).toBe(verdict);
    expect(await growthOf(value, verdictOf)).toBeLessThan(LINEAR);
  });

  it.each<[string, string]>([
    [String(SECONDS), 'verified'],
    [String(NOW), 'verified'],
    ['2026-11-22T12:00:00Z', 'verified'],
    ['2026-11-22T13:00:00.123+01:00', 'verified'],
    ['2026-11-22T12:00:00', 'failed'],
    ['2026-11-22', 'failed'],
    ['2026-13-99T99:99:99Z', 'failed'],
    ['Sun, 22 Nov 2026 12:00:00 GMT', 'failed'],
    [`-${SECONDS}`, 'failed'],
    [`+${SECONDS}`, 'failed'],
    [`${SECONDS}.5`, 'failed'],
    [`${SECONDS / 10}e1`, 'failed'],
    ['NaN', 'failed'],
    ['Infinity', 'failed'],
    ['0x6a0f6f40', 'failed'],
    ['١٧٩٥٣٤٨٨٠٠', 'failed'],
    ['0', 'failed'],
    [String(NOW * 1000), 'failed'],
    [String(SECONDS + 301), 'failed'],
    [String(SECONDS - 301), 'failed'],
  ])('the time %s: %s', (time, verdict) => {
    expect(check('hmac-sha256', settings, { headers: { 'x-signature': `t=${time},v1=${stamped(time)}` } })).toBe(
      verdict,
    );
  });
});

describe('a token with a shared secret', () => {
  const part = (json: unknown): string => Buffer.from(JSON.stringify(json)).toString('base64url');
  const token = (header: unknown, claims: unknown, key = 's3cret', hash = 'sha256'): string => {
    const signed = `${part(header)}.${part(claims)}`;
    return `${signed}.${createHmac(hash, key).update(signed).digest('base64url')}`;
  };
  const claims = { iat: SECONDS };
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({
    type: 'spki',
    format: 'pem',
  }) as string;
  const [head = '', payload = '', signature = ''] = token({ alg: 'HS256' }, claims).split('.');

  it.each<[string, string, string]>([
    ['valid', token({ alg: 'HS256' }, claims), 'verified'],
    ['valid, after Bearer', `Bearer ${token({ alg: 'HS256' }, claims)}`, 'verified'],
    ['after another word', `Basic ${token({ alg: 'HS256' }, claims)}`, 'failed'],
    ['alg none without a signature', `${part({ alg: 'none' })}.${payload}.`, 'failed'],
    ['alg none with a signature', token({ alg: 'none' }, claims), 'failed'],
    ['alg in another case', token({ alg: 'hs256' }, claims), 'failed'],
    ['alg as a list', token({ alg: ['HS256'] }, claims), 'failed'],
    ['no alg', token({}, claims), 'failed'],
    ['a stronger alg than the pinned one', token({ alg: 'HS512' }, claims, 's3cret', 'sha512'), 'failed'],
    ['the digest of another alg', token({ alg: 'HS256' }, claims, 's3cret', 'sha512'), 'failed'],
    ['signed with a public key', token({ alg: 'HS256' }, claims, rsa), 'failed'],
    ['signed with an empty key', token({ alg: 'HS256' }, claims, ''), 'failed'],
    ['crit', token({ alg: 'HS256', crit: ['exp'] }, claims), 'failed'],
    ['a key in the token', token({ alg: 'HS256', jwk: { kty: 'oct', k: 'eA' } }, claims, 'x'), 'failed'],
    [
      'two alg',
      `${Buffer.from('{"alg":"HS256","alg":"none"}').toString('base64url')}.${payload}.${signature}`,
      'failed',
    ],
    ['a shorter signature', `${head}.${payload}.${signature.slice(0, 8)}`, 'failed'],
    ['a fourth part', `${head}.${payload}.${signature}.x`, 'failed'],
    ['padding', `${head}.${payload}.${signature}=`, 'failed'],
    ['claims that are a list', token({ alg: 'HS256' }, [claims]), 'failed'],
    ['no time', token({ alg: 'HS256' }, {}), 'failed'],
    ['iat as a text', token({ alg: 'HS256' }, { iat: String(SECONDS) }), 'failed'],
    ['iat in milliseconds', token({ alg: 'HS256' }, { iat: NOW }), 'failed'],
    ['exp in the past', token({ alg: 'HS256' }, { iat: SECONDS, exp: SECONDS - 61 }), 'failed'],
    ['exp null', token({ alg: 'HS256' }, { iat: SECONDS, exp: null }), 'failed'],
    ['nbf in the future', token({ alg: 'HS256' }, { iat: SECONDS, nbf: SECONDS + 61 }), 'failed'],
    ['too long', `${token({ alg: 'HS256' }, { iat: SECONDS, more: 'a'.repeat(9_000) })}`, 'failed'],
    ['deep nesting', `${head}.${Buffer.from('['.repeat(6_000)).toString('base64url')}.${signature}`, 'failed'],
  ])('%s', (_what, authorization, verdict) => {
    expect(check('jwt-hs256', {}, { headers: { authorization } })).toBe(verdict);
  });

  it('never verifies with a public key that became the secret by a change of the scheme', () => {
    const authorization = token({ alg: 'HS256' }, claims, rsa);

    expect(check('jwt-hs256', {}, { headers: { authorization }, secret: rsa })).toBe('failed');
  });

  it('needs no time only if it holds the hash of the body, unless a maximum age is set', () => {
    // Hash of the body, printed by: echo -n '{"a":1}' | sha256sum
    const hex = '015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862';
    const other = '0'.repeat(64);
    const timeless = { alg: 'HS256' };

    expect(
      check('jwt-hs256', { bodyHashClaim: 'sum' }, { headers: { authorization: token(timeless, { sum: hex }) } }),
    ).toBe('verified');
    expect(
      check('jwt-hs256', { bodyHashClaim: 'sum' }, { headers: { authorization: token(timeless, { sum: other }) } }),
    ).toBe('failed');
    expect(
      check(
        'jwt-hs256',
        { bodyHashClaim: 'sum', maxAgeSeconds: 60 },
        { headers: { authorization: token(timeless, { sum: hex }) } },
      ),
    ).toBe('failed');
  });

  it.each(['jwt-hs256', 'jwt-hs384', 'jwt-hs512'] as const)('%s: a sample satisfies all rules', (name) => {
    const settings: GenericSettings = {
      header: 'X-Jwt',
      issuer: 'i',
      audience: 'a',
      claims: { c: 'd' },
      bodyHashClaim: 'sum',
    };
    const jwt = signSharedJwt(genericScheme(name, settings) as SharedJwtScheme, 's3cret', Buffer.from(BODY), NOW) ?? '';

    expect(check(name, settings, { headers: { 'x-jwt': jwt } })).toBe('verified');
    for (const [field, value] of Object.entries({ issuer: 'j', audience: 'b', claims: { c: 'e' }, bodyHashClaim: 'c' }))
      expect(check(name, { ...settings, [field]: value }, { headers: { 'x-jwt': jwt } })).toBe('failed');
  });

  it('refuses a key in PEM as the secret, because a public key is no secret', () => {
    expect(secretFault(genericScheme('jwt-hs256'), rsa)).toMatch(/not a key in PEM/);
    expect(secretFault(genericScheme('jwt-hs256'), 's3cret')).toBeNull();
    expect(secretFault(genericScheme('jwt-hs256', { keyEncoding: 'hex' }), 'zz')).toMatch(/hexadecimal/);
  });

  it('is a secret header in the spelling that CGI reads', () => {
    const secret = secretHeaders(genericScheme('jwt-hs256', { header: 'X_Acme-Key' }));
    const headers: [string, string][] = ['x_acme-key', 'x-acme-key', 'x_acme_key', 'x-acme'].map((name) => [name, 'v']);

    expect(Object.keys(forwardedFrom(headers, secret).headers)).toEqual(['content-type', 'x-acme']);
  });

  it('is a secret header unless it holds the hash of the body', () => {
    const hidden = (settings: GenericSettings): boolean =>
      secretHeaders(genericScheme('jwt-hs256', settings)).has('x-jwt');

    expect([hidden({ header: 'X-Jwt' }), hidden({ header: 'X-Jwt', bodyHashClaim: 'sum' })]).toEqual([true, false]);
  });
});

describe('a key in the query', () => {
  const settings: GenericSettings = { queryParameter: 'token' };

  it.each<[string, string, string]>([
    ['token=s3cret', 's3cret', 'verified'],
    ['a=1&token=s3cret&b=2', 's3cret', 'verified'],
    ['tok%65n=s3cre%74', 's3cret', 'verified'],
    ['token=a+b', 'a+b', 'verified'],
    ['token=a%2Bb', 'a+b', 'verified'],
    ['token=a+b', 'a b', 'verified'],
    ['token=%C3%A9', 'é', 'verified'],
    ['token=%E9', 'é', 'failed'],
    ['', 's3cret', 'failed'],
    ['token', 's3cret', 'failed'],
    ['token=', 's3cret', 'failed'],
    ['Token=s3cret', 's3cret', 'failed'],
    ['token[]=s3cret', 's3cret', 'failed'],
    ['token=s3cret&token=s3cret', 's3cret', 'failed'],
    ['token=s3cret&tok%65n=x', 's3cret', 'failed'],
    ['token=S3CRET', 's3cret', 'failed'],
    [`token=${'s'.repeat(100_000)}`, 's3cret', 'failed'],
    ['x?token=s3cret', 's3cret', 'failed'],
  ])('%s with the secret %s: %s', (query, secret, verdict) => {
    expect(check('api-key', settings, { query, secret })).toBe(verdict);
  });

  it.each([
    ['a=1&token=s3cret&b=2', 'a=1&token=X&b=2'],
    ['a=1&tok%65n=s3cret&b=2&token=s3cret&c=3', 'a=1&tok%65n=X'],
    ['a=1;token=s3cret;b=2&c=3', 'a=1;token=X&c=3'],
    ['token;b=s3cret', 'token;b=X'],
    ['Token=s3cret&token[]', 'Token=X&token[]'],
    ['?token=s3cret', '?token=X'],
    ['%74oken%00x=s3cret', '%74oken%00x=X'],
    ['token[x]=s3cret', 'token[x]=X'],
    ['tokens=s3cret&x-token=1', 'tokens=s3cret&x-token=1'],
    ['token=s3?cret=1', 'token=X'],
    ['token', 'token'],
    ['token=', 'token=X'],
    ['a=b?token=c', 'a=b?token=c'],
    ['', ''],
  ])('%s is hidden as %s, in the query and in the URL', (query, hidden) => {
    const names = secretParameters(genericScheme('api-key', settings));
    const request = withReplaced({ query, url: `https://in.example.com/x?${query}`, other: 1 }, names, () => 'X');

    expect(request).toEqual({ query: hidden, url: `https://in.example.com/x?${hidden}`, other: 1 });
    expect(parametersOf(request, 'token')).not.toContain('s3cret');
  });

  it.each([
    ['token', '?token=s3cret'],
    ['token', '&?&token=s3cret'],
    ['token', '+token=1&token=s3cret'],
    ['api+key', 'api%2Bkey=s3cret'],
    ['api+key', 'api+key=s3cret'],
    ['+key', '%2Bkey=s3cret'],
    ['+key', '+key=s3cret'],
    ['api%6bey', 'api%256bey=s3cret'],
    ['?key', '%3Fkey=s3cret'],
    ['?', '%3F=s3cret'],
    ['a;b', 'a%3Bb=s3cret'],
    ['a&b=', 'a%26b%3D=s3cret'],
    ['api[key', 'api[key=s3cret'],
    ['[x]', '[x]=s3cret'],
  ])('named %s and sent as %s is accepted, and hidden and removed', (queryParameter, query) => {
    const named: GenericSettings = { queryParameter };
    const names = secretParameters(genericScheme('api-key', named));

    expect(check('api-key', named, { query })).toBe('verified');
    const hidden = withReplaced({ query, url: `https://in.example.com/x?${query}` }, names, () => 'X');
    expect(JSON.stringify(hidden)).not.toContain('s3cret');
    expect(withoutParameters(query, names)).not.toContain('s3cret');
  });

  it('that is repeated thousands of times is sealed once, for the query and the URL', () => {
    const query = `a=1&${'token=&'.repeat(5_300)}b=2`;
    const values: string[] = [];

    const { url } = withReplaced(
      { query, url: `https://in.example.com/x?${query}` },
      secretParameters(genericScheme('api-key', settings)),
      (value) => `X${values.push(value)}`,
    );

    expect(url).toBe('https://in.example.com/x?a=1&token=X1');
    expect(values).toEqual([query.slice('a=1&token='.length)]);
  });

  it.each([
    ['a=1&tok%65n= BOX_-9&b=2', 'a=1&tok%65n=s3cret&b=2', ['token']],
    ['a=1;token= BOX&b=2', 'a=1;token=s3cret&b=2', ['a', 'token']],
    ['a=1&token= BOX', 'a=1&token=1&Key=2&b=3', ['token', 'key', 'b']],
    ['token= BOX&a=1&token= BOX&b=2', 'token=1&a=1&token=2&b=2', ['token', 'a']],
    ['a=1&b==2', 'a=1&b==2', []],
    ['', '', []],
  ])('stored as %s is known by its names', (stored, opened, names) => {
    expect([...sealedNames(stored, opened)]).toEqual(names);
  });

  it('changes nothing for schemes without a key in the query', () => {
    const request = { query: 'token=s3cret', url: 'https://in.example.com/x?token=s3cret' };

    expect(withReplaced(request, secretParameters(genericScheme('api-key')), () => 'X')).toBe(request);
  });
});

describe('genericFaults', () => {
  it.each<[GenericSchemeName, object, string[]]>([
    ['hmac-sha256', { separator: ',,' }, ['s.separator']],
    ['hmac-sha256', { separator: '=' }, ['s.separator']],
    ['hmac-sha256', { signatureField: 'v=1' }, ['s.signatureField']],
    ['hmac-sha256', { signatureField: '' }, ['s.signatureField']],
    ['hmac-sha256', { signatureField: 'v'.repeat(33) }, ['s.signatureField']],
    ['hmac-sha256', { signatureField: 't', timestampField: 't' }, ['s.signatureField']],
    ['hmac-sha256', { timestampField: 't' }, ['s.timestampField']],
    ['hmac-sha256', { signatureField: 'v', timestampField: 't', timestampHeader: 'x' }, ['s.timestampField']],
    ['hmac-sha256', { signatureField: 'v', timestampField: 't', signed: '{{body}}' }, ['s.signed']],
    ['hmac-sha256', { signatureField: 'v', toleranceSeconds: 5 }, ['s.toleranceSeconds']],
    ['hmac-sha256', { signed: '{{headers.x-request-id}}' }, ['s.signed']],
    ['hmac-sha256', { signed: '{{query.a b}}' }, ['s.signed']],
    ['hmac-sha256', { signed: '{{query.}}' }, ['s.signed']],
    ['hmac-sha256', { queryParameter: 'token' }, ['s.queryParameter']],
    ['api-key', { queryParameter: 'a b' }, ['s.queryParameter']],
    ['api-key', { queryParameter: '' }, ['s.queryParameter']],
    ['api-key', { queryParameter: 'a'.repeat(129) }, ['s.queryParameter']],
    ['api-key', { queryParameter: 'a', header: 'x-key' }, ['s.queryParameter']],
    ['jwt-hs256', { jwksUrl: 'https://a.example' }, ['s.jwksUrl']],
    ['jwt-hs256', { claims: {}, keyEncoding: 'latin1' }, ['s.claims', 's.keyEncoding']],
    ['rsa-sha256', { signatureField: 'v', timestampField: 't' }, []],
    ['ed25519', { separator: '|' }, []],
    ['jwt-hs512', {}, []],
    ['hmac-sha256', { signed: '{{query.data.id}}' }, []],
    ['hmac-sha256', { signed: '{{ decompressedBody }}' }, []],
  ])('%s %j: at %j', (name, json, paths) => {
    expect(genericFaults(json, 's', name).map(({ path }) => path)).toEqual(paths);
  });
});
