import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Access } from './client.js';

export interface PosthornOptions {
  /** Packages or files, as in EXTENSIONS. Paths are relative to the working directory. */
  extensions?: readonly string[];
  /** Extends or overrides the environment. Without a DATABASE_URL, a PostgreSQL server is started. */
  env?: Readonly<Record<string, string>>;
}

export interface RunningPosthorn extends Access {
  /** API key of the environment `live` in the first organization. */
  apiKey: string;
  /**
   * API key of the environment `test` in the first organization. The environments `live` and `test` are separate
   * tenants.
   */
  testApiKey: string;
  /** Stops Posthorn and removes all created files. Rejects if the process does not end cleanly. */
  stop(): Promise<void>;
  logs(): string;
}

const START_MS_MAX = 60_000;
const STOP_MS_MAX = 30_000;
const MAIN = path.join(import.meta.dirname, '..', 'main.js');

/**
 * Starts Posthorn on a free loopback port. Deliveries to loopback are allowed, so that a test can be the target. Data
 * is in a temporary folder, which is removed at the end. The database must be new, because Posthorn shows the keys only
 * when it first starts on a database.
 */
export async function startPosthorn({ extensions = [], env = {} }: PosthornOptions = {}): Promise<RunningPosthorn> {
  const folder = mkdtempSync(path.join(tmpdir(), 'posthorn-'));
  // If this process runs as root, PostgreSQL runs as another user, which must be able to traverse the folder.
  chmodSync(folder, 0o711);
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      ...environment(folder, extensions),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const said = (pattern: RegExp): string | undefined => pattern.exec(output)?.[1];
  try {
    await started(child, () => said(/(listening on \S+\n)/) !== undefined);
  } catch (error) {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
    throw new Error(`${(error as Error).message} It wrote:\n${output}`);
  }
  return {
    url: (said(/listening on (\S+)/) ?? '').replace('localhost', '127.0.0.1'),
    apiKey: said(/Live admin key: (\S+)/) ?? '',
    testApiKey: said(/Test admin key: (\S+)/) ?? '',
    logs: () => output,
    stop: () => stop(child, () => output).finally(() => rmSync(folder, { recursive: true, force: true })),
  };
}

function environment(folder: string, extensions: readonly string[]): Record<string, string> {
  return {
    PORT: '0',
    HOST: '127.0.0.1',
    DATA_DIR: folder,
    MASTER_KEY: randomBytes(32).toString('base64'),
    EGRESS_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
    EGRESS_ALLOW_HTTP: 'true',
    LOG_LEVEL: 'warn',
    SHUTDOWN_GRACE: '0s',
    EXTENSIONS: extensions.join(','),
  };
}

function started(child: ChildProcess, isUp: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`Posthorn did not start within ${START_MS_MAX} ms.`)), START_MS_MAX);
    const ended = (code: number | null): void => {
      clearTimeout(late);
      reject(new Error(`Posthorn ended with ${code}.`));
    };
    child.once('close', ended);
    child.stdout?.on('data', () => {
      if (!isUp()) return;
      clearTimeout(late);
      child.off('close', ended);
      resolve();
    });
  });
}

async function stop(child: ChildProcess, output: () => string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const gone = once(child, 'exit');
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
    child.kill('SIGTERM');
    await gone;
    clearTimeout(late);
  }
  if (child.exitCode !== 0)
    throw new Error(`Posthorn ended with ${child.signalCode ?? child.exitCode}. Its output:\n${output()}`);
}
