import { Injectable } from '@nestjs/common';
import { Config } from '#kernel/config.js';
import { LedgerMetrics } from '#modules/ledger/ledger.metrics.js';

/** What the ledger needs besides its stores. */
@Injectable()
export class LedgerContext {
  /** Makes missing partitions; set by retention. */
  ensurePartitions: () => Promise<void> = () => Promise.resolve();

  constructor(
    readonly config: Config,
    readonly metrics: LedgerMetrics,
  ) {}
}
