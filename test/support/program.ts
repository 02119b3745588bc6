import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { Program, Source } from './launch.js';
import { serviceArguments } from './launch.js';

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

const ROOT = path.resolve(import.meta.dirname, '..', '..');

/** Runs a built program to its end, with only this environment. Returns its output and exit code. */
export async function run(
  program: Program,
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  source?: Source,
): Promise<Ended> {
  const child = spawn(process.execPath, [...serviceArguments(env, program, source), ...args], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended: Ended = { code: null, out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (ended.out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (ended.err += text));
  [ended.code] = (await once(child, 'close')) as [number | null];
  return ended;
}
