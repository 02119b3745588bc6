/** Starts the service of another checkout. Uses the bench code of that checkout, because its routes may differ. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const HERE = fileURLToPath(new URL('..', import.meta.url));
/** Paths that another checkout must have: files that exist in every version of the bench, and `node_modules`. */
const NEEDED = ['bench/posthorn.mjs', 'bench/processes.mjs', 'tools/build-if-stale.mjs', 'node_modules'];

/** @typedef {typeof import('./posthorn.mjs').startPosthorn} Start */

/** @type {(() => Promise<void>)[]} */
const ends = [];

/** Stops all services and other processes that the bench code of the other checkouts started. */
export async function stopCheckouts() {
  await Promise.all(ends.map((end) => end()));
}

/**
 * Rebuilds the checkout if its sources changed since the last build, and returns the function that starts its service.
 *
 * @param {string} root @returns {Promise<Start>}
 */
export async function openCheckout(root) {
  const missing = NEEDED.find((name) => !existsSync(path.join(root, name)));
  if (missing !== undefined) {
    throw new Error(
      `${root} has no ${missing}${missing === 'node_modules' ? ': run npm ci there' : ', so it cannot be compared'}.`,
    );
  }
  const { status } = spawnSync(process.execPath, ['tools/build-if-stale.mjs'], {
    cwd: root,
    stdio: ['ignore', 2, 'inherit'],
  });
  if (status !== 0) throw new Error(`${root} could not be built.`);
  const moduleOf = (/** @type {string} */ name) => import(pathToFileURL(path.join(root, 'bench', name)).href);
  const { startPosthorn } = await moduleOf('posthorn.mjs');
  const { stopEverything } = await moduleOf('processes.mjs');
  ends.push(stopEverything);
  return startPosthorn;
}

/**
 * Returns the checked-out commit and whether the tree has uncommitted changes.
 *
 * @param {string} root @returns {{ commit: string, isDirty: boolean }} `commit`: empty outside of git
 */
export function commitOf(root) {
  const git = (/** @type {string[]} */ ...args) =>
    spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout?.trim() ?? '';
  return { commit: git('rev-parse', '--short', 'HEAD'), isDirty: git('status', '--porcelain') !== '' };
}
