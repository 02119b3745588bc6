/** A healthy destination beside a neighbour that goes on misbehaving: one that flaps, and a tenant whose receivers all hang. */
import net from 'node:net';
import { template } from './connection.mjs';
import { receiver, withService } from './subjects.mjs';
import { measure } from './window.mjs';

const FLAPS_PER_SECOND = 120;
/** What was seen to starve everybody else: more than the 1,024 slots of a process take, at fifteen seconds each. */
const HANGS_PER_SECOND = 89;
const HANG_MS = 15_000;
/** The first step of the retry schedule, and a little. */
const RETRIED_AFTER_MS = 7_000;

/**
 * Sends at a rate until it is stopped, to the processes in turns: over one connection each, past answers that nobody waits for.
 * What the neighbour's own client costs would be taken from the service that shares the machine.
 *
 * @param {import('./rows.mjs').Service} subject @param {number} perSecond
 * @param {(n: number) => string} destination of the nth message @param {string} [authorization] of another tenant
 */
function sendOn(subject, perSecond, destination, authorization = /** @type {string} */ (subject.headers.authorization)) {
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

/** A machine drifts by more than the rows promise, so what is compared takes turns within one start. */
export const TURNS = 3;

/**
 * In turns: alone, beside the neighbour, and beside it at half of the rate alone.
 *
 * @param {string} name
 * @param {(bench: import('./rows.mjs').Bench, subject: import('./rows.mjs').Service) => Promise<Neighbour>} invite
 * @param {{ more?: Record<string, string>, roles?: import('./posthorn.mjs').Role[] }} [service] `more` of its environment, and its processes
 * @returns {import('./rows.mjs').Block}
 *
 * @typedef {object} Neighbour
 * @property {() => Promise<() => void | Promise<void>>} begin resolves, once it has done its worst, with what ends it
 * @property {number} quietAfterMs what it has under way is over then
 */
export function besideWhoGoesOn(name, invite, { more = {}, roles = ['all', 'all'] } = {}) {
  return {
    rows: [name],
    run: (bench, _wanted, report) =>
      withService(bench, roles, async (subject) => {
        const { begin, quietAfterMs } = await invite(bench, subject);
        // The first one is the quickest, since nothing has to be tidied up in its tables yet: it is no measure of the others.
        await measure(bench, subject);
        for (let turn = 1; turn <= TURNS; turn++) {
          const alone = await measure(bench, subject);
          report({ name: `${name}:alone`, figures: alone });
          await bench.receiver.ask({ kind: 'break' });
          const end = await begin();
          report({ name, figures: await measure(bench, subject) });
          report({ name: `${name}-half`, figures: await measure(bench, subject, { perSecond: alone.deliveriesPerSecond / 2 }) });
          await end();
          await bench.receiver.ask({ kind: 'mend' });
          if (turn < TURNS) await new Promise((resolve) => setTimeout(resolve, quietAfterMs));
        }
      }, more),
  };
}

export const flapping = besideWhoGoesOn('beside-flapping', async (bench, subject) => {
  const destination = await subject.createDestination({ url: `${receiver(bench)}/flap` });
  return { begin: async () => sendOn(subject, FLAPS_PER_SECOND, () => destination), quietAfterMs: RETRIED_AFTER_MS };
});

/** Each URL is a target of its own: no circuit opens before it has failed ten times. */
export const hangingTenant = besideWhoGoesOn('beside-hanging-tenant', async (bench, subject) => {
  const { key } = await subject.call('POST', '/v1/keys', { name: 'bench tenant', scope: 'write', environment: 'test' });
  let made = 0;
  const begin = async () => {
    const end = sendOn(subject, HANGS_PER_SECOND, () => `${receiver(bench)}/hang?${made++}`, `Bearer ${key}`);
    await new Promise((resolve) => setTimeout(resolve, HANG_MS));
    return end;
  };
  return { begin, quietAfterMs: HANG_MS + RETRIED_AFTER_MS };
}, { roles: ['all'] });
