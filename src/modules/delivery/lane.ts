import { Injectable } from '@nestjs/common';
import type { Admission, Arrival, ClaimedDelivery, Lane } from '#modules/ledger/accept.contract.js';
import { admits, bounded, initialWindow, settled, started, type Window } from '#engine/concurrency.js';
import type { Outcome } from '#engine/outcome.js';
import { Config } from '#kernel/config.js';
import type { Id } from '#kernel/ids.js';
import { CircuitWatch, targetKey } from './circuit-watch.js';
import { HeldBytes } from './held-bytes.js';
import { Permits } from './permits.js';
import { WorkerPresence } from './presence.js';

/** A delivery that waits for its turn in this process. */
export interface Turn {
  delivery: ClaimedDelivery;
  probe: boolean;
}

/** What this process holds for one target. */
interface TargetLane {
  environmentId: number;
  targetId: Id;
  window: Window;
  /** First attempts and retries apart, so that neither stands in the other's way. */
  waiting: { first: Turn[]; retry: Turn[] };
  /** Where both wait they take turns. */
  retryIsNext: boolean;
  /** Places kept for events whose commit is under way. */
  reserved: number;
}

/** Deliveries held at once: running, waiting, and kept places. */
const HELD_MAX = 8_000;
const HELD_PER_TARGET_MAX = 2_000;
const HELD_BYTES_MAX = 128 * 1024 * 1024;

/**
 * The deliveries in this process: which may start, and which wait. One window per target, so that a slow target fills
 * its own window and nobody else's, and one ceiling for all of which retries get at most half.
 */
@Injectable()
export class DeliveryLane implements Lane {
  private readonly targets = new Map<string, TargetLane>();
  /** Targets with deliveries that only the common ceiling holds back, in the order in which it will let them in. */
  private readonly starved = new Set<TargetLane>();
  /** Deliveries held by the name that they were claimed under. */
  private readonly byClaimant = new Map<Id, number>();
  private running = 0;
  private retriesRunning = 0;
  private held = 0;
  private readonly bytes = new HeldBytes();
  private closed = false;
  private runTurn: (turn: Turn) => void = () => undefined;
  private onLeft: () => void = () => undefined;

  constructor(
    private readonly config: Config,
    private readonly circuits: CircuitWatch,
    private readonly permits: Permits,
    private readonly presence: WorkerPresence,
  ) {}

  /** Connects what makes attempts, and who is told that rows were left for the dispatcher. */
  connect(runTurn: (turn: Turn) => void, onLeft: () => void): void {
    this.runTurn = runTurn;
    this.onLeft = onLeft;
  }

  claimant(): Id | null {
    return this.closed ? null : this.presence.claimant();
  }

  admit(arrival: Arrival): Admission {
    const { environmentId, targetId, ratePerSecond, concurrency } = arrival;
    if (!this.circuits.isClosed(environmentId, targetId)) return 'park';
    if (this.held >= HELD_MAX || this.bytes.total >= HELD_BYTES_MAX) return 'leave';
    const lane = this.lane(environmentId, targetId);
    bounded(lane.window, concurrency);
    if (this.roomOf(lane) <= 0) return 'park';
    if (ratePerSecond !== null && this.permits.spend(environmentId, targetId, ratePerSecond, 1) === 0) return 'park';
    lane.reserved += 1;
    this.held += 1;
    this.bytes.hold(arrival);
    return 'run';
  }

  take(deliveries: ClaimedDelivery[]): void {
    for (const delivery of deliveries) {
      const lane = this.lane(delivery.environmentId, delivery.targetId);
      lane.reserved -= 1;
      this.count(delivery, 1);
      this.enqueue(lane, { delivery, probe: false });
    }
  }

  giveBack(arrivals: readonly Arrival[]): void {
    for (const arrival of arrivals) {
      const lane = this.lane(arrival.environmentId, arrival.targetId);
      lane.reserved -= 1;
      this.held -= 1;
      this.bytes.letGo(arrival);
      this.forget(lane);
    }
  }

  left(): void {
    this.onLeft();
  }

  /** How many claimed deliveries this process still has room for. */
  room(): number {
    if (this.closed || this.bytes.total >= HELD_BYTES_MAX) return 0;
    return Math.max(0, Math.min(this.config.deliveryConcurrency - this.running, HELD_MAX - this.held));
  }

  /** Keeps to what the target's owner allows from now on: at most `concurrency` attempts at once, or null. */
  bound(environmentId: number, targetId: Id, concurrency: number | null): void {
    if (concurrency === null && !this.targets.has(targetKey(environmentId, targetId))) return;
    bounded(this.lane(environmentId, targetId).window, concurrency);
  }

  /** How many deliveries of one target this process still has room for. */
  roomFor(environmentId: number, targetId: Id): number {
    const lane = this.targets.get(targetKey(environmentId, targetId));
    return Math.min(HELD_MAX - this.held, lane ? lane.window.limit * 2 - this.heldBy(lane) : initialWindow().limit * 2);
  }

  /** Takes a claimed delivery in; it starts as soon as its target's window lets it. */
  accept(delivery: ClaimedDelivery, probe = false): void {
    this.count(delivery, 1);
    this.held += 1;
    this.bytes.hold(delivery);
    this.enqueue(this.lane(delivery.environmentId, delivery.targetId), { delivery, probe });
  }

  /** The target has answered: its place is free, the next one starts. */
  answered(turn: Turn, outcome: Outcome | null): void {
    const lane = this.lane(turn.delivery.environmentId, turn.delivery.targetId);
    settled(lane.window, outcome ?? 'failed');
    this.running -= 1;
    if (turn.delivery.attempts > 0) this.retriesRunning -= 1;
    if (this.starved.size === 0) return this.startWaiting(lane);
    // Others have waited for this place: the target that freed it queues behind them.
    this.starved.add(lane);
    this.startStarved();
  }

  /** The result is recorded: the delivery is held no more. */
  done(turn: Turn): void {
    this.count(turn.delivery, -1);
    this.held -= 1;
    this.bytes.letGo(turn.delivery);
    this.forget(this.lane(turn.delivery.environmentId, turn.delivery.targetId));
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

  figures(): { running: number; held: number; targets: number } {
    return { running: this.running, held: this.held, targets: this.targets.size };
  }

  private count({ claimedBy }: ClaimedDelivery, change: 1 | -1): void {
    const count = (this.byClaimant.get(claimedBy) ?? 0) + change;
    if (count === 0) this.byClaimant.delete(claimedBy);
    else this.byClaimant.set(claimedBy, count);
  }

  private emptied(lane: TargetLane): ClaimedDelivery[] {
    const taken = [...lane.waiting.first.splice(0), ...lane.waiting.retry.splice(0)].map(({ delivery }) => delivery);
    this.held -= taken.length;
    for (const delivery of taken) {
      this.bytes.letGo(delivery);
      this.count(delivery, -1);
    }
    this.starved.delete(lane);
    this.forget(lane);
    return taken;
  }

  private lane(environmentId: number, targetId: Id): TargetLane {
    const key = targetKey(environmentId, targetId);
    let lane = this.targets.get(key);
    if (!lane) {
      lane = { environmentId, targetId, window: initialWindow(), waiting: { first: [], retry: [] }, retryIsNext: false, reserved: 0 };
      this.targets.set(key, lane);
    }
    return lane;
  }

  /** Targets that nothing is held for are forgotten beyond a number that keeps their windows warm. */
  private forget(lane: TargetLane): void {
    if (this.heldBy(lane) > 0 || this.targets.size < HELD_MAX) return;
    this.targets.delete(targetKey(lane.environmentId, lane.targetId));
  }

  private heldBy(lane: TargetLane): number {
    return lane.window.inFlight + lane.waiting.first.length + lane.waiting.retry.length + lane.reserved;
  }

  private roomOf(lane: TargetLane): number {
    return HELD_PER_TARGET_MAX - this.heldBy(lane);
  }

  private enqueue(lane: TargetLane, turn: Turn): void {
    (turn.delivery.attempts === 0 ? lane.waiting.first : lane.waiting.retry).push(turn);
    this.startWaiting(lane);
  }

  /** Starts what the target's window and the ceiling admit. */
  private startWaiting(lane: TargetLane): void {
    while (this.startOne(lane));
  }

  /** One place each, in turn, to the targets that only the ceiling holds back; each is looked at once. */
  private startStarved(): void {
    let looks = this.starved.size;
    for (const lane of this.starved) {
      looks -= 1;
      this.starved.delete(lane);
      if (this.startOne(lane) && admits(lane.window)) this.starved.add(lane);
      if (looks === 0 || this.running >= this.config.deliveryConcurrency) return;
    }
  }

  /** Starts one delivery of the target; false when there is none, or none is admitted. */
  private startOne(lane: TargetLane): boolean {
    const { first, retry } = lane.waiting;
    if (this.closed || first.length + retry.length === 0 || !admits(lane.window)) return false;
    const max = this.config.deliveryConcurrency;
    const mayRetry = retry.length > 0 && this.retriesRunning < max / 2;
    if (this.running >= max || (first.length === 0 && !mayRetry)) {
      this.starved.add(lane);
      return false;
    }
    const takesRetry = mayRetry && (first.length === 0 || lane.retryIsNext);
    lane.retryIsNext = !takesRetry;
    this.start(lane, (takesRetry ? retry : first).shift() as Turn);
    return true;
  }

  private start(lane: TargetLane, turn: Turn): void {
    started(lane.window);
    this.running += 1;
    if (turn.delivery.attempts > 0) this.retriesRunning += 1;
    this.runTurn(turn);
  }
}
