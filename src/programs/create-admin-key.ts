import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { SystemClock } from '#kernel/clock.js';
import { type Config, ConfigError, loadConfig } from '#kernel/config/config.js';
import { Database } from '#kernel/database/database.js';
import { followDatabase } from '#kernel/database/database-time.js';
import { Ids, showId } from '#kernel/ids.js';
import { OperatorAudit } from '#modules/audit/operator-audit.js';
import { AdminKeys } from '#modules/auth/keys/admin-keys.js';
import { KeyIssuer } from '#modules/auth/keys/key-issuer.js';
import { KeysStore } from '#modules/auth/keys/keys.store.js';
import { OrganizationsStore } from '#modules/auth/organizations/own-organization.store.js';
import { NO_MASTER_KEY, runOnDatabase } from '../bootstrap/command-database.js';
import { openDatabase } from '../bootstrap/data-source.js';
import { argumentsOf } from '../bootstrap/server-commands.js';
import { startFailure } from '../bootstrap/start-failure.js';

const NOT_STARTED = 'Posthorn has not been started on this database yet: its first start prints admin keys.';

/**
 * Creates an admin key and returns its text. Writes an audit entry in the same transaction, which the organization's
 * admins see.
 */
async function createAt(url: string, config: Config, mode: 'live' | 'test'): Promise<string> {
  const source = await openDatabase(url);
  const database = new Database(source, config.completedWith(url, NO_MASTER_KEY));
  try {
    const clock = new SystemClock();
    await followDatabase(clock, (text) => source.query(text));
    const ids = new Ids(clock);
    const keys = new KeysStore(database);
    const adminKeys = new AdminKeys(database, new OrganizationsStore(database), keys, new KeyIssuer(keys, ids, clock));
    const audit = await OperatorAudit.open(database, ids);
    return await database.transaction(async () => {
      const made = await adminKeys.create(mode);
      if (made === null) throw new ConfigError(NOT_STARTED);
      const { row, text, organizationId } = made;
      await audit.record('posthorn create-admin-key', {
        organizationId,
        environmentId: row.environmentId,
        resourceType: 'keys',
        resourceId: showId('ek', row.id),
        after: { name: row.name, scope: row.scope, prefix: row.prefix },
      });
      return text;
    });
  } finally {
    await database.close();
  }
}

function modeOf(given: string[]): 'live' | 'test' {
  try {
    const { env } = parseArgs({ args: given, options: { env: { type: 'string', default: 'live' } } }).values;
    if (env === 'live' || env === 'test') return env;
  } catch {
    // parseArgs throws for an unknown option. The error below covers this case too.
  }
  throw new ConfigError('The only option is --env live or --env test: `npm run create-admin-key -- --env test`.');
}

let config: Config | null = null;
try {
  const mode = modeOf(argumentsOf('create-admin-key'));
  config = loadConfig();
  const key = await runOnDatabase(config, (url, given) => createAt(url, given, mode), NOT_STARTED);
  process.stdout.write(
    `${mode === 'live' ? 'Live' : 'Test'} admin key: ${key}\nIt is not shown again. Revoke lost keys with DELETE /v1/keys/{id}.\n`,
  );
} catch (error) {
  process.stderr.write(`No admin key was made: ${startFailure(error, config)}\n`);
  process.exitCode = 1;
}
