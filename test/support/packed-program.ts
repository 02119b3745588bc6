import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { until } from '../api/polling.js';
import { ROOT } from '../architecture/source-tree.js';
import { noteForReaper } from '../durability/processes.js';

const PACKED = ['package.json', 'package-lock.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'dist', 'docs', 'tools'];

/** Copies the files that `npm pack` needs, and `more`, into a separate folder. */
export function copyToPack(folder: string, ...more: string[]): void {
  mkdirSync(folder);
  for (const part of [...PACKED, ...more])
    cpSync(path.join(ROOT, part), path.join(folder, part), { recursive: true, preserveTimestamps: true });
}

/**
 * Returns the environment of a developer's shell without the variables of Jest and npm. npm uses its cache before the
 * registry.
 */
export function shellEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(NODE_|npm_(package|lifecycle|command|execpath|node_execpath)|JEST_)/.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    npm_config_prefer_offline: 'true',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_loglevel: 'error',
    PORT: '0',
    HOST: '',
    LOG_LEVEL: 'warn',
    SHUTDOWN_GRACE: '0s',
  };
}

/** Runs commands and returns their output. Throws if one of them fails. */
export function shell(command: string, cwd: string, env = shellEnvironment()): string {
  const { status, stdout, stderr } = spawnSync('sh', ['-ec', command], {
    cwd,
    env,
    encoding: 'utf8',
    timeout: 600_000,
  });
  if (status !== 0) throw new Error(`In ${cwd} this ended with ${status}:\n${command}\n${stdout}${stderr}`);
  return stdout + stderr;
}

/** Runs a program until `work` ends, then sends SIGINT to all of its processes, as Ctrl-C does. Returns the output. */
export async function whileRunning(
  command: string,
  cwd: string,
  env: NodeJS.ProcessEnv,
  work: (url: string, key: string) => Promise<void>,
): Promise<string> {
  const child = spawn('sh', ['-c', command], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const retract = noteForReaper(child.pid);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = once(child, 'close');
  try {
    await until(
      async () => output,
      (text) => /listening on \S+\n/.test(text) || child.exitCode !== null,
      120_000,
    );
    await work(
      /listening on (\S+)/.exec(output)?.[1]?.replace('localhost', '127.0.0.1') ?? `nothing, it wrote ${output}`,
      /Live admin key: (\S+)/.exec(output)?.[1] ?? '',
    );
  } finally {
    if (child.exitCode === null) process.kill(-(child.pid as number), 'SIGINT');
    await ended;
    retract();
  }
  return output;
}
