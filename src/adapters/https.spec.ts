import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { EgressAgent, EgressAnswer, EgressRequest } from '#egress/agent.js';
import type { EgressGate } from '#egress/gate.js';
import { checkUrl, egressPolicy } from '#engine/egress-policy.js';
import { DEFAULT_FORWARDING } from '#engine/inbound/forwarded-url.js';
import { DEFAULT_LEGACY_SCHEME } from '#engine/legacy-signature.js';
import { DEFAULT_RETRY_POLICY } from '#engine/retry.js';
import { privateKeyOf } from '#engine/signing.js';
import { USER_AGENT } from '#kernel/version.js';
import { type Draft, type Outgoing, type Target, Withheld } from '#modules/destinations/contract.js';
import { headersOf, HttpsAdapter } from './https.js';
import type { OwnHost } from './own-host.js';
import { Probe } from './probe.js';

const NEW_KEY = Buffer.alloc(32, 1);
const OLD_KEY = Buffer.alloc(24, 2);

const OUTGOING: Outgoing = {
  request: () => Promise.resolve(null),
  webhookId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  eventType: 'invoice.paid',
  body: '{"test": 2432232314}',
  headers: null,
  requestLine: null,
  replayed: false,
  traceparent: null,
  atMs: 1_614_265_330_999,
  mayBegin: () => true,
};

const TARGET: Target = {
  environmentId: 1,
  targetId: '0190f0a0-0000-0000-0000-000000000001',
  destinationId: '0190f0a0-0000-0000-0000-000000000001',
  ownerId: null,
  type: 'https',
  url: new URL('https://example.com/hook'),
  config: {},
  credentials: null,
  status: 'active',
  disabledReason: null,
  signingKeys: [NEW_KEY],
  privateKeys: [],
  legacySignature: null,
  forward: DEFAULT_FORWARDING,
  headers: {},
  retry: DEFAULT_RETRY_POLICY,
  ratePerSecond: null,
  concurrency: null,
  timeoutMs: 1_234,
  failureThreshold: 10,
};

const DRAFT: Draft = { type: 'https', url: 'https://example.com/hook', config: {}, credentials: null };

const answered = (status: number, body = '', headers: Record<string, string> = {}): EgressAnswer => ({
  kind: 'response',
  status,
  headers,
  body: Buffer.from(body),
  truncated: false,
  durationMs: 12.6,
});

const failed = (
  error: 'connection' | 'dns' | 'timeout' | 'tls' | 'blocked' | 'protocol',
  durationMs = 10,
): EgressAnswer => ({
  kind: 'error',
  error,
  detail: `It was ${error}.`,
  durationMs,
});

function arrange(...answers: EgressAnswer[]): { adapter: HttpsAdapter; requests: EgressRequest[] } {
  const requests: EgressRequest[] = [];
  const agent = {
    exchange: (request: EgressRequest) => {
      requests.push(request);
      return Promise.resolve(answers[requests.length - 1]);
    },
  } as unknown as EgressAgent;
  const policy = egressPolicy({ allowCidrs: [], allowHttp: false });
  const gate = { check: (url: string) => checkUrl(url, policy) } as unknown as EgressGate;
  return {
    adapter: new HttpsAdapter(agent, gate, new Probe(agent, gate), { receives: () => false } as unknown as OwnHost),
    requests,
  };
}

describe('headersOf', () => {
  it('sends the event type, the id, the timestamp and the signature as headers', () => {
    expect(headersOf({ ...OUTGOING, replayed: true, traceparent: '00-a-b-01' }, TARGET)).toEqual({
      'content-type': 'application/json',
      'user-agent': USER_AGENT,
      'webhook-id': OUTGOING.webhookId,
      'webhook-event-type': OUTGOING.eventType,
      'webhook-timestamp': '1614265330',
      'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/) as string,
      'webhook-replayed': 'true',
      traceparent: '00-a-b-01',
    });
  });

  it('a webhook-event-type header of the message or the destination does not replace the event type', () => {
    const headers = headersOf(
      { ...OUTGOING, headers: { 'webhook-event-type': 'forged' } },
      { ...TARGET, headers: { 'webhook-event-type': 'forged' } },
    );

    expect(headers['webhook-event-type']).toBe(OUTGOING.eventType);
  });

  it('omits headers that do not apply', () => {
    const names = Object.keys(headersOf(OUTGOING, TARGET));

    expect(names).not.toContain('webhook-replayed');
    expect(names).not.toContain('traceparent');
  });

  it('signs so that the reference library verifies with either secret of a rotation', () => {
    const atMs = new Date().getTime();

    const headers = headersOf({ ...OUTGOING, atMs }, { ...TARGET, signingKeys: [NEW_KEY, OLD_KEY] });

    for (const key of [NEW_KEY, OLD_KEY]) {
      expect(new Webhook(key.toString('base64')).verify(OUTGOING.body, headers)).toEqual({ test: 2432232314 });
    }
  });

  it('adds the asymmetric and the legacy signature if the target has them', () => {
    const legacySignature = {
      ...DEFAULT_LEGACY_SCHEME,
      header: 'X-Acme-Signature',
      timestampHeader: 'X-Acme-Time',
      key: OLD_KEY,
    };

    const headers = headersOf(
      { ...OUTGOING, headers: { 'x-acme-signature': 'forged' } },
      { ...TARGET, privateKeys: [privateKeyOf(Buffer.alloc(32, 3))], legacySignature },
    );

    expect(headers).toMatchObject({
      'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}= v1a,[A-Za-z0-9+/]{86}==$/) as string,
      'x-acme-signature': createHmac('sha256', OLD_KEY).update(OUTGOING.body).digest('hex'),
      'x-acme-time': headers['webhook-timestamp'],
    });
  });

  it("message headers override destination headers, and Posthorn's headers override both", () => {
    const fixed = { a: 'fixed', b: 'fixed', 'webhook-id': 'forged', 'content-type': 'text/plain' };

    const headers = headersOf(
      { ...OUTGOING, headers: { b: 'message', 'user-agent': 'forged' } },
      { ...TARGET, headers: fixed },
    );

    expect(headers).toMatchObject({
      a: 'fixed',
      b: 'message',
      'webhook-id': OUTGOING.webhookId,
      'content-type': 'application/json',
      'user-agent': USER_AGENT,
    });
    expect(fixed.b).toBe('fixed');
  });
});

const LINE = { method: 'GET', path: '/p', query: 'q=1' };

describe('headersOf a received request', () => {
  it("keeps the provider's user agent, and renames headers with the names of Posthorn's signature", () => {
    const theirs = { 'user-agent': 'Provider/1.0', 'x-a': '1', 'webhook-id': 'theirs', svix_id: 's', 'svix-id': 't' };

    const headers = headersOf({ ...OUTGOING, requestLine: LINE, headers: theirs }, TARGET);

    expect(headers).toMatchObject({
      'user-agent': 'Provider/1.0',
      'x-a': '1',
      'webhook-id': OUTGOING.webhookId,
      'posthorn-received-webhook-id': 'theirs',
      'posthorn-received-svix_id': 's',
      'posthorn-received-svix-id': 't',
    });
    expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['svix-id']));
  });

  it("has Posthorn's user agent if the provider sent none", () => {
    expect(headersOf({ ...OUTGOING, requestLine: LINE, headers: {} }, TARGET)['user-agent']).toBe(USER_AGENT);
  });
});

describe('HttpsAdapter with a received request', () => {
  const EVERYTHING = { method: true, path: true, query: true };
  const received = { ...OUTGOING, requestLine: LINE, body: '' };

  it.each([
    [{ method: false, path: false, query: true }, 'POST', 'https://example.com/hook?q=1'],
    [{ method: false, path: false, query: false }, 'POST', 'https://example.com/hook'],
    [EVERYTHING, 'GET', 'https://example.com/hook/p?q=1'],
  ])('%j is sent as %s to %s', async (forward, method, href) => {
    const { adapter, requests } = arrange(answered(200, 'ok'));
    const target = { ...TARGET, url: new URL('https://example.com/hook'), forward };

    const { exchange } = await adapter.deliver(received, target);

    expect(requests).toMatchObject([{ method, url: { href } }]);
    expect(adapter.signed(received, target)).toMatchObject({ method, url: { href } });
    expect(exchange).toMatchObject({ method, url: { href: 'https://example.com/hook' } });
  });

  it('sends nothing for a path that could lead out of the path of the target', async () => {
    const { adapter, requests } = arrange();
    const target = { ...TARGET, forward: EVERYTHING };
    const hostile = { ...received, requestLine: { ...LINE, path: '/..%2fadmin' } };

    expect(await adapter.deliver(hostile, target)).toMatchObject({ answer: { kind: 'error', error: 'refused' } });
    expect(adapter.signed(hostile, target)).toBeNull();
    expect(requests).toEqual([]);
  });
});

describe('HttpsAdapter.deliver', () => {
  it("posts the unchanged body to the URL with the target's timeout", async () => {
    const { adapter, requests } = arrange(answered(200, 'ok'));

    const answer = await adapter.deliver(OUTGOING, TARGET);

    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({
      method: 'POST',
      url: TARGET.url,
      body: OUTGOING.body,
      timeoutMs: 1_234,
      bodyBytesMax: 65_536,
    });
    expect(answer).toEqual({
      answer: { kind: 'response', status: 200, retryAfter: null },
      durationMs: 13,
      excerpt: 'ok',
      exchange: { method: 'POST', url: TARGET.url, headers: requests[0]?.headers, answered: {} },
    });
  });

  it('encodes a body once if consecutive deliveries share it, otherwise while writing it', async () => {
    const { adapter, requests } = arrange(...Array.from({ length: 5 }, () => answered(200, 'ok')));

    for (const body of ['{"a":"é"}', '{"b":1}', '{"b":1}', '{"b":1}', '{"c":1}'])
      await adapter.deliver({ ...OUTGOING, body }, TARGET);

    expect(requests.map(({ body }) => body)).toEqual([
      '{"a":"é"}',
      '{"b":1}',
      Buffer.from('{"b":1}'),
      Buffer.from('{"b":1}'),
      '{"c":1}',
    ]);
    expect(requests[3]?.body).toBe(requests[2]?.body);
  });

  it('returns the Retry-After of the receiver', async () => {
    const { adapter } = arrange(answered(429, '', { 'retry-after': '7' }));

    expect((await adapter.deliver(OUTGOING, TARGET)).answer).toEqual({
      kind: 'response',
      status: 429,
      retryAfter: '7',
    });
  });

  it('returns the failed stage with a description', async () => {
    const { adapter, requests } = arrange(failed('tls'));

    expect(await adapter.deliver(OUTGOING, TARGET)).toEqual({
      answer: { kind: 'error', error: 'tls' },
      durationMs: 10,
      excerpt: 'It was tls.',
      exchange: { method: 'POST', url: TARGET.url, headers: requests[0]?.headers, answered: null },
    });
  });

  it('makes no attempt if the claim was lost while waiting for a connection', async () => {
    const { adapter, requests } = arrange(failed('connection'), failed('connection'));
    const isAsked = (isHeld: boolean): Promise<unknown> => {
      const delivered = adapter.deliver({ ...OUTGOING, mayBegin: () => isHeld }, TARGET);
      expect(requests.at(-1)?.mayBegin?.()).toBe(isHeld);
      return delivered;
    };

    await expect(isAsked(false)).rejects.toBeInstanceOf(Withheld);
    expect(await isAsked(true)).toMatchObject({ answer: { kind: 'error', error: 'connection' } });
  });

  it('sends nothing to a target without a URL', async () => {
    const { adapter, requests } = arrange();

    expect((await adapter.deliver(OUTGOING, { ...TARGET, url: null })).answer).toEqual({
      kind: 'error',
      error: 'protocol',
    });
    expect(requests).toEqual([]);
  });
});

describe('HttpsAdapter.probe', () => {
  it.each([200, 301, 401, 405, 500])('a probe counts any status as reachable: %i', async (status) => {
    const { adapter, requests } = arrange(answered(status));

    expect(await adapter.probe(DRAFT)).toEqual({ ok: true, detail: `The target answered with status ${status}.` });
    expect(requests.map(({ method, timeoutMs }) => [method, timeoutMs])).toEqual([['HEAD', 10_000]]);
  });

  it.each(['connection', 'protocol'] as const)(
    'a probe retries with GET in the remaining time after a %s error',
    async (error) => {
      const { adapter, requests } = arrange(failed(error, 2_500.4), answered(404));

      expect((await adapter.probe(DRAFT)).ok).toBe(true);
      expect(requests.map(({ method, timeoutMs }) => [method, timeoutMs])).toEqual([
        ['HEAD', 10_000],
        ['GET', 7_499],
      ]);
    },
  );

  it.each(['dns', 'timeout', 'tls', 'blocked'] as const)(
    'a probe does not retry after %s and describes the error',
    async (error) => {
      const { adapter, requests } = arrange(failed(error));

      expect(await adapter.probe(DRAFT)).toEqual({ ok: false, check: 'connectivity', detail: `It was ${error}.` });
      expect(requests).toHaveLength(1);
    },
  );

  it('a probe makes no request to a URL that the policy rejects', async () => {
    const { adapter, requests } = arrange();

    expect((await adapter.probe({ ...DRAFT, url: 'https://127.0.0.1/' })).ok).toBe(false);
    expect(requests).toEqual([]);
  });
});

describe('HttpsAdapter.check', () => {
  it.each<[string, Partial<Draft>, string[]]>([
    ['good settings', {}, []],
    ['no URL', { url: null }, ['url']],
    ['a private address', { url: 'https://10.0.0.1/' }, ['url']],
    ['plain http', { url: 'http://example.com/' }, ['url']],
    ['unknown settings', { config: { queue: 'a', region: 'b' } }, ['config.queue', 'config.region']],
    ['credentials', { credentials: { accessKeyId: 'a' } }, ['credentials']],
    ['everything at once', { url: null, config: { a: 1 }, credentials: {} }, ['url', 'config.a', 'credentials']],
  ])('of %s', (_what, change, paths) => {
    const { adapter } = arrange();

    expect(adapter.check({ ...DRAFT, ...change }).map(({ path }) => path)).toEqual(paths);
  });
});
