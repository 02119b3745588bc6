import { hostname } from 'node:os';
import { Injectable, Logger } from '@nestjs/common';
import { Presence } from '#modules/events/contract.js';
import { Clock } from '#kernel/clock.js';
import { Ids, type Id } from '#kernel/ids.js';
import { Loop } from '#kernel/loop.js';

const BEAT_MS = 2_000;
const LEASE_MS = 10_000;

/**
 * This worker's life: it renews a lease every two seconds, and what it claimed is its own while the lease lasts. A
 * worker that was declared dead takes a new id, so that results of its old claims are refused by their fence.
 */
@Injectable()
export class WorkerPresence {
  private readonly logger = new Logger(WorkerPresence.name);
  private readonly loop: Loop;
  private id: Id;
  private present = false;
  /** Others could not renew either while storage was away: nobody is declared dead right after. */
  private steadySinceMs: number | null = null;
  private reapedListeners: (() => void)[] = [];

  constructor(
    private readonly presence: Presence,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {
    this.id = ids.next();
    this.loop = new Loop('WorkerPresence', () => this.turn(), () => clock.nowMs());
  }

  /** The id that claims are made with, or null while this worker may not claim. */
  claimant(): Id | null {
    return this.present ? this.id : null;
  }

  /** Calls `listener` when claims of this worker, or of others, were freed. */
  onReaped(listener: () => void): void {
    this.reapedListeners.push(listener);
  }

  start(): void {
    this.loop.start();
  }

  /** Claims no more, and gives back what is still held. */
  async leave(): Promise<void> {
    this.present = false;
    await this.loop.stop();
    await this.presence.leave(this.id);
  }

  private async turn(): Promise<{ restMs: number }> {
    try {
      await this.beat();
    } catch (error) {
      this.steadySinceMs = null;
      throw error;
    }
    this.steadySinceMs ??= this.clock.nowMs();
    if (this.clock.nowMs() - this.steadySinceMs >= LEASE_MS) {
      const freed = await this.presence.reap();
      if (freed > 0) {
        this.logger.warn(`Freed ${freed} deliveries of workers that are gone.`);
        for (const listener of this.reapedListeners) listener();
      }
    }
    return { restMs: BEAT_MS };
  }

  private async beat(): Promise<void> {
    const worker = { id: this.id, host: hostname(), pid: process.pid, leaseMs: LEASE_MS };
    if (await this.presence.beat(worker)) {
      this.present = true;
      return;
    }
    this.logger.warn('This worker was declared dead; it goes on under a new id.');
    this.id = this.ids.next();
    await this.beat();
  }
}
