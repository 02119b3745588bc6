import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Config } from '#kernel/config.js';
import { DatabaseTime } from '#kernel/database-time.js';
import { lowestIdAt } from '#kernel/ids.js';
import { HOUSEKEEPING, Loop } from '#kernel/loop.js';
import { EmailsStore } from './emails.store.js';
import { RawEmails } from './raw-emails.js';

const EVERY_MS = 3_600_000;
const STEP = 500;
/** An event comes within seconds of its row, or never. So much later even a process that was stopped meanwhile has been given up by its client. */
const AGE_MS = 86_400_000;
/** What a process looks at when it starts: what others may have left. */
const BACK_MS = 3 * 86_400_000;

/** Removes what was stored of emails that were then not accepted: a crash, or storage that went away, between the row and the event. */
@Injectable()
export class OrphanSweep implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly loop: Loop;
  /** Everything before was looked at. */
  private sinceMs: number | null = null;

  constructor(
    private readonly emails: EmailsStore,
    private readonly raw: RawEmails,
    private readonly config: Config,
    private readonly time: DatabaseTime,
    private readonly clock: Clock,
  ) {
    this.loop = new Loop('Orphaned emails', () => this.run(), () => clock.nowMs(), HOUSEKEEPING);
  }

  onApplicationBootstrap(): void {
    if (this.config.isWorker) this.loop.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.loop.stop();
  }

  private async run(): Promise<{ restMs: number }> {
    // By a clock that is a day ahead, an email that is being accepted right now looks forgotten: that is left to others.
    if (!this.time.isAgreed()) return { restMs: EVERY_MS };
    const untilMs = this.clock.nowMs() - AGE_MS;
    const fromId = lowestIdAt(this.sinceMs ?? untilMs - BACK_MS);
    for (let count = STEP; count === STEP; ) {
      const orphans = await this.emails.orphans(fromId, lowestIdAt(untilMs), STEP);
      for (const { environmentId, id } of orphans) {
        await this.raw.remove(environmentId, id);
        await this.emails.drop(environmentId, id);
      }
      count = orphans.length;
    }
    this.sinceMs = untilMs;
    return { restMs: EVERY_MS };
  }
}
