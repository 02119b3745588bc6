/**
 * `npm run bench -- --against PATH`: measures the same benchmark rows in this working tree and in another checkout, in
 * alternating time slices.
 */
import { HERE, openCheckout } from './checkout.mjs';
import { createApplications } from './fan-out.mjs';
import { receiving } from './inbound.mjs';
import { BREAK_IN_EMAILS, EMAIL, sendingTo, verifySender } from './mail.mjs';
import { startPosthorn } from './posthorn.mjs';
import { startHelper, stopProcess } from './processes.mjs';
import { alternate, startSide, stopSide } from './slices.mjs';
import { receiver, UNREACHED_PER_SECOND } from './subjects.mjs';
import { BREAK_IN_WHOLLY, breakIn, fillApplications, fillEmails } from './window.mjs';

const FANOUT = 100;
const FANOUT_BREAK_IN = 600;
const SPIN = new URL('control/spin.mjs', import.meta.url).href;

/** @typedef {import('./window.mjs').Bench} Bench */
/** @typedef {import('./rows.mjs').Service} Service */

/** Row whose messages arrive at a mail relay instead of the webhook receiver. */
const EMAILS_OUT = 'emails-out';

/**
 * Functions that prepare the benchmark rows with a sustained rate, by the name of the row. Each function is called for
 * both services. `bench.database` is the server of the service.
 *
 * @type {Record<string, (bench: Bench, subject: ServiceSide['subject']) => Promise<import('./window.mjs').To>>}
 */
const PREPARATIONS = {
  service: async () => ({}),
  'service-idempotency': async () => ({ hasKey: true }),
  'service-limiter': async (bench, subject) => ({
    destination: await subject.createDestination({ url: `${receiver(bench)}/ok`, perSecond: UNREACHED_PER_SECOND }),
  }),
  receive: receiving,
  fanout: async (bench, subject) => {
    const emit = await createApplications(bench, subject, 'hundred', 1, FANOUT);
    await fillApplications(bench, subject, emit, FANOUT_BREAK_IN);
    return { emit };
  },
  [EMAILS_OUT]: async (bench, subject) => {
    await verifySender(bench, subject);
    await fillEmails(bench, subject, EMAIL, BREAK_IN_EMAILS);
    return { email: EMAIL };
  },
};

export const ROWS_AGAINST = Object.keys(PREPARATIONS);

/** @typedef {{ subject: Service & { database: string }, server: import('./database.mjs').Database }} ServiceSide */

/** Returns the names that the report uses for the two checkouts. @param {string} row */
export const sidesOf = (row) => ({ own: row, other: `${row}:against` });

/**
 * Number of rounds between restarts of both services. The speed of a process differs by several percent from start to
 * start.
 */
const ROUNDS_PER_START = 2;

/**
 * Measures the services of this tree and of the checkout `against` in alternating slices. Restarts both every two
 * rounds.
 *
 * @param {Bench} bench
 * @param {{ against: string, only: string[], rounds: number, slice: number, spin: number }} options
 * `spin`: microseconds of CPU time that this tree's service wastes per delivery, to check the bench itself
 * @param {(slice: import('./slices.mjs').Slice) => void} report
 */
export async function compareCheckouts(bench, { against, only, rounds, slice, spin }, report) {
  const startOther = await openCheckout(against);
  /** @type {Record<string, string>} */
  const wasted = spin > 0 ? { NODE_OPTIONS: `--import=${SPIN}`, BENCH_SPIN_MICROS: String(spin) } : {};
  const sink = only.includes(EMAILS_OUT) ? startHelper('mail-sink.mjs') : null;
  const toRelay = sink && (await relayOf(bench, sink));
  const more = toRelay?.more ?? {};
  process.stderr.write(`this tree: ${HERE}\nagainst:   ${against}\n`);
  const startOwn = () =>
    startSide(bench, (start) => startPosthorn({ ...start, roles: ['all', 'all'], more: { ...more, ...wasted } }));
  const startAgainst = () => startSide(bench, (start) => startOther({ ...start, roles: ['all', 'all'], more }));
  for (let first = 0; first < rounds; first += ROUNDS_PER_START) {
    const isSwapped = (first / ROUNDS_PER_START) % 2 === 1;
    /** @type {ServiceSide[]} */
    const started = [];
    for (const start of isSwapped ? [startAgainst, startOwn] : [startOwn, startAgainst]) {
      started.push(/** @type {ServiceSide} */ (await start()));
    }
    for (const { subject } of started) await breakIn(bench, subject, BREAK_IN_WHOLLY);
    const [own, other] = /** @type {[ServiceSide, ServiceSide]} */ (isSwapped ? started.toReversed() : started);
    const benchOf = (/** @type {string} */ row) => (row === EMAILS_OUT && toRelay ? toRelay.bench : bench);
    const pairs = await pairsOf(benchOf, only, own, other);
    for (let round = first; round < Math.min(first + ROUNDS_PER_START, rounds); round++) {
      for (const [index, pair] of pairs.entries())
        await alternate(benchOf(only[index] ?? ''), started, pair, { round, seconds: slice }, report);
    }
    for (const side of started) await stopSide(side);
  }
  if (sink !== null) await stopProcess(sink.child);
}

/**
 * Returns a bench whose receiver is a mail relay, and the environment variables of a service that sends to it.
 *
 * @param {Bench} bench @param {import('./processes.mjs').Helper} sink
 */
async function relayOf(bench, sink) {
  const { port, countsPort } = await sink.ask({ kind: 'ports' });
  return { bench: { ...bench, receiver: sink, countsPort }, more: sendingTo(port) };
}

/**
 * Prepares each benchmark row in both services, and returns the two contestants of each row.
 *
 * @param {(row: string) => Bench} benchOf @param {string[]} only @param {ServiceSide} own @param {ServiceSide} other
 */
async function pairsOf(benchOf, only, own, other) {
  /** @type {import('./slices.mjs').Contestant[][]} */
  const pairs = [];
  for (const row of only) {
    const names = sidesOf(row);
    const prepare = PREPARATIONS[row];
    if (prepare === undefined) throw new Error(`--against has no row ${row}. Rows: ${ROWS_AGAINST.join(', ')}.`);
    const prepared = async (/** @type {ServiceSide} */ side) => {
      const bench = benchOf(row);
      const sideBench = { ...bench, database: side.server };
      const to = await prepare(sideBench, side.subject);
      bench.nextNumber = sideBench.nextNumber;
      return to;
    };
    pairs.push([
      { ...own, name: names.own, to: await prepared(own) },
      { ...other, name: names.other, to: await prepared(other) },
    ]);
  }
  return pairs;
}
