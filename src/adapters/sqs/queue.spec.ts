import { egressPolicy } from '#engine/egress-policy.js';
import type { DeliveryAnswer } from '#modules/destinations/contract.js';
import { agentWith, cleanUp, receiverWith } from '../../../test/support/egress.js';
import type { RawReceiver } from '../../../test/support/raw-receiver.js';
import { Queue } from './queue.js';
import type { QueueSettings } from './settings.js';

interface SentEntry {
  Id: string;
  MessageBody: string;
  MessageGroupId?: string;
}

type Answer = (entries: SentEntry[]) => { status?: number; body: unknown; headers?: Record<string, string> } | null;

interface Scene {
  queue: Queue;
  batches: string[][];
  receiver: RawReceiver;
  settings: QueueSettings;
}

const CREDENTIALS = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG' };
const takeAll: Answer = (entries) => ({
  body: { Successful: entries.map(({ Id, MessageBody }) => ({ Id, MessageId: `id of ${MessageBody}` })) },
});
const json = (status: number, type: string, message: string): ReturnType<Answer> => ({
  status,
  body: { __type: `com.amazonaws.sqs#${type}`, message },
  headers: { 'x-amzn-query-error': `${type};Sender` },
});

/** Returns a queue whose server records requests and responds with `answer`, or never responds if it is null. */
async function arrange(answer: Answer = takeAll, settings: Partial<QueueSettings> = {}): Promise<Scene> {
  const batches: string[][] = [];
  const receiver = await receiverWith((socket, { text }) => {
    const { Entries: entries = [] } = JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)) as { Entries?: SentEntry[] };
    batches.push(entries.map(({ MessageBody }) => MessageBody));
    const answered = answer(entries);
    if (answered === null) return;
    const { status = 200, body, headers = {} } = answered;
    const bytes = typeof body === 'string' ? body : JSON.stringify(body);
    const lines = Object.entries({
      'content-type': 'application/x-amz-json-1.0',
      'content-length': String(Buffer.byteLength(bytes)),
      ...headers,
    });
    socket.write(
      `HTTP/1.1 ${status} Told\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${bytes}`,
    );
  });
  const endpoint = `http://127.0.0.1:${receiver.port}`;
  const complete = {
    queueUrl: `${endpoint}/1/q`,
    region: 'eu-west-1',
    endpoint,
    isFifo: false,
    messageGroupId: null,
    credentials: CREDENTIALS,
    ...settings,
  };
  return { queue: new Queue(complete, agentWith()), batches, receiver, settings: complete };
}

const add = (queue: Queue, body: string, timeoutMs = 3000): Promise<DeliveryAnswer> =>
  queue.add({ body, attributes: {}, bytes: body.length }, timeoutMs);
const addAll = (queue: Queue, bodies: string[]): Promise<DeliveryAnswer[]> =>
  Promise.all(bodies.map((body) => add(queue, body)));
const alphabet = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => String.fromCharCode(97 + index));

afterEach(cleanUp);

describe('Queue.add', () => {
  it('messages that start together are sent in batches of ten, and each gets its own answer', async () => {
    const { queue, batches } = await arrange();

    const answers = await addAll(queue, alphabet(25));

    expect(batches.map(({ length }) => length)).toEqual([10, 10, 5]);
    expect(answers.map(({ excerpt }) => excerpt)).toEqual(alphabet(25).map((body) => `MessageId id of ${body}`));
    expect(answers[0]?.answer).toEqual({ kind: 'response', status: 200, retryAfter: null });
  });

  it('an entry that fails does not fail other entries', async () => {
    const { queue } = await arrange((entries) => ({
      body: {
        Successful: entries.slice(0, 1).map(({ Id }) => ({ Id, MessageId: 'm' })),
        Failed: entries.slice(1, 3).map(({ Id }, index) => ({
          Id,
          Code: ['InternalError', 'InvalidMessageContents'][index],
          SenderFault: index === 1,
          Message: 'Told.',
        })),
      },
    }));

    const answers = await addAll(queue, alphabet(4));

    expect(answers.map(({ answer }) => answer)).toMatchObject([
      { status: 200 },
      { status: 500, outcome: 'failed' },
      { status: 400, outcome: 'refused' },
      { kind: 'error', error: 'protocol' },
    ]);
    expect(answers[1]?.excerpt).toBe('InternalError: Told.');
  });

  it('a message that SQS rejects does not fail its batch', async () => {
    const { queue, batches } = await arrange((entries) =>
      entries.some(({ MessageBody }) => MessageBody === 'b')
        ? json(400, 'InvalidParameterValue', 'Reason: Message must be shorter than 1 bytes.')
        : takeAll(entries),
    );

    const answers = await addAll(queue, alphabet(3));

    expect(batches).toEqual([['a', 'b', 'c'], ['a'], ['b'], ['c']]);
    expect(
      answers.map(({ answer }) => (answer.kind === 'response' ? (answer.outcome ?? answer.status) : answer.error)),
    ).toEqual([200, 'refused', 200]);
  });

  it.each<[string, Answer, object]>([
    [
      'the queue does not exist',
      () => json(400, 'QueueDoesNotExist', 'The specified queue does not exist.'),
      { status: 400, outcome: 'failed' },
    ],
    [
      'SQS throttles requests',
      () => json(400, 'RequestThrottled', 'Slow down.'),
      { status: 400, outcome: 'throttled' },
    ],
    [
      'a proxy is overloaded',
      () => ({ status: 503, body: '<html>later</html>', headers: { 'content-type': 'text/html' } }),
      { status: 503, outcome: 'throttled' },
    ],
    [
      'a proxy is broken',
      () => ({ status: 500, body: '<html>sorry</html>', headers: { 'content-type': 'text/html' } }),
      { status: 500, outcome: 'failed' },
    ],
    [
      'a web server responds',
      () => ({ status: 200, body: '<html>hello</html>', headers: { 'content-type': 'text/html' } }),
      { kind: 'error', error: 'protocol' },
    ],
    ['the response is empty', () => ({ status: 200, body: {} }), { kind: 'error', error: 'protocol' }],
    [
      'the response is truncated',
      () => ({ status: 200, body: 'x'.repeat(300_000) }),
      { kind: 'error', error: 'protocol' },
    ],
    [
      'a redirect',
      () => ({ status: 302, body: '', headers: { location: 'http://127.0.0.1:1/' } }),
      { status: 302, outcome: 'failed' },
    ],
  ])('every entry fails and there is one request: %s', async (_title, answer, expected) => {
    const { queue, batches } = await arrange(answer);

    const answers = await addAll(queue, ['a', 'b']);

    expect(answers.map(({ answer: each }) => each)).toMatchObject([expected, expected]);
    expect(batches).toHaveLength(1);
    expect(answers[0]?.excerpt).not.toMatch(/html|Unexpected/);
  });

  it('a queue that does not respond is a timeout, also for messages that wait behind it in order', async () => {
    const { queue, batches } = await arrange(() => null, { isFifo: true });

    const answers = await Promise.all(alphabet(12).map((body) => add(queue, body, 1_000)));

    expect(answers.map(({ answer }) => answer)).toEqual(alphabet(12).map(() => ({ kind: 'error', error: 'timeout' })));
    expect(batches).toHaveLength(1);
  });
});

describe('Queue: credentials, endpoint and egress', () => {
  it('the secret is not sent, and a session token is sent in its header', async () => {
    const { queue, receiver } = await arrange(takeAll, {
      credentials: { ...CREDENTIALS, sessionToken: 'IQoJb3JpZ2lu' },
    });

    await add(queue, 'a');

    expect(receiver.requests[0]?.text).toContain('x-amz-security-token: IQoJb3JpZ2lu');
    expect(receiver.requests[0]?.text).not.toContain(CREDENTIALS.secretAccessKey);
  });

  it('an endpoint with a path keeps the path', async () => {
    const { settings, receiver } = await arrange();
    const queue = new Queue({ ...settings, endpoint: `${settings.endpoint}/sqs/` }, agentWith());

    await add(queue, 'a');

    expect(receiver.requests[0]?.text).toMatch(/^POST \/sqs\/ HTTP/);
  });

  it('sends no request that egress does not permit', async () => {
    const { settings, receiver } = await arrange();
    const queue = new Queue(settings, agentWith({ policy: () => egressPolicy({ allowCidrs: [], allowHttp: true }) }));

    expect((await add(queue, 'a')).answer).toEqual({ kind: 'error', error: 'blocked' });
    expect(await queue.attributes(1000)).toMatchObject({ fault: { answer: { error: 'blocked' } } });
    expect(receiver.connections).toBe(0);
  });
});
