import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { KeyedSemaphore } from '../concurrency/keyed-semaphore.js';
import { VERSION } from '../version.js';

/** Gauges of prom-client under names that counters have; `nodejs_active_resources` says the same by type. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** Until the lag of the event loop has been seen a few times: before, its figures would be none. */
const FIRST_LAGS_MS = 50;

/** Who has not had his turn by then is read beside the others: a server that hangs costs a scrape one time-out and not one for each. */
const TURN_MS_MAX = 250;

/** The process's Prometheus registry. Contexts make their metrics here, so that names are unique and documented once. */
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
      help: 'Always 1; the labels name the version of Posthorn and of Node.js.',
      labelNames: Object.keys(info),
      registers: [this.registry],
    }).set(info, 1);
  }

  /** What a scrape is answered with: the figures of this process, or of all that share its port. */
  async page(): Promise<string> {
    return this.ofAll === null ? this.own() : this.ofAll();
  }

  /** The figures of this process alone. */
  async own(): Promise<string> {
    await (this.watching ??= this.watch());
    return this.registry.metrics();
  }

  /** Whoever knows the other processes behind this port answers for all of them. */
  sharedBy(ofAll: () => Promise<string>): void {
    this.ofAll = ofAll;
  }

  /**
   * Node.js's own figures, from the first scrape on. The lag of the event loop is measured by waking a hundred times a second, which is nine of
   * ten wakes of a process that has nothing to do.
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

  /** A gauge that is read when it is scraped, and absent while it cannot be read. */
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

  /** Gauges of what one question answers: it is asked once a scrape. */
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

  /**
   * One after another: all at once, every scrape would open a connection to PostgreSQL for each figure that is read there, and
   * nobody would need them until the next.
   */
  private async inTurn(read: () => Promise<void>): Promise<void> {
    if ((await this.turns.run('gauges', TURN_MS_MAX, read)) === null) await read();
  }
}

/** One source that is away must not take the others' figures with it, nor claim to be 0. */
function withdraw<L extends string>(gauge: Gauge<L>, labelNames: readonly L[]): void {
  gauge.reset();
  // What has no labels is 0 after that.
  if (labelNames.length === 0) gauge.remove();
}
