// Removes `engines` entries from package-lock.json that are wrong for the files that Posthorn loads.
//
// Run it whenever the lock file was regenerated: npm copies `engines` from the registry, and `npm ci` warns about
// mismatches (EBADENGINE).
import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Packages whose `engines` entry is removed, with that entry. A package may only be listed if a test runs it on the
 * oldest Node.js of package.json.
 */
export const TRIMMED = {
  // mailauth requires 22.19 because its main entry loads undici 8. Posthorn loads its DKIM, SPF, DMARC and ARC files
  // directly, which work with Node.js 20 (docs/adr/0020). src/modules/inbox/reading/authentication.spec.ts runs them.
  mailauth: '>=22.19.0',
};

/** Returns the lock file without the `TRIMMED` values. Throws if a value has changed, so that a developer checks it. */
export function trimmed(lock) {
  for (const [name, engines] of Object.entries(TRIMMED)) {
    const entry = lock.packages[`node_modules/${name}`];
    if (entry?.engines === undefined) continue;
    if (entry.engines.node !== engines)
      throw new Error(
        `${name} now asks for Node.js ${entry.engines.node}, not ${engines}: check whether the loaded files need it.`,
      );
    delete entry.engines;
  }
  return lock;
}

if (process.argv[1] === import.meta.filename) {
  const file = new URL('../package-lock.json', import.meta.url);
  writeFileSync(file, `${JSON.stringify(trimmed(JSON.parse(readFileSync(file, 'utf8'))), null, 2)}\n`);
}
