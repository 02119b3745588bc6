/**
 * Upper limit for deliveries: a process that does only the steps that every delivery needs. It commits the message and
 * its delivery, signs and POSTs the message, and commits the attempt.
 */
import { createServer } from 'node:http';
import { deliverer } from './deliver.mjs';
import { newId, showId } from './ids.mjs';
import { acceptor, recorder } from './store.mjs';

const { DATABASE_URL = '', TARGET_URL = '', PORT = '' } = process.env;
const BODY_BYTES_MAX = 262_144;

/**
 * @typedef {import('./store.mjs').Message & { webhookId: string, response: import('node:http').ServerResponse }}
 * Accepted
 */

const record = await recorder(DATABASE_URL);
const deliver = deliverer(TARGET_URL, Buffer.alloc(24, 7), record);
const accept = await acceptor(DATABASE_URL, (committed) => {
  for (const { id, webhookId, body, response } of /** @type {Accepted[]} */ (committed)) {
    answer(response, 202, `{"message_id":"${webhookId}"}`);
    deliver(id, webhookId, body);
  }
});

/** @param {import('node:http').ServerResponse} response @param {number} status @param {string} body */
function answer(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}

/** @param {Buffer} raw @param {import('node:http').ServerResponse} response */
function take(raw, response) {
  /** @type {{ destination?: unknown, event_type?: unknown, payload?: unknown }} */
  let request;
  try {
    request = JSON.parse(raw.toString());
  } catch {
    return answer(response, 400, '{}');
  }
  const { destination, event_type: eventType, payload } = request;
  if (typeof destination !== 'string' || typeof eventType !== 'string') return answer(response, 422, '{}');
  if (typeof payload !== 'object' || payload === null) return answer(response, 422, '{}');
  const id = newId();
  /** @type {Accepted} */
  const accepted = {
    id,
    webhookId: `msg_${showId(id)}`,
    destination,
    eventType,
    body: JSON.stringify(payload),
    response,
  };
  accept(accepted);
}

const server = createServer((request, response) => {
  if (request.method !== 'POST' || request.url !== '/v1/send') return answer(response, 404, '{}');
  /** @type {Buffer[]} */
  const chunks = [];
  let bytes = 0;
  request.on('data', (chunk) => {
    bytes += chunk.length;
    if (bytes <= BODY_BYTES_MAX) chunks.push(chunk);
  });
  request.on('end', () => {
    if (bytes > BODY_BYTES_MAX) return answer(response, 413, '{}');
    take(chunks.length === 1 ? /** @type {Buffer} */ (chunks[0]) : Buffer.concat(chunks), response);
  });
});

server.listen(Number(PORT), '127.0.0.1', () => process.send?.('ready'));
process.on('disconnect', () => process.exit(0));
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => process.exit(0));
