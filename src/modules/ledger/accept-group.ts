import { Logger } from '@nestjs/common';
import { AdaptiveLinger } from '#kernel/concurrency/adaptive-linger.js';
import { isStorageAway, type PiggybackStatement, sqlState } from '#kernel/database/database.js';
import { GroupCommit } from '#kernel/database/group-commit.js';
import { unavailable } from '#kernel/errors.js';
import type { Partitions } from './partitions.js';
import type { RecordResults } from './record.js';

const NO_PARTITION = '23514';
const GROUP_ITEMS_MAX = 256;
const GROUP_BYTES_MAX = 4 * 1024 * 1024;
/**
 * Default minimum pause between commits, which halves the number of commits under load. A pause of 4 ms would leave
 * more CPU time free under load (8 % instead of 5 %), but accepting would take longer at half load (a median of 4.9 ms
 * instead of 3.6 ms).
 */
const GAP_MS = 2;
/**
 * Limits of the adaptive linger, an additional wait for more events. At a low rate of events, the linger saves three of
 * four commits. See ADR 27.
 */
const LINGER_LIMITS = { waitMsMax: 6, lingerAndWriteMs: 8, batchSize: 8 };

/** One result per item of the group, in order: undefined if the item was accepted, otherwise its error. */
export type Outcomes = (void | Error)[];

export interface PendingAccept<T> {
  /** Name of the operation in log messages, such as `Accepting`. */
  what: string;
  weighBytes: (item: T) => number;
  /** Maximum number of waiting items. A longer backlog means that storage is too slow, so `add` rejects with 503. */
  backlogMax: number;
  backlogBytesMax: number;
  /** Minimum pause between commits. Default: 2 ms. */
  gapMs?: number;
  /**
   * Stores a group, either in one commit with `piggybackStatement` or in the caller's transaction (`within`). Resolves
   * to a function that returns the results. The caller must call this function next. An error in it does not undo the
   * commit.
   */
  store: (
    items: T[],
    piggybackStatement: PiggybackStatement | 'within' | null,
  ) => Promise<() => Outcomes | Promise<Outcomes>>;
}

/**
 * Group commit of accepts. Distinguishes errors of one item from errors of the whole group.
 *
 * ```
 * caller        AcceptGroup             PostgreSQL
 *   │ add(item)      │                       │
 *   ├───────────────▶│ store(items, results) │   one commit
 *   │                ├──────────────────────▶│   a small group also writes delivery results
 *   │                │◀──────────────────────┤ committed
 *   │                │ follow-up: dispatch   │   its errors do not undo the commit
 *   │◀───────────────┤ outcome of this item  │
 * ```
 */
export class AcceptGroup<T> {
  private readonly logger = new Logger('Ledger');
  private readonly group: GroupCommit<T, void>;

  constructor(
    private readonly partitions: Pick<Partitions, 'ensure'>,
    private readonly results: Pick<RecordResults, 'board'> | null,
    private readonly pendingAccept: PendingAccept<T>,
  ) {
    this.group = new GroupCommit<T, void>({
      write: (items) => this.writeWithResults(items),
      itemsMax: GROUP_ITEMS_MAX,
      weigh: pendingAccept.weighBytes,
      weightMax: GROUP_BYTES_MAX,
      lingerMs: 0,
      gapMs: pendingAccept.gapMs ?? GAP_MS,
      adaptiveLinger: new AdaptiveLinger(LINGER_LIMITS),
    });
  }

  /** True if so many items wait that `add` rejects more. */
  get isOverloaded(): boolean {
    const { backlogMax, backlogBytesMax } = this.pendingAccept;
    return this.group.backlog >= backlogMax || this.group.backlogWeight >= backlogBytesMax;
  }

  /** Resolves once the item is committed. Rejects with 503 while storage is unavailable or overloaded. */
  add(item: T): Promise<void> {
    if (this.isOverloaded)
      return Promise.reject(unavailable('Storage does not keep up. Nothing was accepted, try again.'));
    return this.group.add(item);
  }

  /**
   * Stores the item in the caller's transaction. Throws if its idempotency key is already in use. Throws 503 if the
   * table partition of its expiry day is missing.
   */
  async within(item: T): Promise<void> {
    const committed = await this.pendingAccept.store([item], 'within').catch(async (error: unknown) => {
      if (sqlState(error) !== NO_PARTITION) throw error;
      // The caller's transaction has failed. `ensure` creates the partition in another transaction, so that the
      // client's next request succeeds.
      await this.partitions.ensure();
      throw unavailable('Retention was changed a moment ago. Nothing was accepted, try again.');
    });
    const [outcome] = await committed();
    if (outcome instanceof Error) throw outcome;
  }

  drained(): Promise<void> {
    return this.group.drained();
  }

  /**
   * Writes a small group in one commit with waiting delivery results. If this fails, writes the group without the
   * results.
   */
  private async writeWithResults(items: T[]): Promise<Outcomes> {
    const ride = items.length < LINGER_LIMITS.batchSize ? (this.results?.board() ?? null) : null;
    if (ride === null) return this.write(items);
    let committed: () => Outcomes | Promise<Outcomes>;
    try {
      committed = await this.pendingAccept.store(items, ride);
      ride.over(false);
    } catch (error) {
      ride.over(true);
      // An SQLSTATE means that the server is reachable and rejected the commit. The delivery results may be the cause,
      // so the group is written again without them.
      return sqlState(error) === null ? this.writeAgain(items, error, false) : this.write(items);
    }
    return committed();
  }

  private async write(items: T[], partitionsMade = false): Promise<Outcomes> {
    let committed: () => Outcomes | Promise<Outcomes>;
    try {
      committed = await this.pendingAccept.store(items, null);
    } catch (error) {
      return this.writeAgain(items, error, partitionsMade);
    }
    return committed();
  }

  /**
   * Rejects all items while storage is unavailable. Otherwise writes the items one by one, so that only faulty items
   * fail.
   */
  private async writeAgain(items: T[], error: unknown, partitionsMade: boolean): Promise<Outcomes> {
    if (isStorageAway(error)) {
      this.logger.warn(`${this.pendingAccept.what} failed: ${(error as Error).message}`);
      throw unavailable('Storage is not reachable. Nothing was accepted, try again.');
    }
    if (items.length === 1) {
      // After a change of the retention, the partition of the item's expiry day may be missing. It is then created, and
      // the item is written again.
      if (sqlState(error) !== NO_PARTITION || partitionsMade) throw error;
      await this.partitions.ensure();
      return this.write(items, true);
    }
    const outcomes: Outcomes = [];
    for (const item of items)
      outcomes.push(
        await this.write([item]).then(
          ([first]) => first,
          (failure: Error) => failure,
        ),
      );
    return outcomes;
  }
}
