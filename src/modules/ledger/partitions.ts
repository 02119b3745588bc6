import { Injectable, Logger } from '@nestjs/common';
import { Environments } from '#modules/auth/environments/environments.js';
import { LedgerMetrics } from './ledger.metrics.js';
import { PartitionsStore } from './partitions.store.js';

/** Number of days for which partitions are created in advance. A missed run then does not cause rejected events. */
const DAYS_AHEAD = 4;

/** Manages the daily partitions of the tables with a retention. */
@Injectable()
export class Partitions {
  private readonly logger = new Logger(Partitions.name);

  constructor(
    private readonly store: PartitionsStore,
    private readonly environments: Environments,
    private readonly metrics: LedgerMetrics,
  ) {}

  /**
   * Creates missing partitions in a separate transaction. Call it after an insert failed with SQLSTATE 23514, because
   * retention was changed.
   */
  async ensure(): Promise<void> {
    await this.store.ensure(await this.environments.retentions(), DAYS_AHEAD);
  }

  /** Creates one missing partition. Returns false if none is missing. Also returns false if the table is locked. */
  async makeNext(): Promise<boolean> {
    return this.store.makeNext(await this.environments.retentions(), DAYS_AHEAD);
  }

  /**
   * Ends open deliveries of past days and drops past partitions. Keeps a partition until the next run if its day had
   * open deliveries, so that their results stay visible. Returns true if some partitions could not be dropped yet.
   */
  async dropPassed(): Promise<boolean> {
    // This check limits the next step, which scans all open deliveries, to once a day.
    if (!(await this.store.hasPassed())) return false;
    const openDays = await this.store.openDays();
    await this.expire(openDays);
    const { names, isHeldUp } = await this.store.dropPassed(openDays);
    if (names.length > 0) this.logger.log(`Retention dropped ${names.join(', ')}`);
    if (isHeldUp)
      this.logger.warn(
        'Partitions of past days are held by a long transaction, or another process drops them; the drop is retried within minutes.',
      );
    return isHeldUp;
  }

  private async expire(openDays: readonly number[]): Promise<void> {
    if (openDays.length === 0) return;
    let expired = 0;
    for (let count = -1; count !== 0; expired += count) {
      count = await this.store.expire();
      this.metrics.expired(count);
    }
    if (expired > 0) this.logger.warn(`Retention ended ${expired} undelivered deliveries as expired.`);
  }
}
