import { randomBytes } from 'node:crypto';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { Clock } from '../clock.js';
import { Config, ConfigError } from '../config/config.js';
import { Notifications } from '../database/notifications.js';
import { type DataKey, derive, firstDataKey, unwrap, wrap } from './data-key.js';
import { KeyringStore, type WrappedKey } from './keyring.store.js';
import { dataKeyOf, openValue } from './sealed-value.js';

const KEY_BYTES = 32;
/** Number of the first random key. A rotation never removes this key, so all nodes can derive shared values from it. */
const ROOT_ID = 1;
/** Minimum time between two reads of the table of data keys. Limits the reads that requests for unknown keys cause. */
const REREAD_MS_MIN = 1_000;

/**
 * The installation's data keys, decrypted in memory. The newest key encrypts new values. Older keys decrypt the values
 * that were encrypted with them. The database stores the data keys wrapped with MASTER_KEY. Replacing MASTER_KEY
 * therefore rewrites only these few rows, and none of the encrypted values.
 *
 * Call `load` first. Later keys are loaded on the notification `keyring`, or when a value needs an unknown key. Loaded
 * keys stay in memory, so they remain usable after MASTER_KEY was replaced.
 */
@Injectable()
export class Keyring {
  private readonly logger = new Logger(Keyring.name);
  private readonly keys = new Map<number, Buffer>();
  private readonly unreadable = new Set<number>();
  private newestId = -1;
  private rereading: Promise<void> | null = null;
  private rereadAtMs = -Infinity;

  constructor(
    private readonly store: KeyringStore,
    private readonly notifications: Notifications,
    @Inject(Config) private readonly config: Pick<Config, 'masterKey'>,
    private readonly clock: Clock,
  ) {
    notifications.on('keyring', () => this.reread());
  }

  /**
   * Loads the data keys. At the first start, one process creates them. @throws ConfigError if MASTER_KEY does not match
   * this database.
   */
  async load(): Promise<void> {
    const rows = await this.store.list();
    for (const row of rows.length > 0 ? rows : await this.store.locked(() => this.begin()))
      this.learn(this.unwrapped(row));
  }

  newest(): DataKey {
    return { id: this.newestId, key: this.known(this.newestId) };
  }

  /** Returns the data key. If it is unknown, returns null and reads the table again in the background. */
  find(id: number): Buffer | null {
    const key = this.keys.get(id) ?? null;
    if (key === null && this.clock.nowMs() - this.rereadAtMs >= REREAD_MS_MIN) this.reread();
    return key;
  }

  /** Derives a value that is the same on every node and does not change with MASTER_KEY. */
  derived(purpose: string): Buffer {
    return derive(this.known(ROOT_ID), purpose);
  }

  /** Adds a data key and returns its number. Every process then encrypts new values with it. */
  async add(): Promise<number> {
    return this.store.locked(async () => {
      const rows = await this.store.list();
      const made = { id: Math.max(...rows.map(({ id }) => id)) + 1, key: randomBytes(KEY_BYTES) };
      await this.store.insert(this.wrapped(made));
      await this.notifications.announce('keyring', String(made.id));
      return made.id;
    });
  }

  /**
   * Wraps every data key with `masterKey`, in one transaction. Throws ConfigError if MASTER_KEY cannot decrypt a data
   * key.
   */
  async rewrap(masterKey: Buffer): Promise<void> {
    await this.store.locked(async () => {
      const keys = (await this.store.list()).map((row) => this.unwrapped(row));
      await this.store.replace(keys.map((key) => ({ id: key.id, wrapped: wrap(masterKey, key) })));
    });
  }

  /** Returns the stored data keys. If none exist, stores key 0 (for values older than data keys) and random key 1. */
  private async begin(): Promise<WrappedKey[]> {
    const rows = await this.store.list();
    if (rows.length > 0) return rows;
    const first = { id: 0, key: firstDataKey(this.config.masterKey) };
    await this.checkAgainstStored(first);
    const made = [this.wrapped(first), this.wrapped({ id: ROOT_ID, key: randomBytes(KEY_BYTES) })];
    for (const row of made) await this.store.insert(row);
    return made;
  }

  /**
   * Throws if MASTER_KEY is wrong. If data keys were stored under a wrong MASTER_KEY, the right MASTER_KEY could not
   * decrypt them.
   */
  private async checkAgainstStored({ key }: DataKey): Promise<void> {
    const stored = await this.store.oldestSecret();
    if (stored === null) return;
    if (dataKeyOf(stored.sealed) !== 0)
      throw new Error(
        'The table data_keys is empty, but there are secrets that its keys have sealed: restore the table.',
      );
    if (openValue(key, stored.sealed, stored.context) === null) throw wrongMasterKey();
  }

  private reread(): void {
    this.rereading ??= this.learnNew()
      .catch((error: unknown) => this.logger.warn(`The data keys could not be reloaded: ${(error as Error).message}`))
      .finally(() => (this.rereading = null));
  }

  private async learnNew(): Promise<void> {
    this.rereadAtMs = this.clock.nowMs();
    for (const { id, wrapped } of await this.store.list()) {
      if (this.keys.has(id)) continue;
      const key = unwrap(this.config.masterKey, id, wrapped);
      if (key) this.learn(key);
      else this.warnOnce(id);
    }
  }

  private warnOnce(id: number): void {
    if (this.unreadable.has(id)) return;
    this.unreadable.add(id);
    this.logger.warn(
      `Data key ${id} is wrapped with a MASTER_KEY that this process does not have. Restart it with the new one.`,
    );
  }

  private learn({ id, key }: DataKey): void {
    this.keys.set(id, key);
    this.newestId = Math.max(this.newestId, id);
  }

  private known(id: number): Buffer {
    const key = this.keys.get(id);
    if (!key) throw new Error('The data keys are not loaded yet.');
    return key;
  }

  private wrapped(key: DataKey): WrappedKey {
    return { id: key.id, wrapped: wrap(this.config.masterKey, key) };
  }

  private unwrapped({ id, wrapped }: WrappedKey): DataKey {
    const key = unwrap(this.config.masterKey, id, wrapped);
    if (key === null) throw wrongMasterKey();
    return key;
  }
}

function wrongMasterKey(): ConfigError {
  return new ConfigError(
    'MASTER_KEY is not the one that this database is locked with: set that one (after a rotation, the new one).',
  );
}
