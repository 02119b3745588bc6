import { Injectable } from '@nestjs/common';
import { isStorageAway, sqlState } from '#kernel/database/database.js';
import { GroupCommit } from '#kernel/database/group-commit.js';
import { ApiError, unavailable } from '#kernel/errors.js';
import { KeptDays } from '#modules/ledger/kept-days.contract.js';
import { InboxMetrics } from '../inbox.metrics.js';
import { AcceptMailStore, type NotStored } from './accept-mail.store.js';
import { MailPace } from './mail-pace.js';
import type { NewMessage } from './message-row.js';

const GROUP_MESSAGES_MAX = 128;
const GROUP_BYTES_MAX = 4 * 1024 * 1024;
/** As where webhooks are accepted: under load one commit instead of three. */
const GAP_MS = 4;
/**
 * Where mail yields to deliveries it waits for company: a commit of one message costs the disk as much as one of ten.
 */
const PACED_LINGER_MS = 100;
/** More that waits means that storage does not keep up: senders come again, nothing is lost. */
const BACKLOG_MAX = 4_000;
const BACKLOG_BYTES_MAX = 64 * 1024 * 1024;
const ROW_BYTES = 512;
const NO_PARTITION = '23514';

/**
 * The rows of one message: one for each alias, stored together or not at all. What became of each, in their order: null
 * for a stored one.
 */
export type RowOutcomes = (NotStored | null)[];

/** The group commit of received mail: what comes in while a group is written becomes the next one. */
@Injectable()
export class MailGroup {
  private readonly group: GroupCommit<readonly NewMessage[], RowOutcomes>;

  constructor(
    private readonly store: AcceptMailStore,
    private readonly days: KeptDays,
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

  /** Resolves once they are committed. Throws 503 while storage is away, or does not keep up. */
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

  /** It may expire on a day without a partition: retention was changed since they were made. */
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
