// Waits until the test run ends, which closes this process's standard input. Then removes everything that is left:
// servers, PostgreSQL and the directory.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const directory = process.argv[2];

// Ignores Ctrl-C, which is for the test run. This process cleans up after the test run.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});

process.stdin.resume();
process.stdin.once('close', () => void reap());

async function reap() {
  for (const pid of readdirSync(path.join(directory, 'servers'))) kill(Number(pid), 'SIGKILL');
  const postgres = postgresPid();
  if (postgres !== null) {
    // SIGQUIT is PostgreSQL's immediate shutdown, which is enough since the files are deleted anyway.
    for (let tries = 0; tries < 200 && kill(postgres, 'SIGQUIT'); tries += 1) await sleep(50);
  }
  for (const mount of mounts()) spawnSync('umount', ['-l', mount]);
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  process.exit(0);
}

/** Returns the file systems that a suite mounted below the directory and did not unmount. */
function mounts() {
  if (!existsSync('/proc/mounts')) return [];
  const points = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
  return points.filter((point) => point.startsWith(`${directory}/`));
}

function postgresPid() {
  try {
    return Number(readFileSync(path.join(directory, 'data', 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
  } catch {
    return null;
  }
}

function kill(pid, signal) {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
