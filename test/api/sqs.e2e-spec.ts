import { randomUUID } from 'node:crypto';
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  DeleteQueueCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { Webhook } from 'standardwebhooks';
import { isMotoInstalled, Moto } from '../support/moto.js';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { expectInvalid } from './answers.js';
import { until } from './polling.js';
import { eventAfter, eventIn, eventOf, expectStatus, send, sendMany, WITHIN_MS } from './scene.js';

const REGION = 'eu-west-1';

(isMotoInstalled() ? describe : describe.skip)('SQS destinations', () => {
  let moto: Moto;
  let server: PosthornServer;
  let sqs: SQSClient;

  beforeAll(async () => {
    [moto, server] = await Promise.all([
      Moto.start(),
      startServer({
        LOG_LEVEL: 'debug',
        AWS_ACCESS_KEY_ID: 'WRONG',
        AWS_SECRET_ACCESS_KEY: 'WRONG',
        AWS_REGION: 'wrong-1',
      }),
    ]);
    sqs = new SQSClient({ region: REGION, endpoint: moto.url, credentials: { ...moto.credentials } });
  });

  afterAll(async () => {
    sqs.destroy();
    await server.stop();
    await moto.stop();
  });

  async function makeQueue(attributes: Record<string, string> = {}): Promise<string> {
    const name = randomUUID() + (attributes['FifoQueue'] === 'true' ? '.fifo' : '');
    const { QueueUrl: queueUrl = '' } = await sqs.send(
      new CreateQueueCommand({ QueueName: name, Attributes: attributes }),
    );
    return queueUrl;
  }

  async function received(queueUrl: string, count: number): Promise<Message[]> {
    const messages: Message[] = [];
    await until(
      async () => {
        const command = new ReceiveMessageCommand({
          QueueUrl: queueUrl,
          MaxNumberOfMessages: 10,
          MessageAttributeNames: ['All'],
          MessageSystemAttributeNames: ['All'],
        });
        for (const message of (await sqs.send(command)).Messages ?? []) {
          messages.push(message);
          await sqs.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle: message.ReceiptHandle }));
        }
        return messages.length;
      },
      (found) => found >= count,
      WITHIN_MS,
    );
    return messages;
  }

  const isEmpty = async (queueUrl: string): Promise<boolean> =>
    (await sqs.send(new ReceiveMessageCommand({ QueueUrl: queueUrl }))).Messages === undefined;

  const create = (queueUrl: string, fields: object = {}, config: object = {}): Promise<ApiAnswer> =>
    server.api('POST', '/v1/destinations', {
      name: 'A queue',
      type: 'sqs',
      credentials: moto.credentials,
      ...fields,
      config: { queueUrl, region: REGION, ...config },
    });

  async function destinationFor(queueUrl: string, fields: object = {}, config: object = {}): Promise<string> {
    return expectStatus(await create(queueUrl, fields, config), 201).json.id as string;
  }

  const validate = async (id: string): Promise<ApiAnswer['json']> =>
    expectStatus(await server.api('POST', `/v1/destinations/${id}/validate`), 200).json;
  const count = async (): Promise<number> => (await server.api('GET', '/v1/destinations?limit=100')).json.data.length;
  const valueOf = ({ MessageAttributes: attributes = {} }: Message, name: string): string | undefined =>
    attributes[name]?.StringValue;

  const headersOf = ({ MessageAttributes: attributes = {} }: Message): Record<string, string> =>
    Object.fromEntries(Object.entries(attributes).map(([name, { StringValue = '' }]) => [name, StringValue]));

  describe('change', () => {
    it('200: new credentials apply from then on', async () => {
      const queueUrl = await makeQueue();
      const id = await destinationFor(queueUrl, { credentials: moto.otherCredentials });

      const changed = await server.api('PATCH', `/v1/destinations/${id}`, { credentials: moto.credentials });
      await moto.revokeOthers();
      await send(server, id);

      expect(expectStatus(changed, 200).json).toMatchObject({ version: 2, validation: 'valid' });
      expect(changed.text).not.toContain(moto.credentials.secretAccessKey);
      expect(await received(queueUrl, 1)).toHaveLength(1);
    });

    it('422 of the credentials check, or of the schema for half of them or none; the stored ones stay', async () => {
      const queueUrl = await makeQueue();
      const id = await destinationFor(queueUrl);
      const patch = (credentials: object | null): Promise<ApiAnswer> =>
        server.api('PATCH', `/v1/destinations/${id}`, { credentials });

      expectInvalid(await patch({ ...moto.credentials, secretAccessKey: 'AnotherOne12345' }), 'credentials');
      expectInvalid(await patch({ accessKeyId: 'AKIA' }), 'schema', 'credentials.secretAccessKey');
      expectInvalid(await patch(null), 'schema', 'credentials');
      expect((await server.api('GET', `/v1/destinations/${id}`)).json.version).toBe(1);
      await send(server, id);
      expect(await received(queueUrl, 1)).toHaveLength(1);
    });
  });

  describe('create', () => {
    it('201: the attributes of the queue are checked, and no response or log contains the credentials', async () => {
      const created = await create(await makeQueue());
      const id = created.json.id as string;
      await send(server, id);
      const others = await Promise.all([
        server.api('GET', `/v1/destinations/${id}`),
        server.api('GET', '/v1/destinations?type=sqs'),
        server.api('POST', `/v1/destinations/${id}/validate`),
        server.api('PATCH', `/v1/destinations/${id}`, { name: 'Renamed' }),
        server.api('POST', `/v1/destinations/${id}/test`),
      ]);

      expect(created).toMatchObject({ status: 201, json: { type: 'sqs', validation: 'valid', status: 'active' } });
      for (const { status, text } of [created, ...others]) {
        expect(status).toBeLessThan(300);
        expect(text).not.toContain(moto.credentials.secretAccessKey);
        expect(text).not.toContain(moto.credentials.accessKeyId);
      }
      expect(server.logs()).not.toContain(moto.credentials.secretAccessKey);
    });

    it('201: an explicit endpoint takes precedence over the host of the queue URL', async () => {
      const queueUrl = await makeQueue();

      const created = await create(
        queueUrl.replace(moto.url, 'https://sqs.eu-west-1.amazonaws.com'),
        {},
        { endpoint: moto.url },
      );

      expect(created).toMatchObject({ status: 201, json: { validation: 'valid' } });
    });

    it('422 connectivity: the queue does not exist, and nothing is stored', async () => {
      const before = await count();

      const answer = await create(`${moto.url}/123456789012/nothing-here`);

      expectInvalid(answer, 'connectivity');
      expect(answer.json.error.message).toMatch(/does not exist/);
      expect(await count()).toBe(before);
    });

    it.each(['accessKeyId', 'secretAccessKey'])('422 credentials: another %s', async (key) => {
      const answer = await create(await makeQueue(), {
        credentials: { ...moto.credentials, [key]: 'AnotherOne12345' },
      });

      expectInvalid(answer, 'credentials');
      expect(answer.text).not.toContain('AnotherOne12345');
    });

    it.each<[string, object, object, string]>([
      ['no credentials', { credentials: null }, {}, 'credentials'],
      ['half of them', { credentials: { accessKeyId: 'AKIA' } }, {}, 'credentials.secretAccessKey'],
      ['an unknown setting', {}, { queue: 'x' }, 'config.queue'],
      ['no region', {}, { region: undefined }, 'config.region'],
      ['a group for a standard queue', {}, { messageGroupId: 'a' }, 'config.messageGroupId'],
    ])('422 schema: %s', async (_what, fields, config, path) => {
      expectInvalid(await create(`${moto.url}/123456789012/q`, fields, config), 'schema', path);
    });

    it('422 connectivity: an address that the egress gate rejects', async () => {
      const answer = await create(`${moto.url}/123456789012/q`, {}, { endpoint: 'http://169.254.169.254/' });

      expectInvalid(answer, 'connectivity', 'config.endpoint');
    });

    it('200 {ok: false} from check, which accepts no config', async () => {
      const answer = await server.api('POST', '/v1/destinations/check', {
        type: 'sqs',
        url: `${moto.url}/123456789012/q`,
      });

      expect(answer).toMatchObject({ status: 200, json: { ok: false, detail: 'config.queueUrl: is required' } });
    });
  });

  describe('deliver', () => {
    it('the body is the payload, character for character, and verifies with the attributes', async () => {
      const queueUrl = await makeQueue();
      const id = await destinationFor(queueUrl, { headers: { 'x-tenant': '42' } });
      const payload = '{"amount": 1.50, "who":"J\u00f6rg \u{1f600}"}';

      const answer = await server.api(
        'POST',
        '/v1/send',
        `{"destination":"${id}","event_type":"invoice.paid","payload":${payload}}`,
      );
      const messageId = expectStatus(answer, 202).json.message_id as string;

      const [message = {}] = await received(queueUrl, 1);
      const { secret } = (await server.api('GET', `/v1/destinations/${id}/secret`)).json;
      expect(message.Body).toBe(payload);
      expect(() => new Webhook(secret as string).verify(payload, headersOf(message))).not.toThrow();
      expect(headersOf(message)).toMatchObject({
        'webhook-id': messageId,
        'webhook-event-type': 'invoice.paid',
        'x-tenant': '42',
      });
      const { attempts } = await eventIn(server, messageId, 'delivered');
      expect(attempts).toEqual([
        expect.objectContaining({ status: 200, error: null, response_excerpt: `MessageId ${message.MessageId}` }),
      ]);
    });

    it('many concurrent messages arrive once each', async () => {
      const queueUrl = await makeQueue();
      const id = await destinationFor(queueUrl);

      const sent = await sendMany(server, id, 25);

      const messages = await received(queueUrl, 25);
      expect(messages.map((message) => valueOf(message, 'webhook-id')).sort()).toEqual(sent.sort());
      for (const messageId of sent) await eventIn(server, messageId, 'delivered');
      expect(await isEmpty(queueUrl)).toBe(true);
    });

    it('FIFO: messages have the order in which their deliveries started, each event type has one group, and a replay is a new message', async () => {
      const queueUrl = await makeQueue({ FifoQueue: 'true' });
      const id = await destinationFor(queueUrl);
      const sent: string[] = [];
      for (let index = 0; index < 15; index += 1)
        sent.push(await send(server, id, { event_type: 'order.paid', payload: { index } }));
      const [first = ''] = sent;

      const messages = await received(queueUrl, 15);

      expect(messages.map((message) => valueOf(message, 'webhook-id'))).toEqual(sent);
      expect(messages[0]?.Attributes).toMatchObject({ MessageGroupId: 'order.paid', MessageDeduplicationId: first });

      const event = await eventIn(server, first, 'delivered');
      expectStatus(await server.api('POST', `/v1/events/${event.id}/replay`), 202);

      const [replay = {}] = await received(queueUrl, 1);
      expect(valueOf(replay, 'webhook-id')).toBe(first);
      expect(valueOf(replay, 'webhook-replayed')).toBe('true');
    });

    it('FIFO: the configured group of the destination', async () => {
      const queueUrl = await makeQueue({ FifoQueue: 'true' });
      const id = await destinationFor(queueUrl, {}, { messageGroupId: 'all' });

      await send(server, id);

      expect((await received(queueUrl, 1))[0]?.Attributes?.['MessageGroupId']).toBe('all');
    });

    it('a payload that the queue permanently rejects fails, is not retried, and other messages arrive', async () => {
      const queueUrl = await makeQueue({ MaximumMessageSize: '1024' });
      const id = await destinationFor(queueUrl, {}, { circuit_breaker: { failure_threshold: 1 } });

      const [small, large] = await Promise.all([
        send(server, id),
        send(server, id, { payload: { text: 'a'.repeat(2000) } }),
      ]);

      const event = await eventIn(server, large, 'failed');
      expect(event.deliveries).toEqual([
        expect.objectContaining({ status: 'failed', reason: 'refused', next_attempt_at: null }),
      ]);
      expect(event.attempts).toEqual([
        expect.objectContaining({ status: 400, response_excerpt: expect.stringMatching(/shorter than 1024/) }),
      ]);
      await eventIn(server, small, 'delivered');
      expect((await server.api('GET', `/v1/destinations/${id}`)).json.circuit.state).toBe('closed');
    });
  });

  describe('failures', () => {
    it('a deleted queue is a hard failure: the circuit opens, and validate returns stale', async () => {
      const queueUrl = await makeQueue();
      const id = await destinationFor(queueUrl, {}, { circuit_breaker: { failure_threshold: 1 } });
      await sqs.send(new DeleteQueueCommand({ QueueUrl: queueUrl }));

      const messageId = await send(server, id);

      const { attempts, status } = await eventAfter(server, messageId, 1);
      expect(status).toBe('retrying');
      expect(attempts[0]).toMatchObject({
        status: 400,
        error: null,
        response_excerpt: expect.stringMatching(/queue does not exist/),
      });
      await until(
        async () => (await server.api('GET', `/v1/destinations/${id}`)).json.circuit.state as string,
        (state) => state === 'open',
      );
      expect(await validate(id)).toMatchObject({
        validation: 'stale',
        checks: { schema: true, credentials: true, connectivity: false },
      });
      expect((await eventOf(server, messageId)).status).toBe('retrying');
    });

    // Must run last, because it stops the simulated SQS server.
    it('an unavailable server: 422 connectivity on create, stale on validate, and an attempt with its reason', async () => {
      const queueUrl = await makeQueue();
      const id = await destinationFor(queueUrl);
      await moto.stop();

      const messageId = await send(server, id);

      expect((await eventAfter(server, messageId, 1)).attempts[0]).toMatchObject({
        status: null,
        error: 'connection',
        response_excerpt: expect.stringMatching(/refused|closed/),
      });
      expectInvalid(await create(queueUrl), 'connectivity');
      expect(await validate(id)).toMatchObject({
        validation: 'stale',
        checks: { schema: true, credentials: true, connectivity: false },
      });
    });
  });
});
