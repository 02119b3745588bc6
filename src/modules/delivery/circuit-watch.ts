import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Circuits } from '#modules/destinations/contract.js';
import { after, CLOSED, mayProbe, probing, type Circuit } from '#engine/circuit.js';
import type { Outcome } from '#engine/outcome.js';
import { Clock } from '#kernel/clock.js';
import type { Id } from '#kernel/ids.js';
import { Loop } from '#kernel/loop.js';
import { Notifications } from '#kernel/notifications.js';
import { patiently } from '#kernel/patience.js';

/** A prober that says nothing for so long counts as dead: longer than any attempt. */
const PROBE_LEASE_MS = 20_000;
const REFRESH_MS = 5_000;
/** What a reopened target gets first, in deliveries per second; it doubles every second up to the last. */
const DRAIN_PER_SECOND_FIRST = 20;
const DRAIN_PER_SECOND_MAX = 2_000;
const DRAIN_SECONDS = 60;

/** Changes of circuits that are under way at once. */
const CHANGES_MAX = 3;

/** Outcomes of one target that are not counted yet. */
interface Counts {
  outcomes: Outcome[];
  /** Resolves once all of them are. */
  counted: Promise<void>;
}

/** Names a target in maps. */
export const targetKey = (environmentId: number, targetId: Id): string => `${environmentId}:${targetId}`;

/**
 * The circuits that are not closed and clean, as this worker knows them: asked on every delivery, so without a wait.
 * PostgreSQL holds the truth; a change is announced to every worker, and everything is read again every five seconds.
 */
@Injectable()
export class CircuitWatch implements OnApplicationBootstrap, OnApplicationShutdown {
  private troubled = new Map<string, Circuit>();
  private readonly closedAtMs = new Map<string, number>();
  /** Outcomes of targets whose change is under way or queued. */
  private readonly counts = new Map<string, Counts>();
  private readonly queued: (() => void)[] = [];
  private changing = 0;
  private readonly openListeners: ((environmentId: number, targetId: Id) => void)[] = [];
  private readonly loop: Loop;

  constructor(
    private readonly circuits: Circuits,
    private readonly clock: Clock,
    notifications: Notifications,
  ) {
    this.loop = new Loop('CircuitWatch', () => this.refresh(), () => clock.nowMs());
    notifications.on('circuit', () => this.loop.wake());
  }

  async onApplicationBootstrap(): Promise<void> {
    await patiently(() => this.refresh());
    this.loop.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.loop.stop();
  }

  /** Calls `listener` when a target's circuit opens, here or elsewhere. */
  onOpen(listener: (environmentId: number, targetId: Id) => void): void {
    this.openListeners.push(listener);
  }

  /** False while the target's circuit is open or being probed. */
  isClosed(environmentId: number, targetId: Id): boolean {
    return (this.troubled.get(targetKey(environmentId, targetId))?.state ?? 'closed') === 'closed';
  }

  /** True when the probe of an open target is due. */
  probeIsDue(environmentId: number, targetId: Id): boolean {
    const circuit = this.troubled.get(targetKey(environmentId, targetId));
    return circuit !== undefined && mayProbe(circuit, this.clock.now());
  }

  /** Takes the probe of an open target; false when another worker has it. */
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

  /** Counts an outcome. Touches storage only for failures, probes, and the first success after them. */
  async count(environmentId: number, targetId: Id, outcome: Outcome, failureThreshold: number): Promise<void> {
    const key = targetKey(environmentId, targetId);
    const known = this.troubled.get(key) ?? CLOSED;
    const waiting = this.counts.get(key);
    // What is under way may turn the circuit, and then it is not as it is known.
    if (!waiting && after(known, outcome, this.clock.now(), { failureThreshold }) === known) return;
    if (waiting) {
      waiting.outcomes.push(outcome);
      return waiting.counted;
    }
    const counts: Counts = { outcomes: [outcome], counted: Promise.resolve() };
    this.counts.set(key, counts);
    counts.counted = this.countAll(environmentId, targetId, counts, failureThreshold);
    return counts.counted;
  }

  /** One change at a time for a target: what comes meanwhile is counted by the next one, however much it is. */
  private async countAll(environmentId: number, targetId: Id, counts: Counts, failureThreshold: number): Promise<void> {
    try {
      await this.place();
      try {
        while (counts.outcomes.length > 0) {
          const outcomes = counts.outcomes.splice(0);
          const now = this.clock.now();
          const circuit = await this.circuits.change(environmentId, targetId, (current) =>
            outcomes.reduce((before, outcome) => after(before, outcome, now, { failureThreshold }), current),
          );
          this.note(environmentId, targetId, circuit);
        }
      } finally {
        this.leave();
      }
    } finally {
      this.counts.delete(targetKey(environmentId, targetId));
    }
  }

  /** A place among the few changes that are under way, of all targets: they are on the connections of everybody. */
  private async place(): Promise<void> {
    if (this.changing < CHANGES_MAX) this.changing += 1;
    else await new Promise<void>((resolve) => this.queued.push(resolve));
  }

  private leave(): void {
    const next = this.queued.shift();
    if (next) next();
    else this.changing -= 1;
  }

  /** How many deliveries per second a target takes that has just come back; null when it has no such limit. */
  drainPerSecond(environmentId: number, targetId: Id): number | null {
    const key = targetKey(environmentId, targetId);
    const closedAtMs = this.closedAtMs.get(key);
    if (closedAtMs === undefined) return null;
    const seconds = Math.floor((this.clock.nowMs() - closedAtMs) / 1000);
    if (seconds >= DRAIN_SECONDS) this.closedAtMs.delete(key);
    return Math.min(DRAIN_PER_SECOND_FIRST * 2 ** seconds, DRAIN_PER_SECOND_MAX);
  }

  /** Circuits that are open or half open. */
  openCount(): number {
    return [...this.troubled.values()].filter(({ state }) => state !== 'closed').length;
  }

  private async refresh(): Promise<{ restMs: number }> {
    const found = await this.circuits.troubled();
    const before = this.troubled;
    this.troubled = new Map(found.map(({ environmentId, targetId, circuit }) => [targetKey(environmentId, targetId), circuit]));
    for (const { environmentId, targetId, circuit } of found) {
      if (circuit.state === 'open' && isShut(before.get(targetKey(environmentId, targetId))) === false) {
        this.opened(environmentId, targetId);
      }
    }
    for (const [key, circuit] of before) if (isShut(circuit) && !isShut(this.troubled.get(key))) this.closedAtMs.set(key, this.clock.nowMs());
    for (const [key, closedAtMs] of this.closedAtMs) if (this.clock.nowMs() - closedAtMs >= DRAIN_SECONDS * 1000) this.closedAtMs.delete(key);
    return { restMs: REFRESH_MS };
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
