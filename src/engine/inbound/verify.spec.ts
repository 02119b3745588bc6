import { Buffer } from 'node:buffer';
import { createHmac, generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { unicodeText } from '../../../test/support/unicode-text.js';
import { dedupeIdOf, eventTypeOf } from './classify.js';
import { presetOf, PRESETS } from './presets.js';
import type { ReceivedRequest } from './request.js';
import type { Scheme } from './scheme.js';
import { snsCertificateUrl } from './sns.js';
import { verify } from './verify.js';

type Headers = ReceivedRequest['headers'];

function check(scheme: Scheme | undefined, headers: Headers, body: string, secret: string, nowMs = 0): string {
  const request = {
    method: 'POST',
    path: '',
    query: '',
    url: 'https://in.example.com/',
    headers,
    body: Buffer.from(body),
  };
  return verify(scheme ?? { kind: 'none' }, request, [secret], nowMs);
}

const schemeOf = (id: string): Scheme | undefined => presetOf(id)?.verify;

describe('Standard Webhooks: vectors of its libraries', () => {
  const body = '{"test": 2432232314}';
  const SYMMETRIC = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const GOOD = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';
  const BAD = 'v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=';
  const PUBLIC = 'whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=';
  const ASYMMETRIC = 'v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==';
  const at = 1614265330_000;
  const headers = (signature: string, timestamp = '1614265330'): Headers => [
    ['webhook-id', 'msg_p5jXN8AQM9LWM0D4loKWxJek'],
    ['webhook-timestamp', timestamp],
    ['webhook-signature', signature],
  ];

  it.each([
    [SYMMETRIC, GOOD, 'verified'],
    [SYMMETRIC.slice('whsec_'.length), GOOD, 'verified'],
    [PUBLIC, ASYMMETRIC, 'verified'],
    [PUBLIC, `${GOOD} ${ASYMMETRIC}`, 'verified'],
    [SYMMETRIC, `${BAD} v2,${BAD.slice(3)} ${GOOD} ${BAD}`, 'verified'],
    [SYMMETRIC, `${BAD}, ${GOOD}`, 'verified'],
    [SYMMETRIC, BAD, 'failed'],
    [SYMMETRIC, GOOD.replace('v1,', 'v2,'), 'failed'],
    [SYMMETRIC, GOOD.replace('v1,', 'v1a,'), 'failed'],
    [PUBLIC, ASYMMETRIC.replace('v1a,', 'v1,'), 'failed'],
    [PUBLIC, GOOD, 'failed'],
    ['whpk_AAAA', ASYMMETRIC, 'failed'],
    ['whsec_', GOOD, 'failed'],
    [SYMMETRIC, 'v1,', 'failed'],
  ])('%s, %s: %s', (secret, signature, expected) => {
    expect(check(schemeOf('standard-webhooks'), headers(signature), body, secret, at)).toBe(expected);
  });

  it('rejects a timestamp that is not a number', () => {
    for (const timestamp of ['hello', '', '1614265330.5', '-1', '1e9', ' 1614265330', '9'.repeat(40)]) {
      expect(check(schemeOf('standard-webhooks'), headers(GOOD, timestamp), body, SYMMETRIC, at)).toBe('failed');
    }
  });
});

describe('single providers', () => {
  const mac = (content: string): Buffer => createHmac('sha256', 's3cret').update(content).digest();

  it('HubSpot signs method, decoded URL, body and milliseconds', () => {
    const url = 'https://in.example.com/hooks?next=https%3A%2F%2Fa.example%2F%3Fb&c=%20%26';
    const signature = mac(
      `POSThttps://in.example.com/hooks?next=https://a.example/?b&c=%20%26[]1700000000000`,
    ).toString('base64');
    const headers: Headers = [
      ['x-hubspot-signature-v3', signature],
      ['x-hubspot-request-timestamp', '1700000000000'],
    ];
    const request = { method: 'POST', path: '', query: '', url, headers, body: Buffer.from('[]') };

    expect(verify(schemeOf('hubspot') ?? { kind: 'none' }, request, ['s3cret'], 1700000000_000)).toBe('verified');
    expect(
      verify(schemeOf('hubspot') ?? { kind: 'none' }, { ...request, method: 'GET' }, ['s3cret'], 1700000000_000),
    ).toBe('failed');
  });

  it('Zoom may sign the JSON as its library serializes it', () => {
    const signature = `v0=${mac('v0:1700000000:{"event":"a/b"}').toString('hex')}`;
    const headers: Headers = [
      ['x-zm-signature', signature],
      ['x-zm-request-timestamp', '1700000000'],
    ];

    expect(check(schemeOf('zoom'), headers, '{ "event": "a\\/b" }', 's3cret', 1700000000_000)).toBe('verified');
    expect(check(schemeOf('zoom'), headers, '{ "event": "a\\/c" }', 's3cret', 1700000000_000)).toBe('failed');
  });

  it('Shopify and DocuSign sign in any of several headers', () => {
    const signature = mac('{}').toString('base64');

    expect(check(schemeOf('shopify'), [['shopify-hmac-sha256', signature]], '{}', 's3cret')).toBe('verified');
    expect(
      check(
        schemeOf('docusign'),
        [
          ['x-docusign-signature-1', mac('x').toString('base64')],
          ['x-docusign-signature-7', signature],
        ],
        '{}',
        's3cret',
      ),
    ).toBe('verified');
    expect(check(schemeOf('docusign'), [['x-docusign-signature-0', signature]], '{}', 's3cret')).toBe('failed');
  });

  it('Mailgun also signs in a form', () => {
    const headers: Headers = [['content-type', 'application/x-www-form-urlencoded']];
    const form = `event=opened&timestamp=1529006854&token=a8ce&signature=${mac('1529006854a8ce').toString('hex')}`;

    expect(check({ kind: 'mailgun' }, headers, form, 's3cret')).toBe('verified');
    expect(check({ kind: 'mailgun' }, [], form, 's3cret')).toBe('failed');
  });

  it('Mailgun signs in a multipart form, with attachments among the fields', async () => {
    const form = new FormData();
    form.append('attachment-1', new Blob(['timestamp=1&token=forged']), 'timestamp');
    for (const [name, value] of Object.entries({
      timestamp: '1529006854',
      token: 'a8ce',
      signature: mac('1529006854a8ce').toString('hex'),
    }))
      form.append(name, value);
    const response = new Response(form);
    const headers: Headers = [['content-type', response.headers.get('content-type') ?? '']];
    const body = await response.text();

    expect(check({ kind: 'mailgun' }, headers, body, 's3cret')).toBe('verified');
    expect(check({ kind: 'mailgun' }, headers, body, 'other')).toBe('failed');
    expect(check({ kind: 'mailgun' }, headers, body.replace('a8ce', 'a8cf'), 's3cret')).toBe('failed');
    expect(check({ kind: 'mailgun' }, [['content-type', 'multipart/form-data; boundary=other']], body, 's3cret')).toBe(
      'failed',
    );
  });

  it('Microsoft Graph: every item must repeat the secret', () => {
    const items = (...states: unknown[]): string =>
      JSON.stringify({ value: states.map((clientState) => ({ clientState })) });

    expect(check({ kind: 'client-state' }, [], items('s', 's'), 's')).toBe('verified');
    expect(check({ kind: 'client-state' }, [], items('s', 't'), 's')).toBe('failed');
    expect(check({ kind: 'client-state' }, [], items('s', undefined), 's')).toBe('failed');
    expect(check({ kind: 'client-state' }, [], items(), 's')).toBe('failed');
    expect(check({ kind: 'client-state' }, [], '{"value":{"length":0}}', 's')).toBe('failed');
  });

  it('a repeated signature header does not count when it is joined', () => {
    const signature = `sha256=${mac('{}').toString('hex')}`;

    expect(
      check(
        schemeOf('github'),
        [
          ['x-hub-signature-256', signature],
          ['x-hub-signature-256', 'x'],
        ],
        '{}',
        's3cret',
      ),
    ).toBe('failed');
  });

  it('an empty secret never verifies, even a signature made with it', () => {
    const signature = createHmac('sha256', '').update('1529006854a8ce').digest('hex');
    const body = JSON.stringify({ signature: { timestamp: '1529006854', token: 'a8ce', signature } });

    expect(check({ kind: 'mailgun' }, [], body, '')).toBe('failed');
    expect(check({ kind: 'token', header: 'x-gitlab-token' }, [['x-gitlab-token', '']], '{}', '')).toBe('failed');
    expect(check({ kind: 'client-state' }, [], '{"value":[{"clientState":""}]}', '')).toBe('failed');
  });

  it('the scheme without proof verifies nothing', () => {
    expect(check({ kind: 'none' }, [], '{}', 's')).toBe('none');
  });
});

describe('snsCertificateUrl', () => {
  const urlOf = (url: unknown): string | null =>
    snsCertificateUrl({ body: Buffer.from(JSON.stringify({ SigningCertURL: url })) });

  it.each([
    'https://sns.us-east-1.amazonaws.com/SimpleNotificationService-1.pem',
    'https://sns.cn-north-1.amazonaws.com.cn/a.pem',
  ])('takes %s', (url) => {
    expect(urlOf(url)).toBe(url);
  });

  it.each([
    'http://sns.us-east-1.amazonaws.com/a.pem',
    'https://sns.us-east-1.amazonaws.com/a.txt',
    'https://sns.us-east-1.amazonaws.com.evil.example/a.pem',
    'https://evil.example/sns.us-east-1.amazonaws.com/a.pem',
    'https://sns.us-east-1.amazonaws.com@evil.example/a.pem',
    'https://evil.example\\@sns.us-east-1.amazonaws.com/a.pem',
    'https://sns.us-east-1.amazonaws.com:444/a.pem',
    'https://bucket.s3.amazonaws.com/a.pem',
    'https://sns.a.b.amazonaws.com/a.pem',
    'https://sns.us-east-1.amazonaws.com/x?a.pem',
    'https://sns.us-east-1.amazonaws.com/x#a.pem',
    `https://sns.us-east-1.amazonaws.com/${'a'.repeat(3000)}.pem`,
    '',
    7,
    null,
  ])('refuses %s', (url) => {
    expect(urlOf(url)).toBeNull();
  });
});

describe('any bytes', () => {
  const schemes: Scheme[] = [...new Set([...PRESETS.values()].map((preset) => preset.verify)), { kind: 'none' }];
  const names = [
    ...new Set(
      schemes.flatMap((scheme) => [
        ...('headers' in scheme ? scheme.headers.slice(0, 2) : []),
        ...('header' in scheme ? [scheme.header] : []),
        ...('signatureHeader' in scheme ? [scheme.signatureHeader, scheme.timestampHeader] : []),
      ]),
    ),
    'webhook-id',
    'webhook-timestamp',
    'webhook-signature',
    'authorization',
    'x-twilio-signature',
    'content-type',
    'x-slack-request-timestamp',
  ];
  const value = fc.oneof(
    unicodeText(),
    fc.base64String(),
    fc.constantFrom('1700000000', 'v0=ff', 't=1,v1=', 'Basic YTpi', 'application/x-www-form-urlencoded'),
  );
  const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' })
    .publicKey.export({ type: 'spki', format: 'der' })
    .toString('base64');
  const secret = fc.oneof(
    unicodeText(),
    fc.constantFrom('whsec_', 'whpk_', `whpk_${'A'.repeat(43)}=`, '0'.repeat(64), p384, 'MAMCAQE='),
  );
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
    fc.json().map((text) => Buffer.from(text)),
    fc
      .record({
        Type: fc.constantFrom('Notification', 'SubscriptionConfirmation'),
        SignatureVersion: fc.constantFrom('1', '2', 2),
        Signature: fc.base64String(),
        value: fc.jsonValue(),
        notificationItems: fc.jsonValue(),
        signature: fc.jsonValue(),
        SigningCertURL: fc.constant('https://sns.us-east-1.amazonaws.com/a.pem'),
        Message: fc.string(),
        MessageId: fc.string(),
        Timestamp: fc.string(),
        TopicArn: fc.constant('0'.repeat(64)),
      })
      .map((json) => Buffer.from(JSON.stringify(json))),
  );

  it('never throws, and never verifies random bytes', () => {
    const request = fc.record({
      method: fc.constantFrom('POST', 'GET'),
      path: fc.constant(''),
      query: fc.string(),
      url: fc.oneof(fc.webUrl(), unicodeText()),
      headers: fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 12 }),
      body,
    });
    fc.assert(
      fc.property(
        request,
        fc.array(secret, { maxLength: 3 }),
        fc.integer(),
        fc.string(),
        (received, secrets, nowMs, certificate) => {
          for (const scheme of schemes) {
            const expected =
              scheme.kind === 'none'
                ? ['none']
                : scheme.kind === 'token' || scheme.kind === 'basic'
                  ? ['failed', 'verified']
                  : ['failed'];
            expect(expected).toContain(verify(scheme, received, secrets, nowMs, certificate));
          }
        },
      ),
    );
  });

  it.each([
    ['arrays', '[', ']'],
    ['objects', '{"value":', '}'],
  ])('JSON of %s 100,000 deep', (_title, open, close) => {
    const deep = Buffer.from(open.repeat(100_000) + (close === '}' ? '1' : '') + close.repeat(100_000));
    const headers: Headers = names.map((name) => [
      name,
      name.endsWith('timestamp') ? '1700000000' : `v0=${'0'.repeat(64)}`,
    ]);
    for (const preset of PRESETS.values()) {
      const request = { method: 'POST', path: '', query: '', url: 'https://in.example.com/', headers, body: deep };
      expect(verify(preset.verify, request, ['s3cret', '0'.repeat(64)], 1700000000_000, 'x')).toBe('failed');
      expect(eventTypeOf(preset, request)).toBeTruthy();
      expect(() => dedupeIdOf(preset, request)).not.toThrow();
    }
  });
});
