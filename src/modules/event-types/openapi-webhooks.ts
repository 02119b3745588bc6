import { setImmediate } from 'node:timers/promises';
import { isObject } from '#engine/conditions/faults.js';
import type { Fault } from '#kernel/errors.js';
import { OpenApiReader } from './openapi-bundle.js';

type Json = Record<string, unknown>;

export interface Webhook {
  path: string;
  name: string;
  description: string | null;
  group: string | null;
  schema: Json | null;
  example: Json | null;
}

const WEBHOOKS_MAX = 1_000;
const FAULTS_MAX = 50;
const NAME = /^[A-Za-z0-9._:/-]{1,256}$/;
const DESCRIPTION_LENGTH_MAX = 2_000;
const GROUP_LENGTH_MAX = 100;
/** HTTP methods in order of preference. Webhooks normally use `post`, but a document may define another method. */
const METHODS = ['post', 'put', 'patch', 'get', 'delete', 'options', 'head', 'trace'];
/** Characters that PostgreSQL text cannot store. */
const UNSTORABLE = /\u0000|\p{Surrogate}/u;

/** Reads the webhooks of an OpenAPI 3.0 or 3.1 document. Returns all errors together. Their paths start with `root`. */
export async function webhooksOf(document: Json, root: string): Promise<{ webhooks: Webhook[] } | { faults: Fault[] }> {
  const reader = new OpenApiReader(document, root);
  const webhooks: Webhook[] = [];
  if (!/^3\.[01](\.|$)/.test(String(document['openapi']))) {
    reader.fault(['openapi'], 'must be 3.0 or 3.1');
  } else {
    for (const section of ['webhooks', 'x-webhooks']) await readSection(reader, section, webhooks);
    if (webhooks.length === 0 && reader.faults.length === 0)
      reader.fault(['webhooks'], 'has no webhooks: there is nothing to import');
    refuseTwins(reader, webhooks, root);
  }
  return reader.faults.length > 0 ? { faults: reader.faults.slice(0, FAULTS_MAX) } : { webhooks };
}

async function readSection(reader: OpenApiReader, section: string, webhooks: Webhook[]): Promise<void> {
  const items = reader.document[section];
  if (items === undefined) return;
  if (!isObject(items)) return reader.fault([section], 'must be an object');
  for (const [key, item] of Object.entries(items)) {
    if (reader.faults.length >= FAULTS_MAX || reader.isSpent) return;
    if (webhooks.length >= WEBHOOKS_MAX) return reader.fault([section], `must have at most ${WEBHOOKS_MAX} webhooks`);
    const webhook = readWebhook(reader, key, item, [section, key]);
    if (webhook) webhooks.push(webhook);
    // Yields to the event loop, because each webhook may reference most of the document.
    await setImmediate();
  }
}

function readWebhook(reader: OpenApiReader, key: string, value: unknown, path: string[]): Webhook | null {
  const item = reader.object(value, path);
  const method = METHODS.find((each) => isObject(item?.[each]));
  if (item === null || method === undefined) {
    if (item !== null || !isObject(value)) reader.fault(path, 'must be a path item with an operation, such as post');
    return null;
  }
  const operation = item[method] as Json;
  const at = [...path, method];
  const body = bodyOf(reader, operation, at);
  const name = operation['x-event-type'] ?? key;
  if (typeof name !== 'string' || !NAME.test(name)) {
    const where = operation['x-event-type'] === undefined ? path : [...at, 'x-event-type'];
    reader.fault(
      where,
      'must be a name of up to 256 letters, digits and . _ - : /; x-event-type in the operation can set another name than the key',
    );
    return null;
  }
  const description =
    text(operation['description']) ?? text(operation['summary']) ?? text(item['description']) ?? text(item['summary']);
  const group = Array.isArray(operation['tags']) ? text(operation['tags'][0]) : null;
  if (UNSTORABLE.test(`${description}${group}`))
    reader.fault(at, 'has a description or a tag with a character that cannot be stored');
  return {
    path: reader.pathTo(at),
    name,
    description: description && description.slice(0, DESCRIPTION_LENGTH_MAX),
    group: group && group.slice(0, GROUP_LENGTH_MAX),
    ...body,
  };
}

/** Returns the schema of the request body, and its most specific example. */
function bodyOf(reader: OpenApiReader, operation: Json, path: readonly string[]): Pick<Webhook, 'schema' | 'example'> {
  const body = reader.object(operation['requestBody'], [...path, 'requestBody']);
  const content = isObject(body?.['content']) ? body['content'] : {};
  const type = Object.keys(content).find((each) => /^application\/(json|[^;]+\+json)\s*(;|$)/i.test(each));
  const at = [...path, 'requestBody', 'content', type ?? ''];
  const media = type === undefined ? null : reader.object(content[type], at);
  if (media?.['schema'] === undefined) return { schema: null, example: null };
  const schema = reader.schema(media['schema'], [...at, 'schema']);
  const [first] = isObject(media['examples']) ? Object.entries(media['examples']) : [];
  const shown = first && reader.object(first[1], [...at, 'examples', first[0]])?.['value'];
  const own = Array.isArray(schema?.['examples']) ? (schema['examples'] as unknown[])[0] : schema?.['example'];
  return { schema, example: reader.example([media['example'], shown, own].find(isObject), at) };
}

function refuseTwins(reader: OpenApiReader, webhooks: readonly Webhook[], root: string): void {
  const seen = new Map<string, string>();
  for (const { name, path } of webhooks) {
    const first = seen.get(name);
    if (first !== undefined)
      reader.fault(path.slice(root.length + 1).split('.'), `has the name ${name}, which ${first} also has`);
    seen.set(name, path);
  }
}

const text = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
