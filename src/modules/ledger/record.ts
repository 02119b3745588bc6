import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { DueWorkPoller } from '#kernel/concurrency/due-work-poller.js';
import type { PiggybackStatement } from '#kernel/database/database.js';
import { GroupCommit } from '#kernel/database/group-commit.js';
import { DUE, PARKED } from './due.store.js';
import { LedgerMetrics } from './ledger.metrics.js';
import { type DeliveryResult, Results } from './record.contract.js';
import { heldOf, type HeldRow, RecordStore } from './record.store.js';
import { untilStored } from './until-stored.js';

/** One group is written at a time. With 256 a fan-out as fast as it goes outran them, filled the lane with what was sent already, and what came then waited in the table for seconds. */
const GROUP_ITEMS_MAX = 1_024;
/** Nobody waits for a recorded attempt, so it may wait for company. */
const LINGER_MS = 20;
/** Results that go along with a commit of accepts: more of them are worth one of their own. */
const RIDING_MAX = 32;
/** After a ride that failed, results keep away from accepts for so long: what made it fail may not have passed. */
const APART_MS = 1_000;
/** Nor for the next one, which is seconds away. */
const RETRYING_LINGER_MS = 250;

/** Results on their way into a commit of somebody else's. */
export interface ResultsRide extends PiggybackStatement {
  /** The ride is over; nothing happens where they arrived. */
  over(isFailed: boolean): void;
}

/**
 * The group commit of what came of deliveries. What is tried again is written in groups of its own: a few failures a second would
 * otherwise have every group of healthy deliveries pay for the dearer statement.
 */
@Injectable()
export class RecordResults extends Results implements OnApplicationShutdown {
  private readonly logger = new Logger('Ledger');
  private readonly ending: GroupCommit<DeliveryResult, boolean>;
  private readonly retrying: GroupCommit<DeliveryResult, boolean>;
  private apartUntilMs = -Infinity;

  constructor(
    private readonly store: RecordStore,
    private readonly metrics: LedgerMetrics,
    private readonly dueWork: DueWorkPoller,
  ) {
    super();
    this.ending = this.group(LINGER_MS);
    this.retrying = this.group(RETRYING_LINGER_MS);
  }

  override record(result: DeliveryResult): Promise<boolean> {
    return (result.status === 'retrying' ? this.retrying : this.ending).add(result);
  }

  /**
   * Results that wait, for a commit that is made anyway; null where there are none, or more than go along. Whoever takes them says
   * when his is over, whichever way: what has not arrived by then is written as ever.
   */
  board(): ResultsRide | null {
    if (this.ending.backlog === 0 || this.ending.backlog > RIDING_MAX || performance.now() < this.apartUntilMs)
      return null;
    const carried = this.ending.carry();
    if (carried === null) return null;
    return {
      ...this.store.statement(carried.items),
      onCommitted: (rows) => {
        this.metrics.sharedGroup(carried.items.length);
        carried.arrived(this.told(carried.items, heldOf(rows as HeldRow[])));
      },
      over: (isFailed) => {
        if (isFailed) this.apartUntilMs = performance.now() + APART_MS;
        carried.missed();
      },
    };
  }

  /** Waits until everything that was handed in is committed. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.ending.drained(), this.retrying.drained()]);
  }

  private group(lingerMs: number): GroupCommit<DeliveryResult, boolean> {
    const write = (results: DeliveryResult[]): Promise<(boolean | Error)[]> => this.write(results);
    return new GroupCommit({
      write,
      itemsMax: GROUP_ITEMS_MAX,
      weigh: () => 1,
      weightMax: GROUP_ITEMS_MAX,
      lingerMs,
      gapMs: 0,
    });
  }

  private async write(results: DeliveryResult[]): Promise<(boolean | Error)[]> {
    try {
      const held = await untilStored(this.logger, 'Recording', () => this.store.write(results));
      return this.told(results, held);
    } catch (error) {
      return this.oneByOne(results, error);
    }
  }

  private told(results: readonly DeliveryResult[], held: ReadonlySet<string>): boolean[] {
    const isHeld = results.map((result) => held.has(`${result.eventId}/${result.ordinal}`));
    this.metrics.recordedGroup(results, isHeld);
    for (const { status, parked, dueInMs } of results)
      if (status === 'retrying') this.dueWork.schedule(parked ? PARKED : DUE, parked ? 0 : (dueInMs ?? 0));
    return isHeld;
  }

  /** One result that PostgreSQL refuses must not fail those that travelled with it. */
  private async oneByOne(results: DeliveryResult[], error: unknown): Promise<(boolean | Error)[]> {
    if (results.length === 1) return [error as Error];
    const written: (boolean | Error)[] = [];
    for (const result of results) written.push(...(await this.write([result])));
    return written;
  }
}
