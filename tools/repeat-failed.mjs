// Runs the suites that failed in a Jest run once more, alone. Fails only for suites that fail again:
//   npm run test:all -- --json --outputFile=results.json || node tools/repeat-failed.mjs results.json
// CONTRIBUTING.md says which suites may be repeated, and why.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

const root = path.resolve(import.meta.dirname, '..');

/** Maximum number of failed suites to repeat. A higher number of failures probably has a common cause. */
export const REPEATED_MAX = 5;
/** Size of the message that is printed of each failed test. */
const MESSAGE_LINES = 25;
const MESSAGE_CHARACTERS = 2_000;

/**
 * Returns whether the suite checks for data loss. A failure of this suite is final, so the suite is not repeated.
 * Negative controls lose data on purpose and may be repeated.
 */
const judgesLosses = (suite) => suite.startsWith('test/durability/') && !path.basename(suite).includes('controls');

/**
 * Decides from the results of `jest --json` which suites to repeat, or why none may be repeated.
 * @returns {{ repeat: string[], refused: string | null }}
 */
export function plan(results) {
  const failed = results.testResults
    .filter(({ status }) => status === 'failed')
    .map(({ name }) => path.relative(root, name))
    .sort();
  const refuse = (refused) => ({ repeat: [], refused });
  if (results.wasInterrupted) return refuse('The run was interrupted.');
  if (failed.length === 0) return refuse('No suite failed, but the run did.');
  if (failed.length > REPEATED_MAX) return refuse(`${failed.length} suites failed: that is no accident.`);
  const final = failed.filter(judgesLosses);
  if (final.length > 0) return refuse(`A loss that was found once is found: ${final.join(', ')}`);
  return { repeat: failed, refused: null };
}

/** Returns each failed test after the name of its suite, or only the name if the suite could not run. */
export function failuresOf(results) {
  return results.testResults
    .filter(({ status }) => status === 'failed')
    .flatMap(({ name, assertionResults }) => {
      const tests = assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName);
      const suite = path.relative(root, name);
      return tests.length > 0 ? tests.map((test) => `${suite} › ${test}`) : [suite];
    });
}

/** Returns the beginning of the message of each failed test, without colors. */
export function messagesOf(results) {
  return results.testResults
    .filter(({ status }) => status === 'failed')
    .flatMap(({ name, message = '', assertionResults }) => {
      const tests = assertionResults.filter(({ status }) => status === 'failed');
      const failures =
        tests.length > 0
          ? tests.map(({ fullName, failureMessages = [] }) => [fullName, ...failureMessages])
          : [[message]];
      return failures.map((lines) => `${path.relative(root, name)}\n${shortened(lines.join('\n'))}`);
    });
}

const shortened = (text) =>
  stripVTControlCharacters(text).split('\n').slice(0, MESSAGE_LINES).join('\n').slice(0, MESSAGE_CHARACTERS);

function repeat(suites) {
  const folder = mkdtempSync(path.join(tmpdir(), 'posthorn-repeat-'));
  const file = path.join(folder, 'results.json');
  const jest = [
    '--experimental-vm-modules',
    '--no-warnings=ExperimentalWarning',
    path.join('node_modules', 'jest', 'bin', 'jest.js'),
  ];
  try {
    const { status } = spawnSync(
      process.execPath,
      [...jest, '-i', '--json', `--outputFile=${file}`, '--runTestsByPath', ...suites],
      { cwd: root, stdio: 'inherit' },
    );
    const results = existsSync(file) ? read(file) : null;
    // A suite that Jest did not run counts as failed.
    const ran = results?.testResults.filter(
      ({ name, status: end }) => end === 'passed' && suites.includes(path.relative(root, name)),
    ).length;
    return { hasPassed: status === 0 && ran === suites.length, again: results ? failuresOf(results) : suites };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const read = (file) => JSON.parse(readFileSync(file, 'utf8'));

function main(file) {
  if (file === undefined || !existsSync(file)) {
    console.error('The test run left no results.');
    return 1;
  }
  const results = read(file);
  const first = failuresOf(results);
  const { repeat: suites, refused } = plan(results);
  for (const failure of first) console.error(`failed: ${failure}`);
  if (refused !== null) {
    // Jest printed the messages long before the end of the log.
    for (const message of messagesOf(results)) console.error(`\n${message}`);
    console.error(`Not repeated. ${refused}`);
    return 1;
  }
  console.error(`Repeated alone: ${suites.join(', ')}`);
  const { hasPassed, again } = repeat(suites);
  if (!hasPassed) for (const message of messagesOf(results)) console.error(`\nthe first time: ${message}`);
  for (const failure of again) console.error(`failed again: ${failure}`);
  if (hasPassed) for (const failure of first) console.error(`flaky: ${failure}`);
  return hasPassed ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = main(process.argv[2]);
