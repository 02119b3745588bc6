import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Every } from '#kernel/concurrency/every.js';
import type { LoopDelay } from '#kernel/concurrency/loop.js';
import { FileBlobs } from './file-blobs.js';
import { S3Blobs } from './s3-blobs.js';

const EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Maximum duration of one sweep run. The next run continues where it stopped. */
const TURN_MS_MAX = 10_000;
const AGAIN_MS = 1_000;

/** Sweeps blobs in a directory or bucket. PostgreSQL blobs are dropped with the partitions of their expiry day. */
@Injectable()
export class BlobSweep {
  constructor(
    private readonly store: FileBlobs | S3Blobs,
    private readonly clock: Clock,
  ) {}

  @Every(EVERY_MS, { name: 'Blob sweep', runsOn: 'worker', removesByAge: true })
  async sweep(): Promise<LoopDelay> {
    const [nowMs, fromMs] = [this.clock.nowMs(), this.clock.monotonicMs()];
    const mayGoOn = (): boolean => this.clock.monotonicMs() - fromMs < TURN_MS_MAX;
    // Sweeps one day after the ledger expires deliveries, which may read their blobs until then.
    const today = Math.floor(nowMs / DAY_MS) - 1;
    const { isMore } = await (this.store instanceof S3Blobs
      ? this.store.sweep(today, mayGoOn)
      : this.store.sweep(today, nowMs, mayGoOn));
    return { restMs: isMore ? AGAIN_MS : EVERY_MS };
  }
}
