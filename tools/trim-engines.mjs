// Takes out of package-lock.json what a package says of Node.js where that is wrong for the files of it that are loaded here. To be run
// whenever the lock was made anew: npm copies `engines` from the registry, and `npm ci` warns of what does not fit (EBADENGINE).
import { readFileSync, writeFileSync } from 'node:fs';

/** Package → why its `engines` are not ours. A name only stands here with a test that runs on the oldest Node.js of package.json. */
export const TRIMMED = {
  // It asks for 22.19 because its main entry loads undici 8. Here its DKIM, SPF, DMARC and ARC are loaded by their own files, which need no
  // more than 20 (docs/adr/0020); src/modules/inbox/reading/authentication.spec.ts runs them.
  mailauth: '>=22.19.0',
};

/** The lock without those; throws where one says something else by now, which somebody has to look at. */
export function trimmed(lock) {
  for (const [name, engines] of Object.entries(TRIMMED)) {
    const entry = lock.packages[`node_modules/${name}`];
    if (entry?.engines === undefined) continue;
    if (entry.engines.node !== engines)
      throw new Error(
        `${name} asks for Node.js ${entry.engines.node} by now, not ${engines}: see whether that is true of what is loaded.`,
      );
    delete entry.engines;
  }
  return lock;
}

if (process.argv[1] === import.meta.filename) {
  const file = new URL('../package-lock.json', import.meta.url);
  writeFileSync(file, `${JSON.stringify(trimmed(JSON.parse(readFileSync(file, 'utf8'))), null, 2)}\n`);
}
