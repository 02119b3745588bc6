import type { Disruption, Outage } from './checker.js';
import { Consumer } from './consumer.js';
import { checkFanOuts, type FanOutReport } from './fan-out-check.js';
import { Emitter } from './fan-out-emitter.js';
import { FEED, type Fleet } from './fan-out-fleet.js';
import { type ListedEvent, listedEvents, storedMessages } from './fan-out-ledger.js';
import { eventually } from './processes.js';
import type { Scene } from './scene.js';

/** The inputs of a run, except for its emitter. */
export interface RunOptions {
  scene: Scene;
  databaseUrl: string;
  fleet: Fleet;
  /** Names of the API processes to call. */
  apis: readonly string[];
  seed: number;
}

const EMPTY_MS_MAX = 60_000;

/** A run of the test: an emitter of events, a consumer that pulls, and the check of their results. */
export class Run {
  readonly emitter: Emitter;
  readonly consumer: Consumer;
  /** The events of each message, as listed by the API when the report was created. */
  listed: ReadonlyMap<string, readonly ListedEvent[]> = new Map();

  constructor(
    private readonly options: RunOptions,
    concurrency: number,
  ) {
    const { scene, apis, fleet, seed } = options;
    const urls = apis.map((name) => scene.member(name).url);
    this.emitter = new Emitter({ urls, apiKey: scene.apiKey, fleet, seed, concurrency });
    this.consumer = new Consumer({ urls, apiKey: scene.apiKey, feed: fleet.feed, place: FEED, seed });
  }

  start(): void {
    this.emitter.start();
    this.consumer.start();
  }

  /** Waits until the service has accepted `count` events or rejected one, then stops the emitter. */
  async emitted(count: number): Promise<void> {
    await Promise.race([this.emitter.reached(count), this.emitter.ended()]);
    await this.emitter.stop();
  }

  /**
   * Returns whether all deliveries have ended and the consumer got several empty batches in a row. A killed API process
   * may delay the last items, so one empty batch is not enough.
   */
  async settled(): Promise<boolean> {
    const isSettled = await this.options.scene.settled();
    this.consumer.emptyInARow = 0;
    const isEmpty = await eventually(() => this.consumer.emptyInARow >= 2, EMPTY_MS_MAX);
    await this.consumer.stop();
    return isSettled && isEmpty;
  }

  /** Returns the report on everything observed so far. The first API process must be running. */
  async report(disruptions: readonly Disruption[] = [], outages: readonly Outage[] = []): Promise<FanOutReport> {
    const {
      scene,
      databaseUrl,
      apis: [api = ''],
    } = this.options;
    const stored = await storedMessages(databaseUrl);
    this.listed = await listedEvents(scene, api, stored);
    const received = await scene.receiver.record();
    const visits = [
      ...received.map((arrival) => ({ ...arrival, place: String(arrival.destination) })),
      ...this.consumer.visits,
    ];
    return checkFanOuts({ emissions: this.emitter.sent, visits, stored, listed: this.listed, disruptions, outages });
  }

  /** Cleans up after a test that may have failed. */
  async abandon(): Promise<void> {
    this.emitter.abandon();
    await this.consumer.stop();
  }
}
