import { Injectable } from '@nestjs/common';
import { Config } from '#kernel/config/config.js';
import { Database, type PiggybackStatement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import type { NewEvent } from './accept.contract.js';
import { AcceptStore, type Admitted } from './accept.store.js';
import { AcceptGroup, type Outcomes } from './accept-group.js';
import { AcceptPace } from './accept-pace.js';
import type { ClaimedDelivery, DeliveryKey } from './claims.contract.js';
import { DeliveryHandoff } from './delivery-handoff.js';
import { type DeliveryIdentity, firstClaim } from './first-claim.js';
import { IdempotentRequests } from './idempotent-requests.js';
import { LedgerMetrics } from './ledger.metrics.js';
import { Partitions } from './partitions.js';
import { RecordResults } from './record.js';

/** Maximum size of the events and rows that wait for storage, for each group commit. */
const BACKLOG_BYTES_MAX = 256 * 1024 * 1024;
/**
 * Minimum pause between commits of events with rows of other contexts. Such a commit runs three statements instead of
 * one, so it pays to write more events with each.
 */
const ROW_GAP_MS = 4;

@Injectable()
export class Accept {
  private readonly group: AcceptGroup<NewEvent>;
  /** Events with rows of other contexts have a group commit of their own, so that large emails do not delay webhooks. */
  private readonly rowGroup: AcceptGroup<NewEvent>;

  constructor(
    private readonly store: AcceptStore,
    private readonly idempotent: IdempotentRequests,
    private readonly handoff: DeliveryHandoff,
    private readonly metrics: LedgerMetrics,
    private readonly config: Config,
    private readonly database: Database,
    partitions: Partitions,
    results: RecordResults,
    private readonly pace: AcceptPace,
  ) {
    const shared = {
      what: 'Accepting',
      weighBytes: ({ payloadBytes, row }: NewEvent) => payloadBytes + (row?.bytes ?? 0),
      backlogMax: 20_000,
      backlogBytesMax: BACKLOG_BYTES_MAX,
      store: (events: NewEvent[], ride: PiggybackStatement | 'within' | null) => this.write(events, ride),
    };
    this.group = new AcceptGroup<NewEvent>(partitions, results, shared);
    this.rowGroup = new AcceptGroup<NewEvent>(partitions, results, { ...shared, gapMs: ROW_GAP_MS });
  }

  accept(event: NewEvent): Promise<void> {
    const { environmentId, payloadBytes: bytes, pulled, caller = null, row } = event;
    const group = row === undefined ? this.group : this.rowGroup;
    const accept = (): Promise<void> => (this.database.isAccompanied() ? group.within(event) : group.add(event));
    return this.idempotent.hold(event.idempotency?.request ?? null, () =>
      pulled ? accept() : this.pace.enter({ environmentId, deliveries: 1, bytes, caller }, accept),
    );
  }

  /**
   * Accepts an event in the caller's transaction. Does not notify the local scheduler, so the delivery waits until a
   * worker polls for due deliveries.
   */
  acceptWithin(event: NewEvent): Promise<void> {
    return this.group.within(event);
  }

  get isOverloaded(): boolean {
    return this.group.isOverloaded || this.rowGroup.isOverloaded;
  }

  async drained(): Promise<void> {
    await Promise.all([this.group.drained(), this.rowGroup.drained()]);
  }

  private async write(
    events: NewEvent[],
    piggybackStatement: PiggybackStatement | 'within' | null,
  ): Promise<() => Promise<Outcomes>> {
    const claimant = piggybackStatement === 'within' ? null : this.handoff.claimant();
    const group = events.map((event) => ({ event, admission: this.handoff.admission(event, claimant) }));
    let stored: Set<number> | 'all';
    try {
      stored = await this.store.insert(group, claimant, this.config.idempotencyTtlMs, piggybackStatement);
    } catch (error) {
      this.handoff.recordFailure(admitted(group), claimant, error);
      throw error;
    }
    return () => {
      const isStored = (i: number): boolean => stored === 'all' || stored.has(i);
      const handOn = (): void => {
        this.metrics.acceptedGroup(group.length);
        this.handOn(
          group.filter((_, i) => isStored(i)),
          claimant,
        );
      };
      if (piggybackStatement === 'within') this.database.afterCommit(handOn);
      else handOn();
      this.handoff.release(admitted(group.filter((_, i) => !isStored(i))));
      return this.idempotent.outcomes(events, stored);
    };
  }

  private handOn(group: readonly Admitted[], claimant: Id | null): void {
    const run: ClaimedDelivery[] = [];
    const left: DeliveryKey[] = [];
    for (const { event, admission } of group) {
      if (admission === 'run') run.push(firstClaim(event, identityOf(event, claimant as Id)));
      else if (admission !== 'pull') left.push({ environmentId: event.environmentId, eventId: event.id, ordinal: 0 });
    }
    this.handoff.dispatch(run, left);
  }
}

function admitted(group: readonly Admitted[]): NewEvent[] {
  return group.filter(({ admission }) => admission === 'run').map(({ event }) => event);
}

const identityOf = ({ id, targetId, url }: NewEvent, claimedBy: Id): DeliveryIdentity => ({
  eventId: id,
  ordinal: 0,
  claimedBy,
  direction: 'outbound',
  messageId: null,
  targetId,
  url,
});
