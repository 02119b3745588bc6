import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Clock } from '#kernel/clock.js';
import { Every } from '#kernel/concurrency/every.js';
import type { LoopDelay } from '#kernel/concurrency/loop.js';
import { CLOSED_REST_MS, RetentionGate } from '#kernel/database/retention-gate.js';
import { Metrics } from '#kernel/observability/metrics.js';
import { PARTS_IN_MS, RollupsStore } from './rollups.store.js';
import { KEPT_MS, WINDOWS } from './windows.js';

/** Maximum number of increments per statement. Increments of the same window are merged before a rollup is updated. */
const INCREMENTS_MAX = 5_000;
const REST_MS = 1_000;
/**
 * Factor for the pause between two folds: the pause is the duration of the last fold times this factor, at most
 * `GATHER_MS_MAX`.
 *
 * The pauses limit the cost, because a fold writes three rollups (minute, hour and day) for almost every endpoint and
 * destination, even if each has few increments. The statement itself also pauses for half of its duration. All
 * processes together therefore spend about 5 % of the time on folds.
 */
const GATHER_FACTOR = 10;
const GATHER_MS_MAX = 30_000;
const SWEEP_EVERY_MS = 3_600_000;
const SWEEP_MAX = 5_000;

/** Background job that folds increments into rollups, and deletes rollups after their retention. */
@Injectable()
export class Folding {
  private readonly folded: Counter;
  private nextSweepAtMs = 0;
  private gatherMs = 0;

  constructor(
    private readonly store: RollupsStore,
    private readonly clock: Clock,
    private readonly gate: RetentionGate,
    metrics: Metrics,
  ) {
    this.folded = metrics.counter(
      'rollup_parts_folded_total',
      'Parts of metrics that this process folded into rollups.',
    );
    metrics.gauge(
      'rollup_oldest_part_age_seconds',
      'Age of the oldest part of metrics that is not folded yet.',
      [],
      async (gauge) => {
        gauge.set(await store.oldestPartAgeSeconds());
      },
    );
  }

  @Every(REST_MS, { name: 'Rollups', runsOn: 'worker', dueWork: { name: 'parts', inMs: PARTS_IN_MS } })
  async fold(): Promise<LoopDelay | undefined> {
    const startedAtMs = this.clock.nowMs();
    const increments = await this.store.fold(INCREMENTS_MAX, this.gatherMs);
    this.folded.inc(increments);
    const tookMs = this.clock.nowMs() - startedAtMs;
    if (increments > 0) this.gatherMs = Math.min(tookMs * GATHER_FACTOR, GATHER_MS_MAX);
    if (this.clock.nowMs() >= this.nextSweepAtMs) await this.sweep();
    if (increments === INCREMENTS_MAX) return { restMs: 0 };
    // The poller starts a run only for increments. While old rollups remain to be deleted, this run must request the
    // next one itself.
    const isBusy = increments > 0 || this.clock.nowMs() >= this.nextSweepAtMs;
    return isBusy ? { restMs: REST_MS } : undefined;
  }

  /** Deletes one batch of old rollups per window length. Later runs delete the rest, so that folds never wait long. */
  private async sweep(): Promise<void> {
    const nowMs = this.clock.nowMs();
    if (!(await this.gate.isOpen())) {
      this.nextSweepAtMs = nowMs + CLOSED_REST_MS;
      return;
    }
    let isDone = true;
    for (const window of WINDOWS) {
      const deleted = await this.store.deleteBefore(window, nowMs - KEPT_MS[window], SWEEP_MAX);
      isDone &&= deleted < SWEEP_MAX;
    }
    if (isDone) this.nextSweepAtMs = nowMs + SWEEP_EVERY_MS;
  }
}
