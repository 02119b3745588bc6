import { SYSTEM_EVENT_TYPES, type SystemEventType } from './contract.js';

type Schema = Record<string, unknown>;

/** What people and programs need to know of one type. */
export interface CatalogueEntry {
  description: string;
  /** JSON Schema (2020-12) of `data`. */
  schema: Schema;
  /** A whole event, as it is sent. */
  example: { type: SystemEventType; timestamp: string; data: Record<string, unknown> };
}

const id = (prefix: string): Schema => ({ type: 'string', pattern: `^${prefix}_[0-9A-HJKMNP-TV-Z]{26}$` });
const text: Schema = { type: 'string' };
const number: Schema = { type: 'integer', minimum: 0 };
const time: Schema = { type: 'string', format: 'date-time' };

/** A destination of the list, or an endpoint of an application. */
const TARGET = { destination: id('dst'), endpoint: id('ep'), application: id('app'), name: text };
const WHOSE: Schema = {
  oneOf: [
    { required: ['destination', 'name'], properties: { endpoint: false, application: false } },
    { required: ['endpoint', 'application'], properties: { destination: false, name: false } },
  ],
};

/** What a job was about: an endpoint that receives or is an application's, a destination, an application, or what a list of events shows. */
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

const DESTINATION = 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';
const ENDPOINT = 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';
const [FIRST_AT, LAST_AT] = ['2026-11-21T09:30:00.120Z', '2026-11-21T09:30:41.007Z'];

/** What every event has around its items. */
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

/** Of one email the recipient that was told of last; `count` says how many it were. */
const RECIPIENT = {
  properties: {
    email: id('evt'),
    recipient: text,
    subtype: { type: ['string', 'null'] },
    detail: { type: ['string', 'null'] },
  },
  required: ['email', 'recipient', 'subtype', 'detail'],
};
const RECIPIENT_EXAMPLE = { email: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1', recipient: 'customer@example.org' };

const CIRCUIT = { properties: TARGET, required: [], extra: WHOSE };
const ORDERS = { destination: DESTINATION, name: 'Orders' };

const ENTRIES = new Map<SystemEventType, CatalogueEntry>([
  entry(
    'circuit.closed',
    'A target that had been given a rest takes deliveries again: a probe succeeded, or it was enabled.',
    CIRCUIT,
    ORDERS,
  ),
  entry(
    'circuit.opened',
    'A target failed so often in a row that deliveries to it are held back until a probe succeeds.',
    CIRCUIT,
    ORDERS,
  ),
  entry(
    'destination.disabled',
    'A destination, or an endpoint of an application, takes no deliveries until it is enabled: through the API, or because its receiver answered 410.',
    {
      properties: { ...TARGET, reason: text, by: { enum: ['api', 'receiver'] } },
      required: ['reason', 'by'],
      extra: WHOSE,
    },
    { ...ORDERS, reason: 'The receiver answered 410 Gone.', by: 'receiver' },
  ),
  entry(
    'destination.enabled',
    'A destination, or an endpoint of an application, that was disabled takes deliveries again.',
    { properties: { ...TARGET, by: { const: 'api' } }, required: ['by'], extra: WHOSE },
    { ...ORDERS, by: 'api' },
  ),
  entry(
    'domain.failed',
    'Answers of name servers have lacked a required record of a domain for 72 hours. `missing` names the records; a check revives the domain.',
    {
      properties: { ...DOMAIN, missing: { type: 'array', items: text } },
      required: ['domain', 'host', 'kind', 'missing'],
    },
    { ...MAIL_DOMAIN, missing: ['TXT _posthorn.mail.example.com'] },
  ),
  entry(
    'domain.verified',
    'Every required record of a domain was seen, for the first time or again: it can be used.',
    { properties: DOMAIN, required: ['domain', 'host', 'kind'] },
    MAIL_DOMAIN,
  ),
  entry(
    'email.bounced',
    'A recipient of an email was refused for good, when it was sent or later. The address is not sent to again.',
    RECIPIENT,
    { ...RECIPIENT_EXAMPLE, subtype: '5.1.1', detail: '550 5.1.1 No such user' },
  ),
  entry(
    'email.complained',
    'A recipient of an email reported it as unwanted. The address is not sent to again.',
    RECIPIENT,
    { ...RECIPIENT_EXAMPLE, subtype: 'abuse', detail: null },
  ),
  entry(
    'email.failed',
    'An email was refused for good for a recipient, because of the message, its sender or a policy: nothing is wrong with the address.',
    RECIPIENT,
    { ...RECIPIENT_EXAMPLE, subtype: '5.7.1', detail: '550 5.7.1 Message refused' },
  ),
  entry(
    'endpoint.verification_failing',
    'Ten requests in a row to an inbound endpoint had a signature that did not hold; said again after an hour if it goes on. `failures` is how many in a row.',
    {
      properties: { endpoint: id('ep'), path: text, failures: { ...number, minimum: 10 }, last_event: id('evt') },
      required: ['endpoint', 'path', 'failures', 'last_event'],
    },
    { endpoint: ENDPOINT, path: 'acme/shop', failures: 10, last_event: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1', count: 10 },
  ),
  entry(
    'event.dead_lettered',
    'Deliveries to a target used up their retries. `event_ids` are the latest ten of the target that are dead letters now.',
    {
      properties: { ...TARGET, event_ids: { type: 'array', maxItems: 10, items: id('evt') } },
      required: ['event_ids'],
      extra: WHOSE,
    },
    { ...ORDERS, event_ids: ['evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'], count: 314 },
  ),
  entry(
    'replay.completed',
    'A job ended: `completed`, `stopped` by a call, or `failed` with an `error`. `kind` says which: a replay of a time range, a recovery of an `endpoint`, a `destination` or an `application`, a replay of everything of an `application`, a release of `requests` that were set aside, an erasure, with what it `erased`, or the `action` of a job over a list of `events`, with what it `cancelled`.',
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

/** Every type with what is known of it, in the order of their names. */
export const CATALOGUE: readonly (CatalogueEntry & { type: SystemEventType })[] = SYSTEM_EVENT_TYPES.map((type) => {
  const found = ENTRIES.get(type);
  if (!found) throw new Error(`The catalogue lacks ${type}.`);
  return { type, ...found };
});
