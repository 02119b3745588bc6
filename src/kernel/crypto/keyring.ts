import { randomBytes } from 'node:crypto';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { Clock } from '../clock.js';
import { Config, ConfigError } from '../config/config.js';
import { Notifications } from '../database/notifications.js';
import { type DataKey, derive, firstDataKey, unwrap, wrap } from './data-key.js';
import { KeyringStore, type WrappedKey } from './keyring.store.js';
import { dataKeyOf, openValue } from './sealed-value.js';

const KEY_BYTES = 32;
/** The first random key. What all nodes must agree on is derived from it, since it stays whatever is rotated. */
const ROOT_ID = 1;
/** At most one look at the table in this time, however often an unknown key is asked for. */
const REREAD_MS_MIN = 1_000;

/**
 * The data keys of the installation, open in memory: the newest one seals, the others still open what they sealed.
 * In the database they are wrapped by MASTER_KEY, so replacing that key touches a few rows and no secret.
 *
 * `load` comes before everything else. Later keys are learned from the notification `keyring`, and when a value names
 * one that is not known. Keys that are known stay known, also when somebody has wrapped them with another MASTER_KEY.
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
   * Opens the data keys, and makes the first ones on the first start; of processes that start at once, one makes them.
   * @throws ConfigError when MASTER_KEY is not the one that this database is locked with.
   */
  async load(): Promise<void> {
    const rows = await this.store.list();
    for (const row of rows.length > 0 ? rows : await this.store.locked(() => this.begin()))
      this.learn(this.unwrapped(row));
  }

  /** The key that seals. */
  newest(): DataKey {
    return { id: this.newestId, key: this.known(this.newestId) };
  }

  /** The key with that number; null when it is not known (yet): then the table is read again meanwhile. */
  find(id: number): Buffer | null {
    const key = this.keys.get(id) ?? null;
    if (key === null && this.clock.nowMs() - this.rereadAtMs >= REREAD_MS_MIN) this.reread();
    return key;
  }

  /** The installation's key for a purpose: the same on every node, whatever becomes of MASTER_KEY. */
  derived(purpose: string): Buffer {
    return derive(this.known(ROOT_ID), purpose);
  }

  /** Adds a data key, which every process seals with from then on; its number. */
  async add(): Promise<number> {
    return this.store.locked(async () => {
      const rows = await this.store.list();
      const made = { id: Math.max(...rows.map(({ id }) => id)) + 1, key: randomBytes(KEY_BYTES) };
      await this.store.insert(this.wrapped(made));
      await this.notifications.announce('keyring', String(made.id));
      return made.id;
    });
  }

  /** Wraps every data key with another master key, in one transaction. Throws ConfigError when MASTER_KEY does not open them. */
  async rewrap(masterKey: Buffer): Promise<void> {
    await this.store.locked(async () => {
      const keys = (await this.store.list()).map((row) => this.unwrapped(row));
      await this.store.replace(keys.map((key) => ({ id: key.id, wrapped: wrap(masterKey, key) })));
    });
  }

  /** The first keys: number 0 is what has sealed everything so far, so that it outlives this MASTER_KEY. */
  private async begin(): Promise<WrappedKey[]> {
    const rows = await this.store.list();
    if (rows.length > 0) return rows;
    const first = { id: 0, key: firstDataKey(this.config.masterKey) };
    await this.checkAgainstStored(first);
    const made = [this.wrapped(first), this.wrapped({ id: ROOT_ID, key: randomBytes(KEY_BYTES) })];
    for (const row of made) await this.store.insert(row);
    return made;
  }

  /** Without this, a wrong MASTER_KEY on the first start with data keys would lock the right one out. */
  private async checkAgainstStored({ key }: DataKey): Promise<void> {
    const stored = await this.store.oldestSecret();
    if (stored === null) return;
    if (dataKeyOf(stored.sealed) !== 0)
      throw new Error('The table data_keys is empty beside secrets that its keys have sealed: restore it.');
    if (openValue(key, stored.sealed, stored.context) === null) throw wrongMasterKey();
  }

  private reread(): void {
    this.rereading ??= this.learnNew()
      .catch((error: unknown) => this.logger.warn(`The data keys could not be read again: ${(error as Error).message}`))
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
      `Data key ${id} is wrapped with another MASTER_KEY than this process has. Restart it with the new one.`,
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
