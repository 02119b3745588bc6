#!/usr/bin/env -S node --heap-growing-percent=900 --min-semi-space-size=16 --max-semi-space-size=16 --no-allocation-site-pretenuring
// The command `posthorn` of the package and of the image. Passes the same Node.js options as `npm start`, without an
// extra process.
import { isServerCommand, SERVER_COMMANDS, type ServerCommand } from './bootstrap/server-commands.js';
import { mapStacks } from './bootstrap/stack-traces.js';

/** Programs of the server's commands. Each program parses the options after its name. */
const PROGRAMS: Record<ServerCommand, () => Promise<unknown>> = {
  start: () => import('./main.js'),
  migrate: () => import('./programs/migrate-database.js'),
  'create-admin-key': () => import('./programs/create-admin-key.js'),
  backup: () => import('./programs/backup.js'),
  restore: () => import('./programs/restore.js'),
  'rotate-master-key': () => import('./programs/rotate-master-key.js'),
  dns: () => import('./programs/dns.js'),
  orgs: () => import('./programs/orgs.js'),
  'mail-reports': () => import('./programs/mail-reports.js'),
  'confirm-clock': () => import('./programs/confirm-clock.js'),
};

mapStacks();
// `posthorn help backup` is the same as `posthorn backup --help`.
const [first, second = ''] = process.argv.slice(2);
if (first === 'help' && isServerCommand(second)) process.argv.splice(2, 2, second, '--help');
const [word = 'start'] = process.argv.slice(2);
if (isServerCommand(word)) {
  process.argv.splice(2, 1);
  await PROGRAMS[word]();
} else {
  // All other commands call the API over HTTP and load no part of the service.
  const { runCommand } = await import('./cli/main.js');
  await runCommand(
    process.argv.slice(2),
    Object.entries(SERVER_COMMANDS).map(([name, { what }]) => [name, what] as const),
  );
}
