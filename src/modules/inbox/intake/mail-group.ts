import { Injectable } from '@nestjs/common';
import { isStorageAway, sqlState } from '#kernel/database/database.js';
import { GroupCommit } from '#kernel/database/group-commit.js';
import { ApiError, unavailable } from '#kernel/errors.js';
import { Partitions } from '#modules/ledger/partitions.js';
import { InboxMetrics } from '../inbox.metrics.js';
import { AcceptMailStore, type NotStored } from './accept-mail.store.js';
import { MailPace } from './mail-pace.js';
import type { NewMessage } from './message-row.js';

const GROUP_MESSAGES_MAX = 128;
const GROUP_BYTES_MAX = 4 * 1024 * 1024;
/** Minimum time between two commits. Messages that arrive in between share a commit. */
const GAP_MS = 4;
/**
 * Time to wait for more messages before a commit, while mail is rate limited. A commit costs as much as ten messages,
 * so large groups save CPU time.
 */
const PACED_LINGER_MS = 100;
/** Maximum number of messages that wait to be stored. Beyond this number, clients get a temporary error and retry. */
const BACKLOG_MAX = 4_000;
const BACKLOG_BYTES_MAX = 64 * 1024 * 1024;
const ROW_BYTES = 512;
const NO_PARTITION = '23514';

/** Results of a message's rows (one row per alias), in order. Null means stored. All rows are stored, or none. */
export type RowOutcomes = (NotStored | null)[];

/** Group commit of received mail. Messages that arrive while a group is written form the next group. */
@Injectable()
export class MailGroup {
  private readonly group: GroupCommit<readonly NewMessage[], RowOutcomes>;

  constructor(
    private readonly store: AcceptMailStore,
    private readonly days: Partitions,
    private readonly metrics: InboxMetrics,
    pace: MailPace,
  ) {
    this.group = new GroupCommit({
      write: (mails) => this.write(mails),
      isOfOne: (error) => !(error instanceof ApiError),
      itemsMax: GROUP_MESSAGES_MAX,
      weigh: (rows) => rows.reduce((bytes, { raw }) => bytes + ROW_BYTES + (raw?.length ?? 0), 0),
      weightMax: GROUP_BYTES_MAX,
      get lingerMs() {
        return pace.isPaced ? PACED_LINGER_MS : 0;
      },
      gapMs: GAP_MS,
    });
  }

  /** Resolves to the results of the rows after the commit. Throws 503 while storage is unavailable or too slow. */
  async add(rows: readonly NewMessage[]): Promise<RowOutcomes> {
    if (this.group.backlog >= BACKLOG_MAX || this.group.backlogWeight >= BACKLOG_BYTES_MAX)
      throw unavailable('Storage does not keep up.');
    return this.group.add(rows);
  }

  drained(): Promise<void> {
    return this.group.drained();
  }

  private async write(mails: (readonly NewMessage[])[]): Promise<RowOutcomes[]> {
    try {
      return await (mails.length === 1 ? this.withPartition(mails) : this.insert(mails));
    } catch (error) {
      throw isStorageAway(error) ? unavailable('Storage is not reachable.') : error;
    }
  }

  /**
   * Stores a group. If the partition of the expiry day is missing after a change of the retention, creates it and
   * retries.
   */
  private async withPartition(mails: (readonly NewMessage[])[]): Promise<RowOutcomes[]> {
    try {
      return await this.insert(mails);
    } catch (error) {
      if (sqlState(error) !== NO_PARTITION) throw error;
      await this.days.ensure();
      return this.insert(mails);
    }
  }

  private async insert(mails: (readonly NewMessage[])[]): Promise<RowOutcomes[]> {
    const startedMs = performance.now();
    const notStored = await this.store.insert(mails.flat());
    this.metrics.committed(mails.length, performance.now() - startedMs);
    let place = 0;
    return mails.map((rows) => rows.map(() => notStored.get(place++) ?? null));
  }
}
