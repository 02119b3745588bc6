import { type ConcurrencyWindow, hasRoom, isBounded } from '#engine/concurrency-window.js';
import {
  type Answering,
  isQuick,
  type Meter,
  metered,
  noteAnswer,
  perSecond,
  type Pressure,
  turnsOver,
} from '#engine/pressure.js';
import type { FairShare } from './fair-share.js';

/** What is known here of a target in the lane. */
export interface Pressed {
  environmentId: number;
  window: ConcurrencyWindow;
  answering: Answering;
  waiting: { first: { length: number } };
  /** How many of those were counted as ready. */
  ready: number;
  /** It waits until others of its environment end, which are not known to answer either. */
  isHeldBack: boolean;
}

/** The lane's process, as it is felt from inside. */
export interface Felt {
  /** A monotonic clock. */
  nowMs(): number;
  /** Part of the time since the last look in which the main loop had something to do. */
  utilization(): number;
}

/** A loop that rests less than that has no time for more. */
const BUSY = 0.85;
const LOOK_MS = 100;
/** Environments whose rate is remembered. */
const METERS_MAX = 10_000;

/**
 * What waits in the lane for nothing but this machine's time, by environment: first attempts at a target that would take them. Not what
 * waits for a target with enough under way, unless that answers so quickly that it is not the target who is waited for; and nothing at all
 * while the process rests in between, or while receivers keep the environment's places: what waits then waits for receivers.
 */
export class LanePressure {
  private readonly meters = new Map<number, Meter>();
  /** Targets that count although enough is under way, as long as they answer. */
  private readonly trusted = new Set<Pressed>();
  private lookedMs = -Infinity;
  private isBusy = false;

  constructor(
    private readonly shares: FairShare<unknown>,
    private readonly felt: Felt,
  ) {}

  /** Something of the target began to wait or waits no more, or its window changed. */
  recount(target: Pressed): void {
    const count = target.waiting.first.length;
    if (target.isHeldBack) return this.keep(target, 0, false);
    if (count === 0 || hasRoom(target.window)) return this.keep(target, count, false);
    const isTrusted = !isBounded(target.window) && isQuick(target.answering, this.felt.nowMs());
    this.keep(target, isTrusted ? count : 0, isTrusted);
  }

  /** The target answered; what the window learned from it is noted there already. */
  answered(target: Pressed, tookMs: number, isSuccess: boolean): void {
    const nowMs = this.felt.nowMs();
    noteAnswer(target.answering, { tookMs, isSuccess }, nowMs);
    metered(this.meter(target.environmentId), nowMs);
  }

  /** What presses on an environment; null when nothing does. */
  forEnvironment(environmentId: number): Pressure | null {
    const nowMs = this.felt.nowMs();
    if (nowMs - this.lookedMs >= LOOK_MS) this.look(nowMs);
    const ready = this.isBusy ? this.shares.ready(environmentId) : 0;
    if (ready === 0) return null;
    const meter = this.meters.get(environmentId);
    const drainPerSecond = meter ? perSecond(meter, nowMs) : 0;
    return turnsOver(this.shares.running(environmentId), drainPerSecond) ? { ready, drainPerSecond } : null;
  }

  private look(nowMs: number): void {
    this.lookedMs = nowMs;
    this.isBusy = this.felt.utilization() >= BUSY;
    // A target that answers no more says nothing by which it could be counted anew.
    for (const target of this.trusted) this.recount(target);
  }

  private keep(target: Pressed, ready: number, isTrusted: boolean): void {
    if (isTrusted) this.trusted.add(target);
    else if (this.trusted.size > 0) this.trusted.delete(target);
    if (ready === target.ready) return;
    this.shares.makeReady(target.environmentId, ready - target.ready);
    target.ready = ready;
  }

  private meter(environmentId: number): Meter {
    let meter = this.meters.get(environmentId);
    if (!meter) {
      if (this.meters.size >= METERS_MAX) this.meters.delete(this.meters.keys().next().value as number);
      this.meters.set(environmentId, (meter = { weight: 0, atMs: -Infinity }));
    }
    return meter;
  }
}
