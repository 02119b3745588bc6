import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '../durability/processes.js';
import { hasTool, printed } from './optional-tools.js';

const START_MS_MAX = 10_000;

/** Returns whether `pgbouncer` is installed. CI must have it, so that the guarantees behind poolers are tested. */
export const isPgBouncerInstalled = (): boolean =>
  hasTool(
    { skipped: 'the tests behind PgBouncer', tool: 'pgbouncer', install: 'apt-get install pgbouncer' },
    () => printed('pgbouncer', '--version') !== null,
  );

/** PgBouncer in front of a database, with the settings of its package and additional settings. */
export class PgBouncer {
  private constructor(
    readonly url: string,
    private readonly child: ChildProcess,
    private readonly directory: string,
  ) {}

  static async start(databaseUrl: string, settings: Readonly<Record<string, string>>): Promise<PgBouncer> {
    const beyond = new URL(databaseUrl);
    const port = await freePort();
    const directory = mkdtempSync(path.join(process.env['POSTHORN_TEST_DIR'] ?? tmpdir(), 'pgbouncer-'));
    // PgBouncer does not run as root, and its user needs access to the configuration.
    chmodSync(directory, 0o755);
    const file = path.join(directory, 'pgbouncer.ini');
    const server = `host=${beyond.hostname} port=${beyond.port} user=${beyond.username} password=${beyond.password}`;
    const own = {
      listen_addr: '127.0.0.1',
      listen_port: String(port),
      unix_socket_dir: '',
      auth_type: 'any',
      max_client_conn: '200',
      ...settings,
    };
    const lines = Object.entries(own).map(([name, value]) => `${name} = ${value}`);
    writeFileSync(file, ['[databases]', `* = ${server}`, '[pgbouncer]', ...lines, ''].join('\n'), { mode: 0o644 });
    const isRoot = process.getuid?.() === 0;
    const child = spawn('pgbouncer', [...(isRoot ? ['-u', 'nobody'] : []), file], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let output = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (output += text));
    const url = new URL(databaseUrl);
    url.host = `127.0.0.1:${port}`;
    const bouncer = new PgBouncer(url.href, child, directory);
    const deadlineMs = Date.now() + START_MS_MAX;
    while (!(await answers(port))) {
      if (child.exitCode !== null || Date.now() > deadlineMs)
        throw new Error(`pgbouncer does not start. It wrote:\n${output}`);
    }
    return bouncer;
  }

  async stop(): Promise<void> {
    const gone = once(this.child, 'exit');
    if (this.child.exitCode === null && this.child.kill('SIGKILL')) await gone;
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    const tell = (isThere: boolean): void => {
      socket.destroy();
      setTimeout(() => resolve(isThere), 20);
    };
    socket.once('connect', () => tell(true)).once('error', () => tell(false));
  });
}
