import { generateKeyPairSync, type KeyPairKeyObjectResult, randomUUID, sign } from 'node:crypto';
import type { NameServer } from '../support/name-server.js';
import { startNameServer } from '../support/name-server.js';
import type { Receiver } from '../support/receiver.js';
import { startReceiver } from '../support/receiver.js';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { expectRefusal } from './answers.js';
import type { Inbound, Sent } from './receiving.js';
import { inbound, provide, requestsOf, setSecret } from './receiving.js';

type KeyName = 'one' | 'two' | 'stranger';
const NAMES = ['one', 'two', 'stranger'] as const;
const KEYS = Object.fromEntries(NAMES.map((name) => [name, generateKeyPairSync('ed25519')])) as Record<
  KeyName,
  KeyPairKeyObjectResult
>;

function token(name: KeyName, kid: string = name): Sent {
  const content = [
    { alg: 'EdDSA', kid },
    { iss: 'acme', iat: Math.floor(Date.now() / 1000) },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return {
    body: '{}',
    headers: {
      authorization: `Bearer ${content}.${sign(null, Buffer.from(content), KEYS[name].privateKey).toString('base64url')}`,
    },
  };
}

describe('published keys of providers', () => {
  let server: PosthornServer;
  let names: NameServer;
  let issuer: Receiver;
  let published: KeyName[];

  beforeAll(async () => {
    // The name server resolves no name, so that this test cannot reach PayPal.
    names = await startNameServer(() => 'absent');
    issuer = await startReceiver(() => ({
      body: JSON.stringify({
        keys: published.map((kid) => ({ ...KEYS[kid].publicKey.export({ format: 'jwk' }), kid })),
      }),
    }));
    server = await startServer({ DNS_SERVERS: names.address });
  });

  afterAll(async () => {
    await server.stop();
    await issuer.close();
    await names.close();
  });

  const withKeys = (): Promise<Inbound> =>
    inbound(server, {
      verification: 'jwt',
      verificationConfig: { jwksUrl: `${issuer.url}/${randomUUID()}`, issuer: 'acme' },
    });
  const status = async (endpoint: Inbound, sent: Sent, of = server): Promise<number> =>
    (await provide(of, endpoint.at, sent)).status;

  it('jwt: tokens with unknown key ids are rejected and stored, and do not trigger repeated fetches of the key set', async () => {
    published = ['one'];
    const endpoint = await withKeys();
    expect(await status(endpoint, token('one'))).toBe(200);
    const before = issuer.requests.length;

    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => provide(server, endpoint.at, token('stranger', `kid-${n}`))),
    );

    for (const answer of answers) expectRefusal(answer, 401);
    expect(issuer.requests).toHaveLength(before);
    expect((await requestsOf(server, endpoint)).filter(({ status: became }) => became === 'quarantined')).toHaveLength(
      50,
    );
    expect(await status(endpoint, token('one'))).toBe(200);
  });

  it('jwt: a process that starts later uses the current key set: the new key verifies, and the removed one does not', async () => {
    published = ['one'];
    const endpoint = await withKeys();
    expect(await status(endpoint, token('one'))).toBe(200);
    published = ['two'];
    const later = await startServer(server.env);

    try {
      expect([await status(endpoint, token('two'), later), await status(endpoint, token('one'), later)]).toEqual([
        200, 401,
      ]);
      // The first server still uses the old key set, because it fetched the set recently.
      expect([await status(endpoint, token('one')), await status(endpoint, token('two'))]).toEqual([200, 401]);
    } finally {
      await later.stop();
    }
  });

  it('503: while the key set cannot be fetched, and nothing is stored', async () => {
    const endpoint = await inbound(server, {
      verification: 'jwt',
      verificationConfig: { jwksUrl: 'https://keys.example/jwks', issuer: 'acme' },
    });

    const answer = await provide(server, endpoint.at, token('one'));

    expectRefusal(answer, 503);
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await requestsOf(server, endpoint)).toEqual([]);
  });

  it('invented certificate URLs of one sender do not affect the verification for another endpoint', async () => {
    published = ['one'];
    const [attacked, other] = [await inbound(server, { preset: 'paypal' }), await withKeys()];
    await setSecret(server, attacked, '1JE4291016473214C');
    const invented = (n: number): Promise<ApiAnswer> =>
      provide(server, attacked.at, {
        body: '{}',
        headers: {
          'paypal-transmission-id': 'a',
          'paypal-transmission-time': new Date().toISOString(),
          'paypal-auth-algo': 'SHA256withRSA',
          'paypal-transmission-sig': 'aaaa',
          'paypal-cert-url': `https://api.paypal.com/v1/notifications/certs/CERT-${n}`,
        },
      });

    const answers = await Promise.all(Array.from({ length: 300 }, (_, n) => invented(n)));

    for (const answer of answers) expectRefusal(answer, 503);
    expect(await status(other, token('one'))).toBe(200);
    expect(names.questions.filter((question) => question === 'A api.paypal.com').length).toBeLessThanOrEqual(10);
  });
});
