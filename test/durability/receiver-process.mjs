// The receiver of the durability tests, in a separate process that is never killed. It verifies every signature, and
// records every request before it answers. The seed chooses the attempts that fail.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

/**
 * @type {{ seed: number, secrets: string[], flaky: number[], isCalm: boolean }} The secret of the
 * destination at `/0` is `secrets[0]`.
 */
const { seed, secrets, flaky, isCalm } = JSON.parse(process.argv[2]);
const verifiers = secrets.map((secret) => new Webhook(secret));

/** @type {import('./receiver.js').Received[]} */
let arrivals = [];
/** Current misbehavior by path. @type {Map<string, import('./receiver.js').Misbehaviour>} */
const misbehaviours = new Map();
/** Connections that a misbehaving path keeps open. @type {Map<string, Set<import('node:net').Socket>>} */
const held = new Map();
let misbehaved = 0;
/** @type {Set<string>} */
const seen = new Set();
/** @type {Set<string>} */
const delivered = new Set();

/** Answer to a request with a wrong timestamp, as from a receiver that verifies signatures. */
const MISDATED = { status: 401, delayMs: 0 };

/**
 * Planned results of the first attempts, each with a share of the messages. Failures are too rare to open a circuit.
 */
const SCRIPT = [
  { upTo: 0.015, status: 500, delayMs: 0 },
  { upTo: 0.025, status: 0, delayMs: 0 },
  { upTo: 0.03, status: 503, delayMs: 0, headers: { 'retry-after': '1' } },
  { upTo: 0.05, status: 200, delayMs: 700 },
];
/**
 * Planned results of first attempts at flaky paths. Even at these paths, ten failures in a row are unlikely, so the
 * circuit stays closed.
 */
const FLAKY_SCRIPT = [
  { upTo: 0.1, status: 500, delayMs: 0 },
  { upTo: 0.15, status: 0, delayMs: 0 },
  { upTo: 0.18, status: 503, delayMs: 0, headers: { 'retry-after': '1' } },
];
const FLAKY_PATHS = new Set(flaky.map((number) => `/${number}`));
const TRICKLE_MS = 200;
const SLOW_MS = 3_000;
const USUAL = { status: 200, delayMs: 0 };
/** Path of the last destination, which is slow, so that workers always have deliveries waiting for it. */
const SLOW_PATH = `/${secrets.length - 1}`;
const SLOW = { status: 200, delayMs: 300 };

function planFor(path, id, body) {
  const usual = path === SLOW_PATH && !isCalm ? SLOW : USUAL;
  if (seen.has(`${path} ${id}`)) return usual;
  seen.add(`${path} ${id}`);
  const number = /"n":\s*(\d+)/.exec(body)?.[1];
  if (isCalm || number === undefined) return usual;
  const share = createHash('sha256').update(`${seed}:${path}:${number}`).digest().readUInt32BE(0) / 2 ** 32;
  return (FLAKY_PATHS.has(path) ? FLAKY_SCRIPT : SCRIPT).find(({ upTo }) => share < upTo) ?? usual;
}

/**
 * Returns whether the signature and its timestamp are right. The library rejects timestamps that are five minutes off.
 */
function verified(path, headers, body) {
  const verifier = verifiers[Number(path.slice(1))];
  try {
    verifier.verify(body, headers);
    return { isSigned: true, isMisdated: false };
  } catch (error) {
    if (!/timestamp too/.test(error.message)) return { isSigned: false, isMisdated: false };
    const right = verifier.sign(headers['webhook-id'], new Date(Number(headers['webhook-timestamp']) * 1_000), body);
    return { isSigned: headers['webhook-signature'].split(' ').includes(right), isMisdated: true };
  }
}

/** Returns the next answer of a misbehaving path. */
function planOf(misbehaviour) {
  misbehaved += 1;
  if (misbehaviour === 'slow') return { status: 200, delayMs: SLOW_MS };
  if (misbehaviour !== 'flap') return { status: 0, delayMs: 0 };
  return misbehaved % 2 === 0 ? { status: 500, delayMs: 0 } : USUAL;
}

/** Breaks the connection at once, or keeps it open while the path misbehaves. */
function breakOff(misbehaviour, { socket, url }) {
  if (misbehaviour !== 'hang' && misbehaviour !== 'trickle') {
    if (misbehaviour === 'reset') socket.resetAndDestroy();
    else socket.destroy();
    return;
  }
  held.set(url, (held.get(url) ?? new Set()).add(socket));
  const trickle = misbehaviour === 'trickle' ? setInterval(() => socket.write('x'), TRICKLE_MS) : undefined;
  if (trickle) socket.write('HTTP/1.1 200 OK\r\nx-slow: ');
  socket.on('error', () => undefined);
  socket.once('close', () => {
    clearInterval(trickle);
    held.get(url)?.delete(socket);
  });
}

function receive(request, response, bytes) {
  const body = bytes.toString('utf8');
  const id = String(request.headers['webhook-id']);
  const { isSigned, isMisdated } = verified(request.url, request.headers, body);
  const misbehaviour = misbehaviours.get(request.url);
  const { status, delayMs, headers } = isMisdated
    ? MISDATED
    : misbehaviour
      ? planOf(misbehaviour)
      : planFor(request.url, id, body);
  const arrival = {
    id,
    destination: Number(request.url.slice(1)),
    isReplayed: request.headers['webhook-replayed'] === 'true',
    bodyHash: createHash('sha256').update(bytes).digest('hex'),
    isSigned,
    isMisdated,
    status,
    receivedAtMs: Date.now(),
    answeredAtMs: null,
  };
  arrivals.push(arrival);
  if (status === 200) delivered.add(id);
  response.once('finish', () => (arrival.answeredAtMs = Date.now()));
  const answer = () => {
    if (status === 0) breakOff(misbehaviour, request);
    else response.writeHead(status, headers).end();
  };
  if (delayMs === 0) answer();
  else setTimeout(answer, delayMs);
}

const server = createServer((request, response) => {
  if (request.method !== 'POST') {
    response.end();
    return;
  }
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('error', () => undefined);
  // A request that was cut before its end does not count as arrived.
  request.on('end', () => receive(request, response, Buffer.concat(chunks)));
});
server.keepAliveTimeout = 60_000;

const answers = {
  progress: () => ({ delivered: delivered.size, arrivals: arrivals.length }),
  record: () => arrivals,
  /**
   * Returns and clears the requests since the last call. Keeps the ids of attempted messages, because a second attempt
   * never fails on purpose.
   */
  take: () => {
    const taken = arrivals;
    arrivals = [];
    return taken;
  },
  /**
   * Makes a path misbehave from now on. With null, the path behaves normally again. Returns how often paths have
   * misbehaved so far.
   */
  misbehave: ({ path, misbehaviour }) => {
    if (misbehaviour) misbehaviours.set(path, misbehaviour);
    else misbehaviours.delete(path);
    for (const socket of held.get(path) ?? []) socket.destroy();
    held.delete(path);
    return misbehaved;
  },
};

process.on('message', ({ ask, ticket, given }) => process.send({ ticket, answer: answers[ask](given) }));
process.on('disconnect', () => process.exit(0));
// Ignores Ctrl-C. The test run handles it and ends this process through the channel.
process.on('SIGINT', () => undefined);
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
