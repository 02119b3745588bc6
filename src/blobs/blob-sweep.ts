import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Config } from '#kernel/config.js';
import { DatabaseTime } from '#kernel/database-time.js';
import { HOUSEKEEPING, Loop } from '#kernel/loop.js';
import { BlobStore } from './contract.js';
import { FileBlobs } from './file-blobs.js';

const EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Sweeps the directory of blobs; those in PostgreSQL go with the partitions of their day. */
@Injectable()
export class BlobSweep implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly loop: Loop;

  constructor(
    private readonly store: BlobStore,
    private readonly config: Config,
    private readonly time: DatabaseTime,
    private readonly clock: Clock,
  ) {
    this.loop = new Loop('BlobSweep', () => this.run(), () => clock.nowMs(), HOUSEKEEPING);
  }

  onApplicationBootstrap(): void {
    if (this.store instanceof FileBlobs && this.config.isWorker) this.loop.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.loop.stop();
  }

  private async run(): Promise<{ restMs: number }> {
    // What is removed is gone for good: whose clock is not PostgreSQL's leaves it to others.
    if (this.store instanceof FileBlobs && this.time.isAgreed()) {
      const nowMs = this.clock.nowMs();
      // A day later than the ledger ends deliveries, which may read them until then.
      await this.store.sweep(Math.floor(nowMs / DAY_MS) - 1, nowMs);
    }
    return { restMs: EVERY_MS };
  }
}
