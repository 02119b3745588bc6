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
import { Environments } from '#modules/auth/contract.js';
import type { Arrival } from '#modules/ledger/accept.contract.js';
import type { ClaimedDelivery } from '#modules/ledger/claims.contract.js';
import type { Admission, Scheduler } from '#modules/ledger/local-scheduler.contract.js';
import { CircuitWatch, targetKey } from './circuit-watch.js';
import { FairShare } from './fair-share.js';
import { HeldBytes } from './held-bytes.js';
import { RateLimitTokens } from './rate-limit-tokens.js';
import { LanePressure } from './scheduler-pressure.js';
import { hasResponded, TimeoutIsolation } from './timeout-isolation.js';
import { type ClaimHolder, WorkerHeartbeat } from './worker-heartbeat.js';

/** A delivery that waits for its turn in this process. */
export interface DeliveryTurn {
  delivery: ClaimedDelivery;
  probe: boolean;
  /** When its attempt began, by the monotonic clock; absent before. */
  startedMs?: number;
  /** Its target was not known to answer when it began. */
  isUnheard?: boolean;
  /** It gave its place in the window back before it ended. */
  isLingering?: boolean;
}

/** What this process holds for one target. */
interface TargetLane {
  environmentId: number;
  targetId: Id;
  window: ConcurrencyWindow;
  /** First attempts and retries apart, so that neither stands in the other's way. */
  waiting: { first: DeliveryTurn[]; retry: DeliveryTurn[] };
  /** Where both wait they take turns. */
  retryIsNext: boolean;
  /** Places kept for events whose commit is under way. */
  reserved: number;
  answering: Answering;
  ready: number;
  unanswered: number;
  isHeldBack: boolean;
}

/** Deliveries held at once: running, waiting, and kept places. */
const HELD_MAX = 8_000;
const HELD_PER_TARGET_MAX = 2_000;
const HELD_BYTES_MAX = 128 * 1024 * 1024;
/** Beyond that, for those who hold less than their share. */
const HELD_FOR_OTHERS = 2_000;
/**
 * Attempts beyond the ceiling, as a part of it, for those who run less than their share: who is quick is not to wait until
 * somebody's receivers that never answer have been waited for.
 */
const RUNNING_FOR_OTHERS = 0.25;
/** Claimed at once for an environment with less than its share while every place is taken. */
const ROOM_FOR_OTHERS = 100;

/**
 * The deliveries in this process: which may start, and which wait. One window per target, so that a slow target fills
 * its own window and nobody else's, and one ceiling for all of which retries get at most half. One tenant alone may have
 * all places up to the ceiling; some beyond it are for the others. Who is not known to answer may have to wait for less than that.
 */
@Injectable()
export class LocalScheduler implements Scheduler, ClaimHolder {
  private readonly targets = new Map<string, TargetLane>();
  /** Who has which part of the room here; and the targets with deliveries that only the common ceiling holds back. */
  private readonly shares: FairShare<TargetLane>;
  private readonly pressing: LanePressure;
  private readonly silent: TimeoutIsolation<TargetLane>;
  /** Deliveries held by the name that they were claimed under. */
  private readonly byClaimant = new Map<Id, number>();
  private running = 0;
  private retriesRunning = 0;
  private held = 0;
  private readonly bytes = new HeldBytes();
  private closed = false;
  /** Something that was admitted did not start because its claim may be lost. */
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
    this.pressing = new LanePressure(this.shares, {
      nowMs: () => clock.monotonicMs(),
      utilization: () => look().utilization,
    });
    this.silent = new TimeoutIsolation(() => clock.monotonicMs());
  }

  /** Connects what makes attempts, and who is told that rows were left for the dispatcher. */
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
    const lane = this.scheduler(environmentId, targetId);
    setCeiling(lane.window, concurrency);
    if (this.roomOf(lane) <= 0) return 'park';
    if (ratePerSecond !== null && this.rateLimits.consume(environmentId, targetId, ratePerSecond, 1) === 0)
      return 'park';
    lane.reserved += 1;
    this.holdsMore(environmentId, 1);
    this.bytes.hold(arrival);
    return 'run';
  }

  /** What of an environment waits here for nothing but this machine's time; null when nothing does. */
  pressure(environmentId: number): Pressure | null {
    return this.closed ? null : this.pressing.forEnvironment(environmentId);
  }

  enqueue(deliveries: ClaimedDelivery[]): void {
    for (const delivery of deliveries) {
      const lane = this.scheduler(delivery.environmentId, delivery.targetId);
      lane.reserved -= 1;
      this.count(delivery, 1);
      this.startOrWait(lane, { delivery, probe: false });
    }
  }

  releaseSlots(arrivals: readonly Arrival[]): void {
    for (const arrival of arrivals) {
      const lane = this.scheduler(arrival.environmentId, arrival.targetId);
      lane.reserved -= 1;
      this.holdsMore(arrival.environmentId, -1);
      this.bytes.letGo(arrival);
      this.forgetTarget(lane);
    }
  }

  suspectClaim(claimant: Id): void {
    this.presence.suspect(claimant);
  }

  onUnclaimed(): void {
    this.onLeft();
  }

  /** How many claimed deliveries this process still has room for: of anybody, or of an environment that has less than its share. */
  room(environmentId?: number): number {
    if (this.closed || this.bytes.total >= HELD_BYTES_MAX) return 0;
    const free = Math.max(0, Math.min(this.config.deliveryConcurrency - this.running, HELD_MAX - this.held));
    if (free > 0 || environmentId === undefined || this.shares.isAboveShare(environmentId)) return free;
    return Math.max(0, Math.min(ROOM_FOR_OTHERS, HELD_MAX + HELD_FOR_OTHERS - this.held));
  }

  /** Environments that fill this process while others may wait; none while it has room. */
  crowdedEnvironments(): number[] {
    const isFull = this.running >= this.config.deliveryConcurrency || this.held >= HELD_MAX;
    return isFull && !this.closed ? this.shares.aboveShare() : [];
  }

  /** Keeps to what the target's owner allows from now on: at most `concurrency` attempts at once, or null. */
  setCeiling(environmentId: number, targetId: Id, concurrency: number | null): void {
    if (concurrency === null && !this.targets.has(targetKey(environmentId, targetId))) return;
    setCeiling(this.scheduler(environmentId, targetId).window, concurrency);
  }

  /** How many deliveries of one target this process still has room for. */
  roomFor(environmentId: number, targetId: Id): number {
    const lane = this.targets.get(targetKey(environmentId, targetId));
    return Math.min(
      this.heldMax(environmentId) - this.held,
      lane ? lane.window.limit * 2 - this.heldBy(lane) : initialWindow().limit * 2,
    );
  }

  /** Whether a target could do more than this process holds for it. */
  isStarved(environmentId: number, targetId: Id): boolean {
    const lane = this.targets.get(targetKey(environmentId, targetId));
    return lane === undefined || (lane.waiting.first.length + lane.waiting.retry.length === 0 && hasRoom(lane.window));
  }

  /** Takes a claimed delivery in; it starts as soon as its target's window lets it. */
  accept(delivery: ClaimedDelivery, probe = false): void {
    this.count(delivery, 1);
    this.holdsMore(delivery.environmentId, 1);
    this.bytes.hold(delivery);
    this.startOrWait(this.scheduler(delivery.environmentId, delivery.targetId), { delivery, probe });
  }

  /** The target has answered, or its deadline has passed: its place is free, the next one starts. Null when nothing was sent. */
  recordAnswer(deliveryTurn: DeliveryTurn, outcome: Outcome | null, isTimedOut = false): void {
    const lane = this.scheduler(deliveryTurn.delivery.environmentId, deliveryTurn.delivery.targetId);
    onSettle(lane.window, outcome ?? 'failed', deliveryTurn.isLingering === true);
    this.pressing.answered(lane, this.clock.monotonicMs() - (deliveryTurn.startedMs ?? 0), outcome === 'success');
    this.running -= 1;
    this.shares.run(deliveryTurn.delivery.environmentId, -1);
    if (deliveryTurn.delivery.attempts > 0) this.retriesRunning -= 1;
    this.silent.onEnd(lane, deliveryTurn.isUnheard === true, outcome === null ? null : !isTimedOut);
    if (this.silent.heldBack > 0) {
      if (hasResponded(lane)) this.silent.removeWaiter(lane);
      this.startHeldBack(lane.environmentId);
    }
    if (!this.shares.isAnyWaiting()) return this.startWaiting(lane);
    // Others have waited for this place: the target that freed it queues behind them.
    this.queue(lane);
    this.pressing.recount(lane);
    this.startStarved();
  }

  /** An attempt of a type that may take minutes does: others of its target start beside it, as far as there are places. */
  onLinger(deliveryTurn: DeliveryTurn): void {
    const lane = this.scheduler(deliveryTurn.delivery.environmentId, deliveryTurn.delivery.targetId);
    deliveryTurn.isLingering = true;
    onLinger(lane.window);
    if (this.shares.isAnyWaiting()) this.queue(lane);
    else this.startWaiting(lane);
    this.pressing.recount(lane);
  }

  /** The result is recorded: the delivery is held no more. */
  releaseSlot(deliveryTurn: DeliveryTurn): void {
    this.count(deliveryTurn.delivery, -1);
    this.holdsMore(deliveryTurn.delivery.environmentId, -1);
    this.bytes.letGo(deliveryTurn.delivery);
    this.forgetTarget(this.scheduler(deliveryTurn.delivery.environmentId, deliveryTurn.delivery.targetId));
  }

  /** Takes out what waits for one target. */
  evict(environmentId: number, targetId: Id): ClaimedDelivery[] {
    const lane = this.targets.get(targetKey(environmentId, targetId));
    return lane ? this.emptied(lane) : [];
  }

  /** Admits nothing more; returns what had not started. */
  close(): ClaimedDelivery[] {
    this.closed = true;
    return [...this.targets.values()].flatMap((lane) => this.emptied(lane));
  }

  /** Whether anything is held that was claimed under this name. */
  holds(claimant: Id): boolean {
    return this.byClaimant.has(claimant);
  }

  /** Forgets what waits under a name that was declared dead: others have it. What has started ends at its fence. */
  dropClaim(claimant: Id): void {
    if (!this.byClaimant.has(claimant)) return;
    for (const lane of [...this.targets.values()])
      this.emptied(lane, ({ delivery }) => delivery.claimedBy === claimant);
  }

  /** Starts what could not start while the worker's lease was in doubt. */
  resume(): void {
    // Claims that were on their way while their name was declared dead.
    for (const claimant of [...this.byClaimant.keys()])
      if (!this.presence.isOwnClaim(claimant)) this.dropClaim(claimant);
    // Of an environment that nothing of ends any more: what was let go on may have been evicted, and the others are silent, too.
    for (const environmentId of this.silent.waiting()) this.startHeldBack(environmentId);
    this.startStarved();
    if (!this.isStalled) return;
    this.isStalled = false;
    for (const lane of [...this.targets.values()]) this.startWaiting(lane);
  }

  figures(): { running: number; held: number; targets: number; heldBack: number } {
    return { running: this.running, held: this.held, targets: this.targets.size, heldBack: this.silent.heldBack };
  }

  private count({ claimedBy }: ClaimedDelivery, change: 1 | -1): void {
    const count = (this.byClaimant.get(claimedBy) ?? 0) + change;
    if (count === 0) this.byClaimant.delete(claimedBy);
    else this.byClaimant.set(claimedBy, count);
  }

  private emptied(lane: TargetLane, isTaken: (deliveryTurn: DeliveryTurn) => boolean = () => true): ClaimedDelivery[] {
    const { first, retry } = lane.waiting;
    const taken = [...first, ...retry].filter(isTaken).map(({ delivery }) => delivery);
    lane.waiting = { first: first.filter((turn) => !isTaken(turn)), retry: retry.filter((turn) => !isTaken(turn)) };
    this.holdsMore(lane.environmentId, -taken.length);
    for (const delivery of taken) {
      this.bytes.letGo(delivery);
      this.count(delivery, -1);
    }
    this.pressing.recount(lane);
    if (lane.waiting.first.length + lane.waiting.retry.length === 0) {
      this.shares.removeWaiter(lane.environmentId, lane);
      this.silent.removeWaiter(lane);
    }
    this.forgetTarget(lane);
    return taken;
  }

  private scheduler(environmentId: number, targetId: Id): TargetLane {
    const key = targetKey(environmentId, targetId);
    let lane = this.targets.get(key);
    if (!lane) {
      lane = newLane(environmentId, targetId);
      this.targets.set(key, lane);
    }
    return lane;
  }

  /** Targets that nothing is held for are forgotten beyond a number that keeps their windows warm. */
  private forgetTarget(lane: TargetLane): void {
    if (this.heldBy(lane) > 0 || this.targets.size < HELD_MAX) return;
    this.targets.delete(targetKey(lane.environmentId, lane.targetId));
  }

  private heldBy(lane: TargetLane): number {
    return lane.window.inFlight + lane.waiting.first.length + lane.waiting.retry.length + lane.reserved;
  }

  private roomOf(lane: TargetLane): number {
    return HELD_PER_TARGET_MAX - this.heldBy(lane);
  }

  private startOrWait(lane: TargetLane, deliveryTurn: DeliveryTurn): void {
    (deliveryTurn.delivery.attempts === 0 ? lane.waiting.first : lane.waiting.retry).push(deliveryTurn);
    this.startWaiting(lane);
  }

  /** Starts what the target's window and the ceiling admit. */
  private startWaiting(lane: TargetLane): void {
    while (this.startOne(lane));
    this.pressing.recount(lane);
  }

  /** What was held back of an environment, as far as it may start now; behind those who wait for a place, where there are any. */
  private startHeldBack(environmentId: number): void {
    const isAnyWaiting = this.shares.isAnyWaiting();
    for (let room = this.silent.room(environmentId, this.config.deliveryConcurrency); room > 0; room -= 1) {
      const lane = this.silent.next(environmentId);
      if (lane === null) return;
      if (isAnyWaiting) this.queue(lane);
      else while (this.startOne(lane));
      this.pressing.recount(lane);
    }
  }

  /** One place each, in turn, to the targets that only the ceiling holds back, by who has least. */
  private startStarved(): void {
    const max = this.config.deliveryConcurrency;
    while (this.running < withOthers(max)) {
      const lane = this.shares.next({ isFull: this.running >= max, mayRetry: this.mayRetry(max) });
      if (lane === null) return;
      if (this.startOne(lane)) this.queue(lane);
      this.pressing.recount(lane);
    }
  }

  /** Has the target wait for a place, if it has anything to start in it. */
  private queue(lane: TargetLane): void {
    const { first, retry } = lane.waiting;
    if (first.length + retry.length === 0 || !hasRoom(lane.window)) return;
    this.shares.wait(lane.environmentId, lane, first.length > 0 ? 'first' : 'retry');
  }

  /** Starts one delivery of the target; false when there is none, or none is admitted. */
  private startOne(lane: TargetLane): boolean {
    const { first, retry } = lane.waiting;
    if (this.closed || first.length + retry.length === 0 || !hasRoom(lane.window)) return false;
    const max = this.config.deliveryConcurrency;
    const mayRetry = retry.length > 0 && this.mayRetry(max);
    if (!this.hasPlace(lane.environmentId, max) || (first.length === 0 && !mayRetry)) {
      this.queue(lane);
      return false;
    }
    const takesRetry = mayRetry && (first.length === 0 || lane.retryIsNext);
    const [next] = (takesRetry ? retry : first) as [DeliveryTurn, ...DeliveryTurn[]];
    // A probe is one of its kind, and who answers it again is held back no more.
    if (!next.probe && !this.silent.admits(lane, max)) {
      this.silent.wait(lane);
      return false;
    }
    if (!this.presence.mayStart(next.delivery.claimedBy)) {
      this.isStalled = true;
      return false;
    }
    lane.retryIsNext = !takesRetry;
    (takesRetry ? retry : first).shift();
    this.start(lane, next);
    return true;
  }

  private hasPlace(environmentId: number, max: number): boolean {
    if (this.running < max) return true;
    return this.running < withOthers(max) && !this.shares.isAboveShare(environmentId, 'running');
  }

  private mayRetry(max: number): boolean {
    return this.retriesRunning < max / 2;
  }

  private start(lane: TargetLane, deliveryTurn: DeliveryTurn): void {
    onStart(lane.window);
    this.running += 1;
    this.shares.run(lane.environmentId, 1);
    if (deliveryTurn.delivery.attempts > 0) this.retriesRunning += 1;
    // It may have come to its place another way: who is let go on must be one that has something to start.
    this.silent.removeWaiter(lane);
    deliveryTurn.isUnheard = this.silent.onStart(lane);
    deliveryTurn.startedMs = this.clock.monotonicMs();
    this.runTurn(deliveryTurn);
  }

  /** The last part of the room is for those who have little of it: one tenant alone may use all the rest. */
  private heldMax(environmentId: number): number {
    return this.held < HELD_MAX || this.shares.isAboveShare(environmentId) ? HELD_MAX : HELD_MAX + HELD_FOR_OTHERS;
  }

  private holdsMore(environmentId: number, change: number): void {
    this.held += change;
    this.shares.hold(environmentId, change);
  }
}

function newLane(environmentId: number, targetId: Id): TargetLane {
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

/** The ceiling with the places that are for others than who fills it. */
function withOthers(max: number): number {
  return max + Math.floor(max * RUNNING_FOR_OTHERS);
}
