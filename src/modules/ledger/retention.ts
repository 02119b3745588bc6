import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Environments } from '#modules/auth/contract.js';
import { Clock } from '#kernel/clock.js';
import { Config } from '#kernel/config.js';
import { Loop } from '#kernel/loop.js';
import { LedgerContext } from '#modules/events/ledger-context.js';
import { PartitionsStore } from './partitions.store.js';

const DAY_MS = 86_400_000;
const EVERY_MS = 3_600_000;
/** Partitions are made this many days ahead of need, so that a missed run refuses nothing. */
const DAYS_AHEAD = 4;

/** Keeps the ledger's partitions: those that are needed exist, those whose day has passed are dropped. */
@Injectable()
export class Retention implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(Retention.name);
  private readonly loop: Loop;

  constructor(
    private readonly partitions: PartitionsStore,
    private readonly environments: Environments,
    private readonly clock: Clock,
    private readonly config: Config,
    context: LedgerContext,
  ) {
    this.loop = new Loop('Retention', () => this.run(), () => clock.nowMs());
    context.ensurePartitions = () => this.ensure();
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.ensure();
    if (this.config.role !== 'api') this.loop.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.loop.stop();
  }

  private async run(): Promise<{ restMs: number }> {
    await this.ensure();
    const dropped = await this.partitions.dropBefore(this.today());
    if (dropped.length > 0) this.logger.log(`Retention dropped ${dropped.join(', ')}`);
    return { restMs: EVERY_MS };
  }

  private async ensure(): Promise<void> {
    const today = this.today();
    await this.partitions.ensure(today, today + (await this.environments.longestRetentionDays()) + DAYS_AHEAD);
  }

  private today(): number {
    return Math.floor(this.clock.nowMs() / DAY_MS);
  }
}
