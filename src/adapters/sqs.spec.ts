import type { EgressAgent, EgressAnswer, EgressRequest } from '#egress/agent.js';
import type { EgressGate } from '#egress/gate.js';
import { checkUrl, egressPolicy } from '#engine/egress-policy.js';
import { DEFAULT_FORWARDING } from '#engine/inbound/forwarded-url.js';
import { DEFAULT_RETRY_POLICY } from '#engine/retry.js';
import type { Draft, Outgoing, Target } from '#modules/destinations/contract.js';
import type { OwnHost } from './own-host.js';
import { SqsAdapter } from './sqs.js';
import { Queues } from './sqs/queues.js';

const CONFIG = { queueUrl: 'https://sqs.eu-west-1.amazonaws.com/123456789012/orders', region: 'eu-west-1' };
const CREDENTIALS = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};
const DRAFT: Draft = { type: 'sqs', url: null, config: CONFIG, credentials: CREDENTIALS };

const OUTGOING: Outgoing = {
  request: () => Promise.resolve(null),
  webhookId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  eventType: 'invoice.paid',
  body: '{}',
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
  type: 'sqs',
  url: null,
  config: CONFIG,
  credentials: CREDENTIALS,
  status: 'active',
  disabledReason: null,
  signingKeys: [Buffer.alloc(32, 1)],
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

const answerOf = (status: number, body: unknown): EgressAnswer => ({
  kind: 'response',
  status,
  headers: { 'content-type': 'application/x-amz-json-1.0' },
  body: Buffer.from(JSON.stringify(body)),
  truncated: false,
  durationMs: 5,
});
const attributes = (given: object): EgressAnswer =>
  answerOf(200, { Attributes: { QueueArn: 'arn:aws:sqs:eu-west-1:1:orders', ...given } });

function arrange(answer: EgressAnswer): { adapter: SqsAdapter; requests: EgressRequest[] } {
  const requests: EgressRequest[] = [];
  const agent = {
    exchange: (request: EgressRequest) => (requests.push(request), Promise.resolve(answer)),
  } as unknown as EgressAgent;
  const policy = egressPolicy({ allowCidrs: [], allowHttp: false });
  const gate = { check: (url: string) => checkUrl(url, policy) } as unknown as EgressGate;
  const ownHost = { is: (url: string) => new URL(url).host === 'hooks.example.com' } as unknown as OwnHost;
  return { adapter: new SqsAdapter(agent, gate, ownHost, new Queues(agent)), requests };
}

describe('SqsAdapter.check', () => {
  const { adapter } = arrange(answerOf(200, {}));

  it('accepts a complete draft, but no URL', () => {
    expect(adapter.check(DRAFT)).toEqual([]);
    expect(adapter.check({ ...DRAFT, url: 'https://example.com/hook' }).map(({ path }) => path)).toEqual(['url']);
  });

  it.each([
    ['plain http', { ...CONFIG, queueUrl: 'http://sqs.eu-west-1.amazonaws.com/1/q' }, 'config.queueUrl'],
    ['itself', { ...CONFIG, endpoint: 'https://hooks.example.com/in/x' }, 'config.endpoint'],
  ])('refuses %s', (_title, config, path) => {
    expect(adapter.check({ ...DRAFT, config })).toMatchObject([{ path, message: expect.any(String) }]);
  });
});

describe('SqsAdapter.probe', () => {
  it('requests the attributes of the queue, signed, within ten seconds', async () => {
    const { adapter, requests } = arrange(attributes({ MaximumMessageSize: '262144' }));

    const report = await adapter.probe(DRAFT);

    expect(report).toEqual({
      ok: true,
      detail: 'The standard queue answered. It accepts messages of up to 262144 bytes.',
    });
    expect(requests[0]).toMatchObject({
      method: 'POST',
      timeoutMs: 10_000,
      headers: { 'x-amz-target': 'AmazonSQS.GetQueueAttributes' },
    });
    expect(requests[0]?.url.href).toBe('https://sqs.eu-west-1.amazonaws.com/');
    expect(JSON.parse(String(requests[0]?.body))).toEqual({ QueueUrl: CONFIG.queueUrl, AttributeNames: ['All'] });
  });

  const fifo = { ...CONFIG, queueUrl: `${CONFIG.queueUrl}.fifo` };

  it.each<[string, EgressAnswer, object, object]>([
    ['a FIFO queue', attributes({ FifoQueue: 'true' }), fifo, { ok: true, detail: 'The FIFO queue answered.' }],
    [
      'a .fifo URL with a standard queue',
      attributes({}),
      fifo,
      { ok: false, check: 'connectivity', detail: expect.stringMatching(/not a FIFO queue/) },
    ],
    [
      'a FIFO queue without .fifo in the URL',
      attributes({ FifoQueue: 'true' }),
      CONFIG,
      { ok: false, check: 'connectivity', detail: expect.stringMatching(/\.fifo/) },
    ],
    [
      'a response that is not from a queue',
      answerOf(200, {}),
      CONFIG,
      { ok: false, check: 'connectivity', detail: expect.stringMatching(/not as an SQS queue/) },
    ],
    [
      'another access key',
      answerOf(403, { __type: 'InvalidClientTokenId', message: 'The security token is invalid.' }),
      CONFIG,
      { ok: false, check: 'credentials', detail: 'InvalidClientTokenId: The security token is invalid.' },
    ],
    [
      'another secret',
      answerOf(403, { __type: 'com.amazon.coral.service#InvalidSignatureException', message: 'It does not match.' }),
      CONFIG,
      { ok: false, check: 'credentials', detail: 'InvalidSignatureException: It does not match.' },
    ],
    [
      'a missing queue',
      answerOf(400, { __type: 'com.amazonaws.sqs#QueueDoesNotExist', message: 'The specified queue does not exist.' }),
      CONFIG,
      { ok: false, check: 'connectivity', detail: 'QueueDoesNotExist: The specified queue does not exist.' },
    ],
    [
      'nobody',
      { kind: 'error', error: 'dns', detail: 'The name does not exist.', durationMs: 1 },
      CONFIG,
      { ok: false, check: 'connectivity', detail: 'The name does not exist.' },
    ],
  ])('%s', async (_title, answer, config, expected) => {
    expect(await arrange(answer).adapter.probe({ ...DRAFT, config: config as Draft['config'] })).toEqual(expected);
  });
});

describe('SqsAdapter.deliver', () => {
  const taken = answerOf(200, { Successful: [{ Id: '0', MessageId: 'm-1' }] });

  it("sends the message with the target's timeout", async () => {
    const { adapter, requests } = arrange(taken);

    const answer = await adapter.deliver(OUTGOING, TARGET);

    expect(answer).toMatchObject({ answer: { kind: 'response', status: 200 }, excerpt: 'MessageId m-1' });
    expect(requests[0]?.timeoutMs).toBeLessThanOrEqual(1_234);
    expect(JSON.parse(String(requests[0]?.body))).toMatchObject({
      QueueUrl: CONFIG.queueUrl,
      Entries: [{ Id: '0', MessageBody: '{}' }],
    });
  });

  it('rejects a message that is too large without a request', async () => {
    const { adapter, requests } = arrange(taken);

    const answer = await adapter.deliver({ ...OUTGOING, body: 'a'.repeat(1_048_577) }, TARGET);

    expect(answer).toMatchObject({
      answer: { kind: 'error', error: 'refused' },
      excerpt: expect.stringMatching(/at most 1048576/),
    });
    expect(requests).toEqual([]);
  });

  it('reports an error for a target without credentials', async () => {
    const { adapter, requests } = arrange(taken);

    expect((await adapter.deliver(OUTGOING, { ...TARGET, credentials: null })).answer).toEqual({
      kind: 'error',
      error: 'protocol',
    });
    expect(requests).toEqual([]);
  });

  it('reuses the queue for unchanged settings and creates a new one for changed settings', async () => {
    const queues = new Queues({ exchange: () => Promise.resolve(taken) } as unknown as EgressAgent);

    const first = queues.forTarget(TARGET);
    // Sends a message first, because the SDK applies the settings only when it signs a request.
    await first?.add({ body: '{}', attributes: {}, bytes: 2 }, 1000);

    expect(queues.forTarget({ ...TARGET, credentials: { ...CREDENTIALS } })).toBe(first);
    expect(queues.forTarget({ ...TARGET, credentials: { ...CREDENTIALS, secretAccessKey: 'another' } })).not.toBe(
      first,
    );
    expect(queues.forTarget({ ...TARGET, environmentId: 2 })).not.toBe(first);
    expect(queues.forTarget({ ...TARGET, config: {} })).toBeNull();
  });

  it('limits the number of queues and evicts the least recently used one', () => {
    const queues = new Queues({} as EgressAgent);
    const first = queues.forTarget(TARGET);
    for (let environmentId = 2; environmentId <= 500; environmentId += 1)
      queues.forTarget({ ...TARGET, environmentId });

    expect(queues.forTarget(TARGET)).toBe(first);
    const second = queues.forTarget({ ...TARGET, environmentId: 2 });
    for (let environmentId = 501; environmentId <= 1000; environmentId += 1)
      queues.forTarget({ ...TARGET, environmentId });

    expect(queues.forTarget({ ...TARGET, environmentId: 2 })).not.toBe(second);
  });
});
