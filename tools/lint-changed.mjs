// Lints what changed since `main`, committed or not: format, ESLint, language, spelling.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trim();
const base = git('merge-base', 'HEAD', process.argv[2] ?? 'main');
const changed = [
  ...git('diff', '--name-only', base).split('\n'),
  ...git('ls-files', '--others', '--exclude-standard').split('\n'),
];
const files = [...new Set(changed)].filter((file) => file !== '' && existsSync(file));
const code = files.filter((file) => /\.(ts|tsx|mjs)$/.test(file));
const prose = [...code, ...files.filter((file) => file.endsWith('.md'))];

function run(tool, args, on) {
  if (on.length === 0) return true;
  return spawnSync(tool, [...args, ...on], { stdio: 'inherit' }).status === 0;
}

const results = [
  run('npx', ['--no-install', 'prettier', '--check', '--ignore-unknown', '--log-level', 'warn'], files),
  run('npx', ['--no-install', 'eslint'], code),
  run(process.execPath, ['tools/check-language.mjs'], prose),
  run('npx', ['--no-install', 'cspell', 'lint', '--no-progress', '--no-must-find-files'], prose),
];
process.exitCode = results.every(Boolean) ? 0 : 1;
