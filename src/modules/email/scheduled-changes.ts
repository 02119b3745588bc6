import { Injectable } from '@nestjs/common';
import { readSchedule } from '#engine/mail/schedule.js';
import { Clock } from '#kernel/clock.js';
import { Database, sqlState } from '#kernel/database/database.js';
import { invalid } from '#kernel/errors.js';
import { type Id, lowestIdAt } from '#kernel/ids.js';
import { Retention } from '#modules/auth/environments/retention.js';
import { Ledger } from '#modules/ledger/ledger.js';
import { Partitions } from '#modules/ledger/partitions.js';
import { EmailMetrics } from './email.metrics.js';
import { EmailComposition } from './email-composition.js';
import { EmailDestination } from './email-destination.js';
import { emailEvent } from './email-event.js';
import { EmailsStore } from './emails.store.js';
import { type Rescheduling, ScheduledEmailsStore } from './scheduled-emails.store.js';

const NO_PARTITION = '23514';

/**
 * Cancels and reschedules scheduled emails. A row lock prevents changes while an email is moved to `emails` for
 * sending.
 */
@Injectable()
export class ScheduledChanges {
  constructor(
    private readonly scheduled: ScheduledEmailsStore,
    private readonly emails: EmailsStore,
    private readonly composition: EmailComposition,
    private readonly destination: EmailDestination,
    private readonly ledger: Ledger,
    private readonly days: Partitions,
    private readonly retention: Retention,
    private readonly metrics: EmailMetrics,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * Cancels a scheduled email. Deletes its content and attachments. The other data stays readable until its retention
   * period ends. Returns false if the email is not scheduled.
   */
  async cancel(environmentId: number, id: Id): Promise<boolean> {
    try {
      const isCanceled = await this.database.transaction(() => this.moveToCanceled(environmentId, id));
      if (isCanceled) this.metrics.released('canceled');
      return isCanceled;
    } catch (error) {
      // Only a change of the retention can cause a missing partition. After `ensure`, the client's next request
      // succeeds.
      if (sqlState(error) === NO_PARTITION) await this.days.ensure();
      throw error;
    }
  }

  /**
   * Reschedules an email. Returns the new and the old time. Null if it is not scheduled. Throws 422 for an invalid
   * time.
   */
  async reschedule(environmentId: number, id: Id, text: string): Promise<Rescheduling | null> {
    const read = readSchedule(text, this.clock.nowMs());
    if ('fault' in read) throw invalid([{ path: 'scheduled_at', message: read.fault }]);
    return this.database.transaction(() => this.scheduled.reschedule(environmentId, id, new Date(read.atMs)));
  }

  private async moveToCanceled(environmentId: number, id: Id): Promise<boolean> {
    const row = await this.scheduled.take(environmentId, id);
    if (row === null) return false;
    const expiresOnDay = await this.retention.expiresOnDay(environmentId, lowestIdAt(this.clock.nowMs()));
    const email = this.composition.canceled({ environmentId, id, messageId: row.messageId, expiresOnDay }, row);
    await this.emails.insert(email);
    const targetId = await this.destination.forEnvironment(environmentId);
    await this.ledger.acceptWithin(emailEvent(email, targetId, { traceparent: null, idempotency: null }));
    return true;
  }
}
