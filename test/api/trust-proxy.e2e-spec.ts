import twilio from 'twilio';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { expectRefusal } from './answers.js';
import type { Inbound, Sent } from './receiving.js';
import { accepted, inbound, provide, requestOf, setSecret } from './receiving.js';

/** Number of calls allowed from one address. */
const QUOTA = 60;

describe('TRUST_PROXY', () => {
  let server: PosthornServer;
  let endpoint: Inbound;

  beforeAll(async () => {
    server = await startServer({
      TRUST_PROXY: '127.0.0.0/8, 10.0.0.0/8',
      RATE_LIMIT_KEY: `${QUOTA}/3600`,
      RATE_LIMIT_ORG: 'off',
    });
    endpoint = await inbound(server);
  });

  afterAll(() => server.stop());

  it.each<[string, string, string]>([
    ['one proxy', '203.0.113.7', '203.0.113.7'],
    ['a claim of the client before the address that the proxy saw', '198.51.100.1, 203.0.113.7', '203.0.113.7'],
    ['several trusted proxies', '203.0.113.7, 10.1.2.3', '203.0.113.7'],
    ['with a port', '203.0.113.7:4711', '203.0.113.7'],
    ['IPv6 in brackets', '[2001:db8::7]:4711', '2001:db8::7'],
    ['garbage before it', '<x>, 203.0.113.7', '203.0.113.7'],
    ['only garbage', 'unknown', '127.0.0.1'],
  ])("the client's address: %s", async (_what, forwarded, expected) => {
    const id = await accepted(server, endpoint, { headers: { 'x-forwarded-for': forwarded } });

    expect((await requestOf(server, endpoint, id)).ip).toBe(expected);
  });

  it('limits count per client, not per load balancer', async () => {
    const call = (from: string): ReturnType<typeof provide> =>
      provide(server, '/v1/events', { method: 'GET', headers: { 'x-forwarded-for': from } });
    for (let i = 0; i < QUOTA; i += 1) expectRefusal(await call('203.0.113.50'), 401);

    expectRefusal(await call('203.0.113.50'), 429);
    expectRefusal(await call('203.0.113.51'), 401);
  });

  it('the URL that a provider signed is the one of the load balancer', async () => {
    const signed = await inbound(server, { preset: 'twilio' });
    await setSecret(server, signed, 'token');
    const signature = twilio.getExpectedTwilioSignature('token', `https://hooks.example.com${signed.at}`, {});
    const sent: Sent = {
      headers: {
        'x-forwarded-proto': 'https',
        'x-forwarded-host': 'hooks.example.com',
        'x-twilio-signature': signature,
      },
    };

    expect((await provide(server, signed.at, sent)).status).toBe(200);
    expectRefusal(
      await provide(server, signed.at, { headers: { ...sent.headers, 'x-forwarded-host': 'evil.example.com' } }),
      401,
    );
  });
});
