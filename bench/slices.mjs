/**
 * Measures several running programs in short alternating slices, so that a change in the machine's speed affects all of
 * them equally.
 */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { orderOf } from './alternation.mjs';
import { Database } from './database.mjs';
import { cpuSnapshot } from './measure.mjs';
import { measure, sleep, WAITING } from './window.mjs';

/** Unmeasured time at the start of a slice, in which connections open and the backlog fills. */
const RAMP_MS = 1000;
/** The backlog of emails fills more slowly. While it fills, accepting takes CPU time from sending. */
const EMAIL_RAMP_MS = 5000;
/**
 * Pause before checking whether the programs are quiet. PostgreSQL and the service report their counts once a second.
 */
const REST_MS = 1000;
const LOOK_MS = 300;
/** Share of one core. Programs that together use less are quiet. Two idle services use less, and a vacuum uses more. */
const QUIET_SHARE = 0.15;
/** Maximum wait until the programs are quiet. After this time, the slice starts anyway. */
const QUIET_WITHIN_MS = 8000;

/** @typedef {import('./window.mjs').Subject & { database: string }} Subject */
/** A program under test with its own PostgreSQL server. @typedef {{ subject: Subject, server: Database }} Side */
/**
 * A program in one row of a comparison. `name` is the name of the row.
 *
 * @typedef {Side & { name: string, to?: import('./window.mjs').To & { perSecond?: number } }} Contestant
 */
/** @typedef {{ name: string, round: number, half: number, figures: import('./window.mjs').Figures }} Slice */

let sides = 0;

/**
 * Starts a program on its own PostgreSQL server, so that the CPU time of the server can be attributed to this program.
 *
 * @template {import('./window.mjs').Subject} T
 * @param {import('./window.mjs').Bench} bench
 * @param {(options: { databaseUrl: string, targetUrl: string, directory: string }) => Promise<T>} start
 * @returns {Promise<{ subject: T & { database: string }, server: Database }>}
 */
export async function startSide(bench, start) {
  const directory = path.join(bench.directory, `side-${++sides}`);
  await mkdir(directory);
  const server = await Database.start(directory);
  const { name: database, url: databaseUrl } = await server.create();
  const subject = await start({ databaseUrl, targetUrl: `http://127.0.0.1:${bench.receiverPort}/ok`, directory });
  return { subject: { ...subject, database }, server };
}

/** @param {Side} side */
export async function stopSide({ subject, server }) {
  await subject.stop();
  await server.stop();
}

/**
 * Runs one round of slices. Each slice starts when the programs are quiet, and begins with an unmeasured ramp.
 *
 * @param {import('./window.mjs').Bench} bench
 * @param {Side[]} all running subjects
 * @param {Contestant[]} contestants of one comparison
 * @param {{ round: number, seconds: number }} span @param {(slice: Slice) => void} report
 */
export async function alternate(bench, all, contestants, { round, seconds }, report) {
  for (const { server } of all) await server.client.query('checkpoint');
  for (const [place, { name, subject, server, to }] of orderOf(contestants, round).entries()) {
    await untilQuiet(all);
    const waiting = processesOf(all.filter((side) => side.server !== server));
    const own = { ...bench, database: server };
    const warmUpMs = to?.email === undefined ? RAMP_MS : EMAIL_RAMP_MS;
    const figures = await measure(own, subject, to, { warmUpMs, seconds, isSlice: true, waiting });
    bench.nextNumber = own.nextNumber;
    report({ name, round, half: place < contestants.length ? 0 : 1, figures });
  }
}

/** @param {Side[]} sides @returns {import('./measure.mjs').Measured[]} */
function processesOf(sides) {
  return sides.flatMap(({ subject, server }) => [
    ...subject.processes.map(({ pid }) => ({ group: WAITING, pid })),
    { group: WAITING, pid: server.postmasterPid, isTree: true },
  ]);
}

/** @param {Side[]} all */
async function untilQuiet(all) {
  await sleep(REST_MS);
  const processes = processesOf(all);
  for (let waited = 0; waited < QUIET_WITHIN_MS; waited += LOOK_MS) {
    const before = cpuSnapshot(processes, 0).ms[WAITING] ?? 0;
    await sleep(LOOK_MS);
    if (((cpuSnapshot(processes, 0).ms[WAITING] ?? 0) - before) / LOOK_MS < QUIET_SHARE) return;
  }
}
