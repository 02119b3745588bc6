import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { expiryDay } from '#engine/expiry-day.js';
import { Clock } from '#kernel/clock.js';
import { HOUSEKEEPING, Loop } from '#kernel/concurrency/loop.js';
import { Config } from '#kernel/config/config.js';
import { CLOSED_REST_MS, RetentionGate } from '#kernel/database/retention-gate.js';
import { type Id, lowestIdAt } from '#kernel/ids.js';
import { EmailsStore } from './emails.store.js';
import { RawEmails } from './raw-emails.js';

const EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;
const STEP = 500;
/** An event follows its row within seconds, or never. After a day, even a suspended process's client gave up. */
const AGE_MS = 86_400_000;
/** Age range that a process sweeps after its start, for orphans left by other processes. */
const BACK_MS = 3 * 86_400_000;

/** Emails that were never accepted, because of a crash or storage failure between the row and the event. */
@Injectable()
export class OrphanSweep implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly loop: Loop;
  /** Everything created before this time was swept. */
  private sinceMs: number | null = null;

  constructor(
    private readonly emails: EmailsStore,
    private readonly raw: RawEmails,
    private readonly config: Config,
    private readonly gate: RetentionGate,
    private readonly clock: Clock,
  ) {
    this.loop = new Loop(
      'Orphaned emails',
      () => this.run(),
      () => clock.nowMs(),
      HOUSEKEEPING,
    );
  }

  onApplicationBootstrap(): void {
    if (this.config.isWorker) this.loop.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.loop.stop();
  }

  private async run(): Promise<{ restMs: number }> {
    // If this machine's clock is a day ahead, an email that is just being accepted looks like an orphan. Another
    // process must sweep then.
    if (!(await this.gate.isOpen())) return { restMs: CLOSED_REST_MS };
    const untilMs = this.clock.nowMs() - AGE_MS;
    const sinceMs = this.sinceMs ?? untilMs - BACK_MS;
    for (const day of await this.daysOf(sinceMs, untilMs))
      await this.sweep(day, lowestIdAt(sinceMs), lowestIdAt(untilMs));
    this.sinceMs = untilMs;
    return { restMs: EVERY_MS };
  }

  /** Current retention settings apply. Orphans that a changed retention hides are dropped with their partition. */
  private async daysOf(sinceMs: number, untilMs: number): Promise<Iterable<number>> {
    const days = new Set<number>();
    for (const kept of await this.emails.retentions()) {
      for (let made = Math.floor(sinceMs / DAY_MS); made <= Math.floor(untilMs / DAY_MS); made += 1)
        days.add(expiryDay(made, kept));
    }
    return days;
  }

  private async sweep(day: number, fromId: Id, beforeId: Id): Promise<void> {
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
