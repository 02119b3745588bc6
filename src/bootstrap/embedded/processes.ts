import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { errorCode } from './failure.js';

/** Returns whether a process runs. Zombies do not count, because a container without an init never reaps them. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (errorCode(error) !== 'EPERM') return false;
  }
  return !/^[ZX]/.test(statFields(pid)[0] ?? '');
}

/** Returns the machine's boot id (on Linux) and the process's start time. A pid alone may be reused after a restart. */
export function processIdentity(pid: number): string {
  if (!existsSync('/proc/self/stat')) return ps(pid, 'lstart');
  const startedTicks = statFields(pid)[19] ?? '';
  return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${startedTicks}`;
}

/**
 * Returns whether a process is the cluster's server. Reads the command line, because the working directory may be
 * unreadable.
 */
export function isServerOf(pid: number, clusterDir: string): boolean {
  if (!isRunning(pid)) return false;
  if (!existsSync('/proc/self/stat')) return ps(pid, 'command').includes(` -D ${clusterDir} `);
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`\0-D\0${clusterDir}\0`);
  } catch {
    return false;
  }
}

/** Fields of /proc/PID/stat after the command's name: [0] is the state, [19] the start time in ticks since boot. */
function statFields(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

function ps(pid: number, column: string): string {
  try {
    return execFileSync('ps', ['-o', `${column}=`, '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return '';
  }
}
