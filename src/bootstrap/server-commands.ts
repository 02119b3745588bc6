import { ConfigError } from '#kernel/config/config-values.js';

export type ServerCommand = keyof typeof SERVER_COMMANDS;

/** The server's commands, with the examples that `--help` shows. */
export const SERVER_COMMANDS = {
  start: {
    what: 'serves, as configured by the environment (the default)',
    examples: ['posthorn', 'PORT=8080 DATABASE_URL=postgres://… posthorn start'],
  },
  migrate: {
    what: 'migrates the database, including the tables of EXTENSIONS, and exits',
    examples: ['DATABASE_URL=postgres://… posthorn migrate'],
  },
  'create-admin-key': {
    what: 'creates an admin key: --env live (the default) or --env test',
    examples: ['posthorn create-admin-key', 'posthorn create-admin-key --env test'],
  },
  backup: {
    what: 'backs up the embedded database to FILE; --without-key excludes the master key',
    examples: ['posthorn backup posthorn.tar', 'posthorn backup posthorn.tar --without-key'],
  },
  restore: {
    what: 'restores the backup FILE into a DATA_DIR without a database',
    examples: ['DATA_DIR=./restored posthorn restore posthorn.tar'],
  },
  'rotate-master-key': {
    what: 'wraps the data keys with NEW_MASTER_KEY',
    examples: ['NEW_MASTER_KEY=$(openssl rand -base64 32) posthorn rotate-master-key'],
  },
  dns: {
    what: 'prints the records to publish in the zone of PLATFORM_DOMAIN; --rotate-dkim moves to a new signing key',
    examples: ['posthorn dns', 'posthorn dns --rotate-dkim', 'posthorn dns --rotate-dkim --now'],
  },
  orgs: {
    what: 'lists, creates or removes organizations',
    examples: [
      'posthorn orgs list',
      'posthorn orgs create --slug acme --name "Acme" --admin-email ada@example.com --admin-name "Ada"',
      'posthorn orgs remove org_…',
    ],
  },
  'mail-reports': {
    what: 'lists reports about mail that match no email or prove nothing; --raw ID prints one unchanged',
    examples: ['posthorn mail-reports', 'posthorn mail-reports --raw rep_…'],
  },
  'confirm-clock': {
    what: "confirms that PostgreSQL's clock is correct after a jump, so that retention resumes",
    examples: ['posthorn confirm-clock'],
  },
} satisfies Record<string, { what: string; examples: string[] }>;

export function isServerCommand(word: string): word is ServerCommand {
  return Object.hasOwn(SERVER_COMMANDS, word);
}

/**
 * Returns the arguments of the command that this process runs. For `--help` or `-h`, prints the help and exits with
 * code 0, so that a request for help never changes anything.
 */
export function argumentsOf(command: ServerCommand): string[] {
  const given = process.argv.slice(2);
  if (!given.some((each) => each === '--help' || each === '-h')) return given;
  process.stdout.write(helpOf(command));
  process.exit(0);
}

/** Prints the help if it is requested. @throws ConfigError for any other argument. */
export function expectNoArguments(command: ServerCommand): void {
  if (argumentsOf(command).length > 0) throw new ConfigError(`\`posthorn ${command}\` takes no options.`);
}

function helpOf(command: ServerCommand): string {
  const { what, examples } = SERVER_COMMANDS[command];
  const lines = [
    `posthorn ${command}: ${what}. The settings are environment variables (docs/configure.md).`,
    '',
    'Examples:',
    ...examples.map((example) => `  ${example}`),
  ];
  return `${lines.join('\n')}\n`;
}
