import { generateKeyPairSync, sign } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { WebhookVerificationError, WebhookVerifier } from './webhook.js';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const NOW = new Date('2026-11-21T09:30:00Z');
const BODY = '{"amount":12345678901234567890, "é":1}';

function signedBy(secret: string, { body = BODY, at = NOW, id = 'msg_1' } = {}): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(at.getTime() / 1_000),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
}

describe('WebhookVerifier', () => {
  it('accepts signatures of standardwebhooks, as text, bytes and Headers, with names in any case', () => {
    const verifier = new WebhookVerifier(SECRET);
    const headers = signedBy(SECRET);
    const shouted = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));

    for (const given of [headers, new Headers(headers), shouted]) {
      expect(verifier.verify(BODY, given, { now: NOW })).toEqual({ id: 'msg_1', at: NOW, isReplay: false, body: BODY });
      expect(verifier.verify(Buffer.from(BODY), given, { now: NOW }).body).toBe(BODY);
    }
    expect(verifier.verify(BODY, { ...headers, 'webhook-replayed': 'true' }, { now: NOW }).isReplay).toBe(true);
  });

  it('accepts any of several signatures and of several secrets, as during a rotation', () => {
    const [mine, theirs] = [signedBy(SECRET), signedBy(OTHER)];
    const both = {
      ...mine,
      'webhook-signature': `v1a,AAAA ${theirs['webhook-signature']} ${mine['webhook-signature']}`,
    };

    expect(new WebhookVerifier(SECRET).verify(BODY, both, { now: NOW }).id).toBe('msg_1');
    expect(new WebhookVerifier([OTHER, SECRET]).verify(BODY, mine, { now: NOW }).id).toBe('msg_1');
  });

  it('accepts an asymmetric signature only with its public key', () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const x = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
    const signature = sign(null, Buffer.from(`msg_1.${NOW.getTime() / 1_000}.${BODY}`), privateKey).toString('base64');
    const headers = { ...signedBy(OTHER), 'webhook-signature': `v1,AAAA v1a,${signature}` };
    const verifier = new WebhookVerifier(`whpk_${x.toString('base64')}`);

    expect(verifier.verify(BODY, headers, { now: NOW }).id).toBe('msg_1');
    expect(() => verifier.verify(`${BODY} `, headers, { now: NOW })).toThrow(WebhookVerificationError);
    expect(() => verifier.verify(BODY, { ...headers, 'webhook-signature': `v1,${signature}` }, { now: NOW })).toThrow(
      WebhookVerificationError,
    );
  });

  it.each([
    ['another body', `${BODY} `, signedBy(SECRET)],
    ['another secret', BODY, signedBy(OTHER)],
    ['another id', BODY, { ...signedBy(SECRET), 'webhook-id': 'msg_2' }],
    ['a changed timestamp', BODY, { ...signedBy(SECRET), 'webhook-timestamp': String(NOW.getTime() / 1_000 + 1) }],
    ['an invalid timestamp', BODY, { ...signedBy(SECRET), 'webhook-timestamp': '1e9' }],
    ['no signature', BODY, { ...signedBy(SECRET), 'webhook-signature': '' }],
    ['half a signature', BODY, { ...signedBy(SECRET), 'webhook-signature': 'v1,AAAA v1 ,' }],
    ['no headers', BODY, {}],
    ['six minutes ago', BODY, signedBy(SECRET, { at: new Date(NOW.getTime() - 360_000) })],
    ['in six minutes', BODY, signedBy(SECRET, { at: new Date(NOW.getTime() + 360_000) })],
  ])('refuses %s', (_what, body, headers) => {
    expect(() => new WebhookVerifier(SECRET).verify(body, headers, { now: NOW })).toThrow(WebhookVerificationError);
  });

  it('accepts a timestamp within the tolerance of the receiver', () => {
    const at = new Date(NOW.getTime() - 360_000);

    expect(
      new WebhookVerifier(SECRET).verify(BODY, signedBy(SECRET, { at }), { now: NOW, toleranceSeconds: 400 }).at,
    ).toEqual(at);
  });

  it.each(['', 'whsec_', 'whsec_short', 'whsec_not base64 at all, not at all', 'whpk_AAAA'])(
    'rejects a secret like %j',
    (secret) => {
      expect(() => new WebhookVerifier(secret)).toThrow(TypeError);
    },
  );
});
