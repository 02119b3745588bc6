import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { eventually, freePort, noteForReaper } from './processes.js';

const START_MS_MAX = 10_000;

/** A Redis server without persistence. After a kill it comes back empty on the same port. */
export class ForgetfulRedis {
  private constructor(
    readonly port: number,
    private child: ChildProcess,
  ) {}

  static async start(): Promise<ForgetfulRedis> {
    const port = await freePort();
    const redis = new ForgetfulRedis(port, launch(port));
    await redis.ready();
    return redis;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Removes every key of every database. */
  async flushAll(): Promise<void> {
    const reply = await this.command('FLUSHALL');
    if (!reply.startsWith('+OK')) throw new Error(`FLUSHALL answered ${reply}`);
  }

  /** Sends SIGKILL and starts a new server on the same port. */
  async killAndRestart(): Promise<void> {
    const gone = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await gone;
    this.child = launch(this.port);
    await this.ready();
  }

  async stop(): Promise<void> {
    const gone = once(this.child, 'exit');
    if (this.child.exitCode === null && this.child.kill('SIGKILL')) await gone;
  }

  private async ready(): Promise<void> {
    const isReady = await eventually(
      () =>
        this.command('PING').then(
          (reply) => reply.startsWith('+PONG'),
          () => false,
        ),
      START_MS_MAX,
      20,
    );
    if (!isReady) throw new Error(`redis-server does not answer on port ${this.port}.`);
  }

  /** Sends one command in the protocol's inline form, and returns the reply. */
  private command(name: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(this.port, '127.0.0.1', () => socket.write(`${name}\r\n`));
      socket.setEncoding('utf8').once('data', (reply: string) => {
        socket.destroy();
        resolve(reply);
      });
      socket.once('error', reject);
    });
  }
}

function launch(port: number): ChildProcess {
  const settings = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--maxmemory-policy',
    'noeviction',
  ];
  const child = spawn('redis-server', settings, { stdio: 'ignore' });
  child.once('exit', noteForReaper(child.pid));
  return child;
}
