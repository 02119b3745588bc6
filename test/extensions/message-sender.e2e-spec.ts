import { randomUUID } from 'node:crypto';
import { expectInvalid, expectRefusal } from '../api/answers.js';
import { until } from '../api/polling.js';
import {
  destinationAt,
  eventIn,
  expectStatus,
  startTargets,
  type TargetPath,
  type Targets,
  WITHIN_MS,
} from '../api/scene.js';
import type { ApiAnswer } from '../support/server.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { type InlineExtension, inlineExtension } from './inline-extension.js';

/** Extension with routes that call `MessageSender`. The request body names `method`, `args`, and how the call ends. */
const EXTENSION = `
import { Body, Controller, HttpCode, Module, Post } from '@nestjs/common';
import { AcceptancePolicy, Audit, CurrentTenant, Database, MessageSender, Scope, Tenants } from 'posthorn';

class SenderController {
  constructor(sender, tenants, database) { Object.assign(this, { sender, tenants, database }); }

  async callSender(tenant, { method, args, end, organization, forged, times = 1 }) {
    const from = organization ? await this.tenants.find(organization, 'test') : { ...tenant, ...forged };
    const run = async () => {
      let answer;
      for (let i = 0; i < times; i += 1) answer = await this.sender[method](from, ...args);
      if (end === 'rollback') throw new Error('the transaction is rolled back');
      return answer;
    };
    return end === undefined ? run() : this.database.transaction(run);
  }

  async callSenderAudited(tenant, { method, args, end }) {
    const answer = await this.sender[method](tenant, ...args);
    if (end === 'rollback') throw new Error('the change of this handler is rolled back');
    return answer;
  }
}
Reflect.defineMetadata('design:paramtypes', [MessageSender, Tenants, Database], SenderController);
const decorate = (name, ...decorators) => {
  const descriptor = Object.getOwnPropertyDescriptor(SenderController.prototype, name);
  CurrentTenant()(SenderController.prototype, name, 0);
  Body()(SenderController.prototype, name, 1);
  for (const decorator of decorators) decorator(SenderController.prototype, name, descriptor);
};
decorate('callSender', Audit('never'), Scope('write'), HttpCode(200), Post());
decorate('callSenderAudited', Scope('write'), HttpCode(200), Post('audited'));
Controller('v1/sender')(SenderController);

class Policy extends AcceptancePolicy {
  rule({ eventType }) { return eventType === 'order.refused' ? { refuse: 'Orders are refused today.' } : null; }
}

export default class SenderModule {}
Module({ controllers: [SenderController], providers: [Policy] })(SenderModule);
`;

describe('MessageSender', () => {
  let extension: InlineExtension;
  let server: PosthornServer;
  let targets: Targets;
  let target: TargetPath;
  let destination: string;

  beforeAll(async () => {
    extension = inlineExtension(EXTENSION);
    [server, targets] = await Promise.all([startServer({ EXTENSIONS: extension.file }), startTargets()]);
    target = targets.open();
    destination = await destinationAt(server, target.url);
  });

  afterAll(async () => {
    await Promise.all([server?.stop(), targets?.close()]);
    extension?.remove();
  });

  const call = (method: string, args: unknown[], more: object = {}, path = ''): Promise<ApiAnswer> =>
    server.api('POST', `/v1/sender${path}`, { method, args, ...more });
  const webhook = (more: object = {}): object => ({
    destination,
    event_type: 'order.paid',
    payload: { amount: 4200 },
    ...more,
  });
  const eventsOf = async (type: string): Promise<unknown[]> =>
    (await server.api('GET', `/v1/events?event_type=${type}`)).json.data as unknown[];
  const email = (more: object = {}): object => ({
    from: 'shop@simulator.localhost',
    to: 'delivered@simulator.localhost',
    subject: `Order ${randomUUID()}`,
    text: 'Paid.',
    ...more,
  });

  it('send: a message of code is delivered with its headers', async () => {
    const { json } = expectStatus(await call('send', [webhook({ headers: { 'X-Order': '7' } })]), 200);

    await eventIn(server, json.message_id as string, 'delivered');
    const arrived = target.posts().find(({ headers }) => headers['webhook-id'] === json.message_id);
    expect(arrived?.rawBody.toString()).toBe('{"amount":4200}');
    expect(arrived?.headers['x-order']).toBe('7');
  });

  it.each([
    ['send', () => [webhook({ event_type: 'order.once' })], 'message_id'],
    ['emit', () => ['customer-1', { event_type: 'order.once', payload: {} }], 'message_id'],
    ['sendEmail', () => [email()], 'id'],
    ['sendEmail', () => [email({ scheduled_at: 'in 1 day' })], 'id'],
  ])('%s: a repeated key returns the first answer, and other content is a conflict', async (method, content, id) => {
    const args = content();
    const key = { idempotencyKey: `order ${randomUUID()}` };

    const [first, second] = [await call(method, [...args, key]), await call(method, [...args, key])];
    const other = { ...(args.at(-1) as object), headers: { 'x-other': '1' } };
    const third = await call(method, [...args.slice(0, -1), other, key]);

    expect(expectStatus(first, 200).json[id]).toMatch(/^(msg|evt)_/);
    expect(second.json).toEqual(first.json);
    expectRefusal(third, 409);
  });

  it('send: a key applies inside a transaction too', async () => {
    const args = [webhook({ event_type: 'order.within' }), { idempotencyKey: randomUUID() }];

    const [first, second] = [await call('send', args, { end: 'commit' }), await call('send', args, { end: 'commit' })];

    expect(expectStatus(second, 200).json).toEqual(expectStatus(first, 200).json);
    expect(await eventsOf('order.within')).toHaveLength(1);
  });

  it.each([
    ['an unknown field', () => webhook({ targets: [] }), 'targets'],
    ['a missing payload', () => ({ destination, event_type: 'order.paid' }), 'payload'],
    ['an unknown destination', () => webhook({ destination: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' }), 'destination'],
  ])('422: send refuses %s like the route', async (_what, content, path) => {
    expectInvalid(await call('send', [content()]), 'schema', path);
    expectInvalid(await server.api('POST', '/v1/send', content()), 'schema', path);
  });

  it('413, 400, 404, 422: a payload over 1 MB, an empty key, an unknown application and an unverified sender', async () => {
    expectRefusal(await call('send', [webhook({ payload: { text: 'x'.repeat(1_048_570) } })]), 413);
    expectRefusal(await call('send', [webhook(), { idempotencyKey: '' }]), 400);
    expectRefusal(
      await call('emit', ['app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1', { event_type: 'order.paid', payload: {} }]),
      404,
    );
    expectRefusal(await call('sendEmail', [email({ from: 'a@example.com' })]), 422);
  });

  it('404: a tenant that does not exist, or that mixes two organizations, sends nothing', async () => {
    for (const forged of [
      { environmentId: 2_000_000_000 },
      { organizationId: '01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' },
      { mode: 'test' },
    ])
      expectRefusal(await call('send', [webhook({ event_type: 'order.forged' })], { forged }), 404);

    expect(await eventsOf('order.forged')).toEqual([]);
  });

  it('422: an acceptance policy refuses a message of code', async () => {
    const refused = await call('send', [webhook({ event_type: 'order.refused' })]);

    expectRefusal(refused, 422);
    expect(refused.json.error).toMatchObject({ message: 'Orders are refused today.', details: { check: 'policy' } });
  });

  it.each(['', '/audited'])(
    'nothing is accepted if the transaction of the caller is rolled back (%s)',
    async (path) => {
      await server.api('POST', '/v1/app', { uid: 'customer-2' });
      const scheduled = email({ scheduled_at: 'in 1 day' });

      for (const [method, args] of [
        ['send', [webhook({ event_type: 'order.lost' })]],
        ['emit', ['customer-2', { event_type: 'order.lost', payload: {} }]],
        ['sendEmail', [email({ tags: [{ name: 'order', value: 'lost' }] })]],
        ['sendEmail', [{ ...scheduled, tags: [{ name: 'order', value: 'lost' }] }]],
        ['sendEmail', [email({ tags: [{ name: 'order', value: 'lost' }] }), { idempotencyKey: randomUUID() }]],
      ] as const)
        expectRefusal(await call(method, [...args], { end: 'rollback' }, path), 500);

      expect(await eventsOf('order.lost')).toEqual([]);
      expect((await server.api('GET', '/v1/emails?tag=order:lost')).json.data).toEqual([]);
    },
  );

  it('emit: the subscribed endpoints of the application receive the event when the transaction commits', async () => {
    await server.api('POST', '/v1/app', { uid: 'customer-3' });
    const endpoint = { url: target.url, event_types: ['order.shipped'] };
    expectStatus(await server.api('POST', '/v1/app/customer-3/endpoints', endpoint), 201);

    const { json } = expectStatus(
      await call('emit', ['customer-3', { event_type: 'order.shipped', payload: { n: 1 } }], { end: 'commit' }),
      200,
    );

    expect(json).toEqual({ message_id: expect.stringMatching(/^msg_/), fanout: 1 });
    const arrivals = await until(
      async () => target.posts().filter(({ headers }) => headers['webhook-id'] === json.message_id),
      (posts) => posts.length > 0,
      WITHIN_MS,
    );
    expect(arrivals).toHaveLength(1);
  });

  it('sendEmail: an email of code is sent', async () => {
    const { json } = expectStatus(await call('sendEmail', [email()], { end: 'commit' }), 200);

    expect(json.status).toBe('sending');
    await eventIn(server, json.id as string, 'delivered');
  });

  it('a job finds the tenant by organization and mode', async () => {
    const organization = (await server.api('GET', '/v1/org')).json.id as string;

    const sent = await call('send', [webhook({ destination: target.url })], { organization });

    expectStatus(sent, 200);
    expectRefusal(await server.api('GET', `/v1/events/${sent.json.message_id}`), 404);
  });

  it('429: calls of code count against the quota of the organization', async () => {
    const limited = await startServer({ EXTENSIONS: extension.file, RATE_LIMIT_ORG: '6/3600' });
    try {
      const body = { method: 'send', args: [webhook({ destination: target.url })], times: 10 };

      const refused = await limited.api('POST', '/v1/sender', body);

      expectRefusal(refused, 429);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    } finally {
      await limited.stop();
    }
  });
});
