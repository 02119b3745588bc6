import { fanOuts } from './fan-out.mjs';
import { besideSlowCode, pull, receiving, replay } from './inbound.mjs';
import { startLimit } from './limit/subject.mjs';
import { besideMail, emailsOut, emailsOutLimit, smtpIn, smtpInLimit, submission } from './mail.mjs';
import { median } from './measure.mjs';
import { memory } from './memory.mjs';
import { flapping, hangingTenant } from './neighbours.mjs';
import { parse } from './parse.mjs';
import { startPosthorn } from './posthorn.mjs';
import { idle, quiet } from './quiet.mjs';
import { scale } from './scale.mjs';
import { alternate, startSide, stopSide } from './slices.mjs';
import { slowNames } from './slow-names.mjs';
import { receiver, UNREACHED_PER_SECOND, withService } from './subjects.mjs';
import { BREAK_IN_WHOLLY, breakIn, fill, measure } from './window.mjs';

/** Number of processes of the minimal program (the limit), and of the service that is compared with it. */
const LIMIT_PROCESSES = 2;
/** Number of rounds of the row `tail`. A disk stall or a vacuum could distort a single window. */
const TAIL_ROUNDS = 5;

/** @typedef {import('./window.mjs').Bench} Bench */
/** @typedef {Required<import('./window.mjs').Subject> & { database: string }} Service */
/**
 * Figures of one measured row. `round` and `half` tell when they were measured, if two versions were measured
 * alternately.
 *
 * @typedef {{ name: string, figures: import('./window.mjs').Figures, round?: number, half?: number }} Row
 */
/** @typedef {(row: Row) => void} Report */
/**
 * A group of rows that are measured with the same running program.
 *
 * @typedef {{ rows: string[], run(bench: Bench, wanted: Set<string>, report: Report): Promise<void> }} Block
 */

/** Number of the next round. All rows that are measured alternately share this count. */
let turns = 0;

/**
 * Returns the rows that measure the service. All of these rows use the same running processes.
 *
 * @param {Bench} bench
 * @param {import('./slices.mjs').Side} side
 * @param {Set<string>} wanted
 * @returns {Promise<import('./slices.mjs').Contestant[]>}
 */
async function serviceRows(bench, side, wanted) {
  const rows = [];
  if (['service', 'service-half', 'tail', 'receive'].some((name) => wanted.has(name)))
    rows.push({ ...side, name: 'service' });
  if (wanted.has('service-idempotency')) rows.push({ ...side, name: 'service-idempotency', to: { hasKey: true } });
  if (wanted.has('service-limiter')) {
    const { createDestination } = /** @type {Service} */ (side.subject);
    const destination = await createDestination({ url: `${receiver(bench)}/ok`, perSecond: UNREACHED_PER_SECOND });
    rows.push({ ...side, name: 'service-limiter', to: { destination } });
  }
  if (wanted.has('receive'))
    rows.push({ ...side, name: 'receive', to: await receiving(bench, /** @type {Service} */ (side.subject)) });
  return rows;
}

/**
 * Measures the service and the minimal program (`limit/`) in alternating time slices, at the highest sustained rate and
 * at half of it. Further rows measure the service with an Idempotency-Key, a rate limit and received events.
 *
 * @type {Block}
 */
const sustained = {
  rows: ['limit', 'limit-half', 'service', 'service-half', 'service-idempotency', 'service-limiter', 'receive', 'tail'],
  async run(bench, wanted, report) {
    const isLimit = (/** @type {string} */ name) => name.startsWith('limit') || name === 'tail';
    const isService = (/** @type {string} */ name) => !name.startsWith('limit');
    const isWanted = (/** @type {(name: string) => boolean} */ of) =>
      sustained.rows.some((name) => of(name) && wanted.has(name));
    const limit = isWanted(isLimit)
      ? await startSide(bench, (options) => startLimit({ ...options, count: LIMIT_PROCESSES }))
      : null;
    const service = isWanted(isService)
      ? await startSide(bench, (options) => startPosthorn({ ...options, roles: ['all', 'all'] }))
      : null;
    const all = [limit, service].filter((side) => side !== null);
    for (const { subject } of all) await breakIn(bench, subject, BREAK_IN_WHOLLY);
    const contestants = [
      ...(limit === null ? [] : [{ ...limit, name: 'limit' }]),
      ...(service === null ? [] : await serviceRows(bench, service, wanted)),
    ];
    /** @type {Map<string, number[]>} */
    const rates = new Map();
    const rounds = Math.max(1, Math.round(bench.seconds / bench.slice / 2));
    for (let round = 0; round < rounds; round++) {
      await alternate(bench, all, contestants, { round: turns++, seconds: bench.slice }, (slice) => {
        rates.set(slice.name, [...(rates.get(slice.name) ?? []), slice.figures.deliveriesPerSecond]);
        report(slice);
      });
    }
    const atHalf = async (
      /** @type {string} */ row,
      /** @type {import('./slices.mjs').Contestant} */ { name, subject, server },
    ) => {
      const own = { ...bench, database: server };
      report({ name: row, figures: await measure(own, subject, { perSecond: median(rates.get(name) ?? []) / 2 }) });
      bench.nextNumber = own.nextNumber;
    };
    for (const contestant of contestants.filter((each) => wanted.has(`${each.name}-half`)))
      await atHalf(`${contestant.name}-half`, contestant);
    const tailed = contestants
      .filter(({ name }) => wanted.has('tail') && ['service', 'limit'].includes(name))
      .map((each) => ({
        ...each,
        name: each.name === 'limit' ? 'tail:limit' : 'tail',
        to: { perSecond: median(rates.get(each.name) ?? []) / 2 },
      }));
    for (let round = 0; tailed.length > 0 && round < TAIL_ROUNDS; round++)
      await alternate(bench, all, tailed, { round: turns++, seconds: bench.seconds }, report);
    for (const side of all) await stopSide(side);
  },
};

/**
 * Measures a healthy destination alone, then alongside a destination that has `waiting` pending deliveries.
 *
 * @param {string} kind @param {number} waiting
 * @param {(bench: Bench, subject: Service) => Promise<string>} neighbour creates the other destination
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

const failing = beside('failing', 50_000, (bench, subject) =>
  subject.createDestination({ url: `${receiver(bench)}/fail` }),
);

const hanging = beside('hanging', 50_000, (bench, subject) =>
  subject.createDestination({ url: `${receiver(bench)}/hang` }),
);

const refused = beside('refused', 50_000, async (bench, subject) =>
  subject.createDestination({ url: `http://127.0.0.1:${await bench.receiver.ask({ kind: 'open' })}/refused` }),
);

const limited = beside('limited', 5_000, (bench, subject) =>
  subject.createDestination({ url: `${receiver(bench)}/slow?ms=0`, perSecond: 10 }),
);

/** Measures the API and the worker in separate processes. @type {Block} */
const apart = {
  rows: ['roles-apart'],
  run: (bench, _wanted, report) =>
    withService(bench, ['api', 'worker'], async (subject) => {
      report({ name: 'roles-apart', figures: await measure(bench, subject) });
    }),
};

/** Measures the service with the given number of processes (`PROCESSES`) that share one port. @type {Block[]} */
const together = [1, 2, 4].map((count) => ({
  rows: [`processes-${count}`],
  run: (bench, _wanted, report) =>
    withService(
      bench,
      ['all'],
      async (subject) => {
        report({ name: `processes-${count}`, figures: await measure(bench, subject) });
      },
      { PROCESSES: String(count) },
    ),
}));

/** All blocks, in the order in which they run. */
export const BLOCKS = [
  sustained,
  quiet,
  idle,
  pull,
  replay,
  ...fanOuts,
  failing,
  refused,
  hanging,
  limited,
  flapping,
  hangingTenant,
  slowNames,
  besideSlowCode,
  smtpInLimit,
  smtpIn,
  submission,
  parse,
  emailsOutLimit,
  emailsOut,
  besideMail,
  apart,
  ...together,
  memory,
  scale,
];
