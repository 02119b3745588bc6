import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createDatabase } from './database.js';
import { serviceArguments } from './launch.js';
import type { ApiAnswer, PosthornServer } from './server.js';
import { callApi, completeEnv, ROOT, START_MS_MAX } from './server.js';

/** Address of the service that the suites of one Jest worker share through a file. */
interface Rendezvous {
  readonly pid: number;
  readonly url: string;
  readonly databaseUrl: string;
  readonly operatorKey: string;
  /** The file with the service's output. */
  readonly log: string;
}

const FOLDER = path.join(process.env['POSTHORN_TEST_DIR'] ?? '', 'shared');
const FILE = path.join(FOLDER, `${process.env['JEST_WORKER_ID'] ?? '1'}.json`);
const POLL_MS = 20;

let service: Promise<Rendezvous> | null = null;

/**
 * Returns a new organization on a service that the suites of one Jest worker share. Call `startServer` instead if a
 * suite counts rows across organizations, reads the log, restarts the service, adds a process, or sends or receives
 * mail for a domain. `apiKey` is the organization's live admin key. `stop` removes the organization.
 */
export async function sharedServer(): Promise<PosthornServer> {
  service ??= reach();
  const shared = await service;
  const slug = `suite-${randomBytes(6).toString('hex')}`;
  const made = await callApi(shared.url, shared.operatorKey, 'POST', '/v1/orgs', {
    slug,
    name: 'A suite',
    admin: { email: `admin@${slug}.example` },
  });
  if (made.status !== 201)
    throw new Error(
      `The shared service made no organization: ${made.status} ${made.text}\n${readFileSync(shared.log, 'utf8')}`,
    );
  return new SharedServer(shared, made.json.id, made.json.key);
}

class SharedServer implements PosthornServer {
  readonly url: string;
  readonly databaseUrl: string;
  private readonly logBegins: number;

  constructor(
    private readonly shared: Rendezvous,
    private readonly organization: string,
    readonly apiKey: string,
  ) {
    this.url = shared.url;
    this.databaseUrl = shared.databaseUrl;
    this.logBegins = statSync(shared.log).size;
  }

  get pid(): never {
    throw new Error("The process is not the suite's own: use startServer.");
  }

  get env(): never {
    return this.pid;
  }

  api(method: string, apiPath: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<ApiAnswer> {
    return callApi(this.url, this.apiKey, method, apiPath, body, headers);
  }

  async stop(): Promise<void> {
    const removed = await callApi(this.url, this.shared.operatorKey, 'DELETE', `/v1/orgs/${this.organization}`).catch(
      (error: unknown) => {
        throw new Error(`The shared service is gone. It wrote:\n${this.logs()}`, { cause: error });
      },
    );
    if (removed.status !== 204)
      throw new Error(`The shared service did not remove the organization: ${removed.status} ${removed.text}`);
  }

  kill(): never {
    return this.pid;
  }

  logs(): string {
    return readFileSync(this.shared.log).subarray(this.logBegins).toString('utf8');
  }
}

/** Returns the service that this Jest worker already started, if it answers. Otherwise starts one. */
async function reach(): Promise<Rendezvous> {
  if (existsSync(FILE)) {
    const known = JSON.parse(readFileSync(FILE, 'utf8')) as Rendezvous;
    const ready = await fetch(`${known.url}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (ready) return known;
    try {
      process.kill(known.pid, 'SIGKILL');
    } catch {
      // Ignores the error, because the service had already exited.
    }
  }
  return start();
}

async function start(): Promise<Rendezvous> {
  mkdirSync(FOLDER, { recursive: true });
  const { url: databaseUrl } = await createDatabase();
  const operatorKey = randomBytes(32).toString('hex');
  const log = path.join(FOLDER, `${randomBytes(6).toString('hex')}.log`);
  const env = completeEnv({ DATABASE_URL: databaseUrl, OPERATOR_KEY: operatorKey });
  const output = openSync(log, 'a');
  const child = spawn(process.execPath, serviceArguments(env), {
    cwd: ROOT,
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    // The service outlives this suite, and a pipe would keep Jest from exiting.
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  child.unref();
  const { pid } = child;
  if (pid === undefined) throw new Error('The shared service could not be spawned.');
  const note = path.join(process.env['POSTHORN_TEST_DIR'] ?? '', 'servers', String(pid));
  writeFileSync(note, '');
  child.once('exit', () => rmSync(note, { force: true }));
  const began = performance.now();
  for (;;) {
    const url = /^Base URL: (https?:\/\/\S+)\n/m.exec(readFileSync(log, 'utf8'))?.[1]?.replace(/\/$/, '');
    if (url !== undefined) {
      const made: Rendezvous = { pid, url, databaseUrl, operatorKey, log };
      writeFileSync(`${FILE}.new`, JSON.stringify(made));
      renameSync(`${FILE}.new`, FILE);
      return made;
    }
    const isGone = child.exitCode !== null || child.signalCode !== null;
    if (isGone || performance.now() - began > START_MS_MAX) {
      child.kill('SIGKILL');
      throw new Error(`The shared service does not listen. It wrote:\n${readFileSync(log, 'utf8')}`);
    }
    await pause(POLL_MS);
  }
}
