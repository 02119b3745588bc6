import { createHmac } from 'node:crypto';
import path from 'node:path';
import type { NamedRetryPolicy } from '../../src/extension/index.js';
import {
  authenticatorConformance,
  listenerConformance,
  type ListenerUnderTest,
  policyConformance,
  type PolicyUnderTest,
  type ReceivedMessage,
  retryPolicyConformance,
  type RetryPolicyUnderTest,
} from '../../src/testing/index.js';
import { connectAgent } from '../api/agent.js';
import { freePort } from '../durability/processes.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { type CompiledSample, compileSample } from './sample.js';

const SECRET = 'the secret of a company';
const PAYLOAD_BYTES_MAX = 2_000;

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Returns a JWT with the company's signature. */
function jwt(
  claims: object,
  { secret = SECRET, header = { alg: 'HS256' } }: { secret?: string; header?: object } = {},
): string {
  const content = `${part(header)}.${part(claims)}`;
  return `${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`;
}

/**
 * Tests the sample posthorn-nats with the conformance checks of all its extension points except the destination type.
 */
describe('the sample', () => {
  let sample: CompiledSample;
  let server: PosthornServer;
  let receiver: Receiver;
  let metricsPort: number;
  let organization = '';
  let status = 200;
  const messages: ReceivedMessage[] = [];

  beforeAll(async () => {
    [sample, metricsPort] = [compileSample(), await freePort()];
    receiver = await startReceiver((request) => {
      if (request.method === 'POST')
        messages.push({ headers: request.headers as Record<string, string>, body: request.rawBody });
      return { status };
    });
    server = await startServer({
      EXTENSIONS: sample.file,
      METRICS_PORT: String(metricsPort),
      NATS_JWT_SECRET: SECRET,
      NATS_PAYLOAD_BYTES_MAX: String(PAYLOAD_BYTES_MAX),
    });
    organization = (await server.api('GET', '/v1/org')).json.id as string;
  });

  afterAll(async () => {
    await server?.stop();
    await receiver?.close();
  });

  const target = {
    get url() {
      return `${receiver.url}/doors`;
    },
    received: () => messages,
    answer: (next: number) => void (status = next),
  };
  const soon = (): number => Math.floor(Date.now() / 1000) + 600;
  const claims = (more: object = {}): object => ({
    org: organization,
    mode: 'live',
    scope: 'admin',
    sub: 'ann',
    exp: soon(),
    ...more,
  });
  const [header, padding] = [{ alg: 'none' }, 'x'.repeat(6_000)];

  const policy: PolicyUnderTest = {
    service: () => server,
    target,
    taken: { event_type: 'order.paid', payload: { a: 1 }, headers: (org) => ({ 'x-organization': org }) },
    refused: {
      event_type: 'order.paid',
      payload: { text: 'x'.repeat(PAYLOAD_BYTES_MAX) },
      reason: /^The payload has \d+ bytes; the NATS servers accept at most 2000\.$/,
    },
    email: {
      taken: 'Hello',
      headers: (org) => ({ 'x-organization': org }),
      refused: 'x'.repeat(PAYLOAD_BYTES_MAX),
      reason: /^The payload has \d+ bytes/,
    },
  };

  const listener: ListenerUnderTest = {
    service: () => server,
    target,
    told: async () => {
      const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      const of = (outcome: string): number =>
        Number(
          new RegExp(`^posthorn_nats_sample_attempts_total\\{type="https",outcome="${outcome}"\\} (\\d+)`, 'm').exec(
            text,
          )?.[1] ?? 0,
        );
      return { delivered: of('delivered'), failed: of('retrying') + of('failed') + of('dlq') };
    },
  };

  const retryPolicy: RetryPolicyUnderTest = {
    service: () => server,
    target,
    policy: async () => {
      const { StreamRetryPolicy } = (await import(path.join(path.dirname(sample.file), 'stream-retry-policy.js'))) as {
        StreamRetryPolicy: new () => NamedRetryPolicy;
      };
      return new StreamRetryPolicy();
    },
  };

  const authenticator = {
    service: () => server,
    token: (scope: string) => jwt(claims({ scope })),
    refused: [
      { name: 'another secret', token: () => jwt(claims(), { secret: 'another' }) },
      { name: 'no algorithm', token: () => `${part(header)}.${part(claims())}.` },
      { name: 'expired', token: () => jwt(claims({ exp: 1 })) },
      { name: 'without an expiry', token: () => jwt(claims({ exp: undefined })) },
      {
        name: 'an organization that there is not',
        token: () => jwt(claims({ org: 'org_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })),
      },
      { name: 'an organization that is no id', token: () => jwt(claims({ org: `' or true` })) },
      { name: 'a scope that there is not', token: () => jwt(claims({ scope: 'root' })) },
      { name: 'longer than anybody reads', token: () => jwt(claims({ padding: padding + padding })) },
    ],
  };

  it.each(
    [
      ...authenticatorConformance(authenticator),
      ...policyConformance(policy),
      ...listenerConformance(listener),
      ...retryPolicyConformance(retryPolicy),
    ].map(({ name, run }) => [name, run] as const),
  )('%s', (_name, run) => run(), 60_000);

  it('adds a tool for agents, which reads with the permissions of their key', async () => {
    const agent = await connectAgent(server, server.apiKey);

    const [names, said] = [await agent.tools(), await agent.call('list_nats_subjects', { limit: 5 })];
    await agent.close();

    expect(names).toContain('list_nats_subjects');
    expect(said).toMatchObject({ isError: false, content: { data: [], next_cursor: null } });
  });

  it('accepts tokens of several thousand characters, and keeps environments separate', async () => {
    await server.api('POST', '/v1/destinations', { name: 'Pull', type: 'pull' });

    const answer = await server.api('GET', '/v1/destinations', undefined, {
      authorization: `Bearer ${jwt(claims({ mode: 'test', padding: padding.slice(2_000) }))}`,
    });

    expect(answer).toMatchObject({ status: 200, json: { data: [] } });
  });
});
