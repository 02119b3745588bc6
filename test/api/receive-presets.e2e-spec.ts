import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import * as octokit from '@octokit/webhooks-methods';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
import twilio from 'twilio';
import { startReceiver } from '../support/receiver.js';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { as, createKey, expectInvalid, expectRefusal } from './answers.js';
import type { Inbound, Sent } from './receiving.js';
import { inbound, provide, requestOf, requestsOf, setSecret, whsec } from './receiving.js';
import { eventOf } from './scene.js';

const { webhooks: stripe } = new Stripe('sk_test_1');
const FORM = 'application/x-www-form-urlencoded';
const BODY = '{"id":"evt_1","type":"invoice.paid","name":"Zoë \\u00e9 \u2028 😀","amount":1.50}';

/** Signs a request as the vendor does. `at` is in seconds since the epoch. `url` is the URL set up at the vendor. */
type Sign = (signed: {
  secret: string;
  body: string;
  at: number;
  url: string;
}) => Record<string, string> | Promise<Record<string, string>>;

interface Vendor {
  preset: string;
  secret?: string;
  body?: string;
  type?: string;
  sign: Sign;
  /** Maximum age of a signature in seconds; undefined if the vendor does not sign a timestamp. */
  tolerance?: number;
  eventType: string;
  dedupeId: string | null;
}

const standard =
  (prefix: string, Webhook: typeof StandardWebhook | typeof SvixWebhook): Sign =>
  ({ secret, body, at }) => ({
    [`${prefix}id`]: 'msg_1',
    [`${prefix}timestamp`]: String(at),
    [`${prefix}signature`]: new Webhook(secret).sign('msg_1', new Date(at * 1000), body),
  });
const hmac = (secret: string, text: string, encoding: 'hex' | 'base64' = 'hex'): string =>
  createHmac('sha256', secret).update(text).digest(encoding);

const VENDORS: [string, Vendor][] = [
  [
    'Stripe, signed by stripe',
    {
      preset: 'stripe',
      secret: 'whsec_not+base64',
      tolerance: 300,
      eventType: 'invoice.paid',
      dedupeId: 'evt_1',
      sign: ({ secret, body, at }) => ({
        'stripe-signature': stripe.generateTestHeaderString({ payload: body, secret, timestamp: at }),
      }),
    },
  ],
  [
    'GitHub, signed by @octokit/webhooks-methods',
    {
      preset: 'github',
      eventType: 'push',
      dedupeId: '72d3162e-cc78-11e3-81ab-4c9367dc0958',
      sign: async ({ secret, body }) => ({
        'x-hub-signature-256': await octokit.sign(secret, body),
        'x-github-event': 'push',
        'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
      }),
    },
  ],
  [
    'Standard Webhooks, signed by standardwebhooks',
    {
      preset: 'standard-webhooks',
      secret: whsec(),
      tolerance: 300,
      eventType: 'invoice.paid',
      dedupeId: 'msg_1',
      sign: standard('webhook-', StandardWebhook),
    },
  ],
  [
    'Svix, signed by svix',
    {
      preset: 'svix',
      secret: whsec(),
      tolerance: 300,
      eventType: 'invoice.paid',
      dedupeId: 'msg_1',
      sign: standard('svix-', SvixWebhook),
    },
  ],
  [
    'Twilio, signed by twilio',
    {
      preset: 'twilio',
      type: FORM,
      body: 'MessageSid=SM1&MessageStatus=delivered&Body=Hi+%26+bye+%C3%A4',
      eventType: 'message.delivered',
      dedupeId: null,
      sign: ({ secret, body, url }) => ({
        'x-twilio-signature': twilio.getExpectedTwilioSignature(
          secret,
          url,
          Object.fromEntries(new URLSearchParams(body)),
        ),
      }),
    },
  ],
  [
    'Slack, by the formula of its documentation',
    {
      preset: 'slack',
      tolerance: 300,
      body: '{"type":"event_callback","event_id":"Ev1","event":{"type":"app_mention"}}',
      eventType: 'app_mention',
      dedupeId: 'Ev1',
      sign: ({ secret, body, at }) => ({
        'x-slack-request-timestamp': String(at),
        'x-slack-signature': `v0=${hmac(secret, `v0:${at}:${body}`)}`,
      }),
    },
  ],
  [
    'Shopify, by the formula of its documentation',
    {
      preset: 'shopify',
      eventType: 'orders/create',
      dedupeId: 'b54557e4-bdd9-4b37-8a5f-bf7d70bcd043',
      sign: ({ secret, body }) => ({
        'x-shopify-hmac-sha256': hmac(secret, body, 'base64'),
        'x-shopify-topic': 'orders/create',
        'x-shopify-webhook-id': 'b54557e4-bdd9-4b37-8a5f-bf7d70bcd043',
      }),
    },
  ],
];

describe('requests of providers', () => {
  let server: PosthornServer;

  beforeAll(async () => {
    server = await sharedServer();
  });

  afterAll(() => server.stop());

  const now = (): number => Math.floor(Date.now() / 1000);

  const signed = async (
    endpoint: Inbound,
    vendor: Vendor,
    { secret = vendor.secret ?? 's3cret', at = now(), query = '' } = {},
  ): Promise<Sent & { path: string }> => {
    const body = vendor.body ?? BODY;
    const path = `${endpoint.at}${query}`;
    const headers = await vendor.sign({ secret, body, at, url: server.url + path });
    return { path, body, headers: { 'content-type': vendor.type ?? 'application/json', ...headers } };
  };

  const endpointOf = async ({ preset, secret = 's3cret' }: Vendor): Promise<Inbound> => {
    const endpoint = await inbound(server, { preset });
    await setSecret(server, endpoint, secret);
    return endpoint;
  };

  /** Sends a request and expects success, with the preset's response if the preset has one. Returns the event id. */
  const taken = async (endpoint: Inbound, sent: Sent): Promise<string> => {
    const answer = await provide(server, endpoint.at, sent);
    if (answer.status !== 200 && answer.status !== 204) throw new Error(`Not taken: ${answer.status} ${answer.text}`);
    const [newest] = await requestsOf(server, endpoint);
    expect(newest.status).not.toBe('quarantined');
    return newest.event_id as string;
  };

  const refused = async (endpoint: Inbound, path: string, sent: Sent): Promise<void> => {
    expectRefusal(await provide(server, path, sent), 401);
    expect((await requestsOf(server, endpoint))[0]).toMatchObject({
      status: 'quarantined',
      verified: false,
      note: expect.stringMatching(/^The signature is invalid: .+\.$/),
    });
  };

  it.each(VENDORS)('%s: 200, verified, with its event type and its own id', async (_title, vendor) => {
    const endpoint = await endpointOf(vendor);

    const id = await taken(endpoint, await signed(endpoint, vendor));

    expect(await eventOf(server, id)).toMatchObject({ event_type: vendor.eventType, status: 'ignored' });
    expect(await requestOf(server, endpoint, id)).toMatchObject({ verified: true, dedupe_id: vendor.dedupeId });
  });

  it.each(VENDORS)(
    '%s: 401 for another secret, a changed body and no signature; each request is stored',
    async (_title, vendor) => {
      const endpoint = await endpointOf(vendor);
      const { path, ...sent } = await signed(endpoint, vendor);
      const { path: _path, ...foreign } = await signed(endpoint, vendor, {
        secret: vendor.secret === undefined ? 'other' : whsec(),
      });

      await refused(endpoint, path, foreign);
      await refused(endpoint, path, {
        ...sent,
        body: vendor.type === FORM ? `${String(sent.body)}&x=1` : ` ${String(sent.body)}`,
      });
      await refused(endpoint, path, { ...sent, body: '' });
      await refused(endpoint, path, {
        body: sent.body,
        headers: { 'content-type': vendor.type ?? 'application/json' },
      });
      expect(await requestsOf(server, endpoint)).toHaveLength(4);
    },
  );

  it.each(VENDORS.filter(([, { tolerance }]) => tolerance !== undefined))(
    '%s: 401 for a signature that is too old',
    async (_title, vendor) => {
      const endpoint = await endpointOf(vendor);
      const tolerance = vendor.tolerance ?? 0;
      const stale = await signed(endpoint, vendor, { at: now() - tolerance - 2 });

      await refused(endpoint, stale.path, stale);
      await taken(endpoint, await signed(endpoint, vendor, { at: now() - tolerance + 60 }));
    },
  );

  it.each(VENDORS)(
    '%s: during the grace of a new secret the old one verifies too; without a grace it does not',
    async (_title, vendor) => {
      const endpoint = await endpointOf(vendor);
      const next = vendor.secret === undefined ? 'n3xt' : whsec();
      const last = vendor.secret === undefined ? 'l4st' : whsec();

      await setSecret(server, endpoint, next, { grace_seconds: 3600 });
      await taken(endpoint, await signed(endpoint, vendor));
      await taken(endpoint, await signed(endpoint, vendor, { secret: next }));
      await setSecret(server, endpoint, last, { grace_seconds: 0 });
      await taken(endpoint, await signed(endpoint, vendor, { secret: last }));

      for (const secret of [undefined, next]) {
        const { path, ...sent } = await signed(endpoint, vendor, secret === undefined ? {} : { secret });
        await refused(endpoint, path, sent);
      }
    },
  );

  it('Twilio gets an empty TwiML document', async () => {
    const vendor = VENDORS.find(([, { preset }]) => preset === 'twilio')?.[1] as Vendor;
    const endpoint = await endpointOf(vendor);

    const answer = await provide(server, endpoint.at, await signed(endpoint, vendor));

    expect(answer.headers.get('content-type')).toMatch(/^text\/xml/);
    expect(answer.text).toMatch(/<Response\s*\/>|<Response><\/Response>/);
  });

  it('Twilio signs the whole URL: 401 for another query, 200 for the signed one', async () => {
    const [, vendor] = VENDORS.find(([, { preset }]) => preset === 'twilio') as [string, Vendor];
    const endpoint = await endpointOf(vendor);
    const { path, ...sent } = await signed(endpoint, vendor, { query: '?tenant=1&x=a%20b' });

    const right = await provide(server, path, sent);

    expect(right.status).toBe(200);
    await refused(endpoint, `${endpoint.at}?tenant=2&x=a%20b`, sent);
    await refused(endpoint, `${endpoint.at}/other?tenant=1&x=a%20b`, sent);
  });

  it('GitLab sends its token in plain text: 200, and 401 for a longer, a shorter or no token', async () => {
    const endpoint = await inbound(server, { preset: 'gitlab' });
    await setSecret(server, endpoint, 'glpat-token');
    const sent = (token?: string): Sent => ({
      body: '{"object_kind":"push"}',
      headers: {
        'content-type': 'application/json',
        'x-gitlab-event': 'Push Hook',
        ...(token !== undefined && { 'x-gitlab-token': token }),
      },
    });

    await taken(endpoint, sent('glpat-token'));

    for (const token of ['glpat-token2', 'glpat-toke', '', undefined])
      await refused(endpoint, endpoint.at, sent(token));
  });

  it("Discord: 200 for an interaction signed for the application's public key, and 204 or a pong for its pings", async () => {
    const keys = generateKeyPairSync('ed25519');
    const endpoint = await inbound(server, { preset: 'discord' });
    await setSecret(
      server,
      endpoint,
      keys.publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('hex'),
    );
    const sent = (body: string, time = String(now())): Sent => ({
      body,
      headers: {
        'content-type': 'application/json',
        'x-signature-timestamp': time,
        'x-signature-ed25519': sign(null, Buffer.from(time + body), keys.privateKey).toString('hex'),
      },
    });

    const pong = await provide(server, endpoint.at, sent('{"type":1}'));
    const ping = await provide(server, endpoint.at, sent('{"type":0}'));
    const event = await taken(endpoint, sent('{"version":1,"type":1,"event":{"type":"ENTITLEMENT_CREATE"}}'));
    const { headers, ...forged } = sent('{"type":1}');

    expect([pong.status, pong.json, ping.status, ping.text]).toEqual([200, { type: 1 }, 204, '']);
    expect(await eventOf(server, event)).toMatchObject({ event_type: 'ENTITLEMENT_CREATE' });
    await refused(endpoint, endpoint.at, {
      ...forged,
      headers: { ...headers, 'x-signature-timestamp': String(now() + 1) },
    });
    expect(await requestsOf(server, endpoint)).toHaveLength(2);
  });

  describe('senders without a preset', () => {
    it('hmac-sha256: x-signature can be hex, base64 or prefixed', async () => {
      const endpoint = await inbound(server, { verification: 'hmac-sha256' });
      await setSecret(server, endpoint, 's3cret');

      for (const signature of [
        hmac('s3cret', BODY),
        hmac('s3cret', BODY, 'base64'),
        `sha256=${hmac('s3cret', BODY)}`,
      ]) {
        const id = await taken(endpoint, { body: BODY, headers: { 'X-Signature': signature } });
        expect(await eventOf(server, id)).toMatchObject({ event_type: 'invoice.paid' });
      }
      await refused(endpoint, endpoint.at, { body: BODY, headers: { 'x-signature': hmac('other', BODY) } });
    });

    it.each<[string, object, string]>([
      ['bearer', { authorization: 'Bearer s3cret' }, 'authorization'],
      ['api-key', { 'x-api-key': 's3cret' }, 'x-api-key'],
    ])('%s: the secret is accepted, and hidden from keys of scope read', async (verification, headers, name) => {
      const endpoint = await inbound(server, { verification });
      await setSecret(server, endpoint, 's3cret');

      const id = await taken(endpoint, { body: BODY, headers: { ...headers } });

      const reader = as((await createKey(server, { scope: 'read' })).key);
      expect((await requestOf(server, endpoint, id, reader)).headers).toContainEqual([name, '(hidden)']);
      expect((await requestOf(server, endpoint, id)).headers).toContainEqual([
        name,
        headers[name as keyof typeof headers],
      ]);
      await refused(endpoint, endpoint.at, { body: BODY, headers: { [name]: 'Bearer other' } });
    });

    it('jwt: keys come from jwksUrl through the egress gate, fetched once for many requests; no secret needed; 422 without jwksUrl or with a private address', async () => {
      const [one, two] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
      const published: object[] = [{ ...one.publicKey.export({ format: 'jwk' }), kid: 'one' }];
      const issuer = await startReceiver(() => ({ status: 200, body: JSON.stringify({ keys: published }) }));
      const token = ({ privateKey }: typeof one, kid: string, claims: object = {}): Sent => {
        const content = [
          { alg: 'EdDSA', kid },
          { iss: 'acme', iat: now(), ...claims },
        ]
          .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
          .join('.');
        return {
          body: BODY,
          headers: {
            authorization: `Bearer ${content}.${sign(null, Buffer.from(content), privateKey).toString('base64url')}`,
          },
        };
      };
      try {
        const endpoint = await inbound(server, {
          verification: 'jwt',
          verificationConfig: { jwksUrl: `${issuer.url}/jwks`, issuer: 'acme' },
        });

        const id = await taken(endpoint, token(one, 'one'));
        await refused(endpoint, endpoint.at, token(two, 'one'));
        await refused(endpoint, endpoint.at, token(one, 'one', { iss: 'other' }));
        await refused(endpoint, endpoint.at, token(one, 'one', { iat: now() - 400 }));

        expect(await requestOf(server, endpoint, id)).toMatchObject({ verified: true });
        expect(issuer.requests).toHaveLength(1);
        const faulty = (config: object): Promise<ApiAnswer> =>
          server.api('POST', '/v1/endpoints', { slug: 'faulty', verification: 'jwt', verificationConfig: config });
        expectInvalid(await faulty({ issuer: 'a' }), 'schema', 'verificationConfig.jwksUrl');
        expectInvalid(
          await faulty({ jwksUrl: 'https://10.0.0.1/jwks', issuer: 'a' }),
          'connectivity',
          'verificationConfig.jwksUrl',
        );
        expectInvalid(
          await server.api('PUT', `/v1/endpoints/${endpoint.id}/secret`, { secret: 'a' }),
          'schema',
          'secret',
        );
      } finally {
        await issuer.close();
      }
    });

    it('hmac-sha512 over time, method and body, in a custom header, with a maximum age', async () => {
      const endpoint = await inbound(server, {
        verification: 'hmac-sha512',
        verificationConfig: {
          header: 'x-acme',
          prefix: 'v1=',
          encoding: 'base64',
          timestampHeader: 'x-acme-time',
          toleranceSeconds: 60,
          signed: '{{timestamp}}|{{method}}|{{body}}',
        },
      });
      await setSecret(server, endpoint, 's3cret');
      const sent = (time: number, method = 'PUT'): Sent => ({
        method: 'PUT',
        body: BODY,
        headers: {
          'x-acme-time': String(time),
          'x-acme': `v1=${createHmac('sha512', 's3cret').update(`${time}|${method}|${BODY}`).digest('base64')}`,
        },
      });

      await taken(endpoint, sent(now()));

      await refused(endpoint, endpoint.at, sent(now() - 62));
      await refused(endpoint, endpoint.at, sent(now(), 'POST'));
    });

    it('none: signature headers are not verified, and everything is accepted', async () => {
      const endpoint = await inbound(server, { preset: 'stripe', verification: 'none' });

      const id = await taken(endpoint, { body: BODY, headers: { 'stripe-signature': 't=1,v1=00' } });

      expect(await requestOf(server, endpoint, id)).toMatchObject({
        verified: null,
        status: 'ignored',
        dedupe_id: 'evt_1',
      });
    });
  });
});
