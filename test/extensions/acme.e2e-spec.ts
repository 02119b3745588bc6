import { createHash, createHmac, randomUUID } from 'node:crypto';
import {
  presetConformance,
  type PresetUnderTest,
  type ReceivedMessage,
  senderConformance,
  type SenderUnderTest,
} from '../../src/testing/index.js';
import { expectStatus } from '../api/scene.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import type { ApiAnswer } from '../support/server.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { compileSample, SMALL_SAMPLE } from './sample.js';

/** Tests the sample extension posthorn-acme with the conformance checks of its extension points. */
describe('the small sample', () => {
  let server: PosthornServer;
  let receiver: Receiver;
  const messages: ReceivedMessage[] = [];

  beforeAll(async () => {
    receiver = await startReceiver((request) => {
      if (request.method === 'POST')
        messages.push({ headers: request.headers as Record<string, string>, body: request.rawBody });
      return { status: 200 };
    });
    server = await startServer({ EXTENSIONS: compileSample(SMALL_SAMPLE).file });
  });

  afterAll(async () => {
    await server?.stop();
    await receiver?.close();
  });

  const report = (destination: string, number: string): Promise<ApiAnswer> =>
    server.api('POST', '/v1/acme/invoices/paid', { number, destination });

  const sender: SenderUnderTest = {
    service: () => server,
    target: {
      get url() {
        return `${receiver.url}/acme`;
      },
      received: () => messages,
    },
    send: async (destination, occasion) =>
      expectStatus(await report(destination, occasion), 202).json.message_id as string,
    sendRefused: async (destination) => (await report(destination, 'refused')).status,
  };

  const now = (): string => String(Math.floor(Date.now() / 1000));
  const pay: PresetUnderTest = {
    service: () => server,
    preset: 'acme-pay',
    secrets: ['acme_1', 'acme_2'],
    request: (secret) => {
      const [time, body] = [now(), JSON.stringify({ id: randomUUID(), kind: 'payment.settled' })];
      const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
      return { headers: { 'acme-signature': signature, 'acme-time': time }, body };
    },
    eventType: 'payment.settled',
  };
  const shop: PresetUnderTest = {
    service: () => server,
    preset: 'acme-shop',
    secrets: ['first', 'second'],
    request: (secret) => {
      const body = JSON.stringify({ id: randomUUID(), type: 'order.placed' });
      return { headers: { 'acme-hash': createHash('sha256').update(secret).update(body).digest('hex') }, body };
    },
    eventType: 'order.placed',
  };

  it.each(
    [...senderConformance(sender), ...presetConformance(pay), ...presetConformance(shop)].map(
      ({ name, run }) => [name, run] as const,
    ),
  )('%s', (_name, run) => run(), 60_000);
});
