import { Injectable } from '@nestjs/common';
import { type BoundStatement, isStorageAway, sqlState } from '#kernel/database/database.js';
import { ApiError, unavailable } from '#kernel/errors.js';
import type { AccompanyingInserts, AccompanyingRow } from '#modules/ledger/accept.contract.js';
import { Ledger } from '#modules/ledger/ledger.js';
import { Partitions } from '#modules/ledger/partitions.js';
import { EmailsStore, type NewEmail } from './emails.store.js';
import { RawEmails } from './raw-emails.js';

const NO_PARTITION = '23514';

export interface ComposedEmail {
  email: NewEmail;
  raw: Buffer;
}

interface EmailInsert {
  email: NewEmail;
  /** Null if the raw message is stored already. */
  raw: Buffer | null;
}

/** Inserts the rows of emails, and their raw messages if possible, in the commit of their events. */
@Injectable()
export class EmailInserts implements AccompanyingInserts {
  constructor(
    private readonly raw: RawEmails,
    private readonly emails: EmailsStore,
    private readonly days: Partitions,
    private readonly ledger: Ledger,
  ) {}

  /**
   * Stores the raw message of an email, unless it can be stored in the commit of the event. Throws 503 while storage is
   * unavailable or overloaded.
   */
  async storeSeparately(composed: ComposedEmail): Promise<void> {
    if (this.raw.sharesCommit(composed.raw)) return;
    if (this.ledger.isOverloaded) throw unavailable('Storage does not keep up. Nothing was accepted, try again.');
    await this.storeRaw(composed);
  }

  /** Returns the row to insert with the email's event. */
  rowOf({ email, raw }: ComposedEmail): AccompanyingRow {
    const isShared = this.raw.sharesCommit(raw);
    // Captured emails are usually not sent, so their message is not needed soon.
    if (isShared && !email.isCaptured) this.raw.keepForFirstRead(email, raw);
    const row: EmailInsert = { email, raw: isShared ? raw : null };
    return { inserts: this, row, bytes: isShared ? raw.length : 0 };
  }

  /** Discards what `rowOf` kept in memory, because the email was not committed. */
  forget({ environmentId, id }: NewEmail): void {
    this.raw.forget(environmentId, id);
  }

  insertsOf(rows: readonly EmailInsert[]): BoundStatement[] {
    const blobs = rows.flatMap(({ email, raw }) => (raw === null ? [] : [{ key: email, bytes: raw }]));
    return [
      ...(blobs.length === 0 ? [] : [this.raw.insertOf(blobs)]),
      this.emails.insertOf(rows.map(({ email }) => email)),
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
