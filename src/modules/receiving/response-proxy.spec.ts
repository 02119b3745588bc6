import { Webhook } from 'standardwebhooks';
import type { EgressAgent, EgressAnswer, EgressRequest } from '#egress/agent.js';
import type { EgressGate } from '#egress/gate.js';
import { checkUrl, egressPolicy } from '#engine/egress-policy.js';
import type { ReceivedRequest } from '#engine/inbound/request.js';
import { credentialNames } from '#engine/inbound/secret-headers.js';
import type { Clock } from '#kernel/clock.js';
import type { Environments } from '#modules/auth/environments/environments.js';
import type { ResponseProxySettings } from '#modules/endpoints/contract.js';
import type { SandboxOutcome } from '#sandbox/outcome.js';
import type { Sandbox } from '#sandbox/sandbox.js';
import type { LiveEndpoint } from './live-endpoint.js';
import { type ProxyResult, ResponseProxy } from './response-proxy.js';

const KEY = Buffer.alloc(32, 1);
const POLICY = egressPolicy({ allowCidrs: [], allowHttp: false });
const REQUEST: ReceivedRequest = {
  method: 'PUT',
  path: '/x',
  query: 'a=1&key=s3cret',
  headers: [
    ['content-type', 'text/x'],
    ['authorization', 'theirs'],
  ],
  body: Buffer.from('{"n":1}'),
  url: 'https://in.example.com/in/acme/x/x?a=1',
  ip: '203.0.113.7',
};
const MANAGED: ResponseProxySettings = { target: 'managed', code: 'export default () => null' };
const BY_URL: ResponseProxySettings = { target: 'url', url: 'https://answers.example/x' };

const returned = (value: unknown): SandboxOutcome => ({ ok: true, json: JSON.stringify(value) });
const answered = (
  status: number,
  body: string | Buffer = '',
  headers: Record<string, string> = {},
  truncated = false,
): EgressAnswer => ({
  kind: 'response',
  status,
  headers,
  body: Buffer.from(body),
  truncated,
  durationMs: 1,
});

interface Scene {
  ask(settings: ResponseProxySettings | null, version?: number): Promise<ProxyResult>;
  calls: EgressRequest[];
  runs: number;
  nowMs: number;
}

const SCHEME: LiveEndpoint['scheme'] = { kind: 'query-token', name: 'key' };

function arrange({
  outcome = returned(null),
  answer = answered(200),
}: { outcome?: SandboxOutcome; answer?: EgressAnswer } = {}): Scene {
  const scene: Scene = { calls: [], runs: 0, nowMs: Date.now(), ask: () => Promise.reject(new Error()) };
  const sandbox = { run: () => ((scene.runs += 1), Promise.resolve(outcome)) } as unknown as Sandbox;
  const agent = {
    exchange: (request: EgressRequest) => (scene.calls.push(request), Promise.resolve(answer)),
  } as unknown as EgressAgent;
  const gate = { check: (url: string) => checkUrl(url, POLICY) } as unknown as EgressGate;
  const environments = { signingKeys: () => Promise.resolve([KEY]) } as unknown as Environments;
  const proxy = new ResponseProxy(sandbox, agent, gate, environments, { nowMs: () => scene.nowMs } as Clock);
  scene.ask = (responseProxy, version = 1) =>
    proxy.ask(
      { environmentId: 1, id: 'e', version, responseProxy, credentials: credentialNames(SCHEME) } as LiveEndpoint,
      'evt_1',
      REQUEST,
      'verified',
    );
  return scene;
}

describe('ResponseProxy', () => {
  it('returns no response for an endpoint without a proxy', async () => {
    expect(await arrange().ask(null)).toEqual({ kind: 'fallback' });
  });

  it.each<[string, unknown, object]>([
    ['nothing but itself', {}, { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: '' }],
    [
      'a text',
      { status: 201, body: 'é' },
      { status: 201, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: 'é' },
    ],
    [
      'a value',
      { body: [1, null] },
      { status: 200, headers: { 'content-type': 'application/json' }, body: '[1,null]' },
    ],
    [
      'its own content type',
      { body: {}, headers: { 'Content-Type': 'application/x', 'X-A': 'b' } },
      { status: 200, headers: { 'content-type': 'application/x', 'x-a': 'b' }, body: '{}' },
    ],
    [
      '64 KB',
      { body: 'a'.repeat(65_536) },
      { status: 200, headers: expect.anything(), body: expect.stringMatching(/^a{65536}$/) },
    ],
  ])('managed: code that returns %s', async (_title, value, expected) => {
    expect(await arrange({ outcome: returned(value) }).ask(MANAGED)).toEqual({ kind: 'answer', answer: expected });
  });

  const NONE: [string, SandboxOutcome][] = [
    ['null', returned(null)],
    ['a number', returned(1)],
    ['a list', returned([])],
    ['a status of 101', returned({ status: 101 })],
    ['a status of 600', returned({ status: 600 })],
    ['a status that is no whole number', returned({ status: 200.5 })],
    ['a status that is a text', returned({ status: '200' })],
    ['a line break in a header', returned({ headers: { a: 'b\r\nset-cookie: c' } })],
    ['a cookie', returned({ headers: { 'Set-Cookie': 'a=b' } })],
    ['a header twice', returned({ headers: { a: '1', A: '2' } })],
    ['headers that are none', returned({ headers: 'a: b' })],
    ['more than 64 KB', returned({ body: 'é'.repeat(32_769) })],
    ['nothing: it failed', { ok: false, reason: 'timeout', message: 'It ran into its deadline.' }],
  ];

  it.each(NONE)('managed: %s is not a response', async (_title, outcome) => {
    expect(await arrange({ outcome }).ask(MANAGED)).toEqual({ kind: 'fallback' });
    expect(await arrange({ outcome }).ask({ ...MANAGED, onUnavailable: 'error' })).toEqual({ kind: 'unavailable' });
  });

  it('url: the body is posted signed, without the credentials of the provider, and only a few headers of the response are passed on', async () => {
    const scene = arrange({
      answer: answered(302, 'x', {
        'content-type': 'a/b',
        location: '/y',
        'retry-after': '1',
        'set-cookie': 'a=b',
        server: 's',
      }),
    });

    const proxied = await scene.ask(BY_URL);

    expect(proxied).toEqual({
      kind: 'answer',
      answer: { status: 302, headers: { 'content-type': 'a/b', location: '/y', 'retry-after': '1' }, body: 'x' },
    });
    const [call] = scene.calls;
    expect(call).toMatchObject({
      method: 'POST',
      url: new URL('https://answers.example/x'),
      timeoutMs: expect.any(Number),
    });
    expect(Math.round(call?.timeoutMs ?? 0)).toBe(3000);
    expect(call?.headers).toMatchObject({
      'content-type': 'text/x',
      'posthorn-method': 'PUT',
      'posthorn-query': 'a=1&key=(hidden)',
      'webhook-id': 'evt_1',
    });
    expect(call?.headers).not.toHaveProperty('authorization');
    expect(new Webhook(KEY.toString('base64')).verify(REQUEST.body.toString(), call?.headers ?? {})).toEqual({ n: 1 });
  });

  it.each<[string, EgressAnswer, ResponseProxySettings?]>([
    ['500', answered(500)],
    ['103', answered(103)],
    ['too much', answered(200, 'a', {}, true)],
    ['nothing', { kind: 'error', error: 'timeout', detail: '', durationMs: 1 }],
    ['at a blocked address', answered(200), { target: 'url', url: 'https://127.0.0.1/' }],
  ])('url: %s is not a response', async (_title, answer, settings = BY_URL) => {
    const scene = arrange({ answer });

    expect(await scene.ask(settings)).toEqual({ kind: 'fallback' });
    expect(await scene.ask({ ...settings, onUnavailable: 'error' })).toEqual({ kind: 'unavailable' });
    expect(scene.calls).toHaveLength(settings === BY_URL ? 2 : 0);
  });

  it('after any number of failures, the next event is tried', async () => {
    const scene = arrange({ outcome: returned(null) });

    for (let i = 0; i < 5; i += 1) await scene.ask(MANAGED);

    expect(scene.runs).toBe(5);
  });
});
