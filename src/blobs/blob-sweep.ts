import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { HOUSEKEEPING, Loop } from '#kernel/concurrency/loop.js';
import { Config } from '#kernel/config/config.js';
import { CLOSED_REST_MS, RetentionGate } from '#kernel/database/retention-gate.js';
import { BlobStore } from './contract.js';
import { FileBlobs } from './file-blobs.js';
import { S3Blobs } from './s3-blobs.js';

const EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Maximum duration of one sweep run. The next run continues where it stopped. */
const TURN_MS_MAX = 10_000;
const AGAIN_MS = 1_000;

/** Blobs in a directory or a bucket only. In PostgreSQL they are dropped with the partitions of their day. */
@Injectable()
export class BlobSweep implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly loop: Loop;

  constructor(
    private readonly store: BlobStore,
    private readonly config: Config,
    private readonly gate: RetentionGate,
    private readonly clock: Clock,
  ) {
    this.loop = new Loop(
      'BlobSweep',
      () => this.run(),
      () => clock.nowMs(),
      HOUSEKEEPING,
    );
  }

  onApplicationBootstrap(): void {
    if (this.isSwept && this.config.isWorker) this.loop.start();
  }

  private get isSwept(): boolean {
    return this.store instanceof FileBlobs || this.store instanceof S3Blobs;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.loop.stop();
  }

  private async run(): Promise<{ restMs: number }> {
    // Removal is final. A process whose clock differs from PostgreSQL's therefore leaves it to other processes.
    if (!(await this.gate.isOpen())) return { restMs: CLOSED_REST_MS };
    const [nowMs, fromMs] = [this.clock.nowMs(), this.clock.monotonicMs()];
    const mayGoOn = (): boolean => this.clock.monotonicMs() - fromMs < TURN_MS_MAX;
    // One day after the ledger expires deliveries, which may read their blobs until then.
    const today = Math.floor(nowMs / DAY_MS) - 1;
    const isMore =
      this.store instanceof S3Blobs
        ? (await this.store.sweep(today, mayGoOn)).isMore
        : this.store instanceof FileBlobs && (await this.store.sweep(today, nowMs, mayGoOn)).isMore;
    return { restMs: isMore ? AGAIN_MS : EVERY_MS };
  }
}
