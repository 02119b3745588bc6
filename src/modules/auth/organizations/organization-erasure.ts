import { Injectable, Logger } from '@nestjs/common';
import { BackgroundJobs } from '#kernel/concurrency/background-jobs.js';
import { Every } from '#kernel/concurrency/every.js';
import type { LoopDelay } from '#kernel/concurrency/loop.js';
import { Notifications } from '#kernel/database/notifications.js';
import { showId } from '#kernel/ids.js';
import { OrgsStore } from './organizations.store.js';

const EVERY_MS = 60_000;
const AGAIN_MS = 1_000;

/**
 * Erases the configuration of removed organizations in batches. Deletes referencing rows before the rows that they
 * reference. Safe to run in any number of processes.
 */
@Injectable()
export class OrganizationErasure {
  private readonly logger = new Logger('Organizations');

  constructor(
    private readonly store: OrgsStore,
    notifications: Notifications,
    jobs: BackgroundJobs,
  ) {
    notifications.on('organization', () => jobs.wake(this));
  }

  @Every(EVERY_MS, { name: 'Organization erasure' })
  async eraseRemoved(): Promise<LoopDelay> {
    const waiting = await this.store.toErase();
    for (const id of waiting) {
      if (!(await this.store.erase(id))) continue;
      await this.store.erased(id);
      this.logger.log(
        `Erased the configuration of ${showId('org', id)}. Its accepted events are deleted when their retention ends.`,
      );
    }
    return { restMs: waiting.length > 0 ? AGAIN_MS : EVERY_MS };
  }
}
