import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { HOUSEKEEPING, Loop } from '#kernel/concurrency/loop.js';
import type { Id } from '#kernel/ids.js';
import { KeysStore, type KeyUse } from './keys.store.js';

const WRITE_PERIOD_MS = 5_000;
/** Above it a use is forgotten: `last_used_at` is for people, and must never cost the service its memory. */
const PENDING_MAX = 10_000;

/**
 * Writes when keys were last used: in the background, all of them in one statement. A database that is away costs
 * nothing but a later write; a process that dies costs the last seconds.
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

  /** Remembers a use for the next write; cheap enough for the path of a request. */
  note(use: KeyUse): void {
    if (this.pending.size < PENDING_MAX || this.pending.has(use.keyId)) this.pending.set(use.keyId, use);
  }

  /** One turn of the loop. */
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
