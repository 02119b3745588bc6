import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { MailCounts } from '#engine/mail/domain-reputation.js';
import { Every } from '#kernel/concurrency/every.js';
import { DomainMailCountsStore, type HostCounts } from './domain-mail-counts.store.js';
import { DomainReputations } from './domain-reputations.js';
import type { DomainPlace } from './domains.store.js';

const WRITE_PERIOD_MS = 1_000;
const SWEEP_PERIOD_MS = 3_600_000;
/** Maximum number of hosts with counts in memory. Counts of further hosts are dropped. */
const PENDING_MAX = 10_000;

/**
 * Counts the recipients of each domain's mail. The counts are written in the background with one statement, so that
 * sending mail does not wait for the write. A crash loses the counts of the last second.
 */
@Injectable()
export class DomainMailCounts implements OnApplicationShutdown {
  private pending = new Map<string, HostCounts>();

  constructor(
    private readonly store: DomainMailCountsStore,
    private readonly reputations: DomainReputations,
  ) {}

  add(environmentId: number, host: string, counts: MailCounts): void {
    const key = `${environmentId} ${host}`;
    const before = this.pending.get(key);
    if (before === undefined && this.pending.size >= PENDING_MAX) return;
    this.pending.set(key, { environmentId, host, ...sumOf(before, counts) });
  }

  @Every(WRITE_PERIOD_MS, { name: 'Domain mail counts' })
  async write(): Promise<void> {
    const writing = this.pending;
    if (writing.size === 0) return;
    this.pending = new Map();
    await this.reputations.judge(await this.added(writing));
  }

  @Every(SWEEP_PERIOD_MS, { name: 'Domain mail count sweep', runsOn: 'worker', removesByAge: true })
  async sweep(): Promise<void> {
    await this.store.forget();
  }

  /** Writes the remaining counts. At this point, the periodic write has stopped and no delivery is running. */
  async onApplicationShutdown(): Promise<void> {
    await this.write().catch(() => undefined);
  }

  /** Writes counts and returns the domains whose counts changed. If the database fails, keeps the counts and throws. */
  private async added(counts: ReadonlyMap<string, HostCounts>): Promise<DomainPlace[]> {
    try {
      return await this.store.add([...counts.values()]);
    } catch (error) {
      for (const { environmentId, host, ...each } of counts.values()) this.add(environmentId, host, each);
      throw error;
    }
  }
}

function sumOf(before: MailCounts | undefined, { sent, delivered, bounced, complained }: MailCounts): MailCounts {
  return {
    sent: (before?.sent ?? 0) + sent,
    delivered: (before?.delivered ?? 0) + delivered,
    bounced: (before?.bounced ?? 0) + bounced,
    complained: (before?.complained ?? 0) + complained,
  };
}
