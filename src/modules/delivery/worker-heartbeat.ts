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
/**
 * Time for which a replaced worker id stays registered if a claim under it got no response. Longer than a response can
 * take.
 */
const DOUBT_MS = 4_000;

/** A worker id under which this worker claims or claimed deliveries. Times are on the monotonic clock. */
interface Name {
  id: Id;
  sinceMs: number;
  /** Start time of the last successful lease renewal. The lease in PostgreSQL starts slightly later. */
  beatMs: number;
  replacedMs: number | null;
  /** True if a claim under this id got no response, so that it is unknown whether the claim was committed. */
  isInDoubt: boolean;
}

export interface ClaimHolder {
  holds(claimant: Id): boolean;
  /** Drops the id's deliveries that have not started, because the id was declared dead and other workers own them. */
  dropClaim(claimant: Id): void;
  /** Called after a lease renewal. Deliveries that had to wait for the renewal then start, or are dropped. */
  resume(): void;
}

/**
 * Sends the heartbeat of this worker, which renews a lease every two seconds. Claims are valid while the lease lasts. A
 * worker that was declared dead takes a new worker id, and the fencing token rejects results of its old claims.
 *
 * A process can be suspended (stopped, a paused machine, a long garbage collection) for longer than its lease. It
 * detects this by its monotonic clock. No delivery then starts until PostgreSQL confirms that the worker id is still
 * alive.
 *
 * The worker also takes a new id every 30 seconds, and at the next heartbeat after a claim got no response. The old id
 * is unregistered when this worker holds no more deliveries under it. This releases claims whose statement was
 * committed, but whose response was lost.
 */
@Injectable()
export class WorkerHeartbeat {
  private readonly logger = new Logger(WorkerHeartbeat.name);
  private readonly loop: Loop;
  /** The worker id for new claims, followed by the older worker ids. */
  private names: [Name, ...Name[]];
  private isLeaving = false;
  /**
   * Time since which heartbeats have worked without interruption. Right after a storage outage, no worker is declared
   * dead, because no worker could renew its lease during the outage.
   */
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

  /**
   * Returns the worker id for new claims. Null while claims are unsafe, because the state of the lease or the clock is
   * uncertain.
   */
  claimant(): Id | null {
    const [current] = this.names;
    return !this.isLeaving && this.isFresh(current) && this.time.isAgreed() ? current.id : null;
  }

  mayStart(claimant: Id): boolean {
    return this.names.some((name) => name.id === claimant && this.isFresh(name));
  }

  /** Returns true if this worker still owns the worker id: the id was neither declared dead nor unregistered. */
  isOwnClaim(claimant: Id): boolean {
    return this.names.some(({ id }) => id === claimant);
  }

  /**
   * Records that a claim under this id got no response. The claim may still have been committed, for rows that this
   * worker did not receive.
   */
  suspect(claimant: Id): void {
    const name = this.names.find(({ id }) => id === claimant);
    if (name) name.isInDoubt = true;
  }

  /**
   * Awaits a claim and returns its result. If it is unknown whether a failed claim was committed, marks the worker id
   * as suspect.
   */
  async trackClaim<T>(claimant: Id, claim: Promise<T>): Promise<T> {
    try {
      return await claim;
    } catch (error) {
      if (isOutcomeUnknown(error)) this.suspect(claimant);
      throw error;
    }
  }

  onReaped(listener: () => void): void {
    this.reapedListeners.push(listener);
  }

  start(claimHolder: ClaimHolder): void {
    this.claimHolder = claimHolder;
    this.loop.start();
  }

  /** Stops claiming deliveries, and releases all remaining claims. */
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
    if (!isAlive) this.logger.warn('This worker was declared dead; it continues under a new worker id.');
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

  /**
   * Unregisters a replaced worker id that is no longer needed, and returns whether it did so.
   *
   * A replaced id stays registered for `NAME_LIFETIME_MS`, because statements with the id may still be in flight. If a
   * claim under the id got no response, it stays registered only for `DOUBT_MS`.
   */
  private async isRetired({ id, replacedMs, isInDoubt }: Name): Promise<boolean> {
    const restMs = isInDoubt ? DOUBT_MS : NAME_LIFETIME_MS;
    if (this.clock.monotonicMs() - (replacedMs ?? Infinity) < restMs || this.claimHolder.holds(id)) return false;
    // From here on, deliveries claimed under this id do not start. Unregistering the id frees them for other workers.
    this.names = this.names.filter((name) => name.id !== id) as [Name, ...Name[]];
    await this.heartbeat.remove(id);
    return true;
  }

  /** Renews the given ids and returns the ids that are alive. Drops deliveries held under the dead ids. */
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
    this.logger.warn(`Freed ${count} deliveries of dead workers.`);
    for (const listener of this.reapedListeners) listener();
  }
}
