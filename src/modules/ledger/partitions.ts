import { Injectable, Logger } from '@nestjs/common';
import { Environments } from '#modules/auth/contract.js';
import { KeptDays } from './kept-days.contract.js';
import { LedgerMetrics } from './ledger.metrics.js';
import { PartitionsStore } from './partitions.store.js';

/** Partitions are made this many days ahead of need, so that a missed run refuses nothing. */
const DAYS_AHEAD = 4;

/** The days of which the ledger has partitions. */
@Injectable()
export class Partitions extends KeptDays {
  private readonly logger = new Logger(Partitions.name);

  constructor(
    private readonly store: PartitionsStore,
    private readonly environments: Environments,
    private readonly metrics: LedgerMetrics,
  ) {
    super();
  }

  /** Makes those that are missing for what is accepted today and in the days to come. */
  override async ensure(): Promise<void> {
    await this.store.ensure(await this.environments.retentions(), DAYS_AHEAD);
  }

  /** Makes one of them, in a moment. False when there is none to make, or somebody was in the way: there are days left. */
  async makeNext(): Promise<boolean> {
    return this.store.makeNext(await this.environments.retentions(), DAYS_AHEAD);
  }

  /**
   * Ends what is still open of days that have passed, and drops the partitions of the days before: those of which
   * something was open stay until the next run, so that what became of it can be seen. Returns true when some could not be
   * dropped now.
   */
  async dropPassed(): Promise<boolean> {
    // Once a day: what comes next looks at every open delivery.
    if (!(await this.store.hasPassed())) return false;
    const openDays = await this.store.openDays();
    await this.expire(openDays);
    const { names, isHeldUp } = await this.store.dropPassed(openDays);
    if (names.length > 0) this.logger.log(`Retention dropped ${names.join(', ')}`);
    if (isHeldUp)
      this.logger.warn(
        'Partitions of passed days are held by a long transaction, or another process drops them; tried again, in minutes at the latest.',
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
    if (expired > 0)
      this.logger.warn(`Retention ended ${expired} deliveries as expired that had not reached their targets.`);
  }
}
