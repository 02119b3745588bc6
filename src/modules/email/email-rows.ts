import { Injectable } from '@nestjs/common';
import { type BoundStatement, isStorageAway, sqlState } from '#kernel/database/database.js';
import { ApiError, unavailable } from '#kernel/errors.js';
import type { EventRow, EventRowInserts } from '#modules/ledger/accept.contract.js';
import { Partitions } from '#modules/ledger/partitions.js';
import { EmailsStore, type NewEmail } from './emails.store.js';
import { RawEmails } from './raw-emails.js';

const NO_PARTITION = '23514';

export interface ComposedEmail {
  email: NewEmail;
  raw: Buffer;
}

/** Inserts the rows and the raw messages of emails in the commit of their events. */
@Injectable()
export class EmailRows implements EventRowInserts {
  constructor(
    private readonly raw: RawEmails,
    private readonly emails: EmailsStore,
    private readonly days: Partitions,
  ) {}

  /**
   * Returns the row to insert with the email's event. If the raw message cannot be stored in the same commit, stores it
   * first. Throws 503 while storage is unavailable.
   */
  async rowOf(composed: ComposedEmail): Promise<EventRow> {
    const { raw } = composed;
    const isShared = this.raw.sharesCommit(raw);
    if (!isShared) await this.storeRaw(composed);
    return { inserts: this, row: composed, bytes: isShared ? raw.length : 0 };
  }

  insertsOf(composed: readonly ComposedEmail[]): BoundStatement[] {
    const shared = composed.filter(({ raw }) => this.raw.sharesCommit(raw));
    return [
      ...(shared.length === 0 ? [] : [this.raw.insertOf(shared.map(({ email, raw }) => ({ key: email, bytes: raw })))]),
      this.emails.insertOf(composed.map(({ email }) => email)),
    ];
  }

  /** Stores a raw message. If a partition is missing after a change of the retention, creates the partition first. */
  private async storeRaw({ email: { environmentId, id, expiresOnDay }, raw }: ComposedEmail): Promise<void> {
    const put = (): Promise<void> => this.raw.put(environmentId, id, expiresOnDay, raw);
    try {
      await put().catch(async (error: unknown) => {
        if (sqlState(error) !== NO_PARTITION) throw error;
        await this.days.ensure();
        await put();
      });
    } catch (error) {
      if (error instanceof ApiError || !isStorageAway(error)) throw error;
      throw unavailable('Storage is not reachable. Nothing was accepted, try again.');
    }
  }
}
