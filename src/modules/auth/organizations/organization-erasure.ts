import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { HOUSEKEEPING, Loop } from '#kernel/concurrency/loop.js';
import { Notifications } from '#kernel/database/notifications.js';
import { showId } from '#kernel/ids.js';
import { OrgsStore } from './organizations.store.js';

const EVERY_MS = 60_000;
const AGAIN_MS = 1_000;

/**
 * Erases the configuration of removed organizations in batches, and referencing rows before referenced ones. Safe to
 * run in any number of processes.
 */
@Injectable()
export class OrganizationErasure implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Organizations');
  private readonly loop: Loop;

  constructor(
    private readonly store: OrgsStore,
    notifications: Notifications,
    clock: Clock,
  ) {
    this.loop = new Loop(
      'OrganizationErasure',
      () => this.turn(),
      () => clock.nowMs(),
      HOUSEKEEPING,
    );
    notifications.on('organization', () => this.loop.wake());
  }

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.loop.stop();
  }

  private async turn(): Promise<{ restMs: number }> {
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
