// The receiver of the durability tests: a process of its own, so that it keeps its record whatever is killed around it.
// It verifies every signature, writes down every request before it answers, and misbehaves as the seed says.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

/** @type {{ seed: number, secrets: string[], flaky: number[], isCalm: boolean }} The destination at `/0` signs with `secrets[0]`. */
const { seed, secrets, flaky, isCalm } = JSON.parse(process.argv[2]);
const verifiers = secrets.map((secret) => new Webhook(secret));

/** @type {import('./receiver.js').Received[]} */
const arrivals = [];
/** @type {Set<string>} */
const seen = new Set();
/** @type {Set<string>} */
const delivered = new Set();

/** How the first attempt of a message goes: a share of the messages each. Hard failures stay far from opening a circuit. */
const SCRIPT = [
  { upTo: 0.015, status: 500, delayMs: 0 },
  { upTo: 0.025, status: 0, delayMs: 0 },
  { upTo: 0.03, status: 503, delayMs: 0, headers: { 'retry-after': '1' } },
  { upTo: 0.05, status: 200, delayMs: 700 },
];
/** The same at paths that fail now and then: still far from ten failures in a row. */
const FLAKY_SCRIPT = [
  { upTo: 0.1, status: 500, delayMs: 0 },
  { upTo: 0.15, status: 0, delayMs: 0 },
  { upTo: 0.18, status: 503, delayMs: 0, headers: { 'retry-after': '1' } },
];
const FLAKY_PATHS = new Set(flaky.map((number) => `/${number}`));
const USUAL = { status: 200, delayMs: 0 };
/** The last destination is slow, so that deliveries always wait for it in the workers. */
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

function isSigned(path, headers, body) {
  try {
    verifiers[Number(path.slice(1))].verify(body, headers);
    return true;
  } catch {
    return false;
  }
}

function receive(request, response, bytes) {
  const body = bytes.toString('utf8');
  const id = String(request.headers['webhook-id']);
  const { status, delayMs, headers } = planFor(request.url, id, body);
  const arrival = {
    id,
    destination: Number(request.url.slice(1)),
    isReplayed: request.headers['webhook-replayed'] === 'true',
    bodyHash: createHash('sha256').update(bytes).digest('hex'),
    isSigned: isSigned(request.url, request.headers, body),
    status,
    receivedAtMs: Date.now(),
    answeredAtMs: null,
  };
  arrivals.push(arrival);
  if (status === 200) delivered.add(id);
  response.once('finish', () => (arrival.answeredAtMs = Date.now()));
  const answer = () => {
    if (status === 0) request.socket.destroy();
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
  // A request that was cut before its end has not arrived.
  request.on('end', () => receive(request, response, Buffer.concat(chunks)));
});
server.keepAliveTimeout = 60_000;

const answers = {
  progress: () => ({ delivered: delivered.size, arrivals: arrivals.length }),
  record: () => arrivals,
};

process.on('message', ({ ask, ticket }) => process.send({ ticket, answer: answers[ask]() }));
process.on('disconnect', () => process.exit(0));
// Ctrl-C is for the test run, which ends us through the channel.
process.on('SIGINT', () => undefined);
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
