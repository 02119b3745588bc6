#!/usr/bin/env -S node --enable-source-maps --heap-growing-percent=900 --min-semi-space-size=16 --max-semi-space-size=32
// The command `posthorn` of the package and of the image. The options above are those of `npm start`, without a process in between.

/** What the command is told to do, and the program that does it: each reads its own options behind the word. */
const PROGRAMS = {
  start: () => import('./main.js'),
  migrate: () => import('./migrate-database.js'),
  'create-admin-key': () => import('./create-admin-key.js'),
  'rotate-master-key': () => import('./rotate-master-key.js'),
  dns: () => import('./dns.js'),
  orgs: () => import('./orgs.js'),
  'mail-reports': () => import('./mail-reports.js'),
} satisfies Record<string, () => Promise<unknown>>;

const USAGE = `Usage: posthorn [${Object.keys(PROGRAMS).join(' | ')}]

start               serves, as configured by the environment (the default)
migrate             brings the database up to date, with the tables of EXTENSIONS, and ends
create-admin-key    makes an admin key: --env live (the default) or --env test
rotate-master-key   wraps the data keys with NEW_MASTER_KEY
dns                 prints what the zone of PLATFORM_DOMAIN publishes; --rotate-dkim moves to a new signing key
orgs                list, create or remove organizations
mail-reports        lists reports about mail that match no email, or prove nothing; --raw ID prints one as it came
`;

const [word = 'start'] = process.argv.slice(2);
if (word === '--help' || word === '-h' || word === 'help') {
  process.stdout.write(USAGE);
} else if (Object.hasOwn(PROGRAMS, word)) {
  process.argv.splice(2, 1);
  await PROGRAMS[word as keyof typeof PROGRAMS]();
} else {
  process.stderr.write(`There is no command ${JSON.stringify(word)}.\n${USAGE}`);
  process.exitCode = 2;
}
