import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { SystemClock } from '#kernel/clock.js';
import { type Config, ConfigError, loadConfig } from '#kernel/config/config.js';
import { ConfigReader, parseMasterKey } from '#kernel/config/config-values.js';
import { Keyring } from '#kernel/crypto/keyring.js';
import { KeyringStore } from '#kernel/crypto/keyring.store.js';
import { Database } from '#kernel/database/database.js';
import { followDatabase } from '#kernel/database/database-time.js';
import { Notifications } from '#kernel/database/notifications.js';
import { Ids } from '#kernel/ids.js';
import { OperatorAudit } from '#modules/audit/operator-audit.js';
import { dataSource } from '../bootstrap/data-source.js';
import { startEmbeddedPostgres } from '../bootstrap/embedded.js';
import { provideMasterKey } from '../bootstrap/master-key.js';
import { connect, runMigrations } from '../bootstrap/migrate.js';
import { expectNoArguments } from '../bootstrap/server-commands.js';
import { startFailure } from '../bootstrap/start-failure.js';

const KEY_BYTES = 32;
/** Time in which all processes reload the data keys. With a broken LISTEN connection, a reload takes five seconds. */
const ALL_KNOW_MS = 6_000;

interface Opened {
  store: KeyringStore;
  database: Database;
  audit: OperatorAudit;
  /** Returns the keyring, decrypted with a master key. Throws ConfigError if the master key is wrong. */
  keyringOf(masterKey: Buffer): Promise<Keyring>;
}

const NEXT_STEPS = [
  'Next: set the new key as MASTER_KEY on every machine and restart the processes, one after the other. Running processes',
  'continue to work; a process started with the old key stops immediately. Back up the new key before you delete the old one.',
];

/** Rotates the master key. Returns the lines to print. @throws ConfigError with one line for the operator. */
async function rotate(config: Config, given: Buffer | null): Promise<string[]> {
  if (config.configuredMasterKey !== null) return rotateConfigured(config, given);
  const file = path.resolve(config.dataDir, 'master.key');
  if (!existsSync(file)) throw new ConfigError(`${file} does not exist: nothing to rotate.`);
  return withDatabase(config, provideMasterKey(config), (opened) =>
    rotateFile(opened, file, provideMasterKey(config), given),
  );
}

async function rotateConfigured(config: Config, next: Buffer | null): Promise<string[]> {
  if (next === null)
    throw new ConfigError(
      'NEW_MASTER_KEY is required in addition to MASTER_KEY: 32 bytes in base64 or hex (`openssl rand -base64 32` creates one).',
    );
  if (next.equals(config.masterKey)) throw new ConfigError('NEW_MASTER_KEY is the same as MASTER_KEY.');
  return withDatabase(config, config.masterKey, async (opened) => {
    const keyring = await keyringOrNull(opened, config.masterKey);
    if (keyring !== null) return [await replace(opened, keyring, next), ...NEXT_STEPS];
    // An earlier run has already rotated the key, and repeating the command is safe.
    await opened.keyringOf(next);
    return ['The data keys are wrapped with NEW_MASTER_KEY already.', ...NEXT_STEPS];
  });
}

/**
 * Writes the new key to a second file before the database depends on that key, and returns the lines to print. After a
 * crash at any moment, one of the two files holds the active key, and running the command again completes the rotation.
 */
async function rotateFile(opened: Opened, file: string, key: Buffer, given: Buffer | null): Promise<string[]> {
  const staged = `${file}.next`;
  const begun = existsSync(staged) ? parseMasterKey(readFileSync(staged, 'utf8').trim()) : null;
  if (begun !== null && (await keyringOrNull(opened, begun)) !== null) {
    renameSync(staged, file);
    return [`The rotation that was interrupted is complete: ${file} contains the new key. Back it up.`];
  }
  const keyring = await opened.keyringOf(key);
  const next = given ?? randomBytes(KEY_BYTES);
  if (next.equals(key)) throw new ConfigError(`NEW_MASTER_KEY is the same as the key in ${file}.`);
  rmSync(staged, { force: true });
  writeDurably(staged, next);
  const done = await replace(opened, keyring, next);
  renameSync(staged, file);
  return [done, `${file} contains the new key. Back it up, and start Posthorn again.`];
}

/**
 * Replaces the master key and returns the line to print. First adds a data key that is encrypted with the old master
 * key, and gives every running process time to load it. Restarted processes encrypt with this data key, so processes
 * that still have the old master key can decrypt the values. Writes an audit entry in the same transaction.
 */
async function replace({ store, database, audit }: Opened, keyring: Keyring, next: Buffer): Promise<string> {
  const id = await keyring.add();
  if ((await store.peers()) > 0) await rest(ALL_KNOW_MS);
  await database.transaction(async () => {
    await keyring.rewrap(next);
    await audit.record('posthorn rotate-master-key', {
      resourceType: 'master-key',
      resourceId: null,
      after: { data_key: id },
    });
  });
  return `Every data key is wrapped with the new master key, and data key ${id} was added for values sealed from now on.`;
}

async function keyringOrNull(opened: Opened, masterKey: Buffer): Promise<Keyring | null> {
  try {
    return await opened.keyringOf(masterKey);
  } catch (error) {
    if (error instanceof ConfigError) return null;
    throw error;
  }
}

/**
 * Runs `work` on the database and returns its result. The service must be stopped if PostgreSQL is embedded, because
 * the server locks its directory.
 */
async function withDatabase<T>(config: Config, masterKey: Buffer, work: (opened: Opened) => Promise<T>): Promise<T> {
  const postgres = config.isEmbedded ? await startEmbeddedPostgres({ dataDir: config.dataDir }) : null;
  try {
    const complete = config.completedWith(postgres?.url ?? config.databaseUrl, masterKey);
    const source = dataSource(complete.databaseDirectUrl, 4, [], { migratesOnly: true });
    await connect(source);
    const database = new Database(source, complete);
    try {
      await runMigrations(source);
      const clock = new SystemClock();
      await followDatabase(clock, (text) => source.query(text));
      return await work(await opened(complete, database, clock));
    } finally {
      await database.close();
    }
  } finally {
    await postgres?.stop();
  }
}

async function opened(config: Config, database: Database, clock: SystemClock): Promise<Opened> {
  const store = new KeyringStore(database);
  const keyringOf = async (masterKey: Buffer): Promise<Keyring> => {
    const keyring = new Keyring(store, new Notifications(config, database, clock), { masterKey }, clock);
    await keyring.load();
    return keyring;
  };
  return { store, database, audit: await OperatorAudit.open(database, new Ids(clock)), keyringOf };
}

/** Writes a key file that survives a power failure: also fsyncs the directory. The database depends on the file. */
function writeDurably(file: string, key: Buffer): void {
  const descriptors = [openSync(file, 'wx', 0o600), openSync(path.dirname(file), 'r')];
  try {
    writeSync(descriptors[0] as number, `${key.toString('base64')}\n`);
    for (const descriptor of descriptors) fsyncSync(descriptor);
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor);
  }
}

/** Returns NEW_MASTER_KEY, or null. Only this command reads it, because the service must hold only the active key. */
function givenKey(): Buffer | null {
  // eslint-disable-next-line no-restricted-properties -- not the service's configuration
  const value = new ConfigReader(process.env).text('NEW_MASTER_KEY');
  if (value === null) return null;
  const key = parseMasterKey(value);
  if (key === null)
    throw new ConfigError(
      `NEW_MASTER_KEY must be 32 bytes in base64 or hex; the given value has ${value.length} characters.`,
    );
  return key;
}

let config: Config | null = null;
try {
  expectNoArguments('rotate-master-key');
  config = loadConfig();
  const lines = await rotate(config, givenKey());
  process.stdout.write(`${lines.join('\n')}\n`);
} catch (error) {
  process.stderr.write(`The master key was not rotated: ${startFailure(error, config)}\n`);
  process.exitCode = 1;
}
