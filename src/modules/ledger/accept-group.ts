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
/** Under load this makes one commit of what would be two. Twice as long left a saturated machine idle for 8 % instead of 5, and had the median accept at half load take 4.9 ms instead of 3.6. */
const GAP_MS = 2;
/** At a quiet rate three commits in four are saved by waiting for each other, and nobody waits for longer than these. See ADR 27. */
const LINGER_LIMITS = { waitMsMax: 6, lingerAndWriteMs: 8, batchSize: 8 };

/** One result for each item, in order: nothing, or what the one who sent it is told. */
export type Outcomes = (void | Error)[];

/** What one kind of accepting does with a group. */
export interface PendingAccept<T> {
  /** For the log: `Accepting`. */
  what: string;
  weighBytes: (item: T) => number;
  /** More than this waiting for a commit means that storage does not keep up: the rest is refused, nothing is lost. */
  backlogMax: number;
  backlogBytesMax: number;
  /**
   * Resolves once the group is committed, to what follows from that: it must not be able to undo a commit, so it runs apart. What
   * rides along, if anything does, is for the one statement of that commit. `within`: in the caller's transaction, and what follows
   * comes after its commit.
   */
  store: (
    items: T[],
    piggybackStatement: PiggybackStatement | 'within' | null,
  ) => Promise<() => Outcomes | Promise<Outcomes>>;
}

/** The group commit of accepting: what is refused or away in one item, and what in all of them. */
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
      gapMs: GAP_MS,
      company: new AdaptiveLinger(LINGER_LIMITS),
    });
  }

  /** Resolves once the item is committed. Rejects with 503 when storage is away or does not keep up. */
  add(item: T): Promise<void> {
    const { backlogMax, backlogBytesMax } = this.pendingAccept;
    if (this.group.backlog >= backlogMax || this.group.backlogWeight >= backlogBytesMax) {
      return Promise.reject(unavailable('Storage does not keep up. Nothing was accepted, try again.'));
    }
    return this.group.add(item);
  }

  /** Stores one item in the caller's transaction. Throws for an idempotency key that is taken, and 503 for a day without a partition. */
  async within(item: T): Promise<void> {
    const committed = await this.pendingAccept.store([item], 'within').catch(async (error: unknown) => {
      if (sqlState(error) !== NO_PARTITION) throw error;
      // The transaction is aborted: the next call finds the partition.
      await this.partitions.ensure();
      throw unavailable('Retention was changed a moment ago. Nothing was accepted, try again.');
    });
    const [outcome] = await committed();
    if (outcome instanceof Error) throw outcome;
  }

  /** Resolves when nothing waits and nothing is being written. */
  drained(): Promise<void> {
    return this.group.drained();
  }

  /** A small group takes results along. What fails with them is written again without: neither fails for the other. */
  private async writeWithResults(items: T[]): Promise<Outcomes> {
    const ride = items.length < LINGER_LIMITS.batchSize ? (this.results?.board() ?? null) : null;
    if (ride === null) return this.write(items);
    let committed: () => Outcomes | Promise<Outcomes>;
    try {
      committed = await this.pendingAccept.store(items, ride);
      ride.over(false);
    } catch (error) {
      ride.over(true);
      // A server that said why is there.
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

  /** While storage is away nothing is stored. Otherwise one item that PostgreSQL refuses must not fail those that travelled with it. */
  private async writeAgain(items: T[], error: unknown, partitionsMade: boolean): Promise<Outcomes> {
    if (isStorageAway(error)) {
      this.logger.warn(`${this.pendingAccept.what} failed: ${(error as Error).message}`);
      throw unavailable('Storage is not reachable. Nothing was accepted, try again.');
    }
    if (items.length === 1) {
      // It expires on a day without a partition: retention was changed since they were made.
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
