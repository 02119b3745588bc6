import { InjectQueue } from '@nestjs/bullmq';
import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import type { Queue } from 'bullmq';
import type { DeliveryKey } from '#modules/ledger/claims.contract.js';
import type { WakeQueue as WakeQueueContract } from '#modules/ledger/local-scheduler.contract.js';

export const WAKE_QUEUE = 'deliveries';

export interface WakeJob {
  keys: [number, string, number][];
}

const KEYS_PER_JOB_MAX = 500;
const WAITING_MAX = 10_000;
/**
 * The load counts as high if a job has at least 16 deliveries, and at least 1,000 deliveries a second were accepted
 * since the previous job. The next job then waits, so that it contains more deliveries: each job costs PostgreSQL a
 * commit.
 */
const BUSY_KEYS = 16;
const BUSY_KEYS_PER_MS = 1;
const BUSY_GAP_MS = 20;

/**
 * Wakes workers in other processes when deliveries were accepted. A job contains the ids of several deliveries. One job
 * is in flight at a time, and the next one contains the deliveries that were accepted meanwhile. Under high load, jobs
 * are at least 20 ms apart, except full jobs. No caller waits for the queue. If a job is lost, or more deliveries are
 * accepted than the buffer holds, the periodic sweep of the dispatcher finds them.
 */
@Injectable()
export class WakeQueue implements WakeQueueContract, BeforeApplicationShutdown {
  private readonly logger = new Logger(WakeQueue.name);
  private waiting: DeliveryKey[] = [];
  private adding = false;
  private isStopped = false;
  /** Start of the previous job on the monotonic clock, in milliseconds. */
  private startedAtMs = -Infinity;

  constructor(@InjectQueue(WAKE_QUEUE) private readonly queue: Queue<WakeJob>) {
    queue.on('error', () => undefined);
  }

  /**
   * Disconnects without waiting for the job in flight and the next one. The periodic sweep of the dispatcher finds their
   * deliveries.
   */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopped = true;
    await this.queue.disconnect();
  }

  announce(deliveries: DeliveryKey[]): void {
    if (this.waiting.length < WAITING_MAX) this.waiting.push(...deliveries);
    if (!this.adding) void this.add();
  }

  private async add(): Promise<void> {
    this.adding = true;
    while (this.waiting.length > 0 && !this.isStopped) {
      const keys = this.waiting.splice(0, KEYS_PER_JOB_MAX);
      const isBusy = this.isBusy(keys.length);
      const job: WakeJob = {
        keys: keys.map(({ environmentId, eventId, ordinal }) => [environmentId, eventId, ordinal]),
      };
      await this.queue.add('due', job, { removeOnComplete: true, removeOnFail: true }).catch((error: unknown) => {
        this.logger.warn(`The queue did not accept a wake-up: ${(error as Error).message}`);
      });
      if (isBusy && keys.length < KEYS_PER_JOB_MAX) await new Promise((resolve) => setTimeout(resolve, BUSY_GAP_MS));
    }
    this.adding = false;
  }

  private isBusy(deliveries: number): boolean {
    const nowMs = performance.now();
    const sinceMs = nowMs - this.startedAtMs;
    this.startedAtMs = nowMs;
    return deliveries >= BUSY_KEYS && deliveries >= sinceMs * BUSY_KEYS_PER_MS;
  }
}
