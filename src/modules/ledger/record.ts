import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { GroupCommit } from '#kernel/group-commit.js';
import { LedgerMetrics } from './ledger.metrics.js';
import { Results, type DeliveryResult } from './record.contract.js';
import { RecordStore } from './record.store.js';
import { untilStored } from './until-stored.js';

const GROUP_ITEMS_MAX = 256;
/** Nobody waits for a recorded attempt, so it may wait for company. */
const LINGER_MS = 20;
/** Nor for the next one, which is seconds away. */
const RETRYING_LINGER_MS = 100;

/**
 * The group commit of what came of deliveries. What is tried again is written in groups of its own: a few failures a second would
 * otherwise have every group of healthy deliveries pay for the dearer statement.
 */
@Injectable()
export class RecordResults extends Results implements OnApplicationShutdown {
  private readonly logger = new Logger('Ledger');
  private readonly ending: GroupCommit<DeliveryResult, boolean>;
  private readonly retrying: GroupCommit<DeliveryResult, boolean>;

  constructor(
    private readonly store: RecordStore,
    private readonly metrics: LedgerMetrics,
  ) {
    super();
    this.ending = this.group(LINGER_MS);
    this.retrying = this.group(RETRYING_LINGER_MS);
  }

  override record(result: DeliveryResult): Promise<boolean> {
    return (result.status === 'retrying' ? this.retrying : this.ending).add(result);
  }

  /** Waits until everything that was handed in is committed. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.ending.drained(), this.retrying.drained()]);
  }

  private group(lingerMs: number): GroupCommit<DeliveryResult, boolean> {
    const write = (results: DeliveryResult[]): Promise<(boolean | Error)[]> => this.write(results);
    return new GroupCommit({ write, itemsMax: GROUP_ITEMS_MAX, weigh: () => 1, weightMax: GROUP_ITEMS_MAX, lingerMs, gapMs: 0 });
  }

  private async write(results: DeliveryResult[]): Promise<(boolean | Error)[]> {
    try {
      const held = await untilStored(this.logger, 'Recording', () => this.store.write(results));
      this.metrics.recordedGroup(results, held);
      return results.map((result) => held.has(`${result.eventId}/${result.ordinal}`));
    } catch (error) {
      return this.oneByOne(results, error);
    }
  }

  /** One result that PostgreSQL refuses must not fail those that travelled with it. */
  private async oneByOne(results: DeliveryResult[], error: unknown): Promise<(boolean | Error)[]> {
    if (results.length === 1) return [error as Error];
    const written: (boolean | Error)[] = [];
    for (const result of results) written.push(...(await this.write([result])));
    return written;
  }
}
