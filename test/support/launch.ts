import { readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..', '..');
const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { scripts: { start: string } };

/** What `npm start` gives Node.js before the program: tests run what users run. */
export const NODE_FLAGS: readonly string[] = scripts.start.split(' ').filter((word) => word.startsWith('--'));

/**
 * What Node.js gets to run the service with this environment: its files in one where the global setup has packed them
 * (`pack/pack.mjs`). Extensions share packages with it, which must be one copy for both: with them it runs from its files.
 */
export function serviceArguments(env: Readonly<Record<string, string>>): readonly string[] {
  const pack = process.env['POSTHORN_TEST_PACK'];
  if (pack === undefined || env['EXTENSIONS']) return [...NODE_FLAGS, path.join('dist', 'src', 'main.js')];
  return [...NODE_FLAGS, path.join('test', 'support', 'pack', 'launcher.cjs'), pack];
}
