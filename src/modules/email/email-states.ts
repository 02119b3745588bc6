import { Injectable } from '@nestjs/common';
import { GroupedReads } from '#kernel/database/grouped-reads.js';
import type { Id } from '#kernel/ids.js';
import { Retention } from '#modules/auth/environments/retention.js';
import { type EmailPlace, EmailsStore, type EmailState } from './emails.store.js';

const STATES_MAX = 64;

/** Reads the states of emails. Concurrent reads share one statement. */
@Injectable()
export class EmailStates {
  private readonly reads: GroupedReads<EmailPlace, EmailState | null>;

  constructor(
    private readonly emails: EmailsStore,
    private readonly retention: Retention,
  ) {
    this.reads = new GroupedReads((places) => this.emails.statesAt(places), STATES_MAX);
  }

  /**
   * Returns the state of an email. First searches the partition that the email's id and the current retention imply.
   * Then searches all partitions, because the email may have been sent later than its id suggests, or the retention may
   * have changed.
   */
  async find(environmentId: number, id: Id): Promise<EmailState | null> {
    const expiresOnDay = await this.expiresOnDay(environmentId, id);
    const there = expiresOnDay === null ? null : await this.reads.get({ environmentId, id, expiresOnDay });
    return there ?? this.emails.state(environmentId, id);
  }

  /** Returns the day on which the email expires, or null if its environment no longer exists. */
  private async expiresOnDay(environmentId: number, id: Id): Promise<number | null> {
    try {
      return await this.retention.expiresOnDay(environmentId, id);
    } catch {
      return null;
    }
  }
}
