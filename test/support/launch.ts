import { readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..', '..');
const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { scripts: { start: string } };

/** The Node.js options of `npm start`, so that tests run the program as users do. */
export const NODE_FLAGS: readonly string[] = scripts.start.split(' ').filter((word) => word.startsWith('--'));

/** A program of the service, by its file name. `migrate-database` is not in the packed file. */
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

/** Source of the program's code: one packed file, which is fast, or separate files, as for users. */
export type Source = 'pack' | 'files';

/**
 * Returns the Node.js arguments that start the service, or an operator command, with this environment. Uses the packed
 * file (`pack/pack.mjs`) if there is one. Extensions need the unpacked files, because they cannot share packages with
 * the packed file.
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
