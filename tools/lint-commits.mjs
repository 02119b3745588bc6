// Checks the subjects of all commits since commitlint was introduced, or only the last commit in a shallow clone.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

if (spawnSync('git', ['rev-parse', 'HEAD']).status !== 0) {
  console.log('No git history: no commit to check.');
  process.exit(0);
}
const [first] = readFileSync('.git-blame-ignore-revs', 'utf8').match(/^[0-9a-f]{40}$/m) ?? [];
const isKnown = spawnSync('git', ['merge-base', '--is-ancestor', `${first}`, 'HEAD']).status === 0;
const range = isKnown ? ['--from', first, '--to', 'HEAD'] : ['--last'];
const { status } = spawnSync('npx', ['--no-install', 'commitlint', ...range], { stdio: 'inherit' });
process.exit(status ?? 1);
