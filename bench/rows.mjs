import { startLimit } from './limit/subject.mjs';
import { fanOuts } from './fan-out.mjs';
import { besideSlowCode, pull, receive, replay } from './inbound.mjs';
import { besideMail, emailsOut, emailsOutLimit, smtpIn, smtpInLimit } from './mail.mjs';
import { flapping, hangingTenant } from './neighbours.mjs';
import { scale } from './scale.mjs';
import { slowNames } from './slow-names.mjs';
import { receiver, withService, withSubject } from './subjects.mjs';
import { fill, measure } from './window.mjs';

/** Processes of the limit; the service has as many. */
const LIMIT_PROCESSES = 2;
/** A limit that is never reached: what remains is the limiter's own cost. */
const UNREACHED_PER_SECOND = 1_000_000;

/** @typedef {import('./window.mjs').Bench & { directory: string }} Bench */
/** @typedef {Required<import('./window.mjs').Subject> & { database: string }} Service */
/** @typedef {{ name: string, figures: import('./window.mjs').Figures }} Row */
/** @typedef {(row: Row) => void} Report */
/**
 * Rows that share one start of a subject.
 *
 * @typedef {{ rows: string[], run(bench: Bench, wanted: Set<string>, report: Report): Promise<void> }} Block
 */

/** The limit, sustained, and at half of that. @type {Block} */
const limit = {
  rows: ['limit', 'limit-half'],
  run: (bench, wanted, report) =>
    withSubject(bench, (options) => startLimit({ ...options, count: LIMIT_PROCESSES }), async (subject) => {
      await sustainedAndHalf(bench, subject, 'limit', wanted, report);
    }),
};

/**
 * The service: sustained, at half of that, with an Idempotency-Key on every request, with a rate limit out of reach.
 *
 * @type {Block}
 */
const service = {
  rows: ['service', 'service-half', 'service-idempotency', 'service-limiter'],
  run: (bench, wanted, report) =>
    withService(bench, ['all', 'all'], async (subject) => {
      await sustainedAndHalf(bench, subject, 'service', wanted, report);
      if (wanted.has('service-idempotency')) {
        report({ name: 'service-idempotency', figures: await measure(bench, subject, { hasKey: true }) });
      }
      if (!wanted.has('service-limiter')) return;
      const destination = await subject.createDestination({ url: `${receiver(bench)}/ok`, perSecond: UNREACHED_PER_SECOND });
      report({ name: 'service-limiter', figures: await measure(bench, subject, { destination }) });
    }),
};

/**
 * @param {Bench} bench @param {import('./window.mjs').Subject & { database: string }} subject
 * @param {string} name @param {Set<string>} wanted @param {Report} report
 */
async function sustainedAndHalf(bench, subject, name, wanted, report) {
  const half = `${name}-half`;
  if (!wanted.has(name) && !wanted.has(half)) return;
  const figures = await measure(bench, subject);
  report({ name, figures });
  if (!wanted.has(half)) return;
  const perSecond = figures.deliveriesPerSecond / 2;
  report({ name: half, figures: await measure(bench, subject, { perSecond }) });
}

/**
 * The healthy destination alone, and then beside another one that holds so many waiting deliveries.
 *
 * @param {string} kind @param {number} waiting
 * @param {(bench: Bench, subject: Service) => Promise<string>} neighbour makes the other destination
 * @returns {Block}
 */
function beside(kind, waiting, neighbour) {
  const name = `beside-${kind}`;
  return {
    rows: [name],
    run: (bench, _wanted, report) =>
      withService(bench, ['all', 'all'], async (subject) => {
        report({ name: `${name}:alone`, figures: await measure(bench, subject) });
        const destination = await neighbour(bench, subject);
        await bench.receiver.ask({ kind: 'break' });
        await fill(bench, subject, destination, waiting);
        report({ name, figures: await measure(bench, subject) });
        await bench.receiver.ask({ kind: 'mend' });
      }),
  };
}

const failing = beside('failing', 50_000, (bench, subject) => subject.createDestination({ url: `${receiver(bench)}/fail` }));

const hanging = beside('hanging', 50_000, (bench, subject) => subject.createDestination({ url: `${receiver(bench)}/hang` }));

const refused = beside('refused', 50_000, async (bench, subject) =>
  subject.createDestination({ url: `http://127.0.0.1:${await bench.receiver.ask({ kind: 'open' })}/refused` }));

const limited = beside('limited', 5_000, (bench, subject) =>
  subject.createDestination({ url: `${receiver(bench)}/slow?ms=0`, perSecond: 10 }));

/** The API and the worker in processes of their own. @type {Block} */
const apart = {
  rows: ['roles-apart'],
  run: (bench, _wanted, report) =>
    withService(bench, ['api', 'worker'], async (subject) => {
      report({ name: 'roles-apart', figures: await measure(bench, subject) });
    }),
};

/** In the order of running. */
export const BLOCKS = [limit, service, receive, pull, replay, ...fanOuts, failing, refused, hanging, limited, flapping, hangingTenant, slowNames, besideSlowCode, smtpInLimit, smtpIn, emailsOutLimit, emailsOut, besideMail, apart, scale];
