/** Subjects that are all there at once and take turns in short slices: what the machine does meanwhile, it does to all of them. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { Database } from './database.mjs';
import { cpuSnapshot } from './measure.mjs';
import { orderOf } from './turns.mjs';
import { measure, sleep, WAITING } from './window.mjs';

/** Connections are opened and the backlog filled within it. */
const RAMP_MS = 1000;
/** PostgreSQL's backends hand in their counts, and the service folds its figures, once a second. */
const REST_MS = 1000;
const LOOK_MS = 300;
/** Of one core, by all subjects together: more than two services do when nothing comes, and less than a vacuum. */
const QUIET_SHARE = 0.15;
/** Whoever is not quiet by then is measured all the same, and it shows in the column `waiting`. */
const QUIET_WITHIN_MS = 8000;

/** @typedef {import('./window.mjs').Subject & { database: string }} Subject */
/** A subject with a PostgreSQL of its own. @typedef {{ subject: Subject, server: Database }} Side */
/** `name`: of the row. @typedef {Side & { name: string, to?: import('./window.mjs').To & { perSecond?: number } }} Contestant */
/** @typedef {{ name: string, round: number, half: number, figures: import('./window.mjs').Figures }} Slice */

let sides = 0;

/**
 * Starts a subject on a PostgreSQL of its own, so that what the server does for one is not paid by another.
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
 * One round of slices, each `seconds` long after a second of ramp. Before a slice all that was accepted is delivered and
 * the subjects are quiet.
 *
 * @param {import('./window.mjs').Bench} bench @param {Side[]} all that are there @param {Contestant[]} contestants of one comparison
 * @param {{ round: number, seconds: number }} span @param {(slice: Slice) => void} report
 */
export async function takeTurns(bench, all, contestants, { round, seconds }, report) {
  for (const { server } of all) await server.client.query('checkpoint');
  for (const [place, { name, subject, server, to }] of orderOf(contestants, round).entries()) {
    await untilQuiet(all);
    const waiting = processesOf(all.filter((side) => side.server !== server));
    const own = { ...bench, database: server };
    const figures = await measure(own, subject, to, { warmUpMs: RAMP_MS, seconds, isSlice: true, waiting });
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
