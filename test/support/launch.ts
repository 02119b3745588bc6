import { readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..', '..');
const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { scripts: { start: string } };

/** What `npm start` gives Node.js before the program: tests run what users run. */
export const NODE_FLAGS: readonly string[] = scripts.start.split(' ').filter((word) => word.startsWith('--'));

/** A program of the service, by the name of its file; `migrate-database` is in no pack. */
export type Program =
  | 'main'
  | 'backup'
  | 'confirm-clock'
  | 'create-admin-key'
  | 'dns'
  | 'mail-reports'
  | 'migrate-database'
  | 'orgs'
  | 'restore'
  | 'rotate-master-key';

/** How the program is loaded: all of it from one file, or from its own files as users do. */
export type Source = 'pack' | 'files';

/**
 * What Node.js gets to run the service, or a command of its operator, with this environment: its files in one where the
 * global setup has packed them (`pack/pack.mjs`). Extensions share packages with it, which must be one copy for both: with
 * them it runs from its files, unless the caller knows that they import nothing.
 */
export function serviceArguments(
  env: Readonly<Record<string, string>>,
  program: Program = 'main',
  source: Source = env['EXTENSIONS'] ? 'files' : 'pack',
): readonly string[] {
  const pack = process.env['POSTHORN_TEST_PACK'];
  if (pack === undefined || source === 'files' || program === 'migrate-database')
    return [...NODE_FLAGS, path.join('dist', 'src', program === 'main' ? '' : 'programs', `${program}.js`)];
  return [...NODE_FLAGS, path.join('test', 'support', 'pack', 'launcher.cjs'), pack, program];
}
