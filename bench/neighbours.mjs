/**
 * Measures a healthy destination while a neighbor misbehaves: a flapping destination, or a tenant whose receivers all
 * hang.
 */
import net from 'node:net';
import { template } from './connection.mjs';
import { median } from './measure.mjs';
import { receiver, withService } from './subjects.mjs';
import { measure, sleep } from './window.mjs';

const FLAPS_PER_SECOND = 120;
/**
 * Rate of requests to hanging receivers. At fifteen seconds each, these requests need more than the 1,024 delivery
 * slots of a process.
 */
const HANGS_PER_SECOND = 89;
const HANG_MS = 15_000;
/** Wait until the first retry: the first delay of the retry schedule, plus a margin. */
const RETRIED_AFTER_MS = 7_000;

/**
 * Sends messages at a fixed rate, over one connection per process, without parsing the responses. Returns a function
 * that stops sending.
 *
 * @param {import('./rows.mjs').Service} subject @param {number} perSecond
 * @param {(n: number) => string} destination of the nth message @param {string} [authorization] of another tenant
 */
function sendOn(
  subject,
  perSecond,
  destination,
  authorization = /** @type {string} */ (subject.headers.authorization),
) {
  const sockets = subject.ports.map((port) => net.connect({ host: '127.0.0.1', port, noDelay: true }));
  for (const socket of sockets) socket.on('error', () => socket.destroy()).resume();
  let made = 0;
  const timer = setInterval(() => {
    const body = JSON.stringify({ destination: destination(made), event_type: 'order.paid', payload: {} });
    const socket = /** @type {net.Socket} */ (sockets[made % sockets.length]);
    socket.write(template({ path: '/v1/send', headers: { authorization }, body, hasKey: false }).bytes);
    made += 1;
  }, 1000 / perSecond);
  return () => {
    clearInterval(timer);
    for (const socket of sockets) socket.destroy();
  };
}

/** Unmeasured time at the start of a slice, in which connections open and the backlog fills. */
const RAMP_MS = 1000;
const ROUNDS_MIN = 2;

/**
 * @typedef {{ begin: () => Promise<() => void | Promise<void>>, quietAfterMs: number, rampMs?: number, to?:
 * import('./window.mjs').To }} Neighbour `begin` starts the neighbor. It resolves with a stop function once the load is
 * at its highest. `quietAfterMs`: time after the stop until the neighbor's remaining work is done. `rampMs`: unmeasured
 * start of every slice, if one second is too short.
 */

/**
 * Measures a healthy destination alone and beside a neighbor, in short alternating slices, because the machine's speed
 * changes by more than the budgets allow. Each round also measures half of the rate beside the neighbor.
 *
 * @param {import('./window.mjs').Bench} bench @param {import('./window.mjs').Subject & { database: string }} subject
 * @param {string} name @param {Neighbour} neighbour @param {import('./rows.mjs').Report} report
 */
export async function alternateBeside(
  bench,
  subject,
  name,
  { begin, quietAfterMs, rampMs = RAMP_MS, to = {} },
  report,
) {
  const span = { warmUpMs: rampMs, seconds: bench.slice, isSlice: true };
  /** @type {number[]} */
  const rates = [];
  /** @param {string} row @param {number} round @param {number} half */
  const slice = async (row, round, half) => {
    const figures = await measure(bench, subject, to, span);
    report({ name: row, figures, round, half });
    return figures.deliveriesPerSecond;
  };
  // Discards the first slice. It is faster than later slices, because the tables do not need a vacuum yet.
  await measure(bench, subject, to);
  const rounds = Math.max(ROUNDS_MIN, Math.round(bench.seconds / bench.slice / 2));
  for (let round = 0; round < rounds; round++) {
    await bench.database.client.query('checkpoint');
    rates.push(await slice(`${name}:alone`, round, 0));
    const end = await begin();
    await slice(name, round, 0);
    await slice(name, round, 1);
    report({
      name: `${name}-half`,
      figures: await measure(
        bench,
        subject,
        { ...to, perSecond: median(rates) / 2 },
        { ...span, seconds: 2 * bench.slice },
      ),
    });
    await end();
    await sleep(quietAfterMs);
    rates.push(await slice(`${name}:alone`, round, 1));
  }
}

/**
 * Returns a block that measures the healthy destination alongside a neighbor that misbehaves continuously.
 *
 * @param {string} name
 * @param {(bench: import('./rows.mjs').Bench, subject: import('./rows.mjs').Service) => Promise<Neighbour>} invite
 * @param {{ more?: Record<string, string>, roles?: import('./posthorn.mjs').Role[] }} [service] `more`: additional
 * environment variables; `roles`: one process for each
 * @returns {import('./rows.mjs').Block}
 */
export function besideWhoGoesOn(name, invite, { more = {}, roles = ['all', 'all'] } = {}) {
  return {
    rows: [name],
    run: (bench, _wanted, report) =>
      withService(
        bench,
        roles,
        async (subject) => {
          const neighbour = await invite(bench, subject);
          const beginAndBreak = async () => {
            await bench.receiver.ask({ kind: 'break' });
            const end = await neighbour.begin();
            return async () => {
              await end();
              await bench.receiver.ask({ kind: 'mend' });
            };
          };
          await alternateBeside(bench, subject, name, { ...neighbour, begin: beginAndBreak }, report);
        },
        more,
      ),
  };
}

export const flapping = besideWhoGoesOn('beside-flapping', async (bench, subject) => {
  const destination = await subject.createDestination({ url: `${receiver(bench)}/flap` });
  return { begin: async () => sendOn(subject, FLAPS_PER_SECOND, () => destination), quietAfterMs: RETRIED_AFTER_MS };
});

/** Gives each request its own URL. A single URL would be blocked by its circuit breaker after ten failures. */
export const hangingTenant = besideWhoGoesOn(
  'beside-hanging-tenant',
  async (bench, subject) => {
    const { key } = await subject.call('POST', '/v1/keys', {
      name: 'bench tenant',
      scope: 'write',
      environment: 'test',
    });
    let made = 0;
    const begin = async () => {
      const end = sendOn(subject, HANGS_PER_SECOND, () => `${receiver(bench)}/hang?${made++}`, `Bearer ${key}`);
      await new Promise((resolve) => setTimeout(resolve, HANG_MS));
      return end;
    };
    return { begin, quietAfterMs: HANG_MS + RETRIED_AFTER_MS };
  },
  { roles: ['all'] },
);
