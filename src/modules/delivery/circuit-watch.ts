import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { after, type Circuit, CLOSED, mayProbe, probing } from '#engine/circuit.js';
import type { Outcome } from '#engine/outcome.js';
import { Clock } from '#kernel/clock.js';
import { Loop } from '#kernel/concurrency/loop.js';
import { GroupCommit } from '#kernel/database/group-commit.js';
import { Notifications } from '#kernel/database/notifications.js';
import { retryUntilAvailable } from '#kernel/database/retry-until-available.js';
import type { Id } from '#kernel/ids.js';
import { CircuitsStore } from '#modules/destinations/circuits.store.js';
import type { TargetKey } from '#modules/ledger/claims.contract.js';

/** Lease of a probe, longer than any attempt. A worker that reports no result within the lease is considered dead. */
const PROBE_LEASE_MS = 20_000;
/**
 * Pause between reads of all circuits that are not closed. `REFRESH_SOON_MS` applies instead while notifications are
 * unavailable, or while expired circuits remain to be deleted.
 */
const REFRESH_MS = 15_000;
const REFRESH_SOON_MS = 5_000;
/**
 * Maximum deliveries per second for a target whose circuit has just closed. The limit doubles every second, up to
 * `DRAIN_PER_SECOND_MAX`.
 */
const DRAIN_PER_SECOND_FIRST = 20;
const DRAIN_PER_SECOND_MAX = 2_000;
const DRAIN_SECONDS = 60;

/** Minimum time between writes of outcomes. Outcomes in between are written together. */
const COUNT_GAP_MS = 250;
/** Minimum time between reads of changed circuits. Changes in between are read together. */
const READ_GAP_MS = 100;
const GROUP_MAX = 1_000;
/** Maximum number of targets with a closed circuit that are marked as failing. The oldest are evicted. */
const FAILING_MAX = 20_000;

interface Counted extends TargetKey {
  outcome: Outcome;
  failureThreshold: number;
}

export const targetKey = (environmentId: number, targetId: Id): string => `${environmentId}:${targetId}`;

/**
 * Keeps in memory all circuits that are not in their initial state. Reads are therefore synchronous, which matters
 * because every delivery reads a circuit.
 *
 * PostgreSQL is the source of truth. A state change is published to all workers, which then read the circuit. In
 * addition, all circuits that are not closed, and those with recent failures, are read every 15 seconds. This takes
 * only a few statements per second, regardless of the number of failing receivers.
 */
@Injectable()
export class CircuitWatch implements OnApplicationBootstrap, OnApplicationShutdown {
  private troubled = new Map<string, Circuit>();
  private readonly closedAtMs = new Map<string, number>();
  private readonly counts: GroupCommit<Counted, void>;
  /** Number of outcomes that are currently being written, by target. */
  private readonly counting = new Map<string, number>();
  private readonly changedTargets: GroupCommit<TargetKey, void>;
  private readonly openListeners: ((environmentId: number, targetId: Id) => void)[] = [];
  private readonly loop: Loop;

  constructor(
    private readonly circuits: CircuitsStore,
    private readonly clock: Clock,
    private readonly notifications: Notifications,
  ) {
    this.loop = new Loop(
      'CircuitWatch',
      () => this.refresh(),
      () => clock.nowMs(),
    );
    const groups = { itemsMax: GROUP_MAX, weigh: () => 1, weightMax: GROUP_MAX, lingerMs: 0 };
    this.counts = new GroupCommit({ ...groups, gapMs: COUNT_GAP_MS, write: (counted) => this.countAll(counted) });
    this.changedTargets = new GroupCommit({ ...groups, gapMs: READ_GAP_MS, write: (keys) => this.read(keys) });
    notifications.on('circuit', (key) => this.onChange(key));
  }

  async onApplicationBootstrap(): Promise<void> {
    await retryUntilAvailable(() => this.refresh());
    this.loop.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.loop.stop();
  }

  /** Calls `listener` when a target's circuit opens, in this process or another one. */
  onOpen(listener: (environmentId: number, targetId: Id) => void): void {
    this.openListeners.push(listener);
  }

  /** Returns false while the target's circuit is open or being probed. */
  isClosed(environmentId: number, targetId: Id): boolean {
    // Usually all circuits are healthy and the map is empty. Checking its size first avoids building a key.
    return (
      this.troubled.size === 0 ||
      (this.troubled.get(targetKey(environmentId, targetId))?.state ?? 'closed') === 'closed'
    );
  }

  probeIsDue(environmentId: number, targetId: Id): boolean {
    const circuit = this.troubled.get(targetKey(environmentId, targetId));
    return circuit !== undefined && mayProbe(circuit, this.clock.now());
  }

  /** Claims the right to probe a target with an open circuit. Returns false if another worker already has the right. */
  async takeProbe(environmentId: number, targetId: Id): Promise<boolean> {
    let taken = false;
    const circuit = await this.circuits.change(environmentId, targetId, (current) => {
      const next = probing(current, this.clock.now(), PROBE_LEASE_MS);
      taken = next !== current;
      return next;
    });
    this.note(environmentId, targetId, circuit);
    return taken;
  }

  /** Records an attempt's outcome. Writes only outcomes that change the circuit. Returns a promise if it writes. */
  count(environmentId: number, targetId: Id, outcome: Outcome, failureThreshold: number): Promise<void> | undefined {
    if (outcome === 'success' && this.troubled.size === 0 && this.counting.size === 0) return undefined;
    const key = targetKey(environmentId, targetId);
    const known = this.troubled.get(key) ?? CLOSED;
    // An outcome that is still being written may change the circuit, so the state in this process may be outdated.
    if (!this.counting.has(key) && after(known, outcome, this.clock.now(), { failureThreshold }) === known)
      return undefined;
    return this.countTurning(key, { environmentId, targetId, outcome, failureThreshold });
  }

  private async countTurning(key: string, counted: Counted): Promise<void> {
    this.counting.set(key, (this.counting.get(key) ?? 0) + 1);
    try {
      await this.counts.add(counted);
    } finally {
      const left = (this.counting.get(key) ?? 1) - 1;
      if (left > 0) this.counting.set(key, left);
      else this.counting.delete(key);
    }
  }

  /** Records outcomes. If several attempts of a target have ended, they are recorded in one change. */
  private async countAll(counted: Counted[]): Promise<void[]> {
    const now = this.clock.now();
    const byTarget = new Map<string, [Counted, ...Counted[]]>();
    for (const each of counted) {
      const key = targetKey(each.environmentId, each.targetId);
      const before = byTarget.get(key);
      if (before) before.push(each);
      else byTarget.set(key, [each]);
    }
    const changes = [...byTarget.values()].map((outcomes) => ({
      environmentId: outcomes[0].environmentId,
      targetId: outcomes[0].targetId,
      change: (circuit: Circuit) =>
        outcomes.reduce(
          (before, { outcome, failureThreshold }) => after(before, outcome, now, { failureThreshold }),
          circuit,
        ),
    }));
    const circuits = await this.circuits.changeAll(changes);
    for (const [i, { environmentId, targetId }] of changes.entries())
      this.note(environmentId, targetId, circuits[i] ?? CLOSED);
    return counted.map(() => undefined);
  }

  private onChange(key: string): void {
    const [environment, targetId, state] = key.split(':');
    // A notification without a target means that other notifications may have been missed. In this case, and if a
    // single circuit cannot be read, all circuits are read.
    if (!environment || !targetId) return this.loop.wake();
    const environmentId = Number(environment);
    if (state === 'failing') return this.failing(environmentId, targetId);
    this.changedTargets.add({ environmentId, targetId }).catch(() => this.loop.wake());
  }

  /** Marks a target with a closed circuit as failing. The number of its failures is counted only in the database. */
  private failing(environmentId: number, targetId: Id): void {
    const key = targetKey(environmentId, targetId);
    if (!this.troubled.has(key)) this.troubled.set(key, { ...CLOSED, consecutiveFailures: 1 });
  }

  private async read(keys: TargetKey[]): Promise<void[]> {
    const circuits = await this.circuits.these(keys);
    for (const [i, { environmentId, targetId }] of keys.entries())
      this.note(environmentId, targetId, circuits[i] ?? CLOSED);
    return keys.map(() => undefined);
  }

  /**
   * Returns the maximum deliveries per second for a target that has just recovered, or null if there is no such limit.
   */
  drainPerSecond(environmentId: number, targetId: Id): number | null {
    const key = targetKey(environmentId, targetId);
    const closedAtMs = this.closedAtMs.get(key);
    if (closedAtMs === undefined) return null;
    const seconds = Math.floor((this.clock.nowMs() - closedAtMs) / 1000);
    if (seconds >= DRAIN_SECONDS) this.closedAtMs.delete(key);
    return Math.min(DRAIN_PER_SECOND_FIRST * 2 ** seconds, DRAIN_PER_SECOND_MAX);
  }

  openCount(): number {
    return [...this.troubled.values()].filter(({ state }) => state !== 'closed').length;
  }

  async refresh(): Promise<{ restMs: number }> {
    const found = await this.circuits.troubled();
    const before = this.troubled;
    this.troubled = new Map(
      found.map(({ environmentId, targetId, circuit }) => [targetKey(environmentId, targetId), circuit]),
    );
    for (const { environmentId, targetId, circuit } of found) {
      if (circuit.state === 'open' && isShut(before.get(targetKey(environmentId, targetId))) === false) {
        this.opened(environmentId, targetId);
      }
    }
    for (const [key, circuit] of before) {
      if (isShut(circuit) && !isShut(this.troubled.get(key))) this.closedAtMs.set(key, this.clock.nowMs());
      // The query omits targets whose last failure is older than a minute. Their entries stay in memory, because an
      // outdated entry costs at most one unnecessary write.
      if (!isShut(circuit) && !this.troubled.has(key) && this.troubled.size < FAILING_MAX)
        this.troubled.set(key, circuit);
    }
    for (const [key, closedAtMs] of this.closedAtMs)
      if (this.clock.nowMs() - closedAtMs >= DRAIN_SECONDS * 1000) this.closedAtMs.delete(key);
    const isMoreToForget = await this.circuits.forget();
    return { restMs: isMoreToForget || this.notifications.isDeaf() ? REFRESH_SOON_MS : REFRESH_MS };
  }

  private note(environmentId: number, targetId: Id, circuit: Circuit): void {
    const key = targetKey(environmentId, targetId);
    const wasShut = isShut(this.troubled.get(key));
    if (circuit.state === 'closed' && circuit.consecutiveFailures === 0) this.troubled.delete(key);
    else this.troubled.set(key, circuit);
    if (wasShut && !isShut(circuit)) this.closedAtMs.set(key, this.clock.nowMs());
    if (!wasShut && isShut(circuit)) this.opened(environmentId, targetId);
  }

  private opened(environmentId: number, targetId: Id): void {
    for (const listener of this.openListeners) listener(environmentId, targetId);
  }
}

const isShut = (circuit: Circuit | undefined): boolean => circuit !== undefined && circuit.state !== 'closed';
