import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { serviceArguments } from '../support/launch.js';

type Env = Readonly<Record<string, string>>;

export const ROOT = path.resolve(import.meta.dirname, '..', '..');
const RESTART_MS = 100;
const LOG_CHARACTERS_MAX = 200_000;
export const LAST_WORDS_CHARACTERS = 1_500;
/**
 * Range of the processes' ports. It is below the ephemeral ports, so that no outgoing connection takes the port of a
 * killed process.
 */
const PORT_MIN = 20_000;
const PORT_MAX = 32_000;

/** A Posthorn process that is restarted on the same port whenever it exits. */
export class KeptProcess {
  readonly url: string;
  /** Exits of the running process that the test did not cause, each with the last output of the process. */
  readonly crashes: string[] = [];
  private child: ChildProcess | null = null;
  private output = '';
  private isKept = false;
  private isStruck = false;
  private listening = false;
  private waitingForUp: (() => void)[] = [];

  constructor(
    readonly name: string,
    port: number,
    private readonly env: Env,
  ) {
    this.url = `http://127.0.0.1:${port}`;
    this.env = { SMTP_PORT: '0', SUBMISSION_PORT: '0', ...env, PORT: String(port) };
  }

  get isUp(): boolean {
    return this.listening;
  }

  /** Starts the process. Resolves once the process listens. */
  async start(): Promise<void> {
    this.isKept = true;
    if (this.child === null) this.spawn();
    await this.up();
  }

  /** Resolves once the process listens, or immediately if it already listens. */
  async up(): Promise<void> {
    if (!this.listening) await new Promise<void>((resolve) => this.waitingForUp.push(resolve));
  }

  /** Sends SIGKILL. The supervisor restarts the process. */
  kill(): void {
    this.isStruck = true;
    this.listening = false;
    this.child?.kill('SIGKILL');
  }

  /** Sends SIGTERM. Resolves with the exit code or signal. The process stays down until `start`. */
  async terminate(): Promise<number | string> {
    this.isKept = false;
    const { child } = this;
    if (child === null) return 0;
    const ended = once(child, 'close') as Promise<[number | null, string | null]>;
    child.kill('SIGTERM');
    const [code, signal] = await ended;
    return code ?? signal ?? 'gone';
  }

  /** Sends SIGSTOP. The process stays paused until the returned function is called or the process is killed. */
  pause(): () => void {
    const { child } = this;
    child?.kill('SIGSTOP');
    return () => void child?.kill('SIGCONT');
  }

  /** Returns the process id, or 0 while the process is down. */
  get pid(): number {
    return this.child?.pid ?? 0;
  }

  /** Sends SIGKILL and does not restart the process. */
  async stop(): Promise<void> {
    this.isKept = false;
    const { child } = this;
    if (child === null) return;
    const ended = once(child, 'close');
    this.kill();
    await ended;
  }

  /** Returns the end of the process's output, over all restarts. */
  log(): string {
    return this.output;
  }

  private spawn(): void {
    this.isStruck = false;
    const child = spawn(process.execPath, serviceArguments(this.env), {
      cwd: ROOT,
      env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...this.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    const retract = noteForReaper(child.pid);
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => this.wrote(child, text));
    child.once('close', (code, signal) => {
      retract();
      this.ended(signal ?? `code ${code}`);
    });
  }

  private wrote(child: ChildProcess, text: string): void {
    this.output = (this.output + text).slice(-LOG_CHARACTERS_MAX);
    if (this.listening || this.isStruck || child !== this.child || !text.includes('listening on http')) return;
    this.listening = true;
    for (const resolve of this.waitingForUp.splice(0)) resolve();
  }

  /** A start may fail while PostgreSQL is down, and is then retried. Only the exit of a running process is a crash. */
  private ended(how: string): void {
    if (this.listening && this.isKept)
      this.crashes.push(`${this.name} ended with ${how}: ${this.output.slice(-LAST_WORDS_CHARACTERS)}`);
    this.listening = false;
    this.child = null;
    if (this.isKept) void sleep(RESTART_MS).then(() => this.isKept && this.child === null && this.spawn());
  }
}

/**
 * Registers a process with the reaper, which ends the process if the test run ends first. Returns a function that
 * removes the entry.
 */
export function noteForReaper(pid: number | undefined): () => void {
  const directory = process.env['POSTHORN_TEST_DIR'];
  if (pid === undefined || directory === undefined) return () => undefined;
  const note = path.join(directory, 'servers', String(pid));
  writeFileSync(note, '');
  return () => rmSync(note, { force: true });
}

/** Returns a port that is free now, from a range that only these tests use. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORT_MIN + Math.floor(Math.random() * (PORT_MAX - PORT_MIN));
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port === port));
    });
    if (isFree) {
      await new Promise((resolve) => server.close(resolve));
      return port;
    }
  }
}

/** Resolves to true once `condition` holds, or to false on a timeout. */
export async function eventually(
  condition: () => Promise<boolean> | boolean,
  withinMs: number,
  everyMs = 100,
): Promise<boolean> {
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    if (await condition()) return true;
    if (performance.now() > deadlineMs) return false;
    await sleep(everyMs);
  }
}
