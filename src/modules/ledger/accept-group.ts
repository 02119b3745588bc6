import { Logger } from '@nestjs/common';
import { isStorageAway, sqlState } from '#kernel/database.js';
import { unavailable } from '#kernel/errors.js';
import { GroupCommit } from '#kernel/group-commit.js';
import type { Partitions } from './partitions.js';

const GROUP_ITEMS_MAX = 256;
const GROUP_BYTES_MAX = 4 * 1024 * 1024;
/** Under load this makes one commit of what would be three, and costs the median accept a millisecond or two. */
const GAP_MS = 4;

/** One result for each item, in order: nothing, or what the one who sent it is told. */
export type Outcomes = (void | Error)[];

/** What one kind of accepting does with a group. */
export interface Accepting<T> {
  /** For the log: `Accepting`. */
  what: string;
  weighBytes: (item: T) => number;
  /** More than this waiting for a commit means that storage does not keep up: the rest is refused, nothing is lost. */
  backlogMax: number;
  backlogBytesMax: number;
  /** Resolves once the group is committed, to what follows from that: it must not be able to undo a commit, so it runs apart. */
  store: (items: T[]) => Promise<() => Outcomes | Promise<Outcomes>>;
}

/** The group commit of accepting: what is refused or away in one item, and what in all of them. */
export class AcceptGroup<T> {
  private readonly logger = new Logger('Ledger');
  private readonly group: GroupCommit<T, void>;

  constructor(
    private readonly partitions: Pick<Partitions, 'ensure'>,
    private readonly accepting: Accepting<T>,
  ) {
    this.group = new GroupCommit<T, void>({
      write: (items) => this.write(items),
      itemsMax: GROUP_ITEMS_MAX,
      weigh: accepting.weighBytes,
      weightMax: GROUP_BYTES_MAX,
      lingerMs: 0,
      gapMs: GAP_MS,
    });
  }

  /** Resolves once the item is committed. Throws 503 when storage is away or does not keep up. */
  async add(item: T): Promise<void> {
    const { backlogMax, backlogBytesMax } = this.accepting;
    if (this.group.backlog >= backlogMax || this.group.backlogWeight >= backlogBytesMax) {
      throw unavailable('Storage does not keep up. Nothing was accepted, try again.');
    }
    return this.group.add(item);
  }

  /** Resolves when nothing waits and nothing is being written. */
  drained(): Promise<void> {
    return this.group.drained();
  }

  private async write(items: T[], partitionsMade = false): Promise<Outcomes> {
    let committed: () => Outcomes | Promise<Outcomes>;
    try {
      committed = await this.accepting.store(items);
    } catch (error) {
      return this.writeAgain(items, error, partitionsMade);
    }
    return committed();
  }

  /** While storage is away nothing is stored. Otherwise one item that PostgreSQL refuses must not fail those that travelled with it. */
  private async writeAgain(items: T[], error: unknown, partitionsMade: boolean): Promise<Outcomes> {
    if (isStorageAway(error)) {
      this.logger.warn(`${this.accepting.what} failed: ${(error as Error).message}`);
      throw unavailable('Storage is not reachable. Nothing was accepted, try again.');
    }
    if (items.length === 1) {
      // It expires on a day without a partition: retention was changed since they were made.
      if (sqlState(error) !== '23514' || partitionsMade) throw error;
      await this.partitions.ensure();
      return this.write(items, true);
    }
    const outcomes: Outcomes = [];
    for (const item of items) outcomes.push(await this.write([item]).then(([first]) => first, (failure: Error) => failure));
    return outcomes;
  }
}
