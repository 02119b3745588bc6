/** Measures fan-out: the delivery of one message to many endpoints. */
import { receiver, withService } from './subjects.mjs';
import { fillApplications, measure, measureAccepts } from './window.mjs';

const FANOUT = 100;
const ENDPOINTS = 10;
const FEW = 10;
const MANY = 2_000;
/** Number of messages sent before the first row is measured, so that V8 has compiled the hot code. */
const BREAK_IN = 600;
const CALLS_AT_ONCE = 16;
/**
 * Number of messages with which the cost of accepting is measured. With a hundred endpoints per message, only a
 * twentieth of this number is sent.
 */
const ACCEPTS = 60_000;

/** @typedef {import('./rows.mjs').Service} Service */

/**
 * Creates `count` applications, each with `endpoints` endpoints on the receiver. Returns the path of the requests,
 * which address these applications in rotation.
 *
 * @param {import('./rows.mjs').Bench} bench
 * @param {Service} subject
 * @param {string} name
 * @param {number} count
 * @param {number} endpoints
 */
export async function createApplications(bench, subject, name, count, endpoints) {
  let next = 0;
  const maker = async () => {
    while (next < count) {
      const uid = `${name}-${String(next++).padStart(4, '0')}`;
      await subject.call('POST', '/v1/app', { name: uid, uid });
      for (let i = 0; i < endpoints; i++) {
        await subject.call('POST', `/v1/app/${uid}/endpoints`, { url: `${receiver(bench)}/copy?${i}/${endpoints}` });
      }
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, maker));
  return { path: `/v1/app/${name}-%%%%/event`, spread: count, copies: endpoints };
}

/** Measures sustained fan-out to one application with a hundred endpoints. @type {import('./rows.mjs').Block} */
const hundred = {
  rows: ['fanout'],
  run: (bench, _wanted, report) =>
    withService(bench, ['all', 'all'], async (subject) => {
      const emit = await createApplications(bench, subject, 'hundred', 1, FANOUT);
      await fillApplications(bench, subject, emit, BREAK_IN);
      report({ name: 'fanout', figures: await measure(bench, subject, { emit }) });
    }),
};

/**
 * Measures the cost of accepting messages without delivering them: for one pull destination, and for an application
 * with a hundred endpoints.
 *
 * @type {import('./rows.mjs').Block}
 */
const accepts = {
  rows: ['fanout-accept'],
  run: (bench, _wanted, report) =>
    withService(bench, ['all', 'all'], async (subject) => {
      const emit = { path: '/v1/app/pulled/event', copies: 1 };
      await subject.call('POST', '/v1/app', { name: 'pulled', uid: 'pulled' });
      let destination = '';
      for (let i = 0; i < FANOUT; i++) {
        ({ id: destination } = await subject.call('POST', '/v1/destinations', { name: `pulled ${i}`, type: 'pull' }));
        await subject.call('POST', '/v1/app/pulled/endpoints', { destination });
      }
      report({ name: 'fanout-accept:one', figures: await measureAccepts(bench, subject, { destination }, ACCEPTS) });
      report({ name: 'fanout-accept', figures: await measureAccepts(bench, subject, { emit }, ACCEPTS / 20) });
    }),
};

/** Measures fan-out in 10, then in 2,000 applications of ten endpoints each. @type {import('./rows.mjs').Block} */
const many = {
  rows: ['fanout-many'],
  run: (bench, _wanted, report) =>
    withService(bench, ['all', 'all'], async (subject) => {
      const few = await createApplications(bench, subject, 'few', FEW, ENDPOINTS);
      const emit = await createApplications(bench, subject, 'many', MANY, ENDPOINTS);
      await fillApplications(bench, subject, few, (BREAK_IN * FANOUT) / ENDPOINTS);
      report({ name: 'fanout-many:few', figures: await measure(bench, subject, { emit: few }) });
      // Fills the caches: afterwards, both processes have cached nearly every application.
      await fillApplications(bench, subject, emit, 8 * MANY);
      report({ name: 'fanout-many', figures: await measure(bench, subject, { emit }) });
    }),
};

/**
 * Measures deliveries to the 99 healthy endpoints of an application whose hundredth endpoint stops responding.
 *
 * @type {import('./rows.mjs').Block}
 */
const hanging = {
  rows: ['fanout-hanging'],
  run: (bench, _wanted, report) =>
    withService(bench, ['all', 'all'], async (subject) => {
      const emit = await createApplications(bench, subject, 'hanging', 1, FANOUT - 1);
      await subject.call('POST', '/v1/app/hanging-0000/endpoints', { url: `${receiver(bench)}/hang` });
      await fillApplications(bench, subject, emit, BREAK_IN);
      const alone = await measure(bench, subject, { emit });
      report({ name: 'fanout-hanging:alone', figures: alone });
      await bench.receiver.ask({ kind: 'break' });
      const figures = await measure(bench, subject, { emit });
      report({ name: 'fanout-hanging', figures });
      const perSecond = figures.deliveriesPerSecond / emit.copies / 2;
      report({ name: 'fanout-hanging-half', figures: await measure(bench, subject, { emit, perSecond }) });
      await bench.receiver.ask({ kind: 'mend' });
    }),
};

/**
 * Returns a block that measures the highest rate. The connections send without a pause, and only the service limits the
 * backlog.
 *
 * @param {string} name
 * @param {(bench: import('./rows.mjs').Bench, subject: Service) => Promise<import('./window.mjs').To>} target
 * @returns {import('./rows.mjs').Block}
 */
const open = (name, target) => ({
  rows: [name],
  run: (bench, _wanted, report) =>
    withService(bench, ['all', 'all'], async (subject) => {
      const to = await target(bench, subject);
      report({ name, figures: await measure(bench, subject, { ...to, isOpen: true }) });
    }),
});

const openFanOut = open('fanout-open', async (bench, subject) => {
  const emit = await createApplications(bench, subject, 'ten', 1, ENDPOINTS);
  await fillApplications(bench, subject, emit, (BREAK_IN * FANOUT) / ENDPOINTS);
  return { emit };
});

const openSends = open('send-open', async () => ({}));

export const fanOuts = [openFanOut, openSends, hundred, accepts, many, hanging];
