import { Injectable } from '@nestjs/common';
import { isStorageAway, sqlState } from '#kernel/database/database.js';
import { GroupCommit } from '#kernel/database/group-commit.js';
import { ApiError, unavailable } from '#kernel/errors.js';
import { Partitions } from '#modules/ledger/partitions.js';
import { EmailsStore, type NewEmail } from './emails.store.js';
import { RawEmails } from './raw-emails.js';

const GROUP_EMAILS_MAX = 128;
const GROUP_BYTES_MAX = 4 * 1024 * 1024;
/** Time in milliseconds for which emails wait to share a commit. Under load, a shared commit replaces three commits. */
const GAP_MS = 4;
const BACKLOG_MAX = 4_000;
const NO_PARTITION = '23514';

export interface ComposedEmail {
  email: NewEmail;
  raw: Buffer;
}

/** Commits emails in groups before their events are created: first the raw messages, then the rows. */
@Injectable()
export class EmailGroup {
  private readonly group: GroupCommit<ComposedEmail, void>;

  constructor(
    private readonly raw: RawEmails,
    private readonly emails: EmailsStore,
    private readonly days: Partitions,
  ) {
    this.group = new GroupCommit({
      write: (composed) => this.stored(() => this.write(composed)),
      isOfOne: (error) => !(error instanceof ApiError),
      itemsMax: GROUP_EMAILS_MAX,
      weigh: ({ raw }) => (RawEmails.isLarge(raw) ? 0 : raw.length),
      weightMax: GROUP_BYTES_MAX,
      lingerMs: 0,
      gapMs: GAP_MS,
    });
  }

  /** Stores an email without accepting it. Resolves once committed. Throws 503 if storage is down or overloaded. */
  async add(composed: ComposedEmail): Promise<void> {
    if (this.group.backlog >= BACKLOG_MAX)
      throw unavailable('Storage does not keep up. Nothing was accepted, try again.');
    // A large email is stored alone, so that the other emails of the group do not wait for it.
    if (RawEmails.isLarge(composed.raw)) await this.stored(() => this.putLarge(composed));
    await this.group.add(composed);
  }

  private async write(composed: ComposedEmail[]): Promise<void[]> {
    await (composed.length === 1 ? this.withPartition(() => this.insert(composed)) : this.insert(composed));
    return [];
  }

  /** Stores the raw messages of the emails, then their rows. Safe to repeat. */
  private async insert(composed: ComposedEmail[]): Promise<void> {
    await this.raw.putSmall(
      composed.filter(({ raw }) => !RawEmails.isLarge(raw)).map(({ email, raw }) => ({ key: email, bytes: raw })),
    );
    await this.emails.insert(
      composed.map(({ email }) => email),
      false,
    );
  }

  private putLarge({ email, raw }: ComposedEmail): Promise<void> {
    return this.withPartition(() => this.raw.put(email.environmentId, email.id, email.expiresOnDay, raw));
  }

  /** Runs `write`. If a partition is missing after a change of the retention, creates the partition and retries. */
  private async withPartition(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (sqlState(error) !== NO_PARTITION) throw error;
      await this.days.ensure();
      await write();
    }
  }

  private async stored<T>(write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (error) {
      if (error instanceof ApiError || !isStorageAway(error)) throw error;
      throw unavailable('Storage is not reachable. Nothing was accepted, try again.');
    }
  }
}
