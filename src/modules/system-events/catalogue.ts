import { SYSTEM_EVENT_TYPES, type SystemEventType } from './contract.js';

type Schema = Record<string, unknown>;

export interface CatalogueEntry {
  description: string;
  /** JSON Schema (2020-12) of the event's `data`. */
  schema: Schema;
  /** A complete event as it is sent. */
  example: { type: SystemEventType; timestamp: string; data: Record<string, unknown> };
}

const id = (prefix: string): Schema => ({ type: 'string', pattern: `^${prefix}_[0-9A-HJKMNP-TV-Z]{26}$` });
const text: Schema = { type: 'string' };
const number: Schema = { type: 'integer', minimum: 0 };
const time: Schema = { type: 'string', format: 'date-time' };

/** Properties that identify a registered destination, or an endpoint of an application. */
const TARGET = { destination: id('dst'), endpoint: id('ep'), application: id('app'), name: text };
const WHOSE: Schema = {
  oneOf: [
    { required: ['destination', 'name'], properties: { endpoint: false, application: false } },
    { required: ['endpoint', 'application'], properties: { destination: false, name: false } },
  ],
};

/**
 * Schema of a replay job's subject: a destination, an application, an endpoint, or the events that a filter selects.
 */
const REPLAYED: Schema = {
  oneOf: [
    {
      required: ['endpoint'],
      properties: { destination: false, application: false, kind: { enum: ['range', 'recover', 'requests'] } },
    },
    { required: ['destination'], properties: { endpoint: false, application: false, kind: { const: 'recover' } } },
    {
      required: ['application'],
      properties: { endpoint: false, destination: false, kind: { enum: ['recover', 'application', 'erase'] } },
    },
    {
      required: ['action'],
      properties: { endpoint: false, destination: false, application: false, kind: { const: 'events' } },
    },
  ],
};
const ERASED: Schema = {
  type: 'object',
  properties: { endpoints: number, messages: number, deliveries: number, attempts: number },
};

const DOMAIN = { domain: id('dom'), host: text, kind: { enum: ['webhook', 'email', 'email-send'] } };
const MAIL_DOMAIN = { domain: 'dom_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1', host: 'mail.example.com', kind: 'email' };

/** `rate` is the bounce rate or the complaint rate of the last 24 hours. `cause` says which one. */
const REPUTATION = {
  properties: {
    ...DOMAIN,
    cause: { enum: ['bounce_rate', 'complaint_rate'] },
    rate: { type: 'number', minimum: 0 },
    sent: number,
    bounced: number,
    complained: number,
  },
  required: ['domain', 'host', 'kind', 'cause', 'rate', 'sent', 'bounced', 'complained'],
};

const DESTINATION = 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';
const ENDPOINT = 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';
const [FIRST_AT, LAST_AT] = ['2026-11-21T09:30:00.120Z', '2026-11-21T09:30:41.007Z'];

function entry(
  type: SystemEventType,
  description: string,
  item: { properties: Record<string, Schema>; required: readonly string[]; extra?: Schema },
  example: Record<string, unknown>,
): [SystemEventType, CatalogueEntry] {
  const items = {
    type: 'object',
    properties: { ...item.properties, count: { ...number, minimum: 1 } },
    required: [...item.required, 'count'],
    ...item.extra,
  };
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      count: { ...number, minimum: 1 },
      first_at: time,
      last_at: time,
      items: { type: 'array', minItems: 1, maxItems: 100, items },
      items_truncated: { type: 'boolean' },
    },
    required: ['count', 'first_at', 'last_at', 'items', 'items_truncated'],
  };
  const { count = 1 } = example as { count?: number };
  const data = {
    count,
    first_at: FIRST_AT,
    last_at: count === 1 ? FIRST_AT : LAST_AT,
    items: [{ ...example, count }],
    items_truncated: false,
  };
  return [type, { description, schema, example: { type, timestamp: '2026-11-21T09:30:41.530Z', data } }];
}

/** `at` is the time of the occurrence. */
const RECIPIENT = {
  properties: {
    email: id('evt'),
    recipient: text,
    subtype: { type: ['string', 'null'] },
    detail: { type: ['string', 'null'] },
    at: time,
  },
  required: ['email', 'recipient', 'subtype', 'detail', 'at'],
};
const CHOICE = {
  properties: {
    email: id('evt'),
    recipient: text,
    topic: { ...id('top'), type: ['string', 'null'] },
    topic_key: { type: ['string', 'null'] },
    at: time,
  },
  required: ['email', 'recipient', 'topic', 'topic_key', 'at'],
};
const RECIPIENT_EXAMPLE = {
  email: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
  recipient: 'customer@example.org',
  at: FIRST_AT,
};

const CIRCUIT = { properties: TARGET, required: [], extra: WHOSE };
const ORDERS = { destination: DESTINATION, name: 'Orders' };

const ENTRIES = new Map<SystemEventType, CatalogueEntry>([
  entry(
    'circuit.closed',
    'A target whose circuit was open takes deliveries again: a probe succeeded, or the target was enabled.',
    CIRCUIT,
    ORDERS,
  ),
  entry(
    'circuit.opened',
    'A target failed several times in a row, so deliveries to it are held back until a probe succeeds.',
    CIRCUIT,
    ORDERS,
  ),
  entry(
    'destination.disabled',
    'A destination, or an endpoint of an application, takes no deliveries until it is enabled. It was disabled through the API, or because its receiver answered 410.',
    {
      properties: { ...TARGET, reason: text, by: { enum: ['api', 'receiver'] } },
      required: ['reason', 'by'],
      extra: WHOSE,
    },
    { ...ORDERS, reason: 'The receiver answered 410 Gone.', by: 'receiver' },
  ),
  entry(
    'destination.enabled',
    'A disabled destination, or a disabled endpoint of an application, was enabled and takes deliveries again.',
    { properties: { ...TARGET, by: { const: 'api' } }, required: ['by'], extra: WHOSE },
    { ...ORDERS, by: 'api' },
  ),
  entry(
    'domain.at_risk',
    'The bounce or complaint rate of a domain reached its warning limit. If the rate reaches its pause limit, the domain is paused.',
    REPUTATION,
    { ...MAIL_DOMAIN, cause: 'bounce_rate', rate: 0.06, sent: 500, bounced: 30, complained: 0 },
  ),
  entry(
    'domain.failed',
    'For 72 hours, responses of name servers have lacked a required record of a domain. `missing` names the records. A successful check enables the domain again.',
    {
      properties: { ...DOMAIN, missing: { type: 'array', items: text } },
      required: ['domain', 'host', 'kind', 'missing'],
    },
    { ...MAIL_DOMAIN, missing: ['TXT _posthorn.mail.example.com'] },
  ),
  entry(
    'domain.paused',
    'The bounce or complaint rate of a domain reached its pause limit. Emails from the domain are rejected, and accepted ones wait until the domain is resumed through the API.',
    REPUTATION,
    { ...MAIL_DOMAIN, cause: 'complaint_rate', rate: 0.006, sent: 1000, bounced: 12, complained: 6 },
  ),
  entry(
    'domain.verified',
    'All required records of a domain were found, for the first time or again. The domain can be used.',
    { properties: DOMAIN, required: ['domain', 'host', 'kind'] },
    MAIL_DOMAIN,
  ),
  entry(
    'email.bounced',
    'An email was permanently rejected for a recipient, when it was sent or later. No more mail is sent to the address.',
    RECIPIENT,
    { ...RECIPIENT_EXAMPLE, subtype: '5.1.1', detail: '550 5.1.1 No such user' },
  ),
  entry(
    'email.complained',
    'A recipient of an email reported it as spam. No more mail is sent to the address.',
    RECIPIENT,
    { ...RECIPIENT_EXAMPLE, subtype: 'abuse', detail: null },
  ),
  entry(
    'email.failed',
    'An email was permanently rejected for a recipient because of the message, its sender or a policy. The address itself is not suppressed.',
    RECIPIENT,
    { ...RECIPIENT_EXAMPLE, subtype: '5.7.1', detail: '550 5.7.1 Message refused' },
  ),
  entry(
    'email.resubscribed',
    'A recipient used the unsubscribe link of an email to subscribe to the topic of the email again.',
    CHOICE,
    { ...RECIPIENT_EXAMPLE, topic: 'top_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1', topic_key: 'newsletter' },
  ),
  entry(
    'email.unsubscribed',
    'A recipient used the unsubscribe link of an email. `topic` is the topic that they unsubscribed from. If it is `null`, they unsubscribed from all emails, and the address is suppressed.',
    CHOICE,
    { ...RECIPIENT_EXAMPLE, topic: 'top_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1', topic_key: 'newsletter' },
  ),
  entry(
    'endpoint.body_too_large',
    'An inbound endpoint rejected a request whose body is larger than its `max_body_bytes`. The event is repeated after one hour if such requests continue. `size_bytes` is the size of the last body, as far as it is known.',
    {
      properties: {
        endpoint: id('ep'),
        path: text,
        max_body_bytes: { ...number, minimum: 1 },
        size_bytes: number,
        last_request: id('req'),
      },
      required: ['endpoint', 'path', 'max_body_bytes', 'size_bytes', 'last_request'],
    },
    {
      endpoint: ENDPOINT,
      path: 'acme/shop',
      max_body_bytes: 1_048_576,
      size_bytes: 3_141_592,
      last_request: 'req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
    },
  ),
  entry(
    'endpoint.verification_failing',
    'Ten consecutive requests to an inbound endpoint had an invalid signature. The event is repeated after one hour if such requests continue. `failures` is the number of consecutive failures.',
    {
      properties: { endpoint: id('ep'), path: text, failures: { ...number, minimum: 10 }, last_event: id('evt') },
      required: ['endpoint', 'path', 'failures', 'last_event'],
    },
    { endpoint: ENDPOINT, path: 'acme/shop', failures: 10, last_event: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1', count: 10 },
  ),
  entry(
    'event.dead_lettered',
    'Deliveries to a target used up their retries. `event_ids` contains the latest ten current dead letters of the target.',
    {
      properties: { ...TARGET, event_ids: { type: 'array', maxItems: 10, items: id('evt') } },
      required: ['event_ids'],
      extra: WHOSE,
    },
    { ...ORDERS, event_ids: ['evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'], count: 314 },
  ),
  entry(
    'replay.completed',
    'A job ended as `completed`, as `stopped` by a call, or as `failed` with an `error`. `kind` is the kind of job: a replay of a time range (`range`), a recovery of failed events (`recover`), a replay of all events of an application (`application`), a release of raw requests (`requests`), the erasure of an application (`erase`), or an `action` on the events that match a filter (`events`).',
    {
      properties: {
        replay: id('rpj'),
        kind: { enum: ['range', 'recover', 'application', 'requests', 'erase', 'events'] },
        endpoint: id('ep'),
        destination: id('dst'),
        application: id('app'),
        erased: ERASED,
        action: { enum: ['replay', 'recover', 'cancel'] },
        cancelled: number,
        state: { enum: ['completed', 'stopped', 'failed'] },
        error: text,
        scanned: number,
        replayed: number,
        enqueued: number,
        skipped: number,
        excluded: number,
      },
      required: ['replay', 'kind', 'state', 'scanned', 'replayed', 'enqueued', 'skipped', 'excluded'],
      extra: REPLAYED,
    },
    {
      replay: 'rpj_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
      kind: 'range',
      endpoint: ENDPOINT,
      state: 'completed',
      scanned: 120,
      replayed: 115,
      enqueued: 230,
      skipped: 3,
      excluded: 2,
    },
  ),
]);

export const CATALOGUE: readonly (CatalogueEntry & { type: SystemEventType })[] = SYSTEM_EVENT_TYPES.map((type) => {
  const found = ENTRIES.get(type);
  if (!found) throw new Error(`The catalog has no ${type}.`);
  return { type, ...found };
});
