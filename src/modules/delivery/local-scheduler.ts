import { Injectable } from '@nestjs/common';
import {
  type ConcurrencyWindow,
  hasRoom,
  initialWindow,
  onLinger,
  onSettle,
  onStart,
  setCeiling,
} from '#engine/concurrency-window.js';
import type { Outcome } from '#engine/outcome.js';
import { type Answering, type Pressure, unanswered } from '#engine/pressure.js';
import { Clock } from '#kernel/clock.js';
import { LoadMonitor } from '#kernel/concurrency/load-monitor.js';
import { Config } from '#kernel/config/config.js';
import type { Id } from '#kernel/ids.js';
import { Environments } from '#modules/auth/environments/environments.js';
import type { Arrival } from '#modules/ledger/accept.contract.js';
import type { ClaimedDelivery } from '#modules/ledger/claims.contract.js';
import type { Admission, Scheduler } from '#modules/ledger/local-scheduler.contract.js';
import { CircuitWatch, targetKey } from './circuit-watch.js';
import { FairShare } from './fair-share.js';
import { HeldBytes } from './held-bytes.js';
import { RateLimitTokens } from './rate-limit-tokens.js';
import { SchedulerPressure } from './scheduler-pressure.js';
import { hasResponded, TimeoutIsolation } from './timeout-isolation.js';
import { type ClaimHolder, WorkerHeartbeat } from './worker-heartbeat.js';

export interface DeliveryTurn {
  delivery: ClaimedDelivery;
  probe: boolean;
  /** Time on the monotonic clock at which the attempt began. Undefined before the attempt. */
  startedMs?: number;
  /** True if the target did not count as responsive when the attempt began (see `TimeoutIsolation`). */
  isUnresponsive?: boolean;
  /** True if the attempt released its slot in the concurrency window before it ended. */
  isLingering?: boolean;
}

interface TargetQueue {
  environmentId: number;
  targetId: Id;
  window: ConcurrencyWindow;
  /** First attempts and retries have separate queues, so that neither kind has to wait for the other. */
  waiting: { first: DeliveryTurn[]; retry: DeliveryTurn[] };
  /** True if the target's next delivery is a retry. First attempts and retries alternate if both kinds wait. */
  retryIsNext: boolean;
  reserved: number;
  answering: Answering;
  ready: number;
  unanswered: number;
  isHeldBack: boolean;
}

/** Maximum number of deliveries that this process has claimed: in flight, waiting, and reserved. */
const HELD_MAX = 8_000;
const HELD_PER_TARGET_MAX = 2_000;
const HELD_BYTES_MAX = 128 * 1024 * 1024;
/** Number of deliveries above `HELD_MAX` that only environments below their fair share may claim. */
const HELD_FOR_OTHERS = 2_000;
/**
 * Additional slots, as a fraction of the ceiling, for environments that use less than their fair share. Without these
 * slots, deliveries to fast receivers would wait for the timeouts of another tenant's unresponsive receivers.
 */
const RUNNING_FOR_OTHERS = 0.25;
/**
 * Maximum size of a batch of deliveries that are claimed for an environment below its fair share while no slot is free.
 */
const ROOM_FOR_OTHERS = 100;

/**
 * Schedules the deliveries of this process.
 *
 * - Each target has its own concurrency window, so a slow target blocks only itself.
 * - A common ceiling limits the attempts in flight. Retries get at most half of it.
 * - A single tenant may use all slots up to the ceiling. Additional slots above it are reserved for other tenants.
 * - Targets that are not known to respond may be limited to fewer slots (see `TimeoutIsolation`).
 */
@Injectable()
export class LocalScheduler implements Scheduler, ClaimHolder {
  private readonly targets = new Map<string, TargetQueue>();
  /** The target that `targetFor` returned last. Null if that target was removed. */
  private lastTarget: TargetQueue | null = null;
  /** Each tenant's share of the slots, and the targets that are ready to deliver but have no free slot. */
  private readonly shares: FairShare<TargetQueue>;
  private readonly pressing: SchedulerPressure;
  private readonly silent: TimeoutIsolation<TargetQueue>;
  /** Number of deliveries in this process, by the worker id under which they were claimed. */
  private readonly byClaimant = new Map<Id, number>();
  private running = 0;
  private retriesRunning = 0;
  private held = 0;
  private readonly bytes = new HeldBytes();
  private closed = false;
  /** True if a delivery could not start because the worker's lease on its claims may have expired. */
  private isStalled = false;
  private runTurn: (deliveryTurn: DeliveryTurn) => void = () => undefined;
  private onLeft: () => void = () => undefined;

  constructor(
    private readonly config: Config,
    private readonly circuits: CircuitWatch,
    private readonly rateLimits: RateLimitTokens,
    private readonly presence: WorkerHeartbeat,
    environments: Environments,
    private readonly clock: Clock,
    load: LoadMonitor,
  ) {
    this.shares = new FairShare(async (environmentId) => (await environments.get(environmentId)).organizationId);
    const look = load.sampler();
    this.pressing = new SchedulerPressure(this.shares, {
      nowMs: () => clock.monotonicMs(),
      utilization: () => look().utilization,
    });
    this.silent = new TimeoutIsolation(() => clock.monotonicMs());
  }

  /** Sets the function that makes attempts, and a callback for deliveries that the dispatcher must claim later. */
  connect(runTurn: (deliveryTurn: DeliveryTurn) => void, onLeft: () => void): void {
    this.runTurn = runTurn;
    this.onLeft = onLeft;
  }

  claimant(): Id | null {
    return this.closed ? null : this.presence.claimant();
  }

  reserve(arrival: Arrival): Admission {
    const { environmentId, targetId, ratePerSecond, concurrency } = arrival;
    if (!this.circuits.isClosed(environmentId, targetId)) return 'park';
    if (this.bytes.total >= HELD_BYTES_MAX || this.held >= this.heldMax(environmentId)) return 'leave';
    const target = this.targetFor(environmentId, targetId);
    setCeiling(target.window, concurrency);
    if (this.roomOf(target) <= 0) return 'park';
    if (ratePerSecond !== null && this.rateLimits.consume(environmentId, targetId, ratePerSecond, 1) === 0)
      return 'park';
    target.reserved += 1;
    this.holdsMore(environmentId, 1);
    this.bytes.hold(arrival);
    return 'run';
  }

  /** Returns the environment's backlog of deliveries that are ready but wait for CPU. Null if there is none. */
  pressure(environmentId: number): Pressure | null {
    return this.closed ? null : this.pressing.forEnvironment(environmentId);
  }

  enqueue(deliveries: ClaimedDelivery[]): void {
    for (const delivery of deliveries) {
      const target = this.targetFor(delivery.environmentId, delivery.targetId);
      target.reserved -= 1;
      this.count(delivery, 1);
      this.startOrWait(target, { delivery, probe: false });
    }
  }

  releaseSlots(arrivals: readonly Arrival[]): void {
    for (const arrival of arrivals) {
      const target = this.targetFor(arrival.environmentId, arrival.targetId);
      target.reserved -= 1;
      this.holdsMore(arrival.environmentId, -1);
      this.bytes.letGo(arrival);
      this.forgetTarget(target);
    }
  }

  suspectClaim(claimant: Id): void {
    this.presence.suspect(claimant);
  }

  onUnclaimed(): void {
    this.onLeft();
  }

  /** Returns how many more deliveries may be claimed: in total, or for an environment that is below its fair share. */
  room(environmentId?: number): number {
    if (this.closed || this.bytes.total >= HELD_BYTES_MAX) return 0;
    const free = Math.max(0, Math.min(this.config.deliveryConcurrency - this.running, HELD_MAX - this.held));
    if (free > 0 || environmentId === undefined || this.shares.isAboveShare(environmentId)) return free;
    return Math.max(0, Math.min(ROOM_FOR_OTHERS, HELD_MAX + HELD_FOR_OTHERS - this.held));
  }

  /** Returns the environments above their fair share. Empty unless the process is full. */
  crowdedEnvironments(): number[] {
    const isFull = this.running >= this.config.deliveryConcurrency || this.held >= HELD_MAX;
    return isFull && !this.closed ? this.shares.aboveShare() : [];
  }

  /** Sets a target's concurrency limit: at most `concurrency` attempts at once, or null for no limit. */
  setCeiling(environmentId: number, targetId: Id, concurrency: number | null): void {
    if (concurrency === null && !this.targets.has(targetKey(environmentId, targetId))) return;
    setCeiling(this.targetFor(environmentId, targetId).window, concurrency);
  }

  roomFor(environmentId: number, targetId: Id): number {
    const target = this.targets.get(targetKey(environmentId, targetId));
    return Math.min(
      this.heldMax(environmentId) - this.held,
      target ? target.window.limit * 2 - this.heldBy(target) : initialWindow().limit * 2,
    );
  }

  isStarved(environmentId: number, targetId: Id): boolean {
    const target = this.targets.get(targetKey(environmentId, targetId));
    return (
      target === undefined ||
      (target.waiting.first.length + target.waiting.retry.length === 0 && hasRoom(target.window))
    );
  }

  /** Adds a claimed delivery. The delivery starts as soon as its target's window allows. */
  accept(delivery: ClaimedDelivery, probe = false): void {
    this.count(delivery, 1);
    this.holdsMore(delivery.environmentId, 1);
    this.bytes.hold(delivery);
    this.startOrWait(this.targetFor(delivery.environmentId, delivery.targetId), { delivery, probe });
  }

  /** Called when the target responded or timed out. Starts the next delivery. `outcome` is null if nothing was sent. */
  recordAnswer(deliveryTurn: DeliveryTurn, outcome: Outcome | null, isTimedOut = false): void {
    const target = this.targetFor(deliveryTurn.delivery.environmentId, deliveryTurn.delivery.targetId);
    onSettle(target.window, outcome ?? 'failed', deliveryTurn.isLingering === true);
    this.pressing.answered(target, this.clock.monotonicMs() - (deliveryTurn.startedMs ?? 0), outcome === 'success');
    this.running -= 1;
    this.shares.run(deliveryTurn.delivery.environmentId, -1);
    if (deliveryTurn.delivery.attempts > 0) this.retriesRunning -= 1;
    this.silent.onEnd(target, deliveryTurn.isUnresponsive === true, outcome === null ? null : !isTimedOut);
    if (this.silent.heldBack > 0) {
      if (hasResponded(target)) this.silent.removeWaiter(target);
      this.startHeldBack(target.environmentId);
    }
    if (!this.shares.isAnyWaiting()) return this.startWaiting(target);
    // Other targets wait for the free slot, so this target goes to the end of the queue.
    this.queue(target);
    this.pressing.recount(target);
    this.startStarved();
  }

  /**
   * Called when an attempt exceeds `LINGERING_MS`. The attempt then frees its slot in its target's concurrency window.
   */
  onLinger(deliveryTurn: DeliveryTurn): void {
    const target = this.targetFor(deliveryTurn.delivery.environmentId, deliveryTurn.delivery.targetId);
    deliveryTurn.isLingering = true;
    onLinger(target.window);
    if (this.shares.isAnyWaiting()) this.queue(target);
    else this.startWaiting(target);
    this.pressing.recount(target);
  }

  releaseSlot(deliveryTurn: DeliveryTurn): void {
    this.count(deliveryTurn.delivery, -1);
    this.holdsMore(deliveryTurn.delivery.environmentId, -1);
    this.bytes.letGo(deliveryTurn.delivery);
    this.forgetTarget(this.targetFor(deliveryTurn.delivery.environmentId, deliveryTurn.delivery.targetId));
  }

  evict(environmentId: number, targetId: Id): ClaimedDelivery[] {
    const target = this.targets.get(targetKey(environmentId, targetId));
    return target ? this.emptied(target) : [];
  }

  /** Stops accepting deliveries. Returns the deliveries that have not started. */
  close(): ClaimedDelivery[] {
    this.closed = true;
    return [...this.targets.values()].flatMap((target) => this.emptied(target));
  }

  holds(claimant: Id): boolean {
    return this.byClaimant.has(claimant);
  }

  /**
   * Drops the waiting deliveries of a worker id that was declared dead, because other workers own them. Fencing rejects
   * the results of its running attempts.
   */
  dropClaim(claimant: Id): void {
    if (!this.byClaimant.has(claimant)) return;
    for (const target of [...this.targets.values()])
      this.emptied(target, ({ delivery }) => delivery.claimedBy === claimant);
  }

  /** Starts deliveries that could not start while it was uncertain whether the worker's lease was valid. */
  resume(): void {
    // Drops deliveries that were being claimed while their worker id was declared dead.
    for (const claimant of [...this.byClaimant.keys()])
      if (!this.presence.isOwnClaim(claimant)) this.dropClaim(claimant);
    // Timeout isolation holds back targets until an attempt of their environment ends. An environment may have no
    // attempt in flight, so its targets are also started here.
    for (const environmentId of this.silent.waiting()) this.startHeldBack(environmentId);
    this.startStarved();
    if (!this.isStalled) return;
    this.isStalled = false;
    for (const target of [...this.targets.values()]) this.startWaiting(target);
  }

  figures(): { running: number; held: number; targets: number; heldBack: number } {
    return { running: this.running, held: this.held, targets: this.targets.size, heldBack: this.silent.heldBack };
  }

  private count({ claimedBy }: ClaimedDelivery, change: 1 | -1): void {
    const count = (this.byClaimant.get(claimedBy) ?? 0) + change;
    if (count === 0) this.byClaimant.delete(claimedBy);
    else this.byClaimant.set(claimedBy, count);
  }

  private emptied(
    target: TargetQueue,
    isTaken: (deliveryTurn: DeliveryTurn) => boolean = () => true,
  ): ClaimedDelivery[] {
    const { first, retry } = target.waiting;
    const taken = [...first, ...retry].filter(isTaken).map(({ delivery }) => delivery);
    target.waiting = { first: first.filter((turn) => !isTaken(turn)), retry: retry.filter((turn) => !isTaken(turn)) };
    this.holdsMore(target.environmentId, -taken.length);
    for (const delivery of taken) {
      this.bytes.letGo(delivery);
      this.count(delivery, -1);
    }
    this.pressing.recount(target);
    if (target.waiting.first.length + target.waiting.retry.length === 0) {
      this.shares.removeWaiter(target.environmentId, target);
      this.silent.removeWaiter(target);
    }
    this.forgetTarget(target);
    return taken;
  }

  private targetFor(environmentId: number, targetId: Id): TargetQueue {
    // Consecutive calls are often about the same target. A comparison costs less than building a key of the map.
    const { lastTarget } = this;
    if (lastTarget !== null && lastTarget.targetId === targetId && lastTarget.environmentId === environmentId)
      return lastTarget;
    const key = targetKey(environmentId, targetId);
    let target = this.targets.get(key);
    if (!target) {
      target = newTargetQueue(environmentId, targetId);
      this.targets.set(key, target);
    }
    this.lastTarget = target;
    return target;
  }

  /** Removes an idle target from memory if `HELD_MAX` targets are in memory. Otherwise keeps its concurrency window. */
  private forgetTarget(target: TargetQueue): void {
    if (this.heldBy(target) > 0 || this.targets.size < HELD_MAX) return;
    this.targets.delete(targetKey(target.environmentId, target.targetId));
    if (this.lastTarget === target) this.lastTarget = null;
  }

  private heldBy(target: TargetQueue): number {
    return target.window.inFlight + target.waiting.first.length + target.waiting.retry.length + target.reserved;
  }

  private roomOf(target: TargetQueue): number {
    return HELD_PER_TARGET_MAX - this.heldBy(target);
  }

  private startOrWait(target: TargetQueue, deliveryTurn: DeliveryTurn): void {
    (deliveryTurn.delivery.attempts === 0 ? target.waiting.first : target.waiting.retry).push(deliveryTurn);
    this.startWaiting(target);
  }

  private startWaiting(target: TargetQueue): void {
    while (this.startOne(target));
    this.pressing.recount(target);
  }

  /**
   * Starts deliveries of targets that timeout isolation held back. If other targets wait for a slot, these
   * targets queue behind them.
   */
  private startHeldBack(environmentId: number): void {
    const isAnyWaiting = this.shares.isAnyWaiting();
    for (let room = this.silent.room(environmentId, this.config.deliveryConcurrency); room > 0; room -= 1) {
      const target = this.silent.next(environmentId);
      if (target === null) return;
      if (isAnyWaiting) this.queue(target);
      else while (this.startOne(target));
      this.pressing.recount(target);
    }
  }

  /** Gives free slots, one at a time, to the targets that are ready to deliver, in the order of fair share. */
  private startStarved(): void {
    const max = this.config.deliveryConcurrency;
    while (this.running < withOthers(max)) {
      const target = this.shares.next({ isFull: this.running >= max, mayRetry: this.mayRetry(max) });
      if (target === null) return;
      if (this.startOne(target)) this.queue(target);
      this.pressing.recount(target);
    }
  }

  /** Queues the target for a slot if it has a delivery that could use one. */
  private queue(target: TargetQueue): void {
    const { first, retry } = target.waiting;
    if (first.length + retry.length === 0 || !hasRoom(target.window)) return;
    this.shares.wait(target.environmentId, target, first.length > 0 ? 'first' : 'retry');
  }

  /** Starts one delivery of the target. Returns false if the target has no delivery that may start now. */
  private startOne(target: TargetQueue): boolean {
    const { first, retry } = target.waiting;
    if (this.closed || first.length + retry.length === 0 || !hasRoom(target.window)) return false;
    const max = this.config.deliveryConcurrency;
    const mayRetry = retry.length > 0 && this.mayRetry(max);
    if (!this.hasPlace(target.environmentId, max) || (first.length === 0 && !mayRetry)) {
      this.queue(target);
      return false;
    }
    const takesRetry = mayRetry && (first.length === 0 || target.retryIsNext);
    const [next] = (takesRetry ? retry : first) as [DeliveryTurn, ...DeliveryTurn[]];
    // Probes are exempt from timeout isolation. A target that responds to its probe is no longer held back.
    if (!next.probe && !this.silent.admits(target, max)) {
      this.silent.wait(target);
      return false;
    }
    if (!this.presence.mayStart(next.delivery.claimedBy)) {
      this.isStalled = true;
      return false;
    }
    target.retryIsNext = !takesRetry;
    (takesRetry ? retry : first).shift();
    this.start(target, next);
    return true;
  }

  private hasPlace(environmentId: number, max: number): boolean {
    if (this.running < max) return true;
    return this.running < withOthers(max) && !this.shares.isAboveShare(environmentId, 'running');
  }

  private mayRetry(max: number): boolean {
    return this.retriesRunning < max / 2;
  }

  private start(target: TargetQueue, deliveryTurn: DeliveryTurn): void {
    onStart(target.window);
    this.running += 1;
    this.shares.run(target.environmentId, 1);
    if (deliveryTurn.delivery.attempts > 0) this.retriesRunning += 1;
    // Removes the target from the queue of timeout isolation, in case it is still there. Every target in that queue has
    // a delivery to start.
    this.silent.removeWaiter(target);
    deliveryTurn.isUnresponsive = this.silent.onStart(target);
    deliveryTurn.startedMs = this.clock.monotonicMs();
    this.runTurn(deliveryTurn);
  }

  /**
   * Returns the maximum number of claimed deliveries. Above `HELD_MAX`, only environments below their share may add
   * more.
   */
  private heldMax(environmentId: number): number {
    return this.held < HELD_MAX || this.shares.isAboveShare(environmentId) ? HELD_MAX : HELD_MAX + HELD_FOR_OTHERS;
  }

  private holdsMore(environmentId: number, change: number): void {
    this.held += change;
    this.shares.hold(environmentId, change);
  }
}

function newTargetQueue(environmentId: number, targetId: Id): TargetQueue {
  return {
    environmentId,
    targetId,
    window: initialWindow(),
    waiting: { first: [], retry: [] },
    retryIsNext: false,
    reserved: 0,
    answering: unanswered(),
    ready: 0,
    unanswered: Infinity,
    isHeldBack: false,
  };
}

/** Returns the concurrency limit plus the slots that are reserved for environments below their fair share. */
function withOthers(max: number): number {
  return max + Math.floor(max * RUNNING_FOR_OTHERS);
}
