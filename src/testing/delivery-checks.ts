import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { until } from './client.js';
import type { ConformanceCheck } from './conformance-check.js';
import type { DestinationScene, EventView } from './destination-scene.js';
import type { ReceivedMessage } from './destination-under-test.js';

/**
 * JSON with spaces, a number and an escape that no serializer would write. Reveals code that reserializes the payload.
 */
const PAYLOAD = '{ "amount":1.50, "who": "Zo\\u00eb, Zoë 😀", "list": [ ] }';
const TIMEOUT_MS = 1_000;
const OPENED_AFTER = 2;

export function deliveryChecks(scene: DestinationScene): ConformanceCheck[] {
  return [
    { name: 'the payload arrives byte for byte, with its id and timestamp', run: () => deliversAsIs(scene) },
    { name: 'the signature verifies, with both secrets during a rotation', run: () => signs(scene) },
    {
      name: 'the headers of the destination arrive and cannot replace the signed ones',
      run: () => sendsHeaders(scene),
    },
    { name: 'an event for two destinations with the same target arrives twice', run: () => servesTwo(scene) },
    { name: 'a replay arrives again and is marked as a replay', run: () => replays(scene) },
    { name: 'messages sent during an outage arrive once after the outage', run: () => outlastsOutage(scene) },
    { name: 'the circuit of an unavailable target opens', run: () => opensCircuit(scene) },
    ...(scene.subject.freezeTarget
      ? [{ name: 'an attempt ends within its timeout if the target does not respond', run: () => endsInTime(scene) }]
      : []),
  ];
}

async function deliversAsIs(scene: DestinationScene): Promise<void> {
  const id = await scene.send(await scene.destination(), PAYLOAD);
  const [message] = await scene.arrived(id, 1);
  assert.equal(message?.body.toString(), PAYLOAD);
  assert.match(message?.headers['webhook-timestamp'] ?? '', /^\d{10}$/);
  assert.notEqual(message?.headers['webhook-event-type'] ?? '', '', 'The receiver does not get the type of the event.');
  assert.equal(message?.headers['webhook-replayed'], undefined);
  const { attempts } = await scene.delivered(id);
  assert.equal(attempts.length, 1);
  assert.equal((await scene.receivedOf(id)).length, 1);
}

async function signs(scene: DestinationScene): Promise<void> {
  const [client, destination] = [await scene.client(), await scene.destination()];
  const secretOf = async (): Promise<string> =>
    (await client.expect(200, 'GET', `/v1/destinations/${destination}/secret`))['secret'] as string;
  const before = await secretOf();
  const [message] = await scene.arrived(await scene.send(destination), 1);
  assert.ok(isSignedWith(before, message), 'The signature does not verify.');
  await client.expect(200, 'POST', `/v1/destinations/${destination}/secret/rotate`, {});
  const [next] = await scene.arrived(await scene.send(destination), 1);
  assert.ok(isSignedWith(await secretOf(), next), 'The signature does not verify with the new secret.');
  assert.ok(isSignedWith(before, next), 'The signature does not verify with the old secret during its grace period.');
}

async function sendsHeaders(scene: DestinationScene): Promise<void> {
  const id = await scene.send(await scene.destination({ headers: { 'x-conformance': 'is here' } }));
  const [message] = await scene.arrived(id, 1);
  assert.equal(message?.headers['x-conformance'], 'is here');
  assert.equal(message?.headers['webhook-id'], id);
}

/**
 * Delivers one event over two routes of one endpoint. The target must keep both messages, although they have the same
 * id.
 */
async function servesTwo(scene: DestinationScene): Promise<void> {
  const [client, destinations] = [await scene.client(), [await scene.destination(), await scene.destination()]];
  const { url } = await client.expect(201, 'POST', '/v1/endpoints', {
    slug: `conformance-${scene.subject.type}`,
    destinations,
  });
  const response = await fetch(url as string, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: PAYLOAD,
  });
  const { id } = (await response.json()) as { id: string };
  const messages = await scene.arrived(id, 2);
  assert.deepEqual(
    messages.map(({ body }) => body.toString()),
    [PAYLOAD, PAYLOAD],
  );
  await scene.delivered(id);
}

async function replays(scene: DestinationScene): Promise<void> {
  const id = await scene.send(await scene.destination());
  await scene.delivered(id);
  await (await scene.client()).expect(202, 'POST', `/v1/events/${id}/replay`);
  const [first, again] = await scene.arrived(id, 2);
  assert.equal(first?.headers['webhook-replayed'], undefined);
  assert.equal(again?.headers['webhook-replayed'], 'true');
  assert.deepEqual(again?.body, first?.body);
}

async function outlastsOutage(scene: DestinationScene): Promise<void> {
  const destination = await scene.destination();
  await scene.delivered(await scene.send(destination));
  const id = await duringOutage(scene, async () => {
    const sent = await scene.send(destination);
    const [attempt] = (await scene.attempted(sent, 1)).attempts;
    assert.notEqual(attempt?.status, 200);
    return sent;
  });
  await scene.delivered(id);
  assert.equal((await scene.receivedOf(id)).length, 1);
}

async function opensCircuit(scene: DestinationScene): Promise<void> {
  const config = { circuit_breaker: { failure_threshold: OPENED_AFTER } };
  const [client, destination] = [await scene.client(), await scene.destination({ config })];
  const circuit = async (): Promise<string> =>
    ((await client.expect(200, 'GET', `/v1/destinations/${destination}`))['circuit'] as { state: string }).state;
  assert.equal(await circuit(), 'closed');
  await duringOutage(scene, async () => {
    await scene.send(destination);
    await until(circuit, (state) => state === 'open');
  });
}

async function endsInTime(scene: DestinationScene): Promise<void> {
  const destination = await scene.destination({ timeout_ms: TIMEOUT_MS });
  await scene.delivered(await scene.send(destination));
  await scene.subject.freezeTarget?.();
  let event: EventView;
  let id: string;
  try {
    id = await scene.send(destination);
    event = await scene.attempted(id, 1);
  } finally {
    await scene.subject.thawTarget?.();
  }
  const [attempt] = event.attempts;
  assert.equal(attempt?.error, 'timeout');
  // The limit is twice the timeout to allow for a busy machine. Without a timeout the attempt would never end.
  assert.ok(
    attempt.duration_ms >= TIMEOUT_MS * 0.9 && attempt.duration_ms < TIMEOUT_MS * 2,
    `It took ${attempt.duration_ms} ms.`,
  );
  await scene.delivered(id);
}

async function duringOutage<T>(scene: DestinationScene, work: () => Promise<T>): Promise<T> {
  await scene.subject.stopTarget();
  try {
    return await work();
  } finally {
    await scene.subject.startTarget();
  }
}

/** Returns whether the secret signed the message. Does not use the signer's code, whose mistakes it would share. */
function isSignedWith(secret: string, message: ReceivedMessage | undefined): boolean {
  if (message === undefined) return false;
  const { headers, body } = message;
  const hmac = createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'));
  const expected = hmac
    .update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`)
    .update(body)
    .digest('base64');
  return (headers['webhook-signature'] ?? '').split(' ').includes(`v1,${expected}`);
}
