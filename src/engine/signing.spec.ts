import { createHmac, createPublicKey, randomBytes, verify } from 'node:crypto';
import fc from 'fast-check';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { unicodeText } from '../../test/support/unicode-text.js';
import { formatPublicKey, formatSecret, parseSecret, privateKeyOf, signatureHeader } from './signing.js';

const SECRET_1 = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const ID_1 = 'msg_p5jXN8AQM9LWM0D4loKWxJek';
const BODY_1 = '{"test": 2432232314}';

// Vectors of Standard Webhooks @ b2fa7b8: vector 1 is from the tests in js, go, python and php, vector 2 from rust.
const VECTORS = [
  {
    secret: SECRET_1,
    id: ID_1,
    timestamp: 1614265330,
    body: BODY_1,
    expected: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  },
  {
    secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
    id: 'msg_27UH4WbU6Z5A5EzD8u03UvzRbpk',
    timestamp: 1649367553,
    body: '{"email":"test@example.com","username":"test_user"}',
    expected: 'v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=',
  },
];

// Vector 3 is from the tests of Svix's server. `whsk_` is followed by the seed and the public key.
const PRIVATE_3 = '6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==';
const PUBLIC_3 = 'whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=';
const SIGNATURE_3 = 'v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==';
const KEY_3 = privateKeyOf(Buffer.from(PRIVATE_3, 'base64').subarray(0, 32));

const seed = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));
const key = fc.uint8Array({ minLength: 24, maxLength: 64 }).map((bytes) => Buffer.from(bytes));
const id = fc.stringMatching(/^(msg|evt)_[0-9A-HJKMNP-TV-Z]{26}$/);
const ageSeconds = fc.integer({ min: -290, max: 290 });
const nowSeconds = (): number => Math.floor(new Date().getTime() / 1000);
const headers = (webhookId: string, timestamp: number, signature: string): Record<string, string> => ({
  'webhook-id': webhookId,
  'webhook-timestamp': String(timestamp),
  'webhook-signature': signature,
});

describe('signatureHeader', () => {
  it.each(VECTORS)('equals the published vector of $id, for text and for bytes', (vector) => {
    const keys = [parseSecret(vector.secret)];

    expect(signatureHeader(keys, vector.id, vector.timestamp, vector.body)).toBe(vector.expected);
    expect(signatureHeader(keys, vector.id, vector.timestamp, Buffer.from(vector.body))).toBe(vector.expected);
  });

  // Vector 4: one valid signature among others is enough, as during a rotation.
  it('is accepted among foreign signatures and versions, and rejected with an old or future time', () => {
    const sign = (age: number): Record<string, string> => {
      const timestamp = nowSeconds() + age;
      const good = signatureHeader([parseSecret(SECRET_1)], ID_1, timestamp, BODY_1);
      const foreign = 'Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=';
      return headers(ID_1, timestamp, `v1,${foreign} v2,${foreign} ${good} v1,${foreign}`);
    };

    expect(new StandardWebhook(SECRET_1).verify(BODY_1, sign(0))).toEqual({ test: 2432232314 });
    expect(() => new StandardWebhook(SECRET_1).verify(BODY_1, sign(-302))).toThrow('Message timestamp too old');
    expect(() => new StandardWebhook(SECRET_1).verify(BODY_1, sign(302))).toThrow('Message timestamp too new');
  });

  it('signs once per key, in order, separated by one space', () => {
    const [first, second] = [randomBytes(24), randomBytes(64)];

    const header = signatureHeader([first, second], ID_1, 1, BODY_1);

    expect(header).toBe(`${signatureHeader([first], ID_1, 1, BODY_1)} ${signatureHeader([second], ID_1, 1, BODY_1)}`);
  });

  it('signs invalid UTF-8 byte for byte, and an empty body', () => {
    const secretKey = parseSecret(SECRET_1);
    const body = Buffer.from([0xff, 0x00, 0xc3, 0x28]);

    const mac = createHmac('sha256', secretKey)
      .update(Buffer.concat([Buffer.from('msg_1.7.'), body]))
      .digest('base64');

    expect(signatureHeader([secretKey], 'msg_1', 7, body)).toBe(`v1,${mac}`);
    expect(signatureHeader([secretKey], 'msg_1', 7, '')).toBe(
      signatureHeader([secretKey], 'msg_1', 7, Buffer.alloc(0)),
    );
  });

  it('throws without any key', () => {
    expect(() => signatureHeader([], ID_1, 1, BODY_1)).toThrow(RangeError);
  });
});

describe('signatureHeader with asymmetric keys', () => {
  it.each([
    ['text', BODY_1],
    ['bytes', Buffer.from(BODY_1)],
  ])('equals the published vector after the symmetric one, for %s', (_form, body) => {
    const symmetric = VECTORS[0]?.expected;

    expect(signatureHeader([parseSecret(SECRET_1)], ID_1, 1614265330, body, [KEY_3])).toBe(
      `${symmetric} ${SIGNATURE_3}`,
    );
    expect(formatPublicKey(KEY_3)).toBe(PUBLIC_3);
  });

  it('signs once per key of either kind: v1 first, newest first', () => {
    const [first, second] = [randomBytes(24), randomBytes(64)];
    const other = privateKeyOf(randomBytes(32));

    const parts = signatureHeader([first, second], ID_1, 7, BODY_1, [KEY_3, other]).split(' ');

    expect(parts.slice(0, 2).join(' ')).toBe(signatureHeader([first, second], ID_1, 7, BODY_1));
    expect(parts.slice(2).map((part) => part.slice(0, 4))).toEqual(['v1a,', 'v1a,']);
    const signatures = parts.slice(2).map((part) => Buffer.from(part.slice(4), 'base64'));
    expect(
      [KEY_3, other].map((each, at) =>
        verify(null, Buffer.from(`${ID_1}.7.${BODY_1}`), createPublicKey(each), signatures[at] as Buffer),
      ),
    ).toEqual([true, true]);
  });

  it('verifies any bytes with the public key, and no other bytes', () => {
    fc.assert(
      fc.property(seed, fc.uint8Array(), (bytes, content) => {
        const privateKey = privateKeyOf(bytes);
        const body = Buffer.from(content);
        const raw = Buffer.from(formatPublicKey(privateKey).slice('whpk_'.length), 'base64');
        const publicKey = createPublicKey({
          key: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') },
          format: 'jwk',
        });

        const [, asymmetric = ''] = signatureHeader([parseSecret(SECRET_1)], 'msg_1', 7, body, [privateKey]).split(
          ' v1a,',
        );

        const holdsFor = (signed: Buffer): boolean =>
          verify(null, Buffer.concat([Buffer.from('msg_1.7.'), signed]), publicKey, Buffer.from(asymmetric, 'base64'));
        expect([raw.length, holdsFor(body), holdsFor(Buffer.concat([body, Buffer.from([0])]))]).toEqual([
          32,
          true,
          false,
        ]);
      }),
    );
  });

  it('is accepted by the JavaScript packages, which skip unknown versions', () => {
    const timestamp = nowSeconds();
    const [current, old] = [randomBytes(32), randomBytes(32)];
    const signed = headers(
      ID_1,
      timestamp,
      signatureHeader([current, old], ID_1, timestamp, BODY_1, [KEY_3, privateKeyOf(randomBytes(32))]),
    );

    for (const secretKey of [current, old]) {
      expect(new StandardWebhook(formatSecret(secretKey)).verify(BODY_1, signed)).toEqual({ test: 2432232314 });
      expect(new SvixWebhook(formatSecret(secretKey)).verify(BODY_1, signed)).toEqual({ test: 2432232314 });
    }
  });

  it('throws with only asymmetric keys, and for a seed of another length', () => {
    expect(() => signatureHeader([], ID_1, 1, BODY_1, [KEY_3])).toThrow(RangeError);
    expect(() => privateKeyOf(randomBytes(31))).toThrow(TypeError);
  });
});

describe('signatureHeader with the libraries of receivers', () => {
  it('is accepted by the standardwebhooks package for any text, id and time within the tolerance', () => {
    fc.assert(
      fc.property(key, id, ageSeconds, unicodeText(), (secretKey, webhookId, age, body) => {
        const timestamp = nowSeconds() + age;
        const signed = headers(webhookId, timestamp, signatureHeader([secretKey], webhookId, timestamp, body));

        new StandardWebhook(formatSecret(secretKey)).verify(body, signed, { jsonParse: false });
      }),
    );
  });

  it('is accepted by the svix package with either secret during a rotation', () => {
    fc.assert(
      fc.property(key, key, id, ageSeconds, fc.json(), (current, old, webhookId, age, body) => {
        const timestamp = nowSeconds() + age;
        const signed = headers(webhookId, timestamp, signatureHeader([current, old], webhookId, timestamp, body));

        expect(new SvixWebhook(formatSecret(current)).verify(body, signed)).toEqual(JSON.parse(body));
        expect(new SvixWebhook(formatSecret(old)).verify(Buffer.from(body), signed)).toEqual(JSON.parse(body));
      }),
    );
  });

  it.each([
    ['another body', (signed: Record<string, string>) => signed, `${BODY_1} `],
    ['another id', (signed: Record<string, string>) => ({ ...signed, 'webhook-id': 'msg_other' }), BODY_1],
    [
      'another time',
      (signed: Record<string, string>) => ({ ...signed, 'webhook-timestamp': String(nowSeconds() - 100) }),
      BODY_1,
    ],
  ])('is rejected by the standardwebhooks package with %s', (_case, alter, body) => {
    const timestamp = nowSeconds();
    const signed = headers(ID_1, timestamp, signatureHeader([parseSecret(SECRET_1)], ID_1, timestamp, BODY_1));

    expect(() => new StandardWebhook(SECRET_1).verify(body, alter(signed))).toThrow('No matching signature found');
  });
});

describe('parseSecret and formatSecret', () => {
  it('are inverse to each other for every key of 24 to 64 bytes', () => {
    fc.assert(
      fc.property(key, (secretKey) => {
        expect(parseSecret(formatSecret(secretKey))).toEqual(secretKey);
      }),
    );
  });

  it.each([
    ['the empty string', ''],
    ['the bare prefix', 'whsec_'],
    ['no prefix', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    ['another prefix', 'whsk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    ['23 bytes', `whsec_${Buffer.alloc(23).toString('base64')}`],
    ['65 bytes', `whsec_${Buffer.alloc(65).toString('base64')}`],
    ['missing padding', `whsec_${Buffer.alloc(25).toString('base64').replaceAll('=', '')}`],
    ['base64url', `whsec_${Buffer.alloc(24, 0xff).toString('base64url')}`],
    ['white space', `${SECRET_1}\n`],
    ['a foreign character', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2La!LaSw'],
  ])('reject %s with a TypeError that does not quote it', (_case, secret) => {
    expect(() => parseSecret(secret)).toThrow(TypeError);
    expect(() => parseSecret(secret)).not.toThrow(secret.slice(6) || 'a secret');
  });

  it.each([0, 23, 65])('reject a key of %i bytes', (bytes) => {
    expect(() => formatSecret(Buffer.alloc(bytes))).toThrow(TypeError);
  });
});
