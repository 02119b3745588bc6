import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { generateApiKey } from '../../src/modules/auth/keys/api-key.js';
import type { TestDatabase } from './database.js';
import { createDatabase } from './database.js';
import { serviceArguments } from './launch.js';

type Env = Readonly<Record<string, string>>;

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body, or `undefined` if it is not JSON. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- each test asserts the fields that it reads
  readonly json: any;
  readonly text: string;
}

/** A Posthorn server in a separate process. */
export interface PosthornServer {
  readonly url: string;
  readonly apiKey: string;
  readonly databaseUrl: string;
  readonly pid: number;
  /** The server's environment. `startServer(server.env)` starts another server with the same database and keys. */
  readonly env: Env;
  /** Makes one call with the admin key. An object is sent as JSON, and a string or a Buffer unchanged. */
  api(method: string, path: string, body?: unknown, headers?: Env): Promise<ApiAnswer>;
  /**
   * Sends SIGTERM, waits for the exit, and drops the database that this server created. Rejects if the exit is not
   * clean.
   */
  stop(): Promise<void>;
  /** Sends a signal. After SIGKILL it resolves once the process is gone. The database remains until `stop`. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Returns all output so far. */
  logs(): string;
}

export const ROOT = path.resolve(import.meta.dirname, '..', '..');
export const START_MS_MAX = 60_000;
const STOP_MS_MAX = 20_000;

/**
 * Starts Posthorn on a free port, by default with a database of its own. `env` adds or replaces environment variables.
 */
export async function startServer(env: Env = {}): Promise<PosthornServer> {
  const database = env['DATABASE_URL'] === undefined ? await createDatabase() : null;
  try {
    const complete = completeEnv(env, database);
    const running = new RunningServer(complete);
    const url = await running.listening();
    return new TestServer(running, url, complete, database);
  } catch (error) {
    await database?.drop();
    throw error;
  }
}

/** Returns the tests' settings, overridden by those of the caller. */
export function completeEnv(env: Env, database: TestDatabase | null = null): Env {
  return {
    PORT: '0',
    HOST: '127.0.0.1',
    DATABASE_URL: database?.url ?? '',
    MASTER_KEY: randomBytes(32).toString('base64'),
    BOOTSTRAP_API_KEY: generateApiKey('live', randomBytes(32)),
    EGRESS_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
    EGRESS_ALLOW_HTTP: 'true',
    LOG_LEVEL: 'warn',
    SHUTDOWN_GRACE: '0s',
    ...env,
  };
}

class RunningServer {
  readonly child: ChildProcess;
  output = '';
  private readonly exited: Promise<unknown>;

  constructor(env: Env) {
    this.child = spawn(process.execPath, serviceArguments(env), {
      cwd: ROOT,
      // Variables of the developer's shell must not change the test.
      env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.exited = once(this.child, 'exit');
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    if (this.child.pid !== undefined) writeFileSync(this.note, '');
    this.child.once('exit', () => rmSync(this.note, { force: true }));
  }

  get isGone(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Resolves with the base URL that is printed at the start. */
  async listening(): Promise<string> {
    return new Promise((resolve, reject) => {
      const fail = (why: string): void => {
        clearTimeout(timer);
        this.child.kill('SIGKILL');
        reject(new Error(`Posthorn ${why}. It wrote:\n${this.output}`));
      };
      const timer = setTimeout(() => fail(`does not listen after ${START_MS_MAX} ms`), START_MS_MAX);
      const ended = (code: number | null, signal: string | null): void =>
        fail(`ended with ${signal ?? `code ${code}`}`);
      this.child.once('exit', ended);
      this.child.stdout?.on('data', () => {
        const url = /^Base URL: (https?:\/\/\S+)\n/m.exec(this.output)?.[1];
        if (url === undefined) return;
        clearTimeout(timer);
        this.child.off('exit', ended);
        resolve(url.replace(/\/$/, ''));
      });
    });
  }

  /** Returns whether the process exits within the time. */
  async ended(withinMs: number): Promise<boolean> {
    if (this.isGone) return true;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((resolve) => (timer = setTimeout(resolve, withinMs)));
    await Promise.race([this.exited, late]);
    clearTimeout(timer);
    return this.isGone;
  }

  /**
   * Returns the path of the file that registers the process with the reaper. The reaper ends processes that a test run
   * leaves behind.
   */
  private get note(): string {
    return path.join(process.env['POSTHORN_TEST_DIR'] ?? '', 'servers', String(this.child.pid));
  }
}

class TestServer implements PosthornServer {
  readonly apiKey: string;
  readonly databaseUrl: string;
  readonly pid: number;

  constructor(
    private readonly running: RunningServer,
    readonly url: string,
    readonly env: Env,
    private readonly database: TestDatabase | null,
  ) {
    this.apiKey = env['BOOTSTRAP_API_KEY'] ?? '';
    this.databaseUrl = env['DATABASE_URL'] ?? '';
    this.pid = running.child.pid ?? 0;
  }

  api(method: string, apiPath: string, body?: unknown, headers?: Env): Promise<ApiAnswer> {
    return callApi(this.url, this.apiKey, method, apiPath, body, headers);
  }

  async stop(): Promise<void> {
    const wasGone = this.running.isGone;
    try {
      this.running.child.kill('SIGTERM');
      if (!(await this.running.ended(STOP_MS_MAX))) {
        this.running.child.kill('SIGKILL');
        await this.running.ended(STOP_MS_MAX);
        throw new Error(`Posthorn did not stop within ${STOP_MS_MAX} ms of SIGTERM. It wrote:\n${this.logs()}`);
      }
      if (!wasGone && this.running.child.exitCode !== 0) {
        throw new Error(
          `Posthorn ended with ${this.running.child.signalCode ?? this.running.child.exitCode}. It wrote:\n${this.logs()}`,
        );
      }
    } finally {
      await this.database?.drop();
    }
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    this.running.child.kill(signal);
    if (signal === 'SIGKILL') await this.running.ended(STOP_MS_MAX);
  }

  logs(): string {
    return this.running.output;
  }
}

/** Makes one call with a key and returns the response. An object is sent as JSON, a string or a Buffer unchanged. */
export async function callApi(
  url: string,
  key: string,
  method: string,
  apiPath: string,
  body?: unknown,
  headers: Env = {},
): Promise<ApiAnswer> {
  const isRaw = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(url + apiPath, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isRaw ? (body as string) : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, json: parseJson(text), text };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
