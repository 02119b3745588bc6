import { createHash, createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { expectRefusal } from './answers.js';
import type { Sent } from './receiving.js';
import { accepted, change, inbound, json, provide, requestOf, requestsOf, setSecret } from './receiving.js';
import type { Targets } from './scene.js';
import { startTargets } from './scene.js';

const PLAIN = 'text/plain; charset=utf-8';
const SECRET = 's3cret';

const hmac = (text: string, encoding: 'hex' | 'base64' = 'hex'): string =>
  createHmac('sha256', SECRET).update(text).digest(encoding);

interface Handshake {
  settings: object;
  secret?: string;
  query?: string;
  sent: Sent;
  answer: { status?: number; type?: string | null; body: unknown; headers?: Record<string, string> };
}

const TWITCH_BODY = '{"challenge":"pogchamp-kappa-360noscope-vohiyo","subscription":{"type":"channel.follow"}}';
const TWITCH_TIME = new Date().toISOString();
const EBAY = {
  type: 'ebay-challenge',
  verificationToken: '71745723-d031-455c-bfa5-f90d11b4f20a',
  endpointUrl: 'https://hooks.example.com/in/acme/ebay',
};

const HANDSHAKES: [string, Handshake][] = [
  [
    'meta-challenge',
    {
      settings: { response: { type: 'meta-challenge', verifyToken: 'meatyhamhock' } },
      query: '?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=meatyhamhock',
      sent: { method: 'GET' },
      answer: { body: '1158201444' },
    },
  ],
  [
    'slack-challenge',
    {
      settings: { preset: 'slack' },
      sent: json({ type: 'url_verification', token: 'Jhj5dZrVaK7ZwHHjRyZWjbDl', challenge: '3eZbrw1aBm2r' }),
      answer: { body: '3eZbrw1aBm2r' },
    },
  ],
  [
    'zoom-challenge',
    {
      settings: { preset: 'zoom' },
      secret: SECRET,
      sent: json({ event: 'endpoint.url_validation', payload: { plainToken: 'qgg8vlvZRS6UYooatFL8Aw' } }),
      answer: {
        type: 'application/json',
        body: { plainToken: 'qgg8vlvZRS6UYooatFL8Aw', encryptedToken: hmac('qgg8vlvZRS6UYooatFL8Aw') },
      },
    },
  ],
  [
    'x-crc',
    {
      settings: { preset: 'x' },
      secret: SECRET,
      query: '?crc_token=abc123',
      sent: { method: 'GET' },
      answer: { type: 'application/json', body: { response_token: `sha256=${hmac('abc123', 'base64')}` } },
    },
  ],
  [
    'ebay-challenge',
    {
      settings: { response: EBAY },
      query: '?challenge_code=a8628072',
      sent: { method: 'GET' },
      answer: {
        type: 'application/json',
        body: {
          challengeResponse: createHash('sha256')
            .update(`a8628072${EBAY.verificationToken}${EBAY.endpointUrl}`)
            .digest('hex'),
        },
      },
    },
  ],
  [
    'dropbox-challenge',
    {
      settings: { preset: 'dropbox' },
      query: '?challenge=dbx%20challenge',
      sent: { method: 'GET' },
      answer: { body: 'dbx challenge' },
    },
  ],
  [
    'msgraph-challenge',
    {
      settings: { preset: 'ms-graph' },
      query: '?validationToken=Validation%3A%20Testing%3Cb%3E',
      sent: { method: 'POST' },
      answer: { body: 'Validation: Testing<b>' },
    },
  ],
  [
    'okta-challenge',
    {
      settings: { preset: 'okta' },
      sent: { method: 'GET', headers: { 'x-okta-verification-challenge': 'okta-1' } },
      answer: { type: 'application/json', body: { verification: 'okta-1' } },
    },
  ],
  [
    'twitch-challenge',
    {
      settings: { preset: 'twitch' },
      secret: SECRET,
      sent: {
        body: TWITCH_BODY,
        headers: {
          'content-type': 'application/json',
          'twitch-eventsub-message-type': 'webhook_callback_verification',
          'twitch-eventsub-message-id': 'id-1',
          'twitch-eventsub-message-timestamp': TWITCH_TIME,
          'twitch-eventsub-message-signature': `sha256=${hmac(`id-1${TWITCH_TIME}${TWITCH_BODY}`)}`,
        },
      },
      answer: { body: 'pogchamp-kappa-360noscope-vohiyo' },
    },
  ],
];

describe('responses to providers', () => {
  let server: PosthornServer;
  let targets: Targets;

  beforeAll(async () => {
    [server, targets] = await Promise.all([sharedServer(), startTargets()]);
  });

  afterAll(async () => {
    await server.stop();
    await targets.close();
  });

  describe('handshakes create no event', () => {
    it.each(HANDSHAKES)('%s', async (_type, { settings, secret, query = '', sent, answer: expected }) => {
      const endpoint = await inbound(server, settings);
      if (secret !== undefined) await setSecret(server, endpoint, secret);

      const answer = await provide(server, endpoint.at + query, sent);

      const { status = 200, type = PLAIN, body } = expected;
      expect({
        status: answer.status,
        type: answer.headers.get('content-type'),
        body: typeof body === 'string' ? answer.text : answer.json,
      }).toEqual({ status, type, body });
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(await requestsOf(server, endpoint)).toEqual([]);
    });

    it.each<[string, object, string, Sent, number]>([
      [
        'meta: another token',
        { response: { type: 'meta-challenge', verifyToken: 'right' } },
        '?hub.mode=subscribe&hub.challenge=1&hub.verify_token=wrong',
        { method: 'GET' },
        403,
      ],
      [
        'meta: a challenge with a line break',
        { response: { type: 'meta-challenge', verifyToken: 'right' } },
        '?hub.mode=subscribe&hub.challenge=1%0d%0aset-cookie:a&hub.verify_token=right',
        { method: 'GET' },
        400,
      ],
      [
        'dropbox: a challenge that is too long',
        { preset: 'dropbox' },
        `?challenge=${'a'.repeat(1025)}`,
        { method: 'GET' },
        400,
      ],
      ['x: no secret is set', { preset: 'x' }, '?crc_token=a', { method: 'GET' }, 403],
    ])('rejected: %s', async (_title, settings, query, sent, status) => {
      const endpoint = await inbound(server, settings);

      const answer = await provide(server, endpoint.at + query, sent);

      expect(answer.status).toBe(status);
      expect([answer.headers.get('content-type'), answer.headers.get('x-content-type-options')]).toEqual([
        'text/plain; charset=utf-8',
        'nosniff',
      ]);
      expect(answer.headers.get('set-cookie')).toBeNull();
      expect(await requestsOf(server, endpoint)).toEqual([]);
    });

    it.each([
      ['trello', 'HEAD'],
      ['trello', 'GET'],
      ['intercom', 'HEAD'],
      ['intercom', 'GET'],
    ])(
      '%s: the unsigned %s before the URL is saved gets 200 and creates no event, with and without a secret; a POST creates an event',
      async (preset, method) => {
        const endpoint = await inbound(server, { preset });

        const before = await provide(server, endpoint.at, { method });
        await setSecret(server, endpoint, 's3cret');
        const after = await provide(server, endpoint.at, { method });

        expect([before.status, after.status, before.text, after.text]).toEqual([200, 200, '', '']);
        expect(await requestsOf(server, endpoint)).toEqual([]);
        expectRefusal(await provide(server, endpoint.at, { body: '{}' }), 401);
        expect(await requestsOf(server, endpoint)).toHaveLength(1);
      },
    );

    it('a HEAD or GET to an endpoint of another provider is not a handshake', async () => {
      const endpoint = await inbound(server, { preset: 'stripe' });

      expect([
        (await provide(server, endpoint.at, { method: 'HEAD' })).status,
        (await provide(server, endpoint.at, { method: 'GET' })).status,
      ]).toEqual([401, 401]);
    });

    it('asana-handshake sets the secret once, also with concurrent requests; later events are verified with it', async () => {
      const endpoint = await inbound(server, { preset: 'asana' });
      const handshake = (secret: string): Promise<ApiAnswer> =>
        provide(server, endpoint.at, { headers: { 'x-hook-secret': secret } });

      const answers = await Promise.all(['a', 'b', 'c', 'd'].map(handshake));
      const late = await handshake('e');

      const [winner] = answers.filter(({ status }) => status === 200);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 403, 403, 403]);
      expect(late.status).toBe(403);
      const secret = winner?.headers.get('x-hook-secret') ?? '';
      const body = '{"events":[{"action":"changed"}]}';
      await accepted(server, endpoint, {
        body,
        headers: { 'x-hook-signature': createHmac('sha256', secret).update(body).digest('hex') },
      });
      expectRefusal(
        await provide(server, endpoint.at, {
          body,
          headers: { 'x-hook-signature': createHmac('sha256', 'e').update(body).digest('hex') },
        }),
        401,
      );
      expect(JSON.stringify((await server.api('GET', `/v1/endpoints/${endpoint.id}`)).json)).not.toContain(
        `"${secret}"`,
      );
    });

    it('sns-confirm: a message without a valid SNS signature triggers no request, and is quarantined', async () => {
      const target = targets.open();
      const endpoint = await inbound(server, { preset: 'aws-sns' });
      await setSecret(server, endpoint, 'arn:aws:sns:us-west-2:123456789012:MyTopic');
      const message = {
        Type: 'SubscriptionConfirmation',
        MessageId: 'm-1',
        TopicArn: 'arn:aws:sns:us-west-2:123456789012:MyTopic',
        Message: 'You have chosen …',
        Token: '2336',
        SubscribeURL: `${target.url}?Action=ConfirmSubscription`,
        Timestamp: '2012-04-26T20:45:04.751Z',
        SignatureVersion: '2',
        Signature: 'AAAA',
        SigningCertURL: `${target.url}/cert.pem`,
      };

      const answer = await provide(
        server,
        endpoint.at,
        json(message, { 'x-amz-sns-message-type': 'SubscriptionConfirmation' }),
      );

      expectRefusal(answer, 401);
      expect(targets.receiver.requests.filter(({ path }) => path.startsWith(new URL(target.url).pathname))).toEqual([]);
      expect((await requestsOf(server, endpoint))[0]).toMatchObject({ status: 'quarantined' });
    });
  });

  it('response: static returns its status, headers and body for every event', async () => {
    const endpoint = await inbound(server, {
      response: {
        type: 'static',
        status: 202,
        body: '<ok/>',
        headers: { 'Content-Type': 'application/xml', 'X-Own': 'é' },
      },
    });

    const answer = await provide(server, endpoint.at, json({ a: 1 }));

    expect([answer.status, answer.text, answer.headers.get('content-type'), answer.headers.get('x-own')]).toEqual([
      202,
      '<ok/>',
      'application/xml',
      'é',
    ]);
    expect(await requestsOf(server, endpoint)).toHaveLength(1);
  });

  it('response: neither 204 nor a HEAD has a body', async () => {
    const endpoint = await inbound(server, { response: { type: 'static', status: 204 } });

    const answers = [
      await provide(server, endpoint.at, json({})),
      await provide(server, endpoint.at, { method: 'HEAD' }),
    ];

    expect(answers.map(({ status, text }) => [status, text])).toEqual([
      [204, ''],
      [204, ''],
    ]);
  });

  describe('responseRules', () => {
    const RULES = {
      rules: [
        {
          when: {
            all: [
              { type: 'method', op: 'eq', value: 'GET' },
              { type: 'query', name: 'echo', op: 'exists' },
            ],
          },
          respond: {
            body: 'echo {{query.echo}}',
            headers: { 'content-type': 'text/plain', 'x-agent': '{{headers.user-agent}}' },
          },
        },
        {
          when: { type: 'json', path: '$.type', op: 'eq', value: 'verify' },
          respond: { body: '{"challenge":"{{body.challenge}}","n":{{body.n}}}' },
        },
        {
          when: { not: { type: 'header', name: 'x-tenant', op: 'in', value: 'a,b' } },
          respond: { status: 403, body: 'no tenant' },
        },
      ],
      default: { status: 201, body: 'default' },
    };

    it('the first matching rule responds, otherwise the default; values from the request are escaped', async () => {
      const endpoint = await inbound(server, { responseRules: RULES });

      const echo = await provide(server, `${endpoint.at}?echo=%3Cb%3E`, {
        method: 'GET',
        headers: { 'user-agent': 'agent/1' },
      });
      const filled = await provide(server, endpoint.at, json({ type: 'verify', challenge: 'a"},{"b', n: [1] }));
      const refused = await provide(server, endpoint.at, json({ type: 'other' }));
      const fallback = await provide(server, endpoint.at, json({ type: 'other' }, { 'x-tenant': 'b' }));

      expect([echo.status, echo.text, echo.headers.get('x-agent')]).toEqual([200, 'echo <b>', 'agent/1']);
      expect(echo.headers.get('x-content-type-options')).toBe('nosniff');
      expect(filled.json).toEqual({ challenge: 'a"},{"b', n: [1] });
      expect([refused.status, refused.text]).toEqual([403, 'no tenant']);
      expect([fallback.status, fallback.text]).toEqual([201, 'default']);
      expect(await requestsOf(server, endpoint)).toHaveLength(4);
    });
  });

  describe('responseProxy', () => {
    it('managed: the code gets the request and returns the response', async () => {
      const code = `export default (request) => ({ status: 207, headers: { 'X-Saw': request.method }, body: { ...request.body, path: request.path, query: request.query, own: request.headers['x-own'], by: request.verification } })`;
      const endpoint = await inbound(server, { responseProxy: { target: 'managed', code } });

      const answer = await provide(server, `${endpoint.at}/sub?a=1`, json({ n: 1 }, { 'X-Own': 'o' }));

      expect(answer.status).toBe(207);
      expect(answer.headers.get('x-saw')).toBe('POST');
      expect(answer.json).toEqual({ n: 1, path: '/sub', query: { a: '1' }, own: 'o', by: 'none' });
      expect(await requestsOf(server, endpoint)).toHaveLength(1);
    });

    it('url: the signed request is posted to it; status, body and content type of its response are used, but no headers that affect browsers', async () => {
      const target = targets.open(() => ({
        status: 418,
        headers: { 'content-type': 'application/xml', 'set-cookie': 'a=b', 'x-own': '1' },
        body: '<teapot/>',
      }));
      const endpoint = await inbound(server, { responseProxy: { target: 'url', url: target.url } });

      const answer = await provide(server, `${endpoint.at}?q=1`, {
        method: 'PUT',
        body: '{"n": 1}',
        headers: { 'content-type': 'application/json', authorization: 'Basic eDp5' },
      });

      expect([answer.status, answer.text, answer.headers.get('content-type')]).toEqual([
        418,
        '<teapot/>',
        'application/xml',
      ]);
      expect([answer.headers.get('set-cookie'), answer.headers.get('x-own')]).toEqual([null, null]);
      const [asked] = target.posts();
      const { secret } = (await server.api('GET', '/v1/signing-secret')).json;
      expect(new Webhook(secret).verify(asked?.rawBody ?? '', asked?.headers as Record<string, string>)).toEqual({
        n: 1,
      });
      expect(asked?.headers).toMatchObject({
        'posthorn-method': 'PUT',
        'posthorn-query': 'q=1',
        'content-type': 'application/json',
      });
      expect(asked?.headers).not.toHaveProperty('authorization');
      const [request] = await requestsOf(server, endpoint);
      expect(asked?.headers['webhook-id']).toBe(request.event_id);
    });

    const UNAVAILABLE: [string, () => object][] = [
      [
        'managed code that throws',
        () => ({ target: 'managed', code: `export default () => { throw new Error('x'); }` }),
      ],
      [
        'managed code in an endless loop',
        () => ({ target: 'managed', code: 'export default () => { for (;;); }', timeoutMs: 100 }),
      ],
      [
        'managed code that returns an invalid status',
        () => ({ target: 'managed', code: 'export default () => ({ status: 99 })' }),
      ],
      [
        'managed code that sets a cookie',
        () => ({ target: 'managed', code: `export default () => ({ headers: { 'set-cookie': 'a=b' } })` }),
      ],
      ['a URL that answers 500', () => ({ target: 'url', url: targets.open(() => ({ status: 500 })).url })],
      [
        'a URL that answers too late',
        () => ({ target: 'url', url: targets.open(() => ({ hang: true })).url, timeoutMs: 100 }),
      ],
      [
        'a URL that answers too much',
        () => ({ target: 'url', url: targets.open(() => ({ body: 'a'.repeat(70_000) })).url }),
      ],
    ];

    it.each(UNAVAILABLE)('fallback, the default: %s is skipped, and the event is received', async (_title, proxy) => {
      const endpoint = await inbound(server, {
        responseProxy: proxy(),
        responseRules: { default: { status: 203, body: 'by rule' } },
      });

      const answer = await provide(server, endpoint.at, json({}));

      expect([answer.status, answer.text]).toEqual([203, 'by rule']);
      expect(await requestsOf(server, endpoint)).toHaveLength(1);
    });

    it.each(UNAVAILABLE)(
      'error: %s gives 502 with the error envelope, and nothing is stored',
      async (_title, proxy) => {
        const endpoint = await inbound(server, { responseProxy: { ...proxy(), onUnavailable: 'error' } });

        const answer = await provide(server, endpoint.at, json({}));

        expect(answer.status).toBe(502);
        expect(answer.json.error).toMatchObject({
          type: 'internal',
          request_id: expect.stringMatching(/^req_/),
          details: {},
        });
        expect(answer.headers.get('retry-after')).toBe('1');
        expect(await requestsOf(server, endpoint)).toEqual([]);
      },
    );
  });

  it('the precedence is challenge, proxy, rules, response, default', async () => {
    const challenge = { type: 'dropbox-challenge', status: 205, body: '' };
    const endpoint = await inbound(server, {
      response: { ...challenge, status: 206, body: 'by response' },
      responseRules: {
        rules: [{ when: { type: 'query', name: 'ruled', op: 'exists' }, respond: { body: 'by rule' } }],
      },
      responseProxy: {
        target: 'managed',
        code: `export default (request) => { if (!('proxied' in request.query)) throw new Error(); return { body: 'by proxy' }; }`,
      },
    });
    const ask = async (query: string): Promise<string> =>
      (await provide(server, `${endpoint.at}?${query}`, { method: 'GET' })).text;

    expect(await ask('challenge=by%20challenge&proxied&ruled')).toBe('by challenge');
    expect(await ask('proxied&ruled')).toBe('by proxy');
    expect(await ask('ruled')).toBe('by rule');
    expect(await ask('')).toBe('by response');
    await change(server, endpoint, { response: null, responseProxy: null });
    expect(JSON.parse(await ask(''))).toEqual({ received: true, id: expect.any(String) });
    const [request] = await requestsOf(server, endpoint);
    expect(await requestOf(server, endpoint, request.id)).toMatchObject({ method: 'GET' });
  });
});
