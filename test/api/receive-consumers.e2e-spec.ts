import { randomUUID } from 'node:crypto';
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { Webhook } from 'standardwebhooks';
import { isMotoInstalled, Moto } from '../support/moto.js';
import type { PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import type { Consumers, Seen } from './consumers.js';
import { startConsumers } from './consumers.js';
import { until } from './polling.js';
import { arrived, pullDestination } from './pulling.js';
import type { Inbound, Sent } from './receiving.js';
import { inbound, json, provide } from './receiving.js';
import { destinationAt, eventIn, expectStatus, WITHIN_MS } from './scene.js';

/** The documented requests of providers. */
const PROVIDERS: readonly [title: string, suffix: string, sent: Sent, headers: Record<string, string>][] = [
  [
    'Google Calendar: a push notification consists of headers',
    '',
    {
      headers: {
        'Content-Type': 'application/json; utf-8',
        'Content-Length': '0',
        'User-Agent': 'APIs-Google; (+https://developers.google.com/webmasters/APIs-Google.html)',
        'X-Goog-Channel-ID': '4ba78bf0-6a47-11e2-bcfd-0800200c9a66',
        'X-Goog-Channel-Token': '398348u3tu83ut8uu38',
        'X-Goog-Channel-Expiration': 'Tue, 19 Nov 2013 01:13:52 GMT',
        'X-Goog-Resource-ID': 'ret08u3rv24htgh289g',
        'X-Goog-Resource-URI': 'https://www.googleapis.com/calendar/v3/calendars/my_calendar@gmail.com/events',
        'X-Goog-Resource-State': 'exists',
        'X-Goog-Message-Number': '10',
      },
    },
    { 'x-goog-channel-id': '4ba78bf0-6a47-11e2-bcfd-0800200c9a66', 'x-goog-resource-state': 'exists' },
  ],
  [
    'Amazon SNS: consumers route by headers',
    '',
    {
      headers: {
        'x-amz-sns-message-type': 'Notification',
        'x-amz-sns-message-id': '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
        'x-amz-sns-topic-arn': 'arn:aws:sns:us-west-2:123456789012:MyTopic',
        'x-amz-sns-subscription-arn': 'arn:aws:sns:us-west-2:123456789012:MyTopic:c9135db0-26c4-47ec-8998-413945fb5a96',
        'Content-Type': 'text/plain; charset=UTF-8',
        'User-Agent': 'Amazon Simple Notification Service Agent',
      },
      body: '{\n  "Type" : "Notification",\n  "Message" : "Hello world!"\n}',
    },
    {
      'x-amz-sns-message-type': 'Notification',
      'x-amz-sns-topic-arn': 'arn:aws:sns:us-west-2:123456789012:MyTopic',
      'user-agent': 'Amazon Simple Notification Service Agent',
    },
  ],
  [
    'Mercado Pago: signs x-request-id and data.id of the query',
    '?data.id=123456&type=payment',
    json(
      { action: 'payment.updated', data: { id: '123456' } },
      {
        'x-signature': 'ts=1704908010,v1=618c85345248dd820d5fd456117c2ab2ef8eda45a0282ff693eac24131a5e839',
        'x-request-id': 'bb56a2f1-6aae-46ac-982e-9dcd3581d08e',
      },
    ),
    {
      'x-request-id': 'bb56a2f1-6aae-46ac-982e-9dcd3581d08e',
      'x-signature': 'ts=1704908010,v1=618c85345248dd820d5fd456117c2ab2ef8eda45a0282ff693eac24131a5e839',
    },
  ],
  [
    'Vonage: an inbound message as GET',
    '?msisdn=447700900001&to=447700900000&messageId=0A0000000123ABCD1&text=Hello%20world%21&type=text',
    { method: 'GET', headers: { 'User-Agent': 'Nexmo/MessagingHUB/v1.0' } },
    { 'user-agent': 'Nexmo/MessagingHUB/v1.0' },
  ],
  [
    'SendGrid: an event in the old form, as GET',
    '?event=processed&email=john.doe%40sendgrid.com&category=a&category=b',
    { method: 'GET' },
    {},
  ],
];

describe("consumers of providers' requests", () => {
  let server: PosthornServer;
  let consumers: Consumers;
  let base: string;

  beforeAll(async () => {
    [server, consumers] = await Promise.all([sharedServer(), startConsumers()]);
    base = consumers.origin;
  });

  afterAll(async () => {
    await server.stop();
    await consumers.close();
  });

  const place = (): string => consumers.place();
  const seen = (at: string, count?: number): Promise<Seen[]> => consumers.seen(at, count);
  const receive = async ({ at }: Inbound, suffix: string, sent: Sent = {}): Promise<string> =>
    expectStatus(await provide(server, at + suffix, sent), 200).json.id as string;

  let moto: Moto | null = null;
  let sqs: SQSClient;

  beforeAll(async () => {
    if (!isMotoInstalled()) return;
    moto = await Moto.start();
    sqs = new SQSClient({ region: 'eu-west-1', endpoint: moto.url, credentials: { ...moto.credentials } });
  });

  afterAll(async () => {
    sqs?.destroy();
    await moto?.stop();
  });

  const queued = async (queueUrl: string): Promise<Message> => {
    const [message] = await until(
      async () =>
        (await sqs.send(new ReceiveMessageCommand({ QueueUrl: queueUrl, MessageAttributeNames: ['All'] }))).Messages ??
        [],
      ({ length }) => length > 0,
      WITHIN_MS,
    );
    await sqs.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle: message?.ReceiptHandle }));
    return message as Message;
  };

  it.each(PROVIDERS)('%s: https, mirror, pull, SQS and the event show the same', async (_, suffix, sent, expected) => {
    const [hooks, mirrored] = [place(), place()];
    const https = await destinationAt(server, base + hooks);
    const pull = await pullDestination(server);
    const destinations = [https, await destinationAt(server, base + mirrored, { type: 'mirror' }), pull];
    let queueUrl = '';
    if (moto !== null) {
      queueUrl = (await sqs.send(new CreateQueueCommand({ QueueName: randomUUID() }))).QueueUrl ?? '';
      const created = await server.api('POST', '/v1/destinations', {
        name: 'A queue',
        type: 'sqs',
        credentials: moto.credentials,
        config: { queueUrl, region: 'eu-west-1' },
      });
      destinations.push(expectStatus(created, 201).json.id as string);
    }
    const endpoint = await inbound(server, { destinations });
    const secret = expectStatus(await server.api('GET', `/v1/destinations/${https}/secret`), 200).json.secret;
    const { method = 'POST', body = '' } = sent;
    const line = { method, path: '', query: suffix.slice(1) };

    const id = await receive(endpoint, suffix, sent);

    const event = await eventIn(server, id, 'delivered');
    expect(event).toMatchObject({ ...line, headers: expected, note: null });
    const [hook] = (await seen(hooks)) as [Seen];
    expect([hook.method, hook.url]).toEqual(['POST', hooks + suffix]);
    expect(hook.headers).toMatchObject({ ...expected, 'webhook-id': id });
    expect(hook.body.toString()).toBe(body);
    expect(() => new Webhook(secret).verify(hook.body.toString(), hook.headers as Record<string, string>)).not.toThrow(
      /signature/i,
    );
    const [copy] = (await seen(mirrored)) as [Seen];
    expect([copy.method, copy.url]).toEqual([method, mirrored + suffix]);
    expect(copy.headers).toMatchObject(expected);
    const [item] = (await arrived(server, pull, 1)).data;
    expect(item).toMatchObject({ id, ...line, headers: event.headers });
    if (queueUrl === '') return;
    const { Body: text, MessageAttributes: attributes = {} } = await queued(queueUrl);
    expect(JSON.parse(attributes['posthorn-request']?.StringValue ?? '')).toEqual({
      ...line,
      headers: event.headers,
    });
    if (body === '') expect([text, attributes['content-encoding']?.StringValue]).toEqual(['\n', 'base64']);
    else expect(text).toBe(body);
  });
});
