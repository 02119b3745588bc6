// Builds before start, test and bench, but only when something has changed: a build takes seconds, a start must not.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync, utimesSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const inputs = ['src', 'migrations', 'tsconfig.json', 'tsconfig.build.json', 'nest-cli.json', 'package.json'];
const output = path.join(root, 'dist', 'src', 'main.js');
const nest = path.join(root, 'node_modules', '@nestjs', 'cli', 'bin', 'nest.js');

const startedMs = Date.now();
if (isStale()) build();

/** Every build writes every file (`incremental` is off), so one of them tells the age of all. */
function isStale() {
  if (!existsSync(output)) return true;
  const builtMs = statSync(output).mtimeMs;
  return inputs.some((input) => newestMs(path.join(root, input)) > builtMs);
}

/** A directory counts too: its time changes when a file in it is added, renamed or removed. */
function newestMs(file) {
  if (!existsSync(file) || file.endsWith('.spec.ts')) return 0;
  const stat = statSync(file);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(file).map((name) => newestMs(path.join(file, name))));
}

function build() {
  if (!existsSync(nest)) {
    // Installed without the development packages: run what was built elsewhere.
    if (existsSync(output)) return;
    console.error('Posthorn is not built, and the compiler is not installed: run `npm ci` (with the development packages), then `npm run build`.');
    process.exit(1);
  }
  const { status } = spawnSync(process.execPath, [nest, 'build'], { cwd: root, stdio: 'inherit' });
  if (status !== 0 || !existsSync(output)) {
    console.error('The build failed.');
    process.exit(status || 1);
  }
  // The age is that of what was read: a file that was saved during the build is newer than the result.
  utimesSync(output, new Date(startedMs), new Date(startedMs));
}
