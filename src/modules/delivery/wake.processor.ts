import { Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import { Dispatcher } from './dispatcher.js';
import { WAKE_QUEUE, type WakeJob } from './wake.queue.js';

/** Takes wake-ups of other processes. */
@Processor(WAKE_QUEUE, { concurrency: 4 })
export class WakeProcessor extends WorkerHost {
  constructor(private readonly dispatcher: Dispatcher) {
    super();
  }

  async process({ data }: Job<WakeJob>): Promise<void> {
    await this.dispatcher.take(data.keys.map(([environmentId, eventId, ordinal]) => ({ environmentId, eventId, ordinal })));
  }
}
