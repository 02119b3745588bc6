import {
  CreateQueueCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { freePort } from '../durability/processes.js';
import { isMotoInstalled, Moto } from '../support/moto.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { expectInvalid } from './answers.js';
import { aliasTo, deliver, letter, messageOf, messagesOf } from './mailing.js';
import { until } from './polling.js';
import { ack } from './pulling.js';
import { destinationAt, expectStatus, startTargets, type TargetPath, type Targets, WITHIN_MS } from './scene.js';

const REGION = 'eu-west-1';
const LONG_AGO = '2026-01-01T00:00:00Z';
const INVOICES = { path: '$.subject', op: 'starts_with', value: 'Invoice' };

/** Routes email that arrives at an alias over real SMTP: by filters, to a queue, and to pull consumers. */
describe('routing of received email', () => {
  let server: PosthornServer;
  let targets: Targets;
  let smtp: number;

  beforeAll(async () => {
    [targets, smtp] = await Promise.all([startTargets(), freePort()]);
    server = await startServer({ SMTP_PORT: String(smtp) });
  });

  afterAll(async () => {
    await server?.stop();
    await targets?.close();
  });

  const subjects = (target: TargetPath): string[] =>
    target.posts().map(({ rawBody }) => (JSON.parse(rawBody.toString()) as { subject: string }).subject);

  it('a filter on any field of the event selects its destination; a message that matches none is ignored', async () => {
    const [all, invoices, ada] = [targets.open(), targets.open(), targets.open()];
    const to = {
      all: await destinationAt(server, all.url),
      invoices: await destinationAt(server, invoices.url),
      ada: await destinationAt(server, ada.url),
    };
    const header = {
      all: [
        { path: '$.headers["x-team"]', op: 'eq', value: 'billing' },
        { not: { path: '$.attachments[0]', op: 'exists' } },
        { path: '$.verdicts.spam', op: 'ne', value: 'fail' },
      ],
    };
    const open = await aliasTo(server, [], {
      destinationIds: undefined,
      routes: [
        { destination: to.all },
        { destination: to.invoices, filter: INVOICES },
        { destination: to.ada, filter: header },
      ],
    });
    const picky = await aliasTo(server, [], {
      destinationIds: undefined,
      routes: [{ destination: to.invoices, filter: { path: '$.recipients[*]', op: 'eq', value: 'nobody@x.example' } }],
    });

    await deliver(smtp, [open.address, picky.address], letter('Invoice 42'));
    await deliver(smtp, open.address, letter('Hello', 'X-Team: billing\r\n'));
    await Promise.all([all.arrived(2), invoices.arrived(1), ada.arrived(1)]);
    const [ignored] = await messagesOf(server, picky.id, 1);

    expect([subjects(all).sort(), subjects(invoices), subjects(ada)]).toEqual([
      ['Hello', 'Invoice 42'],
      ['Invoice 42'],
      ['Hello'],
    ]);
    expect(await messageOf(server, picky.id, ignored.id)).toMatchObject({ status: 'ignored', subject: 'Invoice 42' });
    expect((await server.api('GET', `/v1/events?endpoint=${picky.id}`)).json.data).toMatchObject([
      { id: ignored.id, status: 'ignored' },
    ]);
    expect((await server.api('GET', `/v1/events?endpoint=${open.id}`)).json.data).toHaveLength(2);
  });

  it('`destinationIds` is the short form: it keeps the filters of the destinations that stay; a change applies to the next message', async () => {
    const [first, second] = [targets.open(), targets.open()];
    const [a, b] = [await destinationAt(server, first.url), await destinationAt(server, second.url)];
    const { id, address } = await aliasTo(server, [], {
      destinationIds: undefined,
      routes: [{ destination: a, filter: INVOICES }],
    });
    const change = async (body: object): Promise<unknown> =>
      expectStatus(await server.api('PATCH', `/v1/aliases/${id}`, body), 200).json.routes;

    expect(await change({ destinationIds: [a, b] })).toEqual([
      { destination: a, filter: INVOICES },
      { destination: b, filter: null },
    ]);
    await deliver(smtp, address, letter('Question 1'));
    await second.arrived(1);
    expect(
      await change({ routes: [{ destination: a }, { destination: b, filter: INVOICES }], destinationIds: [b, a] }),
    ).toEqual([
      { destination: a, filter: null },
      { destination: b, filter: INVOICES },
    ]);
    // Any process may process the message, and each process may use cached settings for up to five seconds.
    const seen = await until(
      async () => {
        await deliver(smtp, address, letter(`Question ${Math.random()}`));
        return first.posts().length;
      },
      (count) => count > 0,
      WITHIN_MS,
    );
    expect(seen).toBeGreaterThan(0);
    // A destination that was removed and added again has no filter.
    await change({ destinationIds: [a] });
    expect(await change({ destinationIds: [b] })).toEqual([{ destination: b, filter: null }]);
  });

  it.each<[string, object, ...string[]]>([
    ['an invalid filter', { routes: [{ destination: 'A', filter: { op: 'eq' } }] }, 'routes.0.filter.path'],
    ['a destination that does not exist', { routes: [{ destination: 'dst_x' }] }, 'routes.0.destination'],
    [
      'a destination twice',
      { routes: [{ destination: 'A' }, { destination: 'A', filter: INVOICES }] },
      'routes.1.destination',
    ],
    ['contradictory forms', { routes: [{ destination: 'A' }], destinationIds: [] }, 'destinationIds'],
  ])('422: %s, on create and on change', async (_what, body, ...paths) => {
    const destination = await destinationAt(server, targets.open().url);
    const filled = JSON.parse(JSON.stringify(body).replaceAll('"A"', JSON.stringify(destination))) as object;
    const { id } = await aliasTo(server, [destination]);

    expectInvalid(
      await server.api('POST', '/v1/aliases', { kind: 'platform', localPart: 'refused', ...filled }),
      'schema',
      ...paths,
    );
    expectInvalid(await server.api('PATCH', `/v1/aliases/${id}`, filled), 'schema', ...paths);
  });

  it('a replay uses the current filters', async () => {
    const [first, second] = [targets.open(), targets.open()];
    const [a, b] = [await destinationAt(server, first.url), await destinationAt(server, second.url)];
    const { id, address } = await aliasTo(server, [a]);
    for (const subject of ['Invoice 1', 'Hello 1', 'Invoice 2']) await deliver(smtp, address, letter(subject));
    await first.arrived(3);
    await server.api('PATCH', `/v1/aliases/${id}`, { routes: [{ destination: b, filter: INVOICES }] });

    const counted = expectStatus(await server.api('POST', `/v1/aliases/${id}/replay`, { dry_run: true }), 200).json;
    const done = expectStatus(await server.api('POST', `/v1/aliases/${id}/replay`, { since: LONG_AGO }), 200).json;

    const counts = {
      scanned: 3,
      replayed: 2,
      enqueued: 2,
      skipped: 1,
      excluded: 0,
      destinations: [b],
      next_cursor: null,
    };
    expect([counted, done]).toMatchObject([counts, counts]);
    await second.arrived(2);
    expect(subjects(second).sort()).toEqual(['Invoice 1', 'Invoice 2']);
  });

  it('pull consumers get the same event, acknowledged once, and not the filtered ones', async () => {
    const { id: pull } = expectStatus(
      await server.api('POST', '/v1/destinations', { name: 'pulled', type: 'pull' }),
      201,
    ).json;
    const { id, address } = await aliasTo(server, [], {
      destinationIds: undefined,
      routes: [{ destination: pull, filter: INVOICES }],
    });
    for (const subject of ['Hello 2', 'Invoice 3']) await deliver(smtp, address, letter(subject));
    await messagesOf(server, id, 2);

    const page = await until(
      async () => (await server.api('GET', `/v1/pull/${pull}`)).json,
      ({ data }) => data.length > 0,
      WITHIN_MS,
    );

    expect(page.data).toHaveLength(1);
    expect(JSON.stringify(page.data[0])).toMatch(/email\.received.*Invoice 3|Invoice 3.*email\.received/);
    expectStatus(await ack(server, pull, page.next_cursor), 200);
    expect((await server.api('GET', `/v1/pull/${pull}`)).json.data).toEqual([]);
  });

  (isMotoInstalled() ? it : it.skip)(
    'to a queue of SQS: the event as it is, with its id and its type',
    async () => {
      const moto = await Moto.start();
      const sqs = new SQSClient({ region: REGION, endpoint: moto.url, credentials: { ...moto.credentials } });
      try {
        const { QueueUrl: queueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName: 'mail' }));
        const body = {
          name: 'A queue',
          type: 'sqs',
          credentials: moto.credentials,
          config: { queueUrl, region: REGION },
        };
        const { id: queue } = expectStatus(await server.api('POST', '/v1/destinations', body), 201).json;
        const { id, address } = await aliasTo(server, [], {
          destinationIds: undefined,
          routes: [{ destination: queue, filter: INVOICES }],
        });
        for (const subject of ['Hello 3', 'Invoice 4']) await deliver(smtp, address, letter(subject));
        const [invoice] = (await messagesOf(server, id, 2)).filter(({ subject }) => subject === 'Invoice 4');

        const received: Message[] = [];
        await until(
          async () => {
            for (const message of (
              await sqs.send(new ReceiveMessageCommand({ QueueUrl: queueUrl, MessageAttributeNames: ['All'] }))
            ).Messages ?? []) {
              received.push(message);
              await sqs.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle: message.ReceiptHandle }));
            }
            return received.length;
          },
          (count) => count > 0,
          WITHIN_MS,
        );

        expect(received.map(({ Body: text }) => JSON.parse(text ?? ''))).toMatchObject([
          { id: invoice.id, subject: 'Invoice 4', alias: address, endpoint_id: id },
        ]);
        const values = Object.values(received[0]?.MessageAttributes ?? {}).map(({ StringValue: value }) => value);
        expect(values).toEqual(expect.arrayContaining([invoice.id, 'email.received']));
        expect(
          await until(
            () => messageOf(server, id, invoice.id),
            ({ status }) => status === 'delivered',
            WITHIN_MS,
          ),
        ).toMatchObject({ status: 'delivered' });
      } finally {
        sqs.destroy();
        await moto.stop();
      }
    },
    90_000,
  );
});
