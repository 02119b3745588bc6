import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Account } from './account.js';
import type { Binaries } from './binaries.js';
import type { Cluster } from './cluster.js';
import { disownPidFile, readPidFile, SERVER_ENV } from './cluster.js';

export interface LaunchPlan {
  readonly cluster: Cluster;
  readonly binaries: Binaries;
  readonly account: Account;
  readonly settings: Readonly<Record<string, string>>;
}

/** Thrown if a server did not start. `isPortTaken`: another port may work. `isPassing`: another attempt may succeed. */
export class LaunchFailure extends Error {
  override readonly name = 'LaunchFailure';

  constructor(
    message: string,
    readonly isPortTaken: boolean,
    readonly isPassing: boolean,
  ) {
    super(message);
  }
}

const POLL_MS = 15;
const LOG_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Starts the server and resolves once it accepts connections, regardless of how long it replays its WAL. `onSpawn` gets
 * the process id at once, so that a concurrent stop can signal it.
 * @throws LaunchFailure if the server exits first.
 */
export async function launch(plan: LaunchPlan, port: number, onSpawn: (pid: number) => void): Promise<ChildProcess> {
  disownPidFile(plan.cluster.dir);
  rotate(plan.cluster.logFile);
  const logStart = existsSync(plan.cluster.logFile) ? statSync(plan.cluster.logFile).size : 0;
  const child = spawnServer(plan, port);
  let failed: string | null = null;
  child.once('error', (error) => (failed = error.message));
  child.once('exit', (code, signal) => (failed = `it ended with ${signal ?? `code ${code}`}`));
  if (child.pid !== undefined) onSpawn(child.pid);
  for (;;) {
    await sleep(POLL_MS);
    if (failed !== null) throw explain(failed, plan.cluster.logFile, logStart);
    const file = readPidFile(plan.cluster.dir);
    if (file?.pid === child.pid && file?.isReady) return child;
  }
}

function spawnServer({ cluster, binaries, account, settings }: LaunchPlan, port: number): ChildProcess {
  const options = Object.entries({ ...settings, port: String(port) }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const log = openSync(cluster.logFile, 'a', 0o600);
  try {
    // Runs the server detached, so that Ctrl-C in the terminal does not stop it before the service has drained.
    const child = spawn(binaries.postgres, ['-D', cluster.dir, ...options], {
      ...account,
      cwd: '/',
      env: SERVER_ENV,
      detached: true,
      stdio: ['ignore', log, log],
    });
    child.unref();
    return child;
  } finally {
    closeSync(log);
  }
}

function explain(failed: string, logFile: string, logStart: number): LaunchFailure {
  const log = readFileSync(logFile).subarray(logStart).toString();
  const cause = /(?:FATAL|PANIC): +(.*)/.exec(log)?.[1] ?? failed;
  const isPortTaken = /could not bind|could not create any TCP\/IP sockets/.test(log);
  // Child processes of a killed server hold the shared memory for a moment, so a later attempt may succeed.
  const isPassing = /still in use|already exists/.test(log);
  return new LaunchFailure(`PostgreSQL did not start: ${cause} (see ${logFile})`, isPortTaken, isPassing);
}

function rotate(logFile: string): void {
  if (existsSync(logFile) && statSync(logFile).size > LOG_BYTES_MAX) renameSync(logFile, `${logFile}.1`);
}
