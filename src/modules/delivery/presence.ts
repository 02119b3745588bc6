import { hostname } from 'node:os';
import { Injectable, Logger } from '@nestjs/common';
import { Presence } from '#modules/ledger/accept.contract.js';
import { Clock } from '#kernel/clock.js';
import { Ids, type Id } from '#kernel/ids.js';
import { Loop } from '#kernel/loop.js';

const BEAT_MS = 2_000;
const LEASE_MS = 10_000;
const NAME_LIFETIME_MS = 30_000;

/** A name that this worker claims under, or did. */
interface Name {
  id: Id;
  sinceMs: number;
}

/**
 * This worker's life: it renews a lease every two seconds, and what it claimed is its own while the lease lasts. A
 * worker that was declared dead takes a new name, so that results of its old claims are refused by their fence.
 *
 * It takes a new name every half minute as well. The old one lives on until nothing is held under it and then goes,
 * and with it claims whose rows this worker never heard of: the statement was committed and its answer was lost.
 */
@Injectable()
export class WorkerPresence {
  private readonly logger = new Logger(WorkerPresence.name);
  private readonly loop: Loop;
  /** The one that claims are made under, then the older ones. */
  private names: [Name, ...Name[]];
  private present = false;
  /** Others could not renew either while storage was away: nobody is declared dead right after. */
  private steadySinceMs: number | null = null;
  private reapedListeners: (() => void)[] = [];
  private holds: (id: Id) => boolean = () => true;

  constructor(
    private readonly presence: Presence,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {
    this.names = [this.newName()];
    this.loop = new Loop('WorkerPresence', () => this.turn(), () => clock.nowMs());
  }

  /** The id that claims are made with, or null while this worker may not claim. */
  claimant(): Id | null {
    return this.present ? this.names[0].id : null;
  }

  /** Calls `listener` when claims of this worker, or of others, were freed. */
  onReaped(listener: () => void): void {
    this.reapedListeners.push(listener);
  }

  /** Starts; `holds` tells whether a delivery is held under a name. */
  start(holds: (id: Id) => boolean): void {
    this.holds = holds;
    this.loop.start();
  }

  /** Claims no more, and gives back what is still held. */
  async leave(): Promise<void> {
    this.present = false;
    await this.loop.stop();
    for (const { id } of this.names) await this.presence.leave(id);
  }

  private async turn(): Promise<{ restMs: number }> {
    try {
      await this.renew();
    } catch (error) {
      this.steadySinceMs = null;
      throw error;
    }
    this.present = true;
    this.steadySinceMs ??= this.clock.nowMs();
    if (this.clock.nowMs() - this.steadySinceMs >= LEASE_MS) this.freed(await this.presence.reap());
    return { restMs: BEAT_MS };
  }

  private async renew(): Promise<void> {
    const [current, ...older] = this.names;
    const alive = await this.beat(current);
    if (!alive) this.logger.warn('This worker was declared dead; it goes on under a new name.');
    const kept: Name[] = alive ? [current] : [];
    for (const name of older) if (!(await this.retired(name)) && (await this.beat(name))) kept.push(name);
    if (alive && this.clock.nowMs() - current.sinceMs < NAME_LIFETIME_MS) {
      this.names = [current, ...kept.slice(1)];
      return;
    }
    const next = this.newName();
    await this.beat(next);
    this.names = [next, ...kept];
  }

  /** Statements that were under way when a name was replaced are over after another lifetime. */
  private async retired({ id, sinceMs }: Name): Promise<boolean> {
    if (this.clock.nowMs() - sinceMs < 2 * NAME_LIFETIME_MS || this.holds(id)) return false;
    await this.presence.leave(id);
    return true;
  }

  private beat({ id }: Name): Promise<boolean> {
    return this.presence.beat({ id, host: hostname(), pid: process.pid, leaseMs: LEASE_MS });
  }

  private newName(): Name {
    return { id: this.ids.next(), sinceMs: this.clock.nowMs() };
  }

  private freed(count: number): void {
    if (count === 0) return;
    this.logger.warn(`Freed ${count} deliveries of workers that are gone.`);
    for (const listener of this.reapedListeners) listener();
  }
}
