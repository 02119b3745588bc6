import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ROOT } from '../architecture/source-tree.js';

/** The sample as its author would have it: in a folder of its own, compiled against the package `posthorn`. */
export interface CompiledSample {
  /** For EXTENSIONS. */
  file: string;
  remove(): void;
}

interface Manifest {
  dependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
}

export const SAMPLE = 'examples/posthorn-nats';

/** Nothing but what its `package.json` names can be imported; of `posthorn`, nothing but its `exports`. */
export function compileSample(): CompiledSample {
  const folder = mkdtempSync(path.join(tmpdir(), 'posthorn-sample-'));
  cpSync(path.join(ROOT, SAMPLE), folder, { recursive: true });
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as Manifest;
  for (const name of [...Object.keys({ ...dependencies, ...peerDependencies }), '@types/node']) {
    const link = path.join(folder, 'node_modules', name);
    mkdirSync(path.dirname(link), { recursive: true });
    symlinkSync(name === 'posthorn' ? ROOT : path.join(ROOT, 'node_modules', name), link);
  }
  const tsc = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(`The sample does not compile against the package:\n${stdout}`);
  return { file: path.join(folder, 'dist', 'index.js'), remove: () => rmSync(folder, { recursive: true, force: true }) };
}
