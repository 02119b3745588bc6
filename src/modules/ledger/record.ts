import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { DueWorkPoller } from '#kernel/concurrency/due-work-poller.js';
import type { PiggybackStatement } from '#kernel/database/database.js';
import { GroupCommit } from '#kernel/database/group-commit.js';
import { DUE, PARKED } from './due.store.js';
import { LedgerMetrics } from './ledger.metrics.js';
import { type DeliveryResult } from './record.contract.js';
import { heldOf, type HeldRow, RecordStore } from './record.store.js';
import { untilStored } from './until-stored.js';

/**
 * Maximum number of results per group. Groups are written one at a time. Groups of 256 were too small for a fast
 * fan-out: deliveries that were sent but not recorded filled the local scheduler, and new deliveries waited in the
 * table for seconds.
 */
const GROUP_ITEMS_MAX = 1_024;
/** Time to wait for more results before a write. No client waits for the write, so a delay is acceptable. */
const LINGER_MS = 20;
/** Maximum number of results that share a commit with accepted events. More results get a separate commit. */
const RIDING_MAX = 32;
/**
 * Time after a failed shared commit during which results are written separately, because the cause of the failure may
 * persist.
 */
const APART_MS = 1_000;
/** Time to wait for more results that lead to a retry. It can be long, because the next attempt is seconds away. */
const RETRYING_LINGER_MS = 250;

export interface ResultsRide extends PiggybackStatement {
  /**
   * Must be called after the commit that the results share with accepted events, even if it failed. Results that were
   * not committed are then written separately.
   */
  over(isFailed: boolean): void;
}

/**
 * Writes the results of attempts in groups. Results that lead to a retry have separate groups, because their statement
 * is more expensive. In shared groups, a few failures per second would slow down the writes for all successful
 * deliveries.
 */
@Injectable()
export class RecordResults implements OnApplicationShutdown {
  private readonly logger = new Logger('Ledger');
  private readonly ending: GroupCommit<DeliveryResult, boolean>;
  private readonly retrying: GroupCommit<DeliveryResult, boolean>;
  private apartUntilMs = -Infinity;

  constructor(
    private readonly store: RecordStore,
    private readonly metrics: LedgerMetrics,
    private readonly dueWork: DueWorkPoller,
  ) {
    this.ending = this.group(LINGER_MS);
    this.retrying = this.group(RETRYING_LINGER_MS);
  }

  /** Records a result. Returns false, without a write, if the claim was lost. Retries until storage is available. */
  record(result: DeliveryResult): Promise<boolean> {
    return (result.status === 'retrying' ? this.retrying : this.ending).add(result);
  }

  /**
   * Takes the waiting results, to write them in the commit of accepted events. Returns null if there are none or too
   * many. The caller must call `over` after the commit. If the commit failed, `over` writes the results separately.
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
        carried.arrived(this.settle(carried.items, heldOf(rows as HeldRow[])));
      },
      over: (isFailed) => {
        if (isFailed) this.apartUntilMs = performance.now() + APART_MS;
        carried.missed();
      },
    };
  }

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
      return this.settle(results, held);
    } catch (error) {
      return this.oneByOne(results, error);
    }
  }

  private settle(results: readonly DeliveryResult[], held: ReadonlySet<string>): boolean[] {
    const isHeld = results.map((result) => held.has(`${result.eventId}/${result.ordinal}`));
    this.metrics.recordedGroup(results, isHeld);
    for (const { status, parked, dueInMs } of results)
      if (status === 'retrying') this.dueWork.schedule(parked ? PARKED : DUE, parked ? 0 : (dueInMs ?? 0));
    return isHeld;
  }

  /** Writes the results one by one, so that a result that PostgreSQL rejects does not affect the others. */
  private async oneByOne(results: DeliveryResult[], error: unknown): Promise<(boolean | Error)[]> {
    if (results.length === 1) return [error as Error];
    const written: (boolean | Error)[] = [];
    for (const result of results) written.push(...(await this.write([result])));
    return written;
  }
}
