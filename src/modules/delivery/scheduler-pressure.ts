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

export interface Pressed {
  environmentId: number;
  window: ConcurrencyWindow;
  answering: Answering;
  waiting: { first: { length: number } };
  /**
   * Number of first attempts of the target that wait for CPU and not for the target itself. Part of the count of its
   * environment.
   */
  ready: number;
  /** True if the target is held back until attempts at other unresponsive targets of its environment end. */
  isHeldBack: boolean;
}

export interface Felt {
  nowMs(): number;
  /** Returns the fraction of the time since the last call in which the event loop was busy. */
  utilization(): number;
}

/** Utilization at which the event loop counts as having no spare capacity. */
const BUSY = 0.85;
const LOOK_MS = 100;
const METERS_MAX = 10_000;

/**
 * Counts, by environment, the deliveries that wait for CPU in this process, not for a receiver.
 *
 * A first attempt counts if its target has a free slot in its concurrency window. If the window is full, the attempt
 * counts only while the target responds so quickly that it is not the bottleneck. No delivery counts while the process
 * has idle time, or while slow receivers occupy the environment's slots.
 */
export class SchedulerPressure {
  private readonly meters = new Map<number, Meter>();
  /** Targets with a full concurrency window that respond so quickly that their deliveries still count as ready. */
  private readonly trusted = new Set<Pressed>();
  private lookedMs = -Infinity;
  private isBusy = false;

  constructor(
    private readonly shares: FairShare<unknown>,
    private readonly felt: Felt,
  ) {}

  /**
   * Updates the target's number of ready deliveries. Call it when a delivery starts or stops waiting, or the
   * concurrency window changes.
   */
  recount(target: Pressed): void {
    const count = target.waiting.first.length;
    if (target.isHeldBack) return this.keep(target, 0, false);
    if (count === 0 || hasRoom(target.window)) return this.keep(target, count, false);
    const isTrusted = !isBounded(target.window) && isQuick(target.answering, this.felt.nowMs());
    this.keep(target, isTrusted ? count : 0, isTrusted);
  }

  /** Records a response of the target. Call it after the concurrency window was updated. */
  answered(target: Pressed, tookMs: number, isSuccess: boolean): void {
    const nowMs = this.felt.nowMs();
    noteAnswer(target.answering, { tookMs, isSuccess }, nowMs);
    metered(this.meter(target.environmentId), nowMs);
  }

  /** Returns an environment's backlog of deliveries that wait for CPU, or null if there is none. */
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
    // If a target stops responding, nothing else triggers a recount of its deliveries, so they are recounted here.
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
