import { InjectQueue } from '@nestjs/bullmq';
import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import type { Queue } from 'bullmq';
import type { DeliveryKey } from '#modules/ledger/claims.contract.js';
import type { WakeQueue as WakeQueueContract } from '#modules/ledger/local-scheduler.contract.js';

export const WAKE_QUEUE = 'deliveries';

/** Deliveries that are due: environment, event, ordinal. */
export interface WakeJob {
  keys: [number, string, number][];
}

const KEYS_PER_JOB_MAX = 500;
const WAITING_MAX = 10_000;

/**
 * Tells workers in other processes what was accepted here, a batch of ids at a time. One job is on its way at once
 * and what comes meanwhile makes the next one; what does not fit, or is lost with the queue, is found by the
 * dispatchers' sweep, so nobody ever waits for this.
 */
@Injectable()
export class WakeQueue implements WakeQueueContract, BeforeApplicationShutdown {
  private readonly logger = new Logger(WakeQueue.name);
  private waiting: DeliveryKey[] = [];
  private adding = false;

  constructor(@InjectQueue(WAKE_QUEUE) private readonly queue: Queue<WakeJob>) {
    queue.on('error', () => undefined);
  }

  /** By force, as the worker's end is: whatever is on its way is found by the sweep. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.queue.disconnect();
  }

  announce(deliveries: DeliveryKey[]): void {
    if (this.waiting.length < WAITING_MAX) this.waiting.push(...deliveries);
    if (!this.adding) void this.add();
  }

  private async add(): Promise<void> {
    this.adding = true;
    while (this.waiting.length > 0) {
      const keys = this.waiting.splice(0, KEYS_PER_JOB_MAX);
      const job: WakeJob = {
        keys: keys.map(({ environmentId, eventId, ordinal }) => [environmentId, eventId, ordinal]),
      };
      await this.queue.add('due', job, { removeOnComplete: true, removeOnFail: true }).catch((error: unknown) => {
        this.logger.warn(`The queue took no wake-up: ${(error as Error).message}`);
      });
    }
    this.adding = false;
  }
}
