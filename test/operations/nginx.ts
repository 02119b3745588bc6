import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasTool, printed } from '../support/optional-tools.js';

const START_MS_MAX = 10_000;
const POLL_MS = 50;

/** Returns whether nginx is installed. CI must have it. */
export const isNginxInstalled = (): boolean =>
  hasTool(
    { skipped: 'the test of the router', tool: 'nginx', install: 'apt-get install nginx-light' },
    () => printed('nginx', '-v') !== null,
  );

/**
 * An nginx for one test. `files` are stored by name in its directory. `http` is the content of the block `http { … }`.
 */
export class Nginx {
  private constructor(
    private readonly child: ChildProcess,
    private readonly directory: string,
  ) {}

  static async start(http: string, files: Readonly<Record<string, string>>, url: string): Promise<Nginx> {
    const directory = mkdtempSync(path.join(process.env['POSTHORN_TEST_DIR'] ?? tmpdir(), 'nginx-'));
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(directory, name)), { recursive: true });
      writeFileSync(path.join(directory, name), content);
    }
    const kept = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((kind) => `${kind}_temp_path ${directory}/${kind};`)
      .join(' ');
    const main = `daemon off; master_process off; pid nginx.pid; error_log stderr warn; events {} http { access_log off; ${kept} ${http} }`;
    writeFileSync(path.join(directory, 'nginx.conf'), main);
    const child = spawn('nginx', ['-p', directory, '-c', path.join(directory, 'nginx.conf'), '-e', 'stderr'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text));
    const nginx = new Nginx(child, directory);
    for (const deadlineMs = performance.now() + START_MS_MAX; ; await sleep(POLL_MS)) {
      if (child.exitCode !== null || performance.now() > deadlineMs) {
        await nginx.stop();
        throw new Error(`nginx does not run. It wrote:\n${said}`);
      }
      if (
        await fetch(url).then(
          () => true,
          () => false,
        )
      )
        return nginx;
    }
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    if (this.child.exitCode === null && this.child.kill('SIGTERM')) await ended;
    rmSync(this.directory, { recursive: true, force: true });
  }
}
