/** Measures inbound events: receiving and forwarding, pulling, and replaying alone and alongside live traffic. */
import { nowMs } from './clock.mjs';
import { alternateBeside } from './neighbours.mjs';
import { receiver, withService } from './subjects.mjs';
import { fill, fillEndpoint, measure, PARTS } from './window.mjs';

const PULLED = 50_000;
const REPLAYED = 100_000;
const RECEIVE_BREAK_IN = 20_000;
/**
 * Secret of the endpoint. The preset `gitlab` expects the secret in a header, so the load generator does not have to
 * sign requests.
 */
const SECRET = 'bench-secret';
const JOB_WITHIN_MS = 300_000;

/**
 * Creates an inbound endpoint that verifies its requests and forwards them to `destinations`. Returns the id of the
 * endpoint, and the path and headers of a valid request to it.
 *
 * @param {import('./rows.mjs').Service} subject @param {string} slug @param {string[]} destinations
 */
export async function createEndpoint(subject, slug, destinations) {
  const { id, url } = await subject.call('POST', '/v1/endpoints', { slug, preset: 'gitlab', destinations });
  await subject.call('PUT', `/v1/endpoints/${id}/secret`, { secret: SECRET });
  const { pathname } = new URL(url);
  return { id, receive: { path: pathname, headers: { 'x-gitlab-token': SECRET, 'x-gitlab-event': 'Push Hook' } } };
}

/**
 * Creates and warms up an inbound endpoint that forwards its events to the receiver.
 *
 * @param {import('./rows.mjs').Bench} bench
 * @param {import('./rows.mjs').Service} subject
 * @returns {Promise<import('./window.mjs').To>}
 */
export async function receiving(bench, subject) {
  const { receive } = await createEndpoint(subject, 'bench', [subject.destination]);
  await fillEndpoint(bench, subject, receive, RECEIVE_BREAK_IN);
  return { receive };
}

/**
 * Measures one consumer that fetches events by cursor, 100 events per call. Each call also commits the events of the
 * previous call.
 *
 * @type {import('./rows.mjs').Block}
 */
export const pull = {
  rows: ['pull'],
  run: (bench, _wanted, report) =>
    withService(bench, ['all', 'all'], async (subject) => {
      const { id } = await subject.call('POST', '/v1/destinations', { name: 'pulled', type: 'pull' });
      await fill(bench, subject, id, PULLED);
      const startedAt = nowMs();
      let read = 0;
      let cursor = '';
      while (read < PULLED) {
        const { data, next_cursor: next } = await subject.call('GET', `/v1/pull/${id}?limit=100${cursor}`);
        if (data.length === 0) throw new Error(`The consumer got ${read} of ${PULLED} events.`);
        read += data.length;
        cursor = `&cursor=${encodeURIComponent(next)}`;
      }
      report({ name: 'pull', figures: rateOnly(read, nowMs() - startedAt) });
    }),
};

/**
 * Replays 100,000 events to a new destination, first alone, then while messages are continuously sent to another
 * destination.
 *
 * @type {import('./rows.mjs').Block}
 */
export const replay = {
  rows: ['replay', 'replay-beside'],
  run: (bench, wanted, report) =>
    withService(bench, ['all', 'all'], async (subject) => {
      const { id, receive: provider } = await createEndpoint(subject, 'replayed', []);
      const first = bench.nextNumber;
      await fillEndpoint(bench, subject, provider, REPLAYED);
      const backlog = await subject.createDestination({ url: `${receiver(bench)}/slow?ms=0` });
      await subject.call('PATCH', `/v1/endpoints/${id}`, { destinations: [backlog] });
      await bench.receiver.ask({ kind: 'reset', first });
      const startedAt = nowMs();
      await finished(subject, id);
      const endedAt = nowMs();
      const { receivedAt } = await bench.receiver.ask({ kind: 'collect' });
      report({
        name: 'replay',
        figures: { ...rateOnly(REPLAYED, endedAt - startedAt), parts: rateParts(receivedAt, startedAt, endedAt) },
      });
      if (!wanted.has('replay-beside')) return;
      report({ name: 'replay-beside:alone', figures: await measure(bench, subject) });
      const job = await subject.call('POST', `/v1/endpoints/${id}/replay`, {});
      const figures = await measure(bench, subject);
      const { state, scanned } = await subject.call('GET', `/v1/replays/${job.id}`);
      console.log(`replay-beside: the job was ${state} after ${scanned} events`);
      report({ name: 'replay-beside', figures });
      await subject.call('POST', `/v1/replays/${job.id}/stop`, {});
    }),
};

/** CPU time of the transform `SLOW_CODE` per event. It is slightly below the time limit of a transform. */
const SLOW_MS = 4_500;
const SLOW_CODE = `export default (event) => { const end = Date.now() + ${SLOW_MS}; while (Date.now() < end); return event; }`;
const SLOW_EVERY_MS = 500;

/**
 * Measures the receiving of events while every process also runs a slow transform: two events per second, each with 4.5
 * s of CPU time.
 *
 * @type {import('./rows.mjs').Block}
 */
export const besideSlowCode = {
  rows: ['beside-slow-code'],
  run: (bench, _wanted, report) =>
    withService(bench, ['all', 'all'], async (subject) => {
      const { receive: provider } = await createEndpoint(subject, 'bench', [subject.destination]);
      await fillEndpoint(bench, subject, provider, RECEIVE_BREAK_IN);
      const { receive: slow, id } = await createEndpoint(subject, 'slow', []);
      await subject.call('PATCH', `/v1/endpoints/${id}`, {
        transform: { engine: 'managed', code: SLOW_CODE, timeoutMs: 5000 },
      });
      const send = () =>
        subject.ports.forEach(
          (port) =>
            void fetch(`http://127.0.0.1:${port}${slow.path}`, { method: 'POST', headers: slow.headers, body: '{}' })
              .then((answer) => answer.arrayBuffer())
              .catch(() => null),
        );
      const begin = async () => {
        const timer = setInterval(send, SLOW_EVERY_MS);
        return () => clearInterval(timer);
      };
      // `quietAfterMs`: wait before the next slice. The last slow transforms finish during this wait.
      await alternateBeside(
        bench,
        subject,
        'beside-slow-code',
        { begin, quietAfterMs: 2 * SLOW_MS, to: { receive: provider } },
        report,
      );
    }),
};

/**
 * Replays all events of an endpoint, and waits until the replay and its deliveries are finished.
 *
 * @param {import('./rows.mjs').Service} subject
 * @param {string} endpoint
 */
async function finished(subject, endpoint) {
  const { id } = await subject.call('POST', `/v1/endpoints/${endpoint}/replay`, {});
  for (
    const giveUpAt = nowMs() + JOB_WITHIN_MS;
    nowMs() < giveUpAt;
    await new Promise((resolve) => setTimeout(resolve, 20))
  ) {
    const { state, enqueued, error } = await subject.call('GET', `/v1/replays/${id}`);
    if (state === 'failed') throw new Error(`The replay failed: ${error}`);
    if (state !== 'completed') continue;
    if (enqueued !== REPLAYED) throw new Error(`The replay made ${enqueued} deliveries instead of ${REPLAYED}.`);
    const { data } = await subject.call('GET', `/v1/events?endpoint=${endpoint}&status=retrying&limit=1`);
    if (data.length === 0) return;
  }
  throw new Error('The replay did not end in time.');
}

/**
 * Returns the figures of a row that measures only a rate.
 *
 * @param {number} count
 * @param {number} ms
 * @returns {import('./window.mjs').Figures}
 */
function rateOnly(count, ms) {
  const none = { p50: 0, p99: 0, max: 0 };
  return {
    deliveriesPerSecond: (count * 1000) / ms,
    accept: none,
    receipt: none,
    total: none,
    cpuMicros: {},
    idle: 0,
    steal: 0,
    waiting: 0,
    others: 0,
    commits: 0,
    walBytes: 0,
    lost: 0,
    duplicates: 0,
    refusals: {},
  };
}

/**
 * Divides the time between `from` and `until` into equal parts, and returns the rate of each part.
 *
 * @param {Float64Array} receivedAt
 * @param {number} from
 * @param {number} until
 */
function rateParts(receivedAt, from, until) {
  const ms = (until - from) / PARTS;
  return Array.from({ length: PARTS }, (_, part) => {
    const count = receivedAt.filter((at) => at >= from + part * ms && at < from + (part + 1) * ms).length;
    return rateOnly(count, ms);
  });
}
