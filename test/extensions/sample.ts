import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ROOT } from '../architecture/source-tree.js';

/** A sample extension as its author has it: in a separate folder, compiled against the package `posthorn`. */
export interface CompiledSample {
  /** Value for EXTENSIONS. */
  file: string;
}

interface Manifest {
  dependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
}

export const SAMPLE = 'examples/posthorn-nats';
export const CONTACTS = 'examples/posthorn-contacts';
/** The sample extension for the extension points that need no library. */
export const SMALL_SAMPLE = 'examples/posthorn-acme';
/** The sample extension that uses every extension point. */
export const COMPLETE_SAMPLE = 'examples/posthorn-depot';
const WAIT_MS = 100;
const WAIT_MS_MAX = 120_000;

/**
 * Compiles a sample that can import only the packages in its `package.json` and the `exports` of `posthorn`. The first
 * suite of a test run compiles it, and the others wait.
 */
export function compileSample(sample = SAMPLE): CompiledSample {
  const folder = path.join(
    process.env['POSTHORN_TEST_DIR'] ?? mkdtempSync(path.join(tmpdir(), 'posthorn-sample-')),
    path.basename(sample),
  );
  const lock = `${folder}.lock`;
  const deadlineMs = performance.now() + WAIT_MS_MAX;
  while (!existsSync(folder)) {
    if (isTaken(lock)) {
      if (performance.now() > deadlineMs) throw new Error(`The sample is not compiled by whoever has ${lock}.`);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
      continue;
    }
    try {
      // Renames the folder to its final name only after the compilation is complete.
      if (!existsSync(folder)) renameSync(compiledIn(`${folder}.making`, sample), folder);
    } finally {
      rmSync(lock, { recursive: true, force: true });
    }
  }
  return { file: path.join(folder, 'dist', 'index.js') };
}

/** Takes the lock if it is free. Returns whether another suite holds the lock. */
function isTaken(lock: string): boolean {
  try {
    mkdirSync(lock);
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return true;
    throw error;
  }
}

function compiledIn(folder: string, sample: string): string {
  rmSync(folder, { recursive: true, force: true });
  cpSync(path.join(ROOT, sample), folder, { recursive: true });
  const { dependencies, peerDependencies } = JSON.parse(
    readFileSync(path.join(folder, 'package.json'), 'utf8'),
  ) as Manifest;
  for (const name of [...Object.keys({ ...dependencies, ...peerDependencies }), '@types/node']) {
    const link = path.join(folder, 'node_modules', name);
    mkdirSync(path.dirname(link), { recursive: true });
    symlinkSync(name === 'posthorn' ? ROOT : path.join(ROOT, 'node_modules', name), link);
  }
  const tsc = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The sample does not compile against the package:\n${stdout}`);
  return folder;
}
