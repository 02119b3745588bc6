import { Buffer } from 'node:buffer';
import { createSign, generateKeyPairSync, sign } from 'node:crypto';
import { PAYPAL, PAYPAL_OF_2015 } from '../../../test/support/paypal.js';
import { failureReason } from './failure-reason.js';
import { genericFaults, genericScheme, type GenericSchemeName, type GenericSettings } from './generic.js';
import { hasKeyOf } from './jwt.js';
import { paypalCertificateUrl, paypalContent } from './paypal.js';
import type { Scheme } from './scheme.js';
import { secretFault } from './secret-fault.js';
import { verify } from './verify.js';

interface Asked {
  headers?: Record<string, string>;
  body?: string | Buffer;
  secrets?: string[];
  nowMs?: number;
  published?: string;
}

const NOW = Date.parse('2026-11-22T12:00:00.000Z');

function check(scheme: Scheme, { headers = {}, body = '', secrets = [], nowMs = NOW, published }: Asked): string {
  const request = {
    method: 'POST',
    path: '',
    query: '',
    url: 'https://in.example.com/in/acme/x',
    headers: Object.entries(headers),
    body: Buffer.from(body),
  };
  return verify(scheme, request, secrets, nowMs, published);
}

const generic = (name: GenericSchemeName, settings: GenericSettings = {}): Scheme => genericScheme(name, settings);

describe('schemes in which the sender shows the secret', () => {
  it.each<[string, Scheme, Record<string, string>, string, string]>([
    ['bearer', generic('bearer'), { authorization: 'Bearer t0ken' }, 't0ken', 'verified'],
    ['bearer in lower case', generic('bearer'), { authorization: 'bearer t0ken' }, 't0ken', 'verified'],
    ['another token', generic('bearer'), { authorization: 'Bearer t0ken2' }, 't0ken', 'failed'],
    ['a token of another scheme', generic('bearer'), { authorization: 'Basic t0ken' }, 't0ken', 'failed'],
    ['nothing', generic('bearer'), {}, 't0ken', 'failed'],
    [
      'basic (RFC 7617)',
      generic('basic'),
      { authorization: 'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==' },
      'Aladdin:open sesame',
      'verified',
    ],
    [
      'another password',
      generic('basic'),
      { authorization: 'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==' },
      'Aladdin:open',
      'failed',
    ],
    ['a key', generic('api-key'), { 'x-api-key': 'k' }, 'k', 'verified'],
    ['a key in a custom header', generic('api-key', { header: 'X-Acme-Key' }), { 'x-acme-key': 'k' }, 'k', 'verified'],
    ['another key', generic('api-key'), { 'x-api-key': 'K' }, 'k', 'failed'],
  ])('%s', (_what, scheme, headers, secret, verdict) => {
    expect(check(scheme, { headers, secrets: [secret] })).toBe(verdict);
  });
});

describe('public keys', () => {
  // Test vector of RFC 8032, section 7.1, TEST 2.
  const ed25519 = {
    key: '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    body: Buffer.from([0x72]),
    signature:
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
  };
  // Key, body and signature from Wise's own examples.
  const wise = {
    key: 'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAwpb91cEYuyJNQepZAVfPZIlPZfNUefH+n6w9SW3fykqKu938cR7WadQv87oF2VuT+fDt7kqeRziTmPSUhqPUys/V2Q1rlfJuXbE+Gga37t7zwd0egQ+KyOEHQOpcTwKmtZ81ieGHynAQzsn1We3jwt760MsCPJ7GMT141ByQM+yW1Bx+4SG3IGjXWyqOWrcXsxAvIXkpUD/jK/L958CgnZEgz0BSEh0QxYLITnW1lLokSx/dTianWPFEhMC9BgijempgNXHNfcVirg1lPSygz7KqoKUN0oHqWLr2U1A+7kqrl6O2nx3CKs1bj1hToT1+p4kcMoHXA7kA+VBLUpEsVwIDAQAB',
    body: '{"data":{"resource":{"id":49983981,"profile_id":16055450,"account_id":14124090,"type":"transfer"},"current_state":"incoming_payment_waiting","previous_state":null,"occurred_at":"2021-08-23T10:12:50Z"},"subscription_id":"90aa8e14-4ef1-4a56-861c-f3c9cde097ea","event_type":"transfers#state-change","schema_version":"2.0.0","sent_at":"2021-08-23T10:12:50Z"}',
    signature:
      'wKcKCYXAzxNgiu7xmoDm943NUni7Rz33QN8JkEA9dWSGebgndonabgSj18Y4C08OrwVmueGsED2s00M7DtJVcYKOS1i3G4TMVx+mgM3aL9djMBkQtiYNBFUd6wrPI7ZUNHv/TrlKSjTMc+6JFvUvJ7owY3z85e3I4jLRLJowMFvO8kvCJ60+1pY9wDwZvtZ//WS93LrwGjk9Dvwzpmu0w+P4J75tETT5qC3Uv0y5G2yO8SEoO3yNP/tg/BOli02niHb53vEOUWUb9bly6thnfMoXoiV/osoGxgF20R58RlvkAmezyyl1Sv542TfS2DpiwVnmjjjkCyXeSUcKookYLQ==',
  };
  const cases: [string, Scheme, { key: string; body: string | Buffer; signature: string }][] = [
    ['Ed25519, RFC 8032', generic('ed25519'), ed25519],
    ['RSA-SHA256, Wise', generic('rsa-sha256', { header: 'X-Signature-SHA256' }), wise],
  ];

  it.each(cases)(
    '%s: the published vector is verified in hex and base64, and nothing else is',
    (_what, scheme, { key, body, signature }) => {
      const header = scheme.kind === 'public-key' ? scheme.header : '';
      const bytes = signature.length === 128 ? Buffer.from(signature, 'hex') : Buffer.from(signature, 'base64');
      const asked = (text: string, more: Asked = {}): string =>
        check(scheme, { headers: { [header]: text }, body, secrets: [key], ...more });

      expect([asked(signature), asked(bytes.toString('hex')), asked(bytes.toString('base64'))]).toEqual([
        'verified',
        'verified',
        'verified',
      ]);
      expect([
        asked(signature, { body: `${String(body)} ` }),
        asked(''),
        asked('x'),
        asked(signature, { secrets: [] }),
      ]).toEqual(['failed', 'failed', 'failed', 'failed']);
      bytes[3] = (bytes[3] ?? 0) ^ 1;
      expect(asked(bytes.toString('base64'))).toBe('failed');
    },
  );

  it('accepts keys in every format that consoles show, and rejects keys of another kind', () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const signature = sign(null, Buffer.from('{}'), privateKey).toString('base64');
    const spki = publicKey.export({ type: 'spki', format: 'der' });
    const pem = String(publicKey.export({ type: 'spki', format: 'pem' })).trim();
    const raw = spki.subarray(-32);
    for (const secret of [
      raw.toString('hex'),
      raw.toString('base64'),
      spki.toString('base64'),
      pem,
      pem.replaceAll('\n', ' '),
      pem.replaceAll('\n', '\\n'),
    ]) {
      expect(secretFault(generic('ed25519'), secret)).toBeNull();
      expect(check(generic('ed25519'), { headers: { 'x-signature': signature }, body: '{}', secrets: [secret] })).toBe(
        'verified',
      );
    }
    for (const secret of [
      pem,
      'ab',
      wise.key.slice(0, 40),
      generateKeyPairSync('rsa', { modulusLength: 1024 })
        .publicKey.export({ type: 'spki', format: 'der' })
        .toString('base64'),
    ]) {
      expect(secretFault(generic('rsa-sha256'), secret)).toMatch(/RSA public key/);
    }
    expect(secretFault(generic('rsa-sha256'), wise.key)).toBeNull();
  });

  it('checks a signed timestamp', () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const scheme = generic('rsa-sha256', { timestampHeader: 'x-at' });
    const at = String(NOW / 1000 - 301);
    const asked: Asked = {
      headers: {
        'x-at': at,
        'x-signature': createSign('RSA-SHA256').update(`${at}.{}`).sign(privateKey).toString('base64'),
      },
      body: '{}',
      secrets: [publicKey.export({ type: 'spki', format: 'der' }).toString('base64')],
    };

    expect([check(scheme, asked), check(scheme, { ...asked, nowMs: NOW - 1000 })]).toEqual(['failed', 'verified']);
    const request = {
      method: 'POST',
      path: '',
      query: '',
      url: 'https://in.example.com/',
      headers: Object.entries(asked.headers ?? {}),
      body: Buffer.from('{}'),
    };
    expect(failureReason(scheme, request, { secrets: asked.secrets ?? [], nowMs: NOW })).toMatch(
      /^it is right, but too old/,
    );
  });
});

describe('JSON Web Tokens', () => {
  // Payload from RFC 7515, appendices A.2 and A.3. The token expires at 1300819380.
  const PAYLOAD = 'eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ';
  const RSA = {
    kty: 'RSA',
    n: 'ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ',
    e: 'AQAB',
  };
  const EC = {
    kty: 'EC',
    crv: 'P-256',
    x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
    y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
  };
  const RS256 = `eyJhbGciOiJSUzI1NiJ9.${PAYLOAD}.cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw`;
  const ES256 = `eyJhbGciOiJFUzI1NiJ9.${PAYLOAD}.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q`;
  const AT = 1300819380_000;
  const jwks = JSON.stringify({ keys: [{ kty: 'oct', k: 'AAAA' }, EC, RSA] });
  const bound: GenericSettings = { jwksUrl: 'https://issuer.example.com/jwks', issuer: 'joe' };
  const ask = (token: string, more: Asked & { settings?: GenericSettings } = {}): string =>
    check(generic('jwt', { ...bound, ...more.settings }), {
      headers: { authorization: `Bearer ${token}` },
      nowMs: AT,
      published: jwks,
      ...more,
    });

  it.each([
    ['RS256', RS256],
    ['ES256', ES256],
  ])('%s: the vector of RFC 7515 is valid until it expires', (_alg, token) => {
    expect([ask(token), ask(token, { nowMs: AT + 59_000 }), ask(token, { nowMs: AT + 61_000 })]).toEqual([
      'verified',
      'verified',
      'failed',
    ]);
    expect(ask(token, { published: JSON.stringify({ keys: [] }) })).toBe('failed');
    expect(ask(`${token.slice(0, -4)}AAAA`)).toBe('failed');
    expect(ask(token, { settings: { issuer: 'jane' } })).toBe('failed');
    expect(ask(token, { settings: { audience: 'us' } })).toBe('failed');
    expect(ask(token, { settings: { claims: { 'http://example.com/is_root': 'true' } } })).toBe('verified');
    expect(ask(token, { settings: { claims: { 'http://example.com/is_root': 'false' } } })).toBe('failed');
    expect(hasKeyOf(token, jwks)).toBe(true);
  });

  describe('the numbers of an RSA key', () => {
    const zeros = (text: string, count = 1): string =>
      Buffer.concat([Buffer.alloc(count), Buffer.from(text, 'base64url')]).toString('base64url');
    const { e } = RSA;
    const n = generateKeyPairSync('rsa', { modulusLength: 4096 }).publicKey.export({ format: 'jwk' }).n ?? '';

    it.each<[string, object, boolean]>([
      ['4,096 bits', { n, e }, true],
      ['4,096 bits behind a zero byte', { n: zeros(n), e: zeros(e, 2) }, true],
      ['an exponent of 32 bits', { n, e: '_____w' }, true],
      ['more than 4,096 bits', { n: `${n}AQAB`, e }, false],
      ['an exponent of more than 32 bits', { n, e: 'AQAAAAE' }, false],
      ['text', { n: 5, e: {} }, true],
    ])('%s', (_what, numbers, isTried) => {
      expect(hasKeyOf(RS256, JSON.stringify({ keys: [{ kty: 'RSA', ...numbers }] }))).toBe(isTried);
    });

    it('with leading zero bytes verify a token', () => {
      const key = { ...RSA, n: zeros(RSA.n), e: zeros(RSA.e) };

      expect(ask(RS256, { published: JSON.stringify({ keys: [key] }) })).toBe('verified');
    });

    it('are tried for 16 keys', () => {
      const others = (count: number): object[] => Array.from({ length: count }, () => ({ kty: 'RSA', n, e }));

      expect(ask(RS256, { published: JSON.stringify({ keys: [...others(15), RSA] }) })).toBe('verified');
      expect(ask(RS256, { published: JSON.stringify({ keys: [...others(16), RSA] }) })).toBe('failed');
    });
  });

  it.each([
    ['none', { alg: 'none' }],
    ['a symmetric algorithm', { alg: 'HS256' }],
    ['another algorithm with the same key', { alg: 'RS512' }],
    ['crit', { alg: 'RS256', crit: ['b64'] }],
    ['another kid', { alg: 'RS256', kid: 'x' }],
  ])('%s is refused', (_what, header) => {
    const [, payload, signature] = RS256.split('.');
    expect(ask(`${Buffer.from(JSON.stringify(header)).toString('base64url')}.${payload}.${signature}`)).toBe('failed');
  });

  describe('tokens made by this test', () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const published = JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k1' }] });
    const token = (claims: object, header: object = {}): string => {
      const content = [{ alg: 'EdDSA', kid: 'k1', ...header }, claims]
        .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
        .join('.');
      return `${content}.${sign(null, Buffer.from(content), privateKey).toString('base64url')}`;
    };
    const seconds = NOW / 1000;

    it.each<[string, object, GenericSettings, string]>([
      ['one of several audiences', { aud: ['a', 'us'], exp: seconds + 1 }, { audience: 'us' }, 'verified'],
      ['no audience', { exp: seconds + 1 }, { audience: 'us' }, 'failed'],
      ['not yet', { iss: 'joe', exp: seconds + 900, nbf: seconds + 61 }, {}, 'failed'],
      ['recent, without an expiry', { iss: 'joe', iat: seconds - 300 }, {}, 'verified'],
      ['old, without an expiry', { iss: 'joe', iat: seconds - 301 }, {}, 'failed'],
      ['without any time', { iss: 'joe' }, {}, 'failed'],
      ['an expiry that is not a number', { iss: 'joe', exp: 'never' }, {}, 'failed'],
      // Expected hash, printed by: echo -n '{}' | sha256sum
      [
        'the hash of the body',
        { iat: seconds, sum: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a' },
        { bodyHashClaim: 'sum' },
        'verified',
      ],
      [
        'the hash of another body',
        { iat: seconds, sum: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8b' },
        { bodyHashClaim: 'sum' },
        'failed',
      ],
      ['no hash', { iat: seconds }, { bodyHashClaim: 'sum' }, 'failed'],
      [
        'the hash of the body without any time, as FusionAuth sends it',
        { sum: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a' },
        { bodyHashClaim: 'sum' },
        'verified',
      ],
      [
        'the hash of the body without any time, with a maximum age',
        { sum: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a' },
        { bodyHashClaim: 'sum', maxAgeSeconds: 60 },
        'failed',
      ],
      [
        'the hash in base64',
        { sum: 'RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o=' },
        { bodyHashClaim: 'sum' },
        'verified',
      ],
    ])('%s', (_what, claims, settings, verdict) => {
      const scheme = generic('jwt', {
        jwksUrl: bound.jwksUrl,
        ...((settings.audience ?? settings.bodyHashClaim) ? {} : { issuer: 'joe' }),
        ...settings,
        header: 'X-Token',
      });

      expect(check(scheme, { headers: { 'x-token': token(claims) }, body: '{}', published })).toBe(verdict);
    });
  });

  it.each<[GenericSettings | null, string[]]>([
    [null, ['c.jwksUrl', 'c.audience']],
    [{ jwksUrl: 'https://a.example' }, ['c.audience']],
    [{ audience: 'us' }, ['c.jwksUrl']],
    [{ jwksUrl: 'x', issuer: '', claims: {} }, ['c.jwksUrl', 'c.issuer', 'c.claims']],
    [{ ...bound, signed: '{{body}}' }, ['c.signed']],
    [bound, []],
  ])('the settings %j have faults at %j', (settings, paths) => {
    expect(genericFaults(settings, 'c', 'jwt').map(({ path }) => path)).toEqual(paths);
  });
});

describe('PayPal', () => {
  // Sample from PayPal's own libraries. Its certificate has expired, so most signatures below use a test key.
  const SAMPLE = {
    id: 'dfb3be50-fd74-11e4-8bf3-77339302725b',
    time: '2015-05-18T15:45:13Z',
    webhookId: '4JH86294D6297924G',
    body: '{"id":"WH-0G2756385H040842W-5Y612302CV158622M","create_time":"2015-05-18T15:45:13Z","resource_type":"sale","event_type":"PAYMENT.SALE.COMPLETED","summary":"Payment completed for $ 20.0 USD","resource":{"id":"4EU7004268015634R","create_time":"2015-05-18T15:44:02Z","update_time":"2015-05-18T15:44:21Z","amount":{"total":"20.00","currency":"USD"},"payment_mode":"INSTANT_TRANSFER","state":"completed","protection_eligibility":"ELIGIBLE","protection_eligibility_type":"ITEM_NOT_RECEIVED_ELIGIBLE,UNAUTHORIZED_PAYMENT_ELIGIBLE","parent_payment":"PAY-86C81811X5228590KKVNARQQ","transaction_fee":{"value":"0.88","currency":"USD"},"links":[{"href":"https://api.sandbox.paypal.com/v1/payments/sale/4EU7004268015634R","rel":"self","method":"GET"},{"href":"https://api.sandbox.paypal.com/v1/payments/sale/4EU7004268015634R/refund","rel":"refund","method":"POST"},{"href":"https://api.sandbox.paypal.com/v1/payments/payment/PAY-86C81811X5228590KKVNARQQ","rel":"parent_payment","method":"GET"}]},"links":[{"href":"https://api.sandbox.paypal.com/v1/notifications/webhooks-events/WH-0G2756385H040842W-5Y612302CV158622M","rel":"self","method":"GET"},{"href":"https://api.sandbox.paypal.com/v1/notifications/webhooks-events/WH-0G2756385H040842W-5Y612302CV158622M/resend","rel":"resend","method":"POST"}]}',
  };
  const content = `${SAMPLE.id}|${SAMPLE.time}|${SAMPLE.webhookId}|2771810304`;
  const headers = {
    'paypal-transmission-id': SAMPLE.id,
    'paypal-transmission-time': SAMPLE.time,
    'paypal-auth-algo': 'SHA256withRSA',
    'paypal-cert-url': PAYPAL.certificateUrl,
    'paypal-transmission-sig': createSign('RSA-SHA256').update(content).sign(PAYPAL.key).toString('base64'),
  };
  const ask = (more: Asked = {}): string =>
    check(
      { kind: 'paypal' },
      { headers, body: SAMPLE.body, secrets: [SAMPLE.webhookId], published: PAYPAL.certificate, ...more },
    );

  it("PayPal's sample is valid under its certificate at that time, but not for another body, webhook or time", () => {
    const of2015 = {
      headers: { ...headers, 'paypal-transmission-sig': PAYPAL_OF_2015.signature },
      published: PAYPAL_OF_2015.certificate,
      nowMs: Date.parse(SAMPLE.time),
    };

    expect(ask(of2015)).toBe('verified');
    expect(ask({ ...of2015, body: `${SAMPLE.body} ` })).toBe('failed');
    expect(ask({ ...of2015, secrets: ['4JH86294D6297924H'] })).toBe('failed');
    expect(ask({ ...of2015, nowMs: Date.parse('2017-03-23T00:00:00Z') })).toBe('failed');
  });

  it("signs ids, time and the CRC-32 of the body like PayPal's libraries", () => {
    expect(paypalContent(SAMPLE, Buffer.from(SAMPLE.body))).toBe(content);
    expect(ask()).toBe('verified');
  });

  it.each<[string, Asked]>([
    ['another body', { body: `${SAMPLE.body} ` }],
    ['another webhook', { secrets: ['4JH86294D6297924H'] }],
    ['no certificate', { published: undefined }],
    ["another party's certificate", { published: PAYPAL.otherCertificate }],
    ['another algorithm', { headers: { ...headers, 'paypal-auth-algo': 'SHA1withRSA' } }],
    [
      'a certificate at another URL',
      { headers: { ...headers, 'paypal-cert-url': 'https://evil.example/v1/notifications/certs/CERT-1' } },
    ],
    ['an expired certificate', { nowMs: Date.parse('2200-01-01T00:00:00Z') }],
    ['no certificate at all', { published: 'x' }],
  ])('%s is rejected', (_what, more) => {
    expect(ask(more)).toBe('failed');
  });

  it.each([
    'http://api.paypal.com/v1/notifications/certs/CERT-1',
    'https://api.paypal.com.evil.example/v1/notifications/certs/CERT-1',
    'https://evil.example/?api.paypal.com',
    'https://api.paypal.com@evil.example/v1/notifications/certs/CERT-1',
    'https://api.paypal.com:8443/v1/notifications/certs/CERT-1',
    'https://paypal.com/v1/notifications/certs/CERT-1',
    'https://api.paypal.com/v1/notifications/certs/../../oauth2/CERT-1',
    'https://api.paypal.com/v1/notifications/certs/CERT-1?a=b',
    'x',
    '',
  ])('fetches nothing from %s', (url) => {
    expect(paypalCertificateUrl({ headers: [['paypal-cert-url', url]] })).toBeNull();
  });

  it.each(['api.paypal.com', 'api.sandbox.paypal.com', 'api-m.paypal.com'])('certificates are at %s', (host) => {
    const url = `https://${host}/v1/notifications/certs/CERT-360caa42-fca2a594-1d93a270`;

    expect(paypalCertificateUrl({ headers: [['paypal-cert-url', url]] })).toBe(url);
  });
});
