#!/usr/bin/env -S node --heap-growing-percent=900 --min-semi-space-size=16 --max-semi-space-size=16 --no-allocation-site-pretenuring
// The command `posthorn` of the package and of the image. Passes the same Node.js options as `npm start`, without an
// extra process.
import { mapStacks } from './bootstrap/stack-traces.js';

/** Subcommands of the server, and the program of each. A program parses the options after its name. */
const PROGRAMS = {
  start: { run: () => import('./main.js'), what: 'serves, as configured by the environment (the default)' },
  migrate: {
    run: () => import('./programs/migrate-database.js'),
    what: 'migrates the database, including the tables of EXTENSIONS, and exits',
  },
  'create-admin-key': {
    run: () => import('./programs/create-admin-key.js'),
    what: 'creates an admin key: --env live (the default) or --env test',
  },
  backup: {
    run: () => import('./programs/backup.js'),
    what: 'backs up the embedded database to FILE; --without-key excludes the master key',
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
    what: 'prints the records to publish in the zone of PLATFORM_DOMAIN; --rotate-dkim moves to a new signing key',
  },
  orgs: { run: () => import('./programs/orgs.js'), what: 'lists, creates or removes organizations' },
  'mail-reports': {
    run: () => import('./programs/mail-reports.js'),
    what: 'lists reports about mail that match no email or prove nothing; --raw ID prints one unchanged',
  },
  'confirm-clock': {
    run: () => import('./programs/confirm-clock.js'),
    what: "confirms that PostgreSQL's clock is correct after a jump, so that retention resumes",
  },
} satisfies Record<string, { run: () => Promise<unknown>; what: string }>;

mapStacks();
const [word = 'start'] = process.argv.slice(2);
if (Object.hasOwn(PROGRAMS, word)) {
  process.argv.splice(2, 1);
  await PROGRAMS[word as keyof typeof PROGRAMS].run();
} else {
  // All other commands call the API over HTTP and load no part of the service.
  const { runCommand } = await import('./cli/main.js');
  await runCommand(
    process.argv.slice(2),
    Object.entries(PROGRAMS).map(([name, { what }]) => [name, what] as const),
  );
}
