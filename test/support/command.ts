import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { until } from '../api/polling.js';

const ROOT = path.resolve(import.meta.dirname, '..', '..');

/** The output and the exit code of a run of the command line. */
export interface Ran {
  code: number | null;
  out: string;
  err: string;
}

/** A command that runs until it is stopped. */
export interface Running extends Ran {
  readonly child: ChildProcess;
  /** Parses each line of standard output as JSON and returns the results. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- each test asserts the fields that it reads
  lines(): any[];
  said(text: string | RegExp, withinMs?: number): Promise<void>;
  stop(signal?: NodeJS.Signals): Promise<Ran>;
}

/** Starts `posthorn` as a user would, with only this environment. */
export function start(env: Readonly<Record<string, string>>, args: readonly string[], input?: string): Running {
  const child = spawn(process.execPath, [path.join('dist', 'src', 'posthorn.js'), ...args], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  const running: Running = {
    child,
    code: null,
    out: '',
    err: '',
    lines: () =>
      running.out
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as unknown),
    said: async (text, withinMs = 20_000) =>
      void (await until(
        async () => running.out + running.err,
        (said) => (typeof text === 'string' ? said.includes(text) : text.test(said)),
        withinMs,
      )),
    stop: async (signal = 'SIGTERM') => {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      return ended;
    },
  };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (running.out += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (running.err += text));
  child.stdin?.end(input);
  const ended = once(child, 'close').then(([code]) => {
    running.code = code as number | null;
    return running;
  });
  return running;
}

/** Runs a command to its end, and returns its output and exit code. */
export async function command(
  env: Readonly<Record<string, string>>,
  args: readonly string[],
  input?: string,
): Promise<Ran> {
  const running = start(env, args, input);
  await once(running.child, 'close');
  return { code: running.child.exitCode, out: running.out, err: running.err };
}
