import { Injectable } from '@nestjs/common';
import { Config } from '#kernel/config/config.js';
import { Database, type PiggybackStatement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import type { Arrival, ReceivedEvent } from './accept.contract.js';
import { AcceptGroup, type Outcomes } from './accept-group.js';
import type { ClaimedDelivery, DeliveryKey } from './claims.contract.js';
import { DeliveryHandoff } from './delivery-handoff.js';
import { type DeliveryIdentity, firstClaim } from './first-claim.js';
import { IdempotentRequests } from './idempotent-requests.js';
import { LedgerMetrics } from './ledger.metrics.js';
import { Partitions } from './partitions.js';
import { type Received, ReceiveStore } from './receive.store.js';
import { RecordResults } from './record.js';

/** Accepts received events. Unlike a sent event, a received event has a raw request and any number of deliveries. */
@Injectable()
export class Receive {
  private readonly group: AcceptGroup<ReceivedEvent>;

  constructor(
    private readonly store: ReceiveStore,
    private readonly idempotent: IdempotentRequests,
    private readonly handoff: DeliveryHandoff,
    private readonly metrics: LedgerMetrics,
    private readonly config: Config,
    private readonly database: Database,
    partitions: Partitions,
    results: RecordResults,
  ) {
    this.group = new AcceptGroup<ReceivedEvent>(partitions, results, {
      what: 'Receiving',
      weighBytes: ({ payloadBytes, request }) => payloadBytes + request.sizeBytes,
      backlogMax: 10_000,
      backlogBytesMax: 128 * 1024 * 1024,
      store: (events, ride) => this.write(events, ride),
    });
  }

  receive(event: ReceivedEvent): Promise<void> {
    return this.idempotent.hold(event.idempotency?.request ?? null, () =>
      this.database.isAccompanied() ? this.group.within(event) : this.group.add(event),
    );
  }

  drained(): Promise<void> {
    return this.group.drained();
  }

  private async write(
    events: ReceivedEvent[],
    piggybackStatement: PiggybackStatement | 'within' | null,
  ): Promise<() => Promise<Outcomes>> {
    const claimant = piggybackStatement === 'within' ? null : this.handoff.claimant();
    const group = events.map((event) => ({
      event,
      admissions: event.deliveries.map((arrival) => this.handoff.admission(arrival, claimant)),
    }));
    let stored: Set<number> | 'all';
    try {
      stored = await this.store.insert(group, claimant, this.config.idempotencyTtlMs, piggybackStatement);
    } catch (error) {
      this.handoff.recordFailure(group.flatMap(admitted), claimant, error);
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
      this.handoff.release(group.filter((_, i) => !isStored(i)).flatMap(admitted));
      return this.idempotent.outcomes(events, stored);
    };
  }

  private handOn(group: readonly Received[], claimant: Id | null): void {
    const run: ClaimedDelivery[] = [];
    const left: DeliveryKey[] = [];
    for (const { event, admissions } of group) {
      for (const [ordinal, arrival] of event.deliveries.entries()) {
        const admission = admissions[ordinal];
        if (admission === 'run') run.push(firstClaim(event, identityOf(event, arrival, ordinal, claimant as Id)));
        else if (admission !== 'pull') left.push({ environmentId: event.environmentId, eventId: event.id, ordinal });
      }
    }
    this.handoff.dispatch(run, left);
  }
}

function admitted({ event, admissions }: Received): Arrival[] {
  return event.deliveries.filter((_, i) => admissions[i] === 'run');
}

const identityOf = (
  { id }: ReceivedEvent,
  { targetId }: Arrival,
  ordinal: number,
  claimedBy: Id,
): DeliveryIdentity => ({
  eventId: id,
  ordinal,
  claimedBy,
  direction: 'inbound',
  messageId: null,
  targetId,
  url: null,
});
