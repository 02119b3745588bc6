import { Injectable } from '@nestjs/common';
import { expiryDay } from '#engine/expiry-day.js';
import { Clock } from '#kernel/clock.js';
import { Every } from '#kernel/concurrency/every.js';
import { type Id, lowestIdAt } from '#kernel/ids.js';
import { EmailsStore } from './emails.store.js';
import { RawEmails } from './raw-emails.js';

const EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;
const STEP = 500;
/**
 * Minimum age of an orphan, an email without an event. Clients stop retrying within a day, so an older email never gets
 * an event.
 */
const AGE_MS = 86_400_000;
/** Length of the period that the first sweep of a process covers, to find orphans that other processes left. */
const BACK_MS = 3 * 86_400_000;

/**
 * Deletes emails that were never accepted: their idempotency key was already in use, or an older version stored them
 * before their event.
 */
@Injectable()
export class OrphanSweep {
  /** Creation time up to which all emails have been swept. Null before the first sweep. */
  private sinceMs: number | null = null;

  constructor(
    private readonly emails: EmailsStore,
    private readonly raw: RawEmails,
    private readonly clock: Clock,
  ) {}

  // If this machine's clock is a day fast, emails that are just being accepted look like orphans. With `removesByAge`,
  // no sweep runs while the clock differs from PostgreSQL's.
  @Every(EVERY_MS, { name: 'Orphaned email sweep', runsOn: 'worker', removesByAge: true })
  async sweep(): Promise<void> {
    const untilMs = this.clock.nowMs() - AGE_MS;
    const sinceMs = this.sinceMs ?? untilMs - BACK_MS;
    for (const day of await this.daysOf(sinceMs, untilMs))
      await this.sweepDay(day, lowestIdAt(sinceMs), lowestIdAt(untilMs));
    this.sinceMs = untilMs;
  }

  /**
   * Returns the expiry days of emails created in the period, according to the current retention. Orphans that were
   * created with another retention are not found, and are removed when it ends.
   */
  private async daysOf(sinceMs: number, untilMs: number): Promise<Iterable<number>> {
    const days = new Set<number>();
    for (const kept of await this.emails.retentions()) {
      for (let made = Math.floor(sinceMs / DAY_MS); made <= Math.floor(untilMs / DAY_MS); made += 1)
        days.add(expiryDay(made, kept));
    }
    return days;
  }

  private async sweepDay(day: number, fromId: Id, beforeId: Id): Promise<void> {
    for (let count = STEP; count === STEP;) {
      const orphans = await this.emails.orphans(day, fromId, beforeId, STEP);
      for (const { environmentId, id } of orphans) {
        await this.raw.remove(environmentId, id);
        await this.emails.drop(environmentId, id);
      }
      count = orphans.length;
    }
  }
}
