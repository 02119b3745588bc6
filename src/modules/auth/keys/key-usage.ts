import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { HOUSEKEEPING, Loop } from '#kernel/concurrency/loop.js';
import type { Id } from '#kernel/ids.js';
import { KeysStore, type KeyUse } from './keys.store.js';

const WRITE_PERIOD_MS = 5_000;
/** Further uses are dropped: `last_used_at` is informational and must not exhaust the memory. */
const PENDING_MAX = 10_000;

/**
 * Writes the times of last use in the background, with one statement for all, and later if the database is unavailable.
 * A crash loses the uses of the last seconds.
 */
@Injectable()
export class KeyUsage implements OnApplicationBootstrap, OnModuleDestroy {
  private pending = new Map<Id, KeyUse>();
  private readonly loop: Loop;

  constructor(
    private readonly keys: KeysStore,
    clock: Clock,
  ) {
    this.loop = new Loop(
      'KeyUsage',
      () => this.write(),
      () => clock.nowMs(),
      HOUSEKEEPING,
    );
  }

  note(use: KeyUse): void {
    if (this.pending.size < PENDING_MAX || this.pending.has(use.keyId)) this.pending.set(use.keyId, use);
  }

  async write(): Promise<{ restMs: number }> {
    const writing = this.pending;
    if (writing.size === 0) return { restMs: WRITE_PERIOD_MS };
    this.pending = new Map();
    try {
      await this.keys.noteUses([...writing.values()]);
    } catch (error) {
      this.pending = new Map([...writing, ...this.pending]);
      throw error;
    }
    return { restMs: WRITE_PERIOD_MS };
  }

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.loop.stop();
    await this.write().catch(() => undefined);
  }
}
