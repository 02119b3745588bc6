import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { KeyedSemaphore } from '../concurrency/keyed-semaphore.js';
import { VERSION } from '../version.js';

/**
 * Gauges of prom-client that are named like counters. Removed, because `nodejs_active_resources` reports the same
 * numbers under a valid name.
 */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** Time until the event loop lag has been sampled a few times. Before that, its metrics are NaN. */
const FIRST_LAGS_MS = 50;

/**
 * Maximum time that a gauge waits for other gauges. Then it is read anyway. Otherwise, the timeouts of all gauges that
 * query a hanging server would add up.
 */
const TURN_MS_MAX = 250;

/** Creates all metrics, so that their names are unique and documented in one place. */
@Injectable()
export class Metrics {
  readonly registry = new Registry();
  private ofAll: (() => Promise<string>) | null = null;

  private watching: Promise<void> | null = null;
  private readonly turns = new KeyedSemaphore(1);

  constructor() {
    const info = { version: VERSION, node: process.version };
    new Gauge({
      name: 'posthorn_build_info',
      help: 'Always 1; the labels are the versions of Posthorn and of Node.js.',
      labelNames: Object.keys(info),
      registers: [this.registry],
    }).set(info, 1);
  }

  /** Returns the metrics of this process, or of all processes that share its port. */
  async page(): Promise<string> {
    return this.ofAll === null ? this.own() : this.ofAll();
  }

  async own(): Promise<string> {
    await (this.watching ??= this.watch());
    return this.registry.metrics();
  }

  /** Sets the function that returns the metrics of all processes behind this port. */
  sharedBy(ofAll: () => Promise<string>): void {
    this.ofAll = ofAll;
  }

  /**
   * Starts the default metrics only at the first scrape, because sampling the event loop lag wakes an idle process 100
   * times a second.
   */
  private async watch(): Promise<void> {
    collectDefaultMetrics({ register: this.registry });
    for (const name of MISNAMED) this.registry.removeSingleMetric(name);
    await sleep(FIRST_LAGS_MS);
  }

  counter<L extends string>(name: string, help: string, labelNames: readonly L[] = []): Counter<L> {
    return new Counter({ name: `posthorn_${name}`, help, labelNames, registers: [this.registry] });
  }

  histogram<L extends string>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: readonly L[] = [],
  ): Histogram<L> {
    return new Histogram({ name: `posthorn_${name}`, help, buckets, labelNames, registers: [this.registry] });
  }

  /** Registers a gauge that is read at each scrape. The gauge is omitted if reading it fails. */
  gauge<L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    collect: (gauge: Gauge<L>) => void | Promise<void>,
  ): void {
    const gauge: Gauge<L> = this.scraped(name, help, labelNames, () =>
      this.inTurn(async () => collect(gauge)).catch(() => withdraw(gauge, labelNames)),
    );
  }

  gauges<T>(
    read: () => Promise<T>,
    figures: readonly { name: string; help: string; of: (answer: T) => number }[],
  ): void {
    let asked: Promise<void> | null = null;
    const ask = async (): Promise<void> => {
      const answer = await read();
      for (const { gauge, of } of made) gauge.set(of(answer));
    };
    const collect = (): Promise<void> =>
      (asked ??= this.inTurn(ask)
        .catch(() => made.forEach(({ gauge }) => withdraw(gauge, [])))
        .finally(() => (asked = null)));
    const made = figures.map(({ name, help, of }) => ({ of, gauge: this.scraped(name, help, [], collect) }));
  }

  private scraped<L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    collect: () => Promise<void>,
  ): Gauge<L> {
    return new Gauge({ name: `posthorn_${name}`, help, labelNames, registers: [this.registry], collect });
  }

  /** Reads one gauge at a time. In parallel, every scrape would open one PostgreSQL connection per gauge. */
  private async inTurn(read: () => Promise<void>): Promise<void> {
    if ((await this.turns.run('gauges', TURN_MS_MAX, read)) === null) await read();
  }
}

/** Removes the values of one gauge, because a gauge whose source is unavailable must not report 0. */
function withdraw<L extends string>(gauge: Gauge<L>, labelNames: readonly L[]): void {
  gauge.reset();
  // After `reset`, a gauge without labels would report 0.
  if (labelNames.length === 0) gauge.remove();
}
