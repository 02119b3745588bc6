#!/usr/bin/env -S node --heap-growing-percent=900 --min-semi-space-size=16 --max-semi-space-size=16 --no-allocation-site-pretenuring
// The command `posthorn` of the package and of the image. The options above are those of `npm start`, without a process in between.
import { mapStacks } from './bootstrap/stack-traces.js';

/** What the server is told to do, and the program that does it: each reads its own options behind the word. */
const PROGRAMS = {
  start: { run: () => import('./main.js'), what: 'serves, as configured by the environment (the default)' },
  migrate: {
    run: () => import('./programs/migrate-database.js'),
    what: 'brings the database up to date, with the tables of EXTENSIONS, and ends',
  },
  'create-admin-key': {
    run: () => import('./programs/create-admin-key.js'),
    what: 'makes an admin key: --env live (the default) or --env test',
  },
  backup: {
    run: () => import('./programs/backup.js'),
    what: 'backs the embedded database up into FILE; --without-key leaves the master key out',
  },
  restore: {
    run: () => import('./programs/restore.js'),
    what: 'restores the backup FILE into a DATA_DIR without a database',
  },
  'rotate-master-key': {
    run: () => import('./programs/rotate-master-key.js'),
    what: 'wraps the data keys with NEW_MASTER_KEY',
  },
  dns: {
    run: () => import('./programs/dns.js'),
    what: 'prints what the zone of PLATFORM_DOMAIN publishes; --rotate-dkim moves to a new signing key',
  },
  orgs: { run: () => import('./programs/orgs.js'), what: 'list, create or remove organizations' },
  'mail-reports': {
    run: () => import('./programs/mail-reports.js'),
    what: 'lists reports about mail that match no email, or prove nothing; --raw ID prints one as it came',
  },
  'confirm-clock': {
    run: () => import('./programs/confirm-clock.js'),
    what: "says that PostgreSQL's clock is right after a leap: retention goes on",
  },
} satisfies Record<string, { run: () => Promise<unknown>; what: string }>;

mapStacks();
const [word = 'start'] = process.argv.slice(2);
if (Object.hasOwn(PROGRAMS, word)) {
  process.argv.splice(2, 1);
  await PROGRAMS[word as keyof typeof PROGRAMS].run();
} else {
  // Everything else asks a service over HTTP, and loads nothing of it.
  const { runCommand } = await import('./cli/main.js');
  await runCommand(
    process.argv.slice(2),
    Object.entries(PROGRAMS).map(([name, { what }]) => [name, what] as const),
  );
}
