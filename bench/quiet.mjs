/** Measures the CPU time and commits of the service under light load, and of an idle service. */
import { probeDisk } from './disk-probe.mjs';
import { cpuSnapshot, databaseCounters } from './measure.mjs';
import { startPosthorn } from './posthorn.mjs';
import { withSubject } from './subjects.mjs';
import { BREAK_IN_WHOLLY, breakIn, cpuPerDelivery, measure, PARTS, sleep, watch } from './window.mjs';

const QUIET_PER_SECOND = 400;
/** Duration of the unmeasured load before the measurement. In this time, PostgreSQL vacuums the rows of the warm-up. */
const VACUUMED_WITHIN_SECONDS = 30;
/** Wait after the start until every periodic loop has run and V8 has compiled it. */
const CALM_MS = 45_000;
/** Minimum duration of the idle measurement. PostgreSQL updates the counts of an idle connection once a minute. */
const IDLE_SECONDS_MIN = 120;

/** Measures a typical light load on a fixed schedule, with one and two processes. @type {import('./rows.mjs').Block} */
export const quiet = {
  rows: ['service-quiet'],
  async run(bench, _wanted, report) {
    for (const [name, roles] of /** @type {const} */ ([
      ['service-quiet', ['all']],
      ['service-quiet:two', ['all', 'all']],
    ])) {
      await withSubject(
        bench,
        (options) => startPosthorn({ ...options, roles: [...roles] }),
        async (subject) => {
          await breakIn(bench, subject, BREAK_IN_WHOLLY);
          await measure({ ...bench, seconds: VACUUMED_WITHIN_SECONDS }, subject, { perSecond: QUIET_PER_SECOND });
          report({ name, figures: await measure(bench, subject, { perSecond: QUIET_PER_SECOND }) });
        },
        false,
      );
    }
  },
};

/** Measures one process without requests. CPU and commits are per second. @type {import('./rows.mjs').Block} */
export const idle = {
  rows: ['idle'],
  run: (bench, _wanted, report) =>
    withSubject(
      bench,
      (options) => startPosthorn({ ...options, roles: ['all'] }),
      async (subject) => {
        await sleep(CALM_MS);
        report({ name: 'idle', figures: await measureIdle(bench, subject) });
      },
      false,
    ),
};

/**
 * @param {import('./rows.mjs').Bench} bench
 * @param {import('./window.mjs').Subject & { database: string }} subject
 * @returns {Promise<import('./window.mjs').Figures>}
 */
async function measureIdle({ database, directory, seconds: ofRow }, subject) {
  const seconds = Math.max(ofRow, IDLE_SECONDS_MIN);
  const fsyncMs = await probeDisk(directory);
  const before = await databaseCounters(database.client, subject.database);
  const marks = await watch(seconds, PARTS, () => cpuSnapshot(subject.processes, database.postmasterPid));
  const after = await databaseCounters(database.client, subject.database);
  const none = { p50: 0, p99: 0, max: 0 };
  return {
    deliveriesPerSecond: 0,
    accept: none,
    receipt: none,
    total: none,
    ...aSecond(/** @type {Mark} */ (marks[0]), /** @type {Mark} */ (marks.at(-1))),
    parts: marks.slice(1).map((until, i) => aSecond(/** @type {Mark} */ (marks[i]), until)),
    commits: (after.commits - before.commits) / seconds,
    walBytes: (after.walBytes - before.walBytes) / seconds,
    lost: 0,
    duplicates: 0,
    refusals: {},
    fsyncMs,
  };
}

/** @typedef {import('./window.mjs').Mark} Mark */

/** Returns the CPU time used per second. @param {Mark} from @param {Mark} until */
const aSecond = (from, until) => cpuPerDelivery(from.cpu, until.cpu, (until.atMs - from.atMs) / 1000);
