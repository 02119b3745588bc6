import { Injectable } from '@nestjs/common';
import { GroupedReads } from '#kernel/database/grouped-reads.js';
import type { Id } from '#kernel/ids.js';
import { Retention } from '#modules/auth/contract.js';
import { type EmailPlace, EmailsStore, type EmailState } from './emails.store.js';

/** Emails that one statement asks for. */
const STATES_MAX = 64;

/** Where emails stand, as attempts, reports and erasure ask: those that are asked for together are read together. */
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
   * Null when there is none in this environment. It is looked for where it expires by its id and the environment's retention, and
   * everywhere when it is not there: it left later than it was made, or the retention has changed since.
   */
  async find(environmentId: number, id: Id): Promise<EmailState | null> {
    const expiresOnDay = await this.expiresOnDay(environmentId, id);
    const there = expiresOnDay === null ? null : await this.reads.get({ environmentId, id, expiresOnDay });
    return there ?? this.emails.state(environmentId, id);
  }

  /** An environment that is gone says no day. */
  private async expiresOnDay(environmentId: number, id: Id): Promise<number | null> {
    try {
      return await this.retention.expiresOnDay(environmentId, id);
    } catch {
      return null;
    }
  }
}
