import { spawnSync } from 'node:child_process';

/** A program or a permission that tests use if the machine has it. */
export interface OptionalTool {
  /** The tests that are skipped without the tool, such as "the tests over Postfix". */
  skipped: string;
  /** The tool and its required features, such as "swaks with its TLS module". */
  tool: string;
  /** Installation instructions. */
  install: string;
}

/**
 * Returns whether the tool works with the features that the tests need. Without the tool, prints which tests are
 * skipped, or throws in CI.
 */
export function hasTool({ skipped, tool, install }: OptionalTool, works: () => boolean): boolean {
  if (works()) return true;
  if (process.env['CI'] === 'true') throw new Error(`There is no ${tool}, which CI installs: ${install}.`);
  process.stdout.write(`skipped: ${skipped}, there is no ${tool} (${install}).\n`);
  return false;
}

/** Returns the output of a command on stdout and stderr, or null if the command is missing, fails, or hangs. */
export function printed(command: string, ...args: string[]): string | null {
  const { status, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    env: process.env,
    timeout: 60_000,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return status === 0 ? stdout + stderr : null;
}

/** Returns whether the text contains a version of at least `majorMin.minorMin`. */
export function isAtLeast(text: string | null, [majorMin, minorMin]: readonly [number, number]): boolean {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(text ?? '') ?? [];
  return major !== undefined && (Number(major) > majorMin || (Number(major) === majorMin && Number(minor) >= minorMin));
}

export const hasPythonModules = (python: string | undefined, ...modules: string[]): boolean =>
  python !== undefined && python !== '' && printed(python, '-c', `import ${modules.join(', ')}`) !== null;

export const mayListenOn = (port: number, address: string): boolean =>
  printed(
    process.execPath,
    '-e',
    `require('node:net').createServer().on('error', () => process.exit(1)).listen(${port}, '${address}', () => process.exit(0))`,
  ) !== null;

/** Returns whether swaks can deliver with STARTTLS, for which it needs an optional TLS module. */
export const isSwaksUsable = (): boolean =>
  hasTool(
    { skipped: 'the tests with swaks', tool: 'swaks with TLS', install: 'apt-get install swaks libnet-ssleay-perl' },
    () => /^=== TLS supported$/m.test(printed('swaks', '--support') ?? ''),
  );

/** Returns whether Redis (or Valkey) is installed in a version that BullMQ supports, at least 6.2. */
export const isRedisInstalled = (): boolean =>
  hasTool(
    { skipped: 'the tests with Redis', tool: 'redis-server 6.2 or newer', install: 'apt-get install redis-server' },
    () => isAtLeast(printed('redis-server', '--version'), [6, 2]),
  );
