/** Reads CPU time from /proc and counters from PostgreSQL, and computes percentiles. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Unit of CPU time in /proc: hundredths of a second, regardless of the timer frequency of the kernel (proc(5)). */
const MS_PER_TICK = 10;
const HAS_SCHEDSTAT = existsSync('/proc/self/schedstat');

/** `isTree`: includes all descendants of `pid`. @typedef {{ group: string, pid: number, isTree?: boolean }} Measured */
/**
 * CPU time used so far, per group of processes. `others`: all processes outside the groups. `stealMs`: steal time of
 * the virtual machine.
 *
 * @typedef {{ ms: Record<string, number>, idleMs: number, stealMs: number, totalMs: number }} CpuSnapshot
 */

/** @param {number} pid @returns {{ parent: number, own: number, reaped: number } | null} milliseconds */
function readProcess(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The process name is in parentheses and may contain any character. Fields are therefore counted after it: state,
    // ppid, …, utime (12th).
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const ms = (/** @type {number} */ i) => (fields[i] ?? 0) * MS_PER_TICK;
    return { parent: fields[1] ?? 0, own: Math.max(ms(11) + ms(12), threadsMs(pid)), reaped: ms(13) + ms(14) };
  } catch {
    return null; // the process has ended
  }
}

/**
 * Returns the CPU time of the process's current threads with nanosecond resolution, or 0 without /proc/PID/schedstat.
 *
 * @param {number} pid
 */
function threadsMs(pid) {
  if (!HAS_SCHEDSTAT) return 0;
  const nanoseconds = readdirSync(`/proc/${pid}/task`).map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ', 1)[0]),
  );
  return nanoseconds.reduce((sum, each) => sum + each, 0) / 1_000_000;
}

/**
 * Returns the CPU time of a process and all its descendants, including children that have ended. @param {number} root
 */
function treeMs(root) {
  const processes = new Map();
  for (const name of readdirSync('/proc')) {
    const found = /^\d+$/.test(name) ? readProcess(Number(name)) : null;
    if (found !== null) processes.set(Number(name), found);
  }
  let ms = 0;
  for (const [pid, { own, reaped }] of processes) {
    let at = pid;
    while (at !== root && at > 1) at = processes.get(at)?.parent ?? 0;
    if (at === root) ms += own + (pid === root ? reaped : 0);
  }
  return ms;
}

/**
 * Returns the CPU time that each group of processes has used so far. Empty without /proc. The group `postgres` is the
 * server's whole process tree.
 *
 * @param {Measured[]} processes @param {number} postmasterPid @returns {CpuSnapshot}
 */
export function cpuSnapshot(processes, postmasterPid) {
  if (!existsSync('/proc/self/stat')) return { ms: {}, idleMs: 0, stealMs: 0, totalMs: 0 };
  /** @type {Record<string, number>} */
  const ms = postmasterPid > 0 ? { postgres: treeMs(postmasterPid) } : {};
  for (const { group, pid, isTree } of processes)
    ms[group] = (ms[group] ?? 0) + (isTree ? treeMs(pid) : (readProcess(pid)?.own ?? 0));
  const machine = readFileSync('/proc/stat', 'latin1').split('\n', 1)[0]?.trim().split(/ +/).slice(1, 9) ?? [];
  const times = machine.map((ticks) => Number(ticks) * MS_PER_TICK);
  return {
    ms,
    idleMs: (times[3] ?? 0) + (times[4] ?? 0),
    stealMs: times[7] ?? 0,
    totalMs: times.reduce((sum, time) => sum + time, 0),
  };
}

/**
 * Returns the commits of one database and the WAL bytes written so far. The server must be idle, because PostgreSQL
 * updates these counts only once a second.
 *
 * @param {import('pg').Client} client @param {string} database
 */
export async function databaseCounters(client, database) {
  const { rows } = await client.query({
    text: `select (select xact_commit from pg_stat_database where datname = $1)::float8 as commits,
             pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as wal_bytes`,
    values: [database],
  });
  return { commits: Number(rows[0].commits), walBytes: Number(rows[0].wal_bytes) };
}

/**
 * @param {Float64Array} values in any order; this function sorts them
 * @returns {{ p50: number, p99: number, max: number }}
 */
export function percentiles(values) {
  values.sort();
  const at = (/** @type {number} */ share) =>
    values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}

/** @param {number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}
