/** A healthy destination beside a neighbour that goes on misbehaving: one that flaps, and a tenant whose receivers all hang. */
import net from 'node:net';
import { template } from './connection.mjs';
import { receiver, withService } from './subjects.mjs';
import { measure } from './window.mjs';

const FLAPS_PER_SECOND = 120;
/** More than two processes have room for, at fifteen seconds each. */
const HANGS_PER_SECOND = 160;
const HANG_MS = 15_000;

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
  return async () => {
    clearInterval(timer);
    for (const socket of sockets) socket.destroy();
  };
}

/**
 * Alone, beside the neighbour, and beside it at half of the rate alone.
 *
 * @param {string} name
 * @param {(bench: import('./rows.mjs').Bench, subject: import('./rows.mjs').Service) => Promise<() => Promise<void>>} begin resolves, once the neighbour has done its worst, with what ends it
 * @returns {import('./rows.mjs').Block}
 */
function besideWhoGoesOn(name, begin) {
  return {
    rows: [name],
    run: (bench, _wanted, report) =>
      withService(bench, ['all', 'all'], async (subject) => {
        const alone = await measure(bench, subject);
        report({ name: `${name}:alone`, figures: alone });
        const end = await begin(bench, subject);
        report({ name, figures: await measure(bench, subject) });
        report({ name: `${name}-half`, figures: await measure(bench, subject, { perSecond: alone.deliveriesPerSecond / 2 }) });
        await end();
        await bench.receiver.ask({ kind: 'mend' });
      }),
  };
}

export const flapping = besideWhoGoesOn('beside-flapping', async (bench, subject) => {
  const destination = await subject.createDestination({ url: `${receiver(bench)}/flap` });
  await bench.receiver.ask({ kind: 'break' });
  return sendOn(subject, FLAPS_PER_SECOND, () => destination);
});

/** Each URL is a target of its own: no circuit opens before it has failed ten times. */
export const hangingTenant = besideWhoGoesOn('beside-hanging-tenant', async (bench, subject) => {
  const { key } = await subject.call('POST', '/v1/keys', { name: 'bench tenant', scope: 'write', environment: 'test' });
  await bench.receiver.ask({ kind: 'break' });
  const end = sendOn(subject, HANGS_PER_SECOND, (n) => `${receiver(bench)}/hang?${n}`, `Bearer ${key}`);
  await new Promise((resolve) => setTimeout(resolve, HANG_MS));
  return end;
});
