import { Buffer } from 'node:buffer';
import type { MessageAttributeValue } from '@aws-sdk/client-sqs';
import { OF_BODY } from '#engine/inbound/forward.js';
import type { Outgoing, Target } from '#modules/destinations/contract.js';
import { headersOf } from '../https.js';
import type { QueueSettings } from './settings.js';

type Names = Readonly<Record<string, string>>;

export interface QueueMessage {
  body: string;
  attributes: Record<string, MessageAttributeValue>;
  /** Set only for FIFO queues, together with `deduplicationId`. */
  groupId?: string;
  deduplicationId?: string;
  /** Size as SQS counts it: the body, and the names, types and values of the attributes. */
  bytes: number;
}

/** Maximum size of a message and of a batch. The SQS documentation says "both 1 MiB 1,048,576 bytes". */
export const BYTES_MAX = 1_048_576;
const ATTRIBUTES_MAX = 10;
const ATTRIBUTE_NAME_MAX = 256;
const GROUP_ID_MAX = 128;
const STRING = 'String';

/** Attribute with the received request line and all headers as JSON, because SQS accepts only ten attributes. */
const REQUEST_ATTRIBUTE = 'posthorn-request';

/** Attributes that Posthorn sets, most important first: those needed to verify a message, then informational ones. */
const OURS = [
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
  'webhook-event-type',
  'content-encoding',
  REQUEST_ATTRIBUTE,
  'webhook-replayed',
  'traceparent',
  'content-type',
];
const HTTP_ONLY = ['user-agent'];
/**
 * Received headers that say little about the event. They are sent only if the message has fewer than ten other
 * attributes.
 */
const GENERIC = ['accept', 'accept-language', 'cache-control', 'pragma', 'origin', 'referer', 'date', 'posthorn-hops'];

/** Characters that SQS rejects. It allows #x9 | #xA | #xD | #x20-#xD7FF | #xE000-#xFFFD | #x10000-#x10FFFF. */
const NOT_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;
const ATTRIBUTE_NAME = /^(?!aws\.|amazon\.)(?!\.)(?!.*\.\.)(?!.*\.$)[\w.-]+$/i;
const NOT_IN_GROUP_ID = /[^!-~]/g;

/** Returns the delivery as a message, or the reason why SQS would never accept it. */
export function messageOf(
  outgoing: Outgoing,
  target: Target,
  settings: Pick<QueueSettings, 'isFifo' | 'messageGroupId'>,
): QueueMessage | { refusal: string } {
  const body = bodyOf(outgoing.body);
  const attributes = attributesOf(headersFor(outgoing, target, body.isEncoded), target.headers, outgoing.headers ?? {});
  const bytes = Buffer.byteLength(body.text) + attributeBytes(attributes);
  if (bytes > BYTES_MAX && outgoing.requestLine !== null)
    return messageOf({ ...outgoing, requestLine: null, headers: ofBody(outgoing.headers) }, target, settings);
  if (bytes > BYTES_MAX)
    return {
      refusal: `Not sent: the message has ${bytes} bytes with its attributes, and SQS accepts at most ${BYTES_MAX}.`,
    };
  const message: QueueMessage = { body: body.text, attributes, bytes };
  return settings.isFifo
    ? {
        ...message,
        groupId: settings.messageGroupId ?? groupOf(outgoing.eventType),
        deduplicationId: deduplicationIdOf(outgoing),
      }
    : message;
}

/**
 * Returns the received headers that describe the body. If all headers would make the message too large, only these are
 * sent.
 */
function ofBody(headers: Names | null): Record<string, string> {
  return Object.fromEntries(Object.entries(headers ?? {}).filter(([name]) => OF_BODY.has(name)));
}

/** Replaces an empty body, which SQS rejects. Decoders of base64 ignore the line break. */
const EMPTY = { text: '\n', isEncoded: true };

/** Returns text unchanged. Returns base64 for binary data and for text with characters that SQS does not accept. */
function bodyOf(body: string | Buffer): { text: string; isEncoded: boolean } {
  if (body.length === 0) return EMPTY;
  if (typeof body === 'string' && !NOT_XML.test(body)) return { text: body, isEncoded: false };
  return { text: Buffer.from(body as Buffer).toString('base64'), isEncoded: true };
}

function headersFor(outgoing: Outgoing, target: Target, isEncoded: boolean): Map<string, string> {
  const headers = new Map(Object.entries(headersOf(outgoing, target)).filter(([name]) => !HTTP_ONLY.includes(name)));
  // An event that was sent through the API is always JSON, so its content type is omitted. A received event can have
  // any type.
  if (outgoing.headers?.['content-type'] === undefined) headers.delete('content-type');
  if (isEncoded) headers.set('content-encoding', 'base64');
  if (outgoing.requestLine !== null)
    headers.set(REQUEST_ATTRIBUTE, JSON.stringify({ ...outgoing.requestLine, headers: outgoing.headers ?? {} }));
  return headers;
}

/**
 * Returns at most ten valid attributes, in this order: Posthorn's, other signatures, the destination's, the message's.
 */
function attributesOf(
  headers: ReadonlyMap<string, string>,
  fixed: Names,
  ofMessage: Names,
): Record<string, MessageAttributeValue> {
  const signing = [...headers.keys()].filter((name) => !Object.hasOwn(fixed, name) && !Object.hasOwn(ofMessage, name));
  const attributes: [string, MessageAttributeValue][] = [];
  const received = Object.keys(ofMessage).filter((name) => !GENERIC.includes(name));
  for (const name of new Set([...OURS, ...signing, ...Object.keys(fixed), ...received, ...GENERIC])) {
    const value = headers.get(name);
    if (value === undefined || !isAttribute(name, value)) continue;
    attributes.push([name, { DataType: STRING, StringValue: value }]);
    if (attributes.length === ATTRIBUTES_MAX) break;
  }
  // Uses `fromEntries`, because an assignment to the name `__proto__` would set the object's prototype.
  return Object.fromEntries(attributes);
}

function isAttribute(name: string, value: string): boolean {
  return name.length <= ATTRIBUTE_NAME_MAX && ATTRIBUTE_NAME.test(name) && value !== '' && !NOT_XML.test(value);
}

function attributeBytes(attributes: QueueMessage['attributes']): number {
  let bytes = 0;
  for (const [name, { StringValue = '' }] of Object.entries(attributes))
    bytes += name.length + STRING.length + Buffer.byteLength(StringValue);
  return bytes;
}

function groupOf(eventType: string): string {
  return eventType.replace(NOT_IN_GROUP_ID, '_').slice(0, GROUP_ID_MAX) || 'none';
}

/** Returns the deduplication id. A retry has the same id. A replay has a new id, because SQS drops repeated ids. */
function deduplicationIdOf({ webhookId, replayed, atMs }: Outgoing): string {
  return replayed ? `${webhookId}-replayed-${atMs}` : webhookId;
}
