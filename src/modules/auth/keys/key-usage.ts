import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Every } from '#kernel/concurrency/every.js';
import type { Id } from '#kernel/ids.js';
import { KeysStore, type KeyUse } from './keys.store.js';

const WRITE_PERIOD_MS = 5_000;
/**
 * Maximum number of key uses that wait to be written. Further uses are dropped, so that they do not exhaust the memory.
 */
const PENDING_MAX = 10_000;

/**
 * Writes the times at which keys were last used, in the background and with one statement. Retries if the database is
 * unavailable. After a crash, the uses of the last seconds are lost.
 */
@Injectable()
export class KeyUsage implements OnApplicationShutdown {
  private pending = new Map<Id, KeyUse>();

  constructor(private readonly keys: KeysStore) {}

  note(use: KeyUse): void {
    if (this.pending.size < PENDING_MAX || this.pending.has(use.keyId)) this.pending.set(use.keyId, use);
  }

  @Every(WRITE_PERIOD_MS, { name: 'Key usage' })
  async write(): Promise<void> {
    const writing = this.pending;
    if (writing.size === 0) return;
    this.pending = new Map();
    try {
      await this.keys.noteUses([...writing.values()]);
    } catch (error) {
      this.pending = new Map([...writing, ...this.pending]);
      throw error;
    }
  }

  /** Writes the remaining key uses. At this point, the background job has stopped and no request is running. */
  async onApplicationShutdown(): Promise<void> {
    await this.write().catch(() => undefined);
  }
}
