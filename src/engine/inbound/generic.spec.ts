import { Buffer } from 'node:buffer';
import { createHmac } from 'node:crypto';
import {
  GENERIC_SCHEMES,
  genericFaults,
  genericScheme,
  type GenericSchemeName,
  type GenericSettings,
} from './generic.js';
import { secretFault } from './secret-fault.js';
import { verify } from './verify.js';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const BODY = Buffer.from([0x7b, 0xff, 0x00, 0x7d]);
const mac = (hash: string, content: string | Buffer, key: string | Buffer = 's3cret'): Buffer =>
  createHmac(hash, key).update(content).digest();

function check(
  name: GenericSchemeName,
  settings: GenericSettings,
  headers: Record<string, string>,
  secret = 's3cret',
): string {
  const request = {
    method: 'PUT',
    path: '/a',
    query: '',
    url: 'https://in.example.com/a',
    headers: Object.entries(headers),
    body: BODY,
  };
  return verify(genericScheme(name, settings), request, [secret], NOW);
}

describe('genericScheme', () => {
  it.each(GENERIC_SCHEMES.filter((name) => name.startsWith('hmac-')))(
    '%s: accepts hex and base64, with and without the name of the hash as a prefix',
    (name) => {
      const hash = name.slice('hmac-'.length);
      const digest = mac(hash, BODY);
      for (const text of [digest.toString('hex'), digest.toString('hex').toUpperCase(), digest.toString('base64')]) {
        expect(check(name, {}, { 'x-signature': text })).toBe('verified');
        expect(check(name, {}, { 'x-signature': `${hash}=${text}` })).toBe('verified');
        expect(check(name, {}, { 'x-signature': `${text}00` })).toBe('failed');
        expect(check(name, {}, { 'x-signature': `md5=${text}` })).toBe('failed');
      }
      expect(check(name, {}, { 'x-signature': mac('sha384', BODY).toString('hex') })).toBe('failed');
      expect(check(name, {}, {})).toBe('failed');
    },
  );

  const hex = mac('sha256', BODY).toString('hex');
  const base64 = mac('sha256', BODY).toString('base64');
  const seconds = String(NOW / 1000);
  const stamped = (timestamp: string): string =>
    mac('sha256', Buffer.concat([Buffer.from(`${timestamp}.`), BODY])).toString('hex');
  const everything = mac('sha256', Buffer.concat([Buffer.from('PUT|https://in.example.com/a|id-7|'), BODY])).toString(
    'hex',
  );

  it.each<[string, GenericSettings, Record<string, string>, string]>([
    ['a custom header', { header: 'X-Acme-Hmac' }, { 'x-acme-hmac': hex }, 'verified'],
    ['only that header', { header: 'X-Acme-Hmac' }, { 'x-signature': hex }, 'failed'],
    ['a configured prefix is required', { prefix: 'v1=' }, { 'x-signature': hex }, 'failed'],
    ['a prefix', { prefix: 'v1=' }, { 'x-signature': `v1=${hex}` }, 'verified'],
    ['no prefix', { prefix: '' }, { 'x-signature': `sha256=${hex}` }, 'failed'],
    ['hex only', { encoding: 'hex' }, { 'x-signature': base64 }, 'failed'],
    ['base64 only', { encoding: 'base64' }, { 'x-signature': hex }, 'failed'],
    ['base64', { encoding: 'base64' }, { 'x-signature': base64 }, 'verified'],
    [
      'a time in seconds',
      { timestampHeader: 'X-Time' },
      { 'x-signature': stamped(seconds), 'x-time': seconds },
      'verified',
    ],
    [
      'a time in milliseconds',
      { timestampHeader: 'X-Time' },
      { 'x-signature': stamped(String(NOW)), 'x-time': String(NOW) },
      'verified',
    ],
    [
      'an old time',
      { timestampHeader: 'X-Time', toleranceSeconds: 10 },
      { 'x-signature': stamped(String(NOW / 1000 - 11)), 'x-time': String(NOW / 1000 - 11) },
      'failed',
    ],
    [
      'a future time',
      { timestampHeader: 'X-Time', toleranceSeconds: 10 },
      { 'x-signature': stamped(String(NOW / 1000 + 11)), 'x-time': String(NOW / 1000 + 11) },
      'failed',
    ],
    ['no time', { timestampHeader: 'X-Time' }, { 'x-signature': stamped('') }, 'failed'],
    [
      'a template',
      { signed: '{{method}}|{{ url }}|{{headers.X-Id}}|{{body}}' },
      { 'x-signature': everything, 'x-id': 'id-7' },
      'verified',
    ],
    [
      'a template whose header is missing',
      { signed: '{{method}}|{{url}}|{{headers.X-Id}}|{{body}}' },
      { 'x-signature': everything },
      'failed',
    ],
  ])('%s', (_title, settings, headers, expected) => {
    expect(genericFaults(settings, 'signature')).toEqual([]);
    expect(check('hmac-sha256', settings, headers)).toBe(expected);
  });

  it.each<[GenericSchemeName, string, RegExp]>([
    ['bearer', 'Bearer s3cret', /the token alone/],
    ['bearer', 's3 cret', /the token alone/],
    ['bearer', 's3cret\u20ac', /Latin-1/],
    ['api-key', ' s3cret', /begin or end with a space/],
    ['api-key', 's3cret\u20ac', /Latin-1/],
  ])('%s: the secret %j, which no request can present, has a fault', (name, secret, fault) => {
    const shown = Buffer.from(secret).toString('latin1');
    const headers: Record<string, string> =
      name === 'bearer' ? { authorization: `Bearer ${shown}` } : { 'x-api-key': shown.trim() };

    expect(check(name, {}, headers, secret)).toBe('failed');
    expect(secretFault(genericScheme(name, {}), secret)).toMatch(fault);
  });

  it.each<[GenericSchemeName, string]>([
    ['bearer', 'a.b-c_d~+/='],
    ['bearer', 's\u00e9'],
    ['api-key', 'Key s3cret'],
    ['api-key', 's\u00e9'],
  ])('%s: the secret %j can be presented and has no fault', (name, secret) => {
    const headers: Record<string, string> =
      name === 'bearer' ? { authorization: `Bearer ${secret}` } : { 'x-api-key': secret };

    expect(check(name, {}, headers, secret)).toBe('verified');
    expect(secretFault(genericScheme(name, {}), secret)).toBeNull();
  });

  it.each([
    ['hex', '6b6579'],
    ['base64', 'a2V5'],
    ['whsec', 'whsec_a2V5'],
    ['utf8', 'key'],
  ] as const)('a key in %s', (keyEncoding, secret) => {
    const signature = mac('sha256', BODY, 'key').toString('hex');

    expect(check('hmac-sha256', { keyEncoding }, { 'x-signature': signature }, secret)).toBe('verified');
    expect(check('hmac-sha256', { keyEncoding }, { 'x-signature': signature }, '!')).toBe('failed');
  });
});

describe('genericFaults', () => {
  it.each([
    [null, ['s']],
    [[], ['s']],
    [{ headers: 'x' }, ['s.headers']],
    [{ constructor: 'x' }, ['s.constructor']],
    [{ header: 'a b' }, ['s.header']],
    [{ header: '' }, ['s.header']],
    [{ prefix: 'a\n' }, ['s.prefix']],
    [{ prefix: 'a'.repeat(65) }, ['s.prefix']],
    [{ encoding: 'either' }, ['s.encoding']],
    [{ keyEncoding: 'latin1' }, ['s.keyEncoding']],
    [{ toleranceSeconds: 5 }, ['s.toleranceSeconds']],
    [{ timestampHeader: 'a', toleranceSeconds: 0 }, ['s.toleranceSeconds']],
    [{ timestampHeader: 'a', toleranceSeconds: 86_401 }, ['s.toleranceSeconds']],
    [{ signed: '{{timestamp}}' }, ['s.signed', 's.signed']],
    [{ signed: '{{timestamp}}.{{body}}' }, ['s.signed']],
    [{ timestampHeader: 'a', signed: '{{body}}' }, ['s.signed']],
    [{ signed: 'body' }, ['s.signed']],
    [{ signed: '{{body}}{{ip}}' }, ['s.signed']],
    [{ signed: '{{body}}{{headers.a b}}' }, ['s.signed']],
    [{ signed: `{{body}}${'a'.repeat(512)}` }, ['s.signed']],
  ])('%j: at %j', (json, expected) => {
    expect(genericFaults(json, 's').map(({ path }) => path)).toEqual(expected);
  });

  it.each([
    {},
    { header: 'X-A', prefix: '', encoding: 'hex', keyEncoding: 'whsec', timestampHeader: 'x-t', toleranceSeconds: 1 },
  ])('none: %j', (json) => {
    expect(genericFaults(json, 's')).toEqual([]);
  });
});
