// Builds the parts whose sources have changed. Runs before start, test and bench. `--always` builds everything.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const isAsked = process.argv.includes('--always');

/** The builds of the server and of the console's screens, which are independent of each other. */
const BUILDS = [
  {
    inputs: ['src', 'migrations', 'tsconfig.json', 'tsconfig.build.json', 'nest-cli.json', 'package.json'],
    name: 'Posthorn',
    output: 'dist/src/main.js',
    // Every build writes all files (`incremental` is off). Before a build, these folders are deleted, to remove files
    // of earlier builds.
    folders: ['dist/src', 'dist/migrations'],
    program: ['node_modules/@nestjs/cli/bin/nest.js', 'build'],
  },
  {
    inputs: ['console', 'package.json'],
    name: 'the console',
    output: 'dist/console/index.html',
    folders: [],
    program: ['node_modules/vite/bin/vite.js', 'build', '--config', 'console/vite.config.ts'],
  },
];

for (const build of BUILDS) {
  if (isAsked || isStale(build)) run(build);
}

/**
 * Returns whether an input is newer than the build. Compares only one output file, because every build writes all
 * files.
 */
function isStale({ inputs, output }) {
  const built = path.join(root, output);
  if (!existsSync(built)) return true;
  const builtMs = statSync(built).mtimeMs;
  return inputs.some((input) => newestMs(path.join(root, input)) > builtMs);
}

/** Returns the newest modification time. A directory's own time changes if a file in it is added or removed. */
function newestMs(file) {
  if (!existsSync(file) || file.endsWith('.spec.ts')) return 0;
  const stat = statSync(file);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(file).map((name) => newestMs(path.join(file, name))));
}

function run({ name, inputs, output, folders, program: [program, ...args] }) {
  const startedMs = Date.now();
  const startedAt = performance.now();
  const built = path.join(root, output);
  if (!existsSync(path.join(root, program)) || !existsSync(path.join(root, inputs[0]))) {
    // If the development packages or the sources are missing, the existing build is used.
    if (existsSync(built) || output !== BUILDS[0].output) return;
    console.error(
      'Posthorn is not built, and the compiler is not installed. Run `npm ci` (with the development packages), then `npm run build`.',
    );
    process.exit(1);
  }
  // Logs to standard error, because standard output belongs to the program that starts after the build.
  console.error(`Building ${name}. This happens once after a change, and takes up to a minute.`);
  for (const folder of folders) rmSync(path.join(root, folder), { recursive: true, force: true });
  const { status } = spawnSync(process.execPath, [path.join(root, program), ...args], { cwd: root, stdio: 'inherit' });
  if (status !== 0 || !existsSync(built)) {
    console.error('The build failed.');
    process.exit(status || 1);
  }
  console.error(`Built ${name} in ${Math.round((performance.now() - startedAt) / 1000)} s.`);
  // Sets the modification time to the start of the build. A file that was saved during the build is then newer than the
  // result.
  utimesSync(built, new Date(startedMs), new Date(startedMs));
}
