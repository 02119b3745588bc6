import { hostname } from 'node:os';
import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Loop } from '#kernel/concurrency/loop.js';
import { isOutcomeUnknown } from '#kernel/database/database.js';
import { DatabaseTime } from '#kernel/database/database-time.js';
import { type Id, Ids } from '#kernel/ids.js';
import { WorkerRegistry } from '#modules/ledger/worker-registry.contract.js';

const BEAT_MS = 2_000;
const LEASE_MS = 10_000;
const NAME_LIFETIME_MS = 30_000;
/** A name in doubt is kept for so long after it was replaced: what was asked for under it and is answered at all is answered then. */
const DOUBT_MS = 4_000;

/** A name that this worker claims under, or did. Times are those of the monotonic clock. */
interface Name {
  id: Id;
  sinceMs: number;
  /** When the renewal was asked for that succeeded last: PostgreSQL counts the lease from a moment after it. */
  beatMs: number;
  /** When another one took its place. */
  replacedMs: number | null;
  /** A claim under it had no answer. */
  isInDoubt: boolean;
}

/** What this worker holds, as far as its presence has to know it. */
export interface ClaimHolder {
  /** Whether anything is held that was claimed under this name. */
  holds(claimant: Id): boolean;
  /** A name was declared dead: what is held under it and has not started belongs to others. */
  dropClaim(claimant: Id): void;
  /** The leases are renewed: what could not start while they were in doubt may start now, or is lost. */
  resume(): void;
}

/**
 * This worker's life: it renews a lease every two seconds, and what it claimed is its own while the lease lasts. A
 * worker that was declared dead takes a new name, so that results of its old claims are refused by their fence.
 *
 * A process that stood still (stopped, a paused machine, a long collection) does not know what others did meanwhile: by its
 * own monotonic clock the lease is over, and nothing starts under it until PostgreSQL says that the name still lives.
 *
 * It takes a new name every half minute as well, and at the next beat after a claim had no answer. The old one lives on until nothing
 * is held under it and then goes, and with it claims whose rows this worker never heard of: the statement was committed and its answer was lost.
 */
@Injectable()
export class WorkerHeartbeat {
  private readonly logger = new Logger(WorkerHeartbeat.name);
  private readonly loop: Loop;
  /** The one that claims are made under, then the older ones. */
  private names: [Name, ...Name[]];
  private isLeaving = false;
  /** Others could not renew either while storage was away: nobody is declared dead right after. */
  private steadySinceMs: number | null = null;
  private reapedListeners: (() => void)[] = [];
  private claimHolder: ClaimHolder = { holds: () => true, dropClaim: () => undefined, resume: () => undefined };

  constructor(
    private readonly heartbeat: WorkerRegistry,
    private readonly clock: Clock,
    private readonly ids: Ids,
    private readonly time: DatabaseTime,
  ) {
    this.names = [this.newName()];
    this.loop = new Loop(
      'WorkerPresence',
      () => this.turn(),
      () => clock.nowMs(),
    );
  }

  /** The id that claims are made with, or null while this worker may not claim: its lease is in doubt, or its clock is. */
  claimant(): Id | null {
    const [current] = this.names;
    return !this.isLeaving && this.isFresh(current) && this.time.isAgreed() ? current.id : null;
  }

  /** Whether what was claimed under a name may start now. */
  mayStart(claimant: Id): boolean {
    return this.names.some((name) => name.id === claimant && this.isFresh(name));
  }

  /** Whether a name is still this worker's; one that was declared dead, or was given back, is not. */
  isOwnClaim(claimant: Id): boolean {
    return this.names.some(({ id }) => id === claimant);
  }

  /** A claim under this name was not answered: rows may stand under it that nobody here has heard of. */
  suspect(claimant: Id): void {
    const name = this.names.find(({ id }) => id === claimant);
    if (name) name.isInDoubt = true;
  }

  /** What a claim under this name resolves with. */
  async trackClaim<T>(claimant: Id, claim: Promise<T>): Promise<T> {
    try {
      return await claim;
    } catch (error) {
      if (isOutcomeUnknown(error)) this.suspect(claimant);
      throw error;
    }
  }

  /** Milliseconds since the lease was renewed last; null before it was. */
  leaseAgeMs(): number | null {
    const [{ beatMs }] = this.names;
    return beatMs === -Infinity ? null : this.clock.monotonicMs() - beatMs;
  }

  /** Calls `listener` when claims of this worker, or of others, were freed. */
  onReaped(listener: () => void): void {
    this.reapedListeners.push(listener);
  }

  start(claimHolder: ClaimHolder): void {
    this.claimHolder = claimHolder;
    this.loop.start();
  }

  /** Claims no more, and gives back what is still held. */
  async stop(): Promise<void> {
    this.isLeaving = true;
    await this.loop.stop();
    for (const { id } of this.names) await this.heartbeat.remove(id);
  }

  private async turn(): Promise<{ restMs: number }> {
    if (!this.names.some((name) => this.isFresh(name))) this.steadySinceMs = null;
    try {
      await this.renew();
    } catch (error) {
      this.steadySinceMs = null;
      throw error;
    }
    this.claimHolder.resume();
    this.steadySinceMs ??= this.clock.monotonicMs();
    const isSteady = this.clock.monotonicMs() - this.steadySinceMs >= LEASE_MS;
    if (isSteady && this.time.isAgreed()) this.notifyReaped(await this.heartbeat.reap());
    return { restMs: BEAT_MS };
  }

  private async renew(): Promise<void> {
    const [current, ...older] = this.names;
    const alive = await this.beat(this.names);
    const isAlive = alive.has(current.id);
    if (!isAlive) this.logger.warn('This worker was declared dead; it goes on under a new name.');
    const kept: Name[] = isAlive ? [current] : [];
    for (const name of older) if (alive.has(name.id) && !(await this.isRetired(name))) kept.push(name);
    const nowMs = this.clock.monotonicMs();
    if (isAlive && !current.isInDoubt && nowMs - current.sinceMs < NAME_LIFETIME_MS) {
      this.names = [current, ...kept.slice(1)];
      return;
    }
    const next = this.newName();
    await this.beat([next]);
    current.replacedMs = nowMs;
    this.names = [next, ...kept];
  }

  /** Statements that were under way when a name was replaced are over after another lifetime; behind one in doubt nobody waits for so long. */
  private async isRetired({ id, replacedMs, isInDoubt }: Name): Promise<boolean> {
    const restMs = isInDoubt ? DOUBT_MS : NAME_LIFETIME_MS;
    if (this.clock.monotonicMs() - (replacedMs ?? Infinity) < restMs || this.claimHolder.holds(id)) return false;
    // What is answered from here on does not start: it is free for others.
    this.names = this.names.filter((name) => name.id !== id) as [Name, ...Name[]];
    await this.heartbeat.remove(id);
    return true;
  }

  /** Those that live; what is held under a dead one goes at once. */
  private async beat(names: readonly Name[]): Promise<ReadonlySet<Id>> {
    const askedMs = this.clock.monotonicMs();
    const alive = await this.heartbeat.beat({
      ids: names.map(({ id }) => id),
      host: hostname(),
      pid: process.pid,
      leaseMs: LEASE_MS,
    });
    for (const name of names) {
      if (alive.has(name.id)) name.beatMs = askedMs;
      else this.claimHolder.dropClaim(name.id);
    }
    return alive;
  }

  private isFresh({ beatMs }: Name): boolean {
    return this.clock.monotonicMs() - beatMs < LEASE_MS;
  }

  private newName(): Name {
    return {
      id: this.ids.next(),
      sinceMs: this.clock.monotonicMs(),
      beatMs: -Infinity,
      replacedMs: null,
      isInDoubt: false,
    };
  }

  private notifyReaped(count: number): void {
    if (count === 0) return;
    this.logger.warn(`Freed ${count} deliveries of workers that are gone.`);
    for (const listener of this.reapedListeners) listener();
  }
}
