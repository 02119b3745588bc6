import { nowMs } from './clock.mjs';
import { probeDisk } from './disk-probe.mjs';
import { cpuSnapshot, databaseCounters, percentiles } from './measure.mjs';
import { payload } from './protocol.mjs';
import { backlogOf } from './statistics.mjs';

/** Maximum number of accepted messages that may wait for delivery while a sustained rate is measured. */
const BACKLOG_MAX = 2000;
const PAYLOAD_BYTES = 1024;
export const WARM_UP_MS = 3000;
/** Wait before the bench reads PostgreSQL's counts, because its backends report them only once a second. */
export const SETTLE_MS = 1500;
/** Time without an arrival after which all missing messages count as lost. */
const LOST_AFTER_MS = 10_000;
const POLL_MS = 50;
const BREAK_IN_MESSAGES = 30_000;
/**
 * Number of messages after which V8 has compiled nearly all code. With fewer messages, the measured CPU time includes
 * compilation.
 */
export const BREAK_IN_WHOLLY = 120_000;
const FILL_WITHIN_MS = 300_000;
/** Key for the CPU time of programs that are running but are not being measured. */
export const WAITING = 'waiting';
/** Number of recipient domains of emails. With a single domain, the throttle of that domain would limit the rate. */
const EMAIL_DOMAINS = 1000;
/**
 * Number of parts into which a window is divided, unless it is a slice. A confidence interval needs at least six parts.
 */
export const PARTS = 8;

/**
 * A running program under test.
 *
 * @typedef {object} Subject
 * @property {number[]} ports on which it accepts requests
 * @property {number[]} [smtpPorts] ports on which it receives mail
 * @property {number[]} [submissionPorts] ports on which it takes emails of mail clients
 * @property {string} [key] API key
 * @property {Record<string, string>} headers that a request needs
 * @property {string} destination the id of the healthy destination
 * @property {import('./measure.mjs').Measured[]} processes
 * @property {(options: { url: string, perSecond?: number }) => Promise<string>} [createDestination]
 * @property {(method: string, path: string, json?: unknown) => Promise<any>} [call] a request to its API; throws unless
 * it succeeds
 * @property {() => Promise<void>} stop
 */

/**
 * State shared by all rows.
 *
 * @typedef {object} Bench
 * @property {import('./processes.mjs').Helper} load
 * @property {import('./processes.mjs').Helper} receiver
 * @property {number} receiverPort
 * @property {number} countsPort
 * @property {import('./database.mjs').Database} database
 * @property {string} directory that holds the databases
 * @property {number} seconds
 * @property {number} slice seconds of a slice in alternating rows
 * @property {number} connections
 * @property {number} nextNumber
 */

/** @typedef {{ p50: number, p99: number, max: number }} Latency milliseconds */

/**
 * @typedef {object} Figures
 * @property {number} deliveriesPerSecond messages that arrived for the first time
 * @property {Latency} accept send → 202
 * @property {Latency} receipt 202 → the message is at the receiver
 * @property {Latency} total send → the message is at the receiver
 * @property {Record<string, number>} cpuMicros by group, per delivery
 * @property {number} idle share of the machine's CPU time
 * @property {number} others share of the machine's CPU time that processes outside of the bench used
 * @property {number} steal share that the machine's host took
 * @property {number} waiting share of the machine's CPU time that subjects used while they waited for their slices
 * @property {{ idle: import('./memory.mjs').Memory, atWork: import('./memory.mjs').Memory }} [memory]
 * @property {{ median: number, max: number }} [fsyncMs] of a small file, directly before the row
 * @property {number} commits per delivery
 * @property {number} walBytes per delivery
 * @property {number} lost accepted and not received
 * @property {import('./statistics.mjs').Backlog} [backlog] only if the load generator waits only for responses
 * @property {number} duplicates
 * @property {Record<string, number>} refusals answers other than 202, by status; 0 for a broken connection
 * @property {object[]} [parts] rate, latencies and CPU of each part of the window
 */

export const sleep = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Kind of request to send. By default, each request sends a message to `destination`.
 *
 * - `email`: body of an email; `%%%%` in it stands for one of a thousand numbers.
 * - `receive`: path of a receive URL and the headers of a provider.
 * - `emit`: path of an application, or of several applications if it contains `%%%%`. Each message reaches the receiver
 * in `copies` copies.
 *
 * @typedef {{
 * destination?: string, hasKey?: boolean, receive?: { path: string, headers: Record<string, string> },
 * emit?: { path: string, spread?: number, copies: number }, email?: string,
 * }} To
 */

/** @param {Bench} bench @param {Subject} subject @param {To} to @param {import('./load.mjs').Form} form */
function order(bench, subject, { destination = subject.destination, hasKey = false, receive, emit, email }, form) {
  const { connections, countsPort, nextNumber: first } = bench;
  const shared = { kind: 'start', ports: subject.ports, connections, countsPort, first, copies: emit?.copies ?? 1 };
  if (email)
    return {
      ...shared,
      request: { path: '/v1/emails', spread: EMAIL_DOMAINS, headers: subject.headers, body: email, hasKey },
      accepts: 202,
      ...form,
    };
  if (receive)
    return { ...shared, request: { ...receive, body: payload(PAYLOAD_BYTES), hasKey: false }, accepts: 200, ...form };
  if (emit) {
    const body = `{"event_type":"order.paid","payload":${payload(PAYLOAD_BYTES)}}`;
    return {
      ...shared,
      request: { path: emit.path, spread: emit.spread, headers: subject.headers, body, hasKey },
      accepts: 202,
      ...form,
    };
  }
  const body = `{"destination":"${destination}","event_type":"order.paid","payload":${payload(PAYLOAD_BYTES)}}`;
  const request = { path: '/v1/send', headers: subject.headers, body, hasKey };
  return { ...shared, request, accepts: 202, ...form };
}

/**
 * Sends messages to a freshly started program until V8 has compiled its hot code. Otherwise the first row would be
 * slower than the second.
 *
 * @param {Bench} bench @param {Subject} subject @param {number} [messages]
 */
export async function breakIn(bench, subject, messages = BREAK_IN_MESSAGES) {
  await bench.receiver.ask({ kind: 'reset', first: bench.nextNumber });
  await send(bench, order(bench, subject, {}, { count: messages, backlog: BACKLOG_MAX }), messages);
}

/**
 * Sends `count` messages and returns when they are accepted, without waiting for delivery.
 *
 * @param {Bench} bench @param {Subject} subject @param {string} destination @param {number} count
 */
export async function fill(bench, subject, destination, count) {
  await send(bench, order(bench, subject, { destination }, { count }), count);
}

/**
 * Sends `count` events to an inbound endpoint and returns when they are accepted.
 *
 * @param {Bench} bench @param {Subject} subject @param {NonNullable<To['receive']>} receive @param {number} count
 */
export async function fillEndpoint(bench, subject, receive, count) {
  await send(bench, order(bench, subject, { receive }, { count }), count);
}

/**
 * Sends `count` messages to applications and returns when they are accepted.
 *
 * @param {Bench} bench @param {Subject} subject @param {NonNullable<To['emit']>} emit @param {number} count
 */
export async function fillApplications(bench, subject, emit, count) {
  await bench.receiver.ask({ kind: 'reset', first: bench.nextNumber });
  await send(bench, order(bench, subject, { emit }, { count, backlog: BACKLOG_MAX }), count);
}

/**
 * Sends `count` emails and returns when they are accepted.
 *
 * @param {Bench} bench @param {Subject} subject @param {string} email @param {number} count
 */
export async function fillEmails(bench, subject, email, count) {
  await bench.receiver.ask({ kind: 'reset', first: bench.nextNumber });
  await send(bench, order(bench, subject, { email }, { count, backlog: BACKLOG_MAX }), count);
}

/** @param {Bench} bench @param {object} order @param {number} count */
async function send(bench, order, count) {
  await bench.load.ask(order);
  for (
    const giveUpAt = nowMs() + FILL_WITHIN_MS;
    (await bench.load.ask({ kind: 'accepted' })) < count;
    await sleep(POLL_MS)
  ) {
    if (nowMs() > giveUpAt)
      throw new Error(`${count} messages were not accepted within ${FILL_WITHIN_MS / 60_000} minutes.`);
  }
  const { sentAt } = await bench.load.ask({ kind: 'stop' });
  bench.nextNumber += sentAt.length;
}

/**
 * Duration of a measurement. `waiting`: processes of the paused programs. `isSlice`: skips the pause and the checkpoint
 * before the measurement.
 *
 * @typedef {{ warmUpMs: number, seconds: number, isSlice?: boolean, waiting?: import('./measure.mjs').Measured[] }}
 * Span
 */

/**
 * Measures one row: warms up, measures for `bench.seconds`, and waits until the accepted messages have arrived.
 *
 * @param {Bench} bench @param {Subject & { database: string }} subject
 * @param {To & { perSecond?: number, isOpen?: boolean }} [options] `perSecond` sets the rate; otherwise the subject is
 * saturated, and with `isOpen`
 *   the subject itself limits how many accepted messages wait for delivery
 * @param {Span} [span]
 * @returns {Promise<Figures>}
 */
export async function measure(
  bench,
  subject,
  { perSecond, isOpen = false, ...to } = {},
  span = { warmUpMs: WARM_UP_MS, seconds: bench.seconds },
) {
  const { load, receiver, database } = bench;
  const ours = [
    { group: 'load', pid: load.child.pid ?? 0 },
    { group: 'receiver', pid: receiver.child.pid ?? 0 },
  ];
  const processes = [...subject.processes, ...ours, ...(span.waiting ?? [])];
  const form = isOpen ? {} : perSecond === undefined ? { backlog: BACKLOG_MAX } : { perSecond };
  if (!span.isSlice) {
    await sleep(SETTLE_MS);
    await database.client.query('checkpoint');
  }
  const fsyncMs = await probeDisk(bench.directory);
  const countersBefore = await databaseCounters(database.client, subject.database);
  await receiver.ask({ kind: 'reset', first: bench.nextNumber });

  await load.ask(order(bench, subject, to, form));
  await sleep(span.warmUpMs);
  const marks = await watch(span.seconds, span.isSlice ? 1 : PARTS, () =>
    cpuSnapshot(processes, database.postmasterPid),
  );

  const sent = await load.ask({ kind: 'stop' });
  bench.nextNumber += sent.sentAt.length;
  const copies = to.emit?.copies ?? 1;
  await drain(receiver, sent.accepted * copies);
  const received = await receiver.ask({ kind: 'collect' });
  await sleep(SETTLE_MS);
  const countersAfter = await databaseCounters(database.client, subject.database);

  return {
    ...windowFigures(marks, sent, received.receivedAt, copies),
    commits: (countersAfter.commits - countersBefore.commits) / received.unique,
    walBytes: (countersAfter.walBytes - countersBefore.walBytes) / received.unique,
    lost: countLost(sent.acceptedAt, received.receivedAt, copies),
    duplicates: received.total - received.unique,
    refusals: sent.refusals,
    fsyncMs,
    ...(isOpen && {
      backlog: backlogOf(sent.acceptedAt, received.receivedAt, copies, [marks[0]?.atMs ?? 0, marks.at(-1)?.atMs ?? 0]),
    }),
  };
}

/** @typedef {{ atMs: number, cpu: CpuSnapshot }} Mark */

/**
 * Waits until a window is over, and returns the CPU time at both ends of each part of the window.
 *
 * @param {number} seconds
 * @param {number} parts
 * @param {() => CpuSnapshot} snapshot
 * @returns {Promise<Mark[]>}
 */
export async function watch(seconds, parts, snapshot) {
  const mark = () => ({ atMs: nowMs(), cpu: snapshot() });
  const marks = [mark()];
  for (let part = 0; part < parts; part++) {
    await sleep((seconds * 1000) / parts);
    marks.push(mark());
  }
  return marks;
}

/**
 * Returns the figures of a window, and the figures of each part if the window has several parts.
 *
 * @param {Mark[]} marks
 * @param {{ sentAt: Float64Array, acceptedAt: Float64Array }} sent
 * @param {Float64Array} receivedAt
 * @param {number} copies
 */
export function windowFigures(marks, sent, receivedAt, copies) {
  const between = (/** @type {Mark} */ from, /** @type {Mark} */ until) => {
    const deliveries = receivedAt.filter((at) => at >= from.atMs && at < until.atMs).length;
    return {
      deliveriesPerSecond: (deliveries * 1000) / (until.atMs - from.atMs),
      ...latencies(sent, receivedAt, copies, [from.atMs, until.atMs]),
      ...cpuPerDelivery(from.cpu, until.cpu, deliveries),
    };
  };
  const [first, ...later] = /** @type {[Mark, ...Mark[]]} */ (marks);
  const whole = between(first, /** @type {Mark} */ (later.at(-1)));
  return later.length === 1
    ? whole
    : { ...whole, parts: later.map((mark, i) => between(/** @type {Mark} */ (marks[i]), mark)) };
}

/**
 * Measures only the acceptance of messages, which go to pull destinations. The figures are per message.
 *
 * @param {Bench} bench @param {Subject} subject @param {To} to @param {number} count
 * @returns {Promise<Figures>}
 */
export async function measureAccepts(bench, subject, to, count) {
  const { load, database } = bench;
  const processes = [...subject.processes, { group: 'load', pid: load.child.pid ?? 0 }];
  await send(bench, order(bench, subject, to, { count: Math.ceil(count / 4) }), Math.ceil(count / 4));
  await sleep(SETTLE_MS);
  const mark = () => ({ atMs: nowMs(), cpu: cpuSnapshot(processes, database.postmasterPid) });
  const ofPart = Math.ceil(count / PARTS);
  const marks = [mark()];
  for (let part = 0; part < PARTS; part++) {
    await send(bench, order(bench, subject, to, { count: ofPart }), ofPart);
    marks.push(mark());
  }
  const none = { p50: 0, p99: 0, max: 0 };
  const between = (/** @type {Mark} */ from, /** @type {Mark} */ until, /** @type {number} */ messages) => ({
    deliveriesPerSecond: (messages * 1000) / (until.atMs - from.atMs),
    accept: none,
    receipt: none,
    total: none,
    ...cpuPerDelivery(from.cpu, until.cpu, messages),
  });
  const [first, ...later] = /** @type {[Mark, ...Mark[]]} */ (marks);
  return {
    ...between(first, /** @type {Mark} */ (later.at(-1)), ofPart * PARTS),
    commits: 0,
    walBytes: 0,
    lost: 0,
    duplicates: 0,
    refusals: {},
    parts: later.map((until, i) => between(/** @type {Mark} */ (marks[i]), until, ofPart)),
  };
}

/** @param {import('./processes.mjs').Helper} receiver @param {number} accepted */
async function drain(receiver, accepted) {
  let unique = -1;
  for (let progressAt = nowMs(); unique < accepted && nowMs() - progressAt < LOST_AFTER_MS; await sleep(POLL_MS)) {
    const now = await receiver.ask({ kind: 'unique' });
    if (now !== unique) progressAt = nowMs();
    unique = now;
  }
}

/**
 * Returns the latencies of the messages that were sent, or should have been sent, within the window.
 *
 * @param {{ sentAt: Float64Array, acceptedAt: Float64Array }} sent @param {Float64Array} receivedAt
 * @param {number} copies @param {[fromMs: number, untilMs: number]} window
 */
export function latencies({ sentAt, acceptedAt }, receivedAt, copies, [fromMs, untilMs]) {
  const [accept, receipt, total] = [1, 2, 3].map(() => new Float64Array(sentAt.length * copies));
  let count = 0;
  for (let at = 0; at < sentAt.length * copies; at++) {
    const i = Math.floor(at / copies);
    const leftAt = sentAt[i] ?? 0;
    const answeredAt = acceptedAt[i] ?? 0;
    const arrivedAt = receivedAt[at] ?? 0;
    if (leftAt < fromMs || leftAt >= untilMs || answeredAt === 0 || arrivedAt === 0) continue;
    accept[count] = answeredAt - leftAt;
    // The result would be negative if the message reached the receiver before the generator read the 202 response.
    receipt[count] = Math.max(0, arrivedAt - answeredAt);
    total[count] = arrivedAt - leftAt;
    count++;
  }
  const of = (/** @type {Float64Array} */ values) => percentiles(values.subarray(0, count));
  return { accept: of(accept), receipt: of(receipt), total: of(total) };
}

/** @typedef {import('./measure.mjs').CpuSnapshot} CpuSnapshot */

/** @param {CpuSnapshot} before @param {CpuSnapshot} after @param {number} deliveries */
export function cpuPerDelivery(before, after, deliveries) {
  const totalMs = Math.max(1, after.totalMs - before.totalMs);
  /** @type {Record<string, number>} */
  const cpuMicros = {};
  let ours = 0;
  for (const [group, ms] of Object.entries(after.ms)) {
    const usedMs = ms - (before.ms[group] ?? 0);
    if (group !== WAITING) cpuMicros[group] = (usedMs * 1000) / deliveries;
    ours += usedMs / totalMs;
  }
  const idle = (after.idleMs - before.idleMs) / totalMs;
  const steal = (after.stealMs - before.stealMs) / totalMs;
  const waiting = ((after.ms[WAITING] ?? 0) - (before.ms[WAITING] ?? 0)) / totalMs;
  return { cpuMicros, idle, steal, waiting, others: Math.max(0, 1 - idle - steal - ours) };
}

/** @param {Float64Array} acceptedAt @param {Float64Array} receivedAt @param {number} copies */
function countLost(acceptedAt, receivedAt, copies) {
  let lost = 0;
  for (let at = 0; at < acceptedAt.length * copies; at++)
    if (acceptedAt[Math.floor(at / copies)] && !receivedAt[at]) lost++;
  return lost;
}
