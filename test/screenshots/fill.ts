import { setTimeout as pause } from 'node:timers/promises';
import { deliver, letter } from '../api/mailing.js';
import { callApi } from '../support/server.js';
import type { Texts } from './texts.js';

const POLL_MS = 200;
const POLLS_MAX = 100;

/** Ids of the objects that the screens show. */
export type Ids = Partial<
  Record<
    | 'event'
    | 'destination'
    | 'endpoint'
    | 'request'
    | 'application'
    | 'applicationEndpoint'
    | 'eventType'
    | 'email'
    | 'template'
    | 'topic'
    | 'alias'
    | 'message'
    | 'domain'
    | 'job',
    string
  >
>;

/** An organization that the script fills through the API. */
export interface Place {
  readonly url: string;
  readonly key: string;
  /** Base URL of the receiver of the deliveries. */
  readonly receiver: string;
  readonly smtpPort: number;
  readonly texts: Texts;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- each caller reads the fields that it needs
type Json = any;

/** Calls the API of one organization. Throws if a call fails, because an incomplete screen would prove nothing. */
class Caller {
  constructor(private readonly place: Place) {}

  async call(method: string, route: string, body?: unknown): Promise<Json> {
    const { status, json, text } = await callApi(this.place.url, this.place.key, method, route, body);
    if (status >= 300) throw new Error(`${method} ${route} returned ${status}: ${text}`);
    return json;
  }

  make(route: string, body: unknown): Promise<Json> {
    return this.call('POST', route, body);
  }

  /** Polls a list until it has an item. Returns the first item. */
  async first(route: string): Promise<Json> {
    for (let polls = 0; polls < POLLS_MAX; polls += 1) {
      const { data } = await this.call('GET', route);
      if (data.length > 0) return data[0];
      await pause(POLL_MS);
    }
    throw new Error(`${route} stayed empty.`);
  }
}

/** Creates one object of each kind without any traffic, so that the pages of these objects are empty. */
export async function fillBare(place: Place): Promise<Ids> {
  const api = new Caller(place);
  const destination = await api.make('/v1/destinations', {
    name: 'Orders',
    type: 'https',
    url: `${place.receiver}/ok`,
  });
  const endpoint = await api.make('/v1/endpoints', { slug: 'github', preset: 'github' });
  const application = await api.make('/v1/app', { name: 'Acme', uid: 'acme' });
  const template = await api.make('/v1/templates', { name: 'Order confirmation' });
  const topic = await api.make('/v1/topics', { name: 'News', default_subscription: 'opt_in' });
  const alias = await api.make('/v1/aliases', { kind: 'platform', localPart: 'bare-box' });
  const domain = await api.make('/v1/domains', { domain: 'bare.customer.example', kind: 'email-send' });
  await api.make('/v1/event-types', { name: 'order.created' });
  return {
    destination: destination.id,
    endpoint: endpoint.id,
    application: application.id,
    template: template.id,
    topic: topic.id,
    alias: alias.id,
    domain: domain.id,
    eventType: 'order.created',
  };
}

/** Fills an organization with objects of every kind, and with traffic that succeeded, failed and is pending. */
export async function fill(place: Place): Promise<Ids> {
  const api = new Caller(place);
  const targets = await makeDestinations(api, place);
  await makeSettings(api, place);
  const events = await sendEvents(api, place, targets);
  const [inbound, application, mail] = [
    await receiveRequests(api, place, targets.good),
    await sendToApplications(api, place),
    await exchangeMail(api, place, targets.good),
  ];
  const job = await api.make(`/v1/destinations/${targets.dead}/recover`, {
    since: new Date(Date.now() - 3_600_000).toISOString(),
  });
  return { destination: targets.good, job: job.id ?? job.replay_id, ...events, ...inbound, ...application, ...mail };
}

interface Targets {
  readonly good: string;
  readonly retried: string;
  readonly dead: string;
  readonly pull: string;
}

async function makeDestinations(api: Caller, { receiver, texts }: Place): Promise<Targets> {
  const make = async (name: string, index: number, settings: object): Promise<string> =>
    (await api.make('/v1/destinations', { name: texts.name(name, index), type: 'https', ...settings })).id as string;
  const url = (answer: string): string => texts.url(`${receiver}/${answer}`);
  const targets = {
    good: await make('Orders', 0, { url: url('ok') }),
    retried: await make('Warehouse', 1, { url: url('broken'), retry: { max_attempts: 3, schedule: [0, 86_400] } }),
    dead: await make('Billing', 2, { url: url('broken'), retry: { max_attempts: 1, schedule: [0] } }),
    pull: await make('Data lake', 3, { type: 'pull' }),
  };
  const off = await make('Old CRM', 0, { url: url('ok') });
  await api.call('PATCH', `/v1/destinations/${off}`, { status: 'disabled' });
  return targets;
}

async function makeSettings(api: Caller, { texts }: Place): Promise<void> {
  for (const [index, name] of ['CRM_TOKEN', 'SHOP_PASSWORD', 'ERP_KEY'].entries())
    await api.make('/v1/secrets', {
      name: texts.identifier(name).slice(0, 64).toUpperCase(),
      value: `value-${index}`,
      description: texts.name('Token of the shop', index),
    });
  for (const [index, name] of ['Website', 'Nightly export', 'Dashboard'].entries())
    await api.make('/v1/keys', {
      name: texts.name(name, index, 100),
      scope: ['write', 'read', 'admin'][index],
    });
  for (const [index, name] of ['Ada Lovelace', 'Grace Hopper'].entries())
    await api.make('/v1/members', {
      name: texts.name(name, index + 1, 100),
      email: `${name.split(' ')[0]?.toLowerCase()}@customer.example`,
      role: index === 0 ? 'write' : 'read',
    });
  for (const [index, name] of ['order.created', 'order.paid', 'invoice.failed', 'user.signed_up'].entries())
    await api.make('/v1/event-types', {
      name: texts.identifier(name),
      group: texts.name(index < 2 ? 'Orders' : 'Accounts', index, 100),
      description: texts.name('An object of the shop changed', index),
      example: { id: 'A-7', total: 1200, note: texts.name('Thanks', index) },
      schema: { type: 'object', properties: { id: { type: 'string' }, total: { type: 'integer' } } },
    });
}

async function sendEvents(api: Caller, { texts }: Place, targets: Targets): Promise<Ids> {
  const types = ['order.created', 'order.paid', 'invoice.failed', 'user.signed_up'];
  const send = async (destination: string, index: number): Promise<string> =>
    (
      await api.make('/v1/send', {
        destination,
        event_type: texts.identifier(types[index % types.length] ?? ''),
        payload: {
          id: `A-${index}`,
          total: 1200 + index,
          customer: { name: texts.name('Ada Lovelace', index), isNew: index % 2 === 0 },
          lines: [{ sku: texts.name('Shoes', index), count: 2 }],
        },
      })
    ).message_id as string;
  for (let index = 0; index < 40; index += 1) await send(targets.good, index);
  for (let index = 0; index < 4; index += 1) await send(targets.dead, index);
  for (let index = 0; index < 5; index += 1) await send(targets.pull, index);
  const event = await send(targets.retried, 1);
  await api.first('/v1/events?status=dlq');
  await api.first(`/v1/events?status=delivered`);
  return { event, eventType: texts.identifier('order.created') };
}

async function receiveRequests(api: Caller, { texts }: Place, destination: string): Promise<Ids> {
  const endpoint = await api.make('/v1/endpoints', {
    slug: texts.identifier('shop').slice(0, 60),
    destinations: [destination],
    transform: { engine: 'managed', code: 'export default (event) => event;' },
  });
  await api.make('/v1/endpoints', { slug: 'stripe', preset: 'stripe' });
  for (let index = 0; index < 3; index += 1) {
    await fetch(`${endpoint.url}?note=${encodeURIComponent(texts.name('hello', index))}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-note': texts.identifier('note') },
      body: JSON.stringify({ type: texts.identifier('order.created'), note: texts.name('Thanks', index) }),
    });
  }
  const request = await api.first(`/v1/endpoints/${endpoint.id}/requests`);
  return { endpoint: endpoint.id, request: request.id };
}

async function sendToApplications(api: Caller, { receiver, texts }: Place): Promise<Ids> {
  const applications: string[] = [];
  for (const [index, name] of ['Acme', 'Umbrella', 'Globex', 'Initech'].entries())
    applications.push(
      (await api.make('/v1/app', { name: texts.name(name, index), uid: texts.identifier(name.toLowerCase()) })).id,
    );
  const [application = ''] = applications;
  const endpoints = await Promise.all(
    ['ok', 'broken'].map((answer, index) =>
      api.make(`/v1/app/${application}/endpoints`, {
        url: texts.url(`${receiver}/${answer}`),
        description: texts.name(index === 0 ? 'Production' : 'Staging', index),
        event_types: [texts.identifier('order.created'), 'invoice.*'],
      }),
    ),
  );
  for (let index = 0; index < 5; index += 1)
    await api.make(`/v1/app/${application}/event`, {
      event_type: texts.identifier('order.created'),
      payload: { id: `A-${index}`, note: texts.name('Thanks', index) },
    });
  return { application, applicationEndpoint: endpoints[0].id };
}

async function exchangeMail(api: Caller, { smtpPort, texts }: Place, destination: string): Promise<Ids> {
  const host = 'simulator.posthorn.example';
  let email = '';
  for (const [index, role] of ['delivered', 'bounced', 'complained', 'delivered'].entries())
    email = (
      await api.make('/v1/emails', {
        from: `${texts.name('Shop', 1, 100)} <shop@${host}>`,
        to: `${role}+${index}@${host}`,
        subject: texts.name('Your order is on its way', index),
        html: `<h1>${texts.name('Your order', index)}</h1><p>It is on its way.</p>`,
        text: 'It is on its way.',
      })
    ).id as string;
  await api.make('/v1/suppressions', { email: `${texts.identifier('somebody').slice(0, 60)}@customer.example` });
  const template = await api.make('/v1/templates', {
    name: texts.name('Order confirmation', 0, 100),
    alias: texts.identifier('order').slice(0, 100),
    subject: 'Your order {{order}}',
    html: '<h1>Hello {{first_name}}</h1><p>Your order {{order}} is on its way.</p>',
    variables: [{ key: 'order', type: 'string', fallback_value: '4711' }],
  });
  await api.make('/v1/templates', { name: texts.name('Password reset', 2, 100) });
  const topic = await api.make('/v1/topics', {
    name: texts.name('News', 0, 50),
    description: texts.name('One email a month', 2),
    default_subscription: 'opt_in',
  });
  const domain = await api.make('/v1/domains', {
    domain: `${texts.identifier('shop').slice(0, 50)}.customer.example`,
    kind: 'email-send',
  });
  const alias = await api.make('/v1/aliases', {
    kind: 'platform',
    localPart: `${texts.identifier('support').slice(0, 50)}`,
    destinationIds: [destination],
  });
  for (let index = 0; index < 3; index += 1)
    await deliver(
      smtpPort,
      alias.address,
      letter(`=?utf-8?B?${Buffer.from(texts.name('Where is my order', index)).toString('base64')}?=`).replace(
        /Message-ID: .*\r\n/,
        `Message-ID: <${index}@b.example>\r\n`,
      ),
    );
  const message = await api.first(`/v1/aliases/${alias.id}/messages`);
  return { email, template: template.id, topic: topic.id, domain: domain.id, alias: alias.id, message: message.id };
}
