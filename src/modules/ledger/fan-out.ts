import { Injectable } from '@nestjs/common';
import { Config } from '#kernel/config/config.js';
import { Database, type PiggybackStatement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import type { FannedOut, NewMessage } from './accept.contract.js';
import { AcceptGroup, type Outcomes } from './accept-group.js';
import { AcceptPace } from './accept-pace.js';
import type { ClaimedDelivery, DeliveryKey } from './claims.contract.js';
import { DeliveryHandoff } from './delivery-handoff.js';
import { type AdmittedMessage, FanOutStore } from './fan-out.store.js';
import { type DeliveryIdentity, firstClaim } from './first-claim.js';
import { IdempotentRequests } from './idempotent-requests.js';
import { LedgerMetrics } from './ledger.metrics.js';
import { Partitions } from './partitions.js';

/**
 * Bytes that each event of a fan-out adds to the size of its group, besides the payload. Limits a group to about 2,000
 * events.
 */
const EVENT_WEIGHT_BYTES = 2_048;

/** Accepts fan-outs. Stores a message and all its events, or nothing. */
@Injectable()
export class FanOut {
  private readonly group: AcceptGroup<NewMessage>;

  constructor(
    private readonly store: FanOutStore,
    private readonly idempotent: IdempotentRequests,
    private readonly handoff: DeliveryHandoff,
    private readonly metrics: LedgerMetrics,
    private readonly config: Config,
    private readonly database: Database,
    partitions: Partitions,
    private readonly pace: AcceptPace,
  ) {
    this.group = new AcceptGroup<NewMessage>(partitions, null, {
      what: 'Accepting fan-outs',
      weighBytes: ({ payloadBytes, events }) => payloadBytes + events.length * EVENT_WEIGHT_BYTES,
      backlogMax: 10_000,
      backlogBytesMax: 128 * 1024 * 1024,
      store: (messages, how) => this.write(messages, how),
    });
  }

  fanOut(message: NewMessage): Promise<void> {
    const { environmentId, payloadBytes: bytes, events, caller = null } = message;
    const deliveries = events.reduce((sum, { pulled, refused }) => (pulled || refused ? sum : sum + 1), 0);
    const coming = { environmentId, deliveries, bytes, caller: deliveries === 0 ? null : caller };
    const accept = (): Promise<void> =>
      this.database.isAccompanied() ? this.group.within(message) : this.group.add(message);
    return this.idempotent.hold(message.idempotency?.request ?? null, () => this.pace.enter(coming, accept));
  }

  drained(): Promise<void> {
    return this.group.drained();
  }

  private async write(
    messages: NewMessage[],
    how: PiggybackStatement | 'within' | null,
  ): Promise<() => Promise<Outcomes>> {
    const claimant = how === 'within' ? null : this.handoff.claimant();
    const group = messages.map((message) => ({
      message,
      admissions: message.events.map((event) => this.admission(event, claimant)),
    }));
    let stored: Set<number> | 'all';
    try {
      stored = await this.store.insert(group, claimant, this.config.idempotencyTtlMs, how);
    } catch (error) {
      this.handoff.recordFailure(group.flatMap(admitted), claimant, error);
      throw error;
    }
    return () => {
      const isStored = (i: number): boolean => stored === 'all' || stored.has(i);
      const handOn = (): void =>
        this.handOn(
          group.filter((_, i) => isStored(i)),
          claimant,
        );
      if (how === 'within') this.database.afterCommit(handOn);
      else handOn();
      this.handoff.release(group.filter((_, i) => !isStored(i)).flatMap(admitted));
      return this.idempotent.outcomes(messages, stored);
    };
  }

  private admission(event: FannedOut, claimant: Id | null): AdmittedMessage['admissions'][number] {
    if (event.undecided) return 'undecided';
    return event.refused ? 'refuse' : this.handoff.admission(event, claimant);
  }

  private handOn(group: readonly AdmittedMessage[], claimant: Id | null): void {
    const run: ClaimedDelivery[] = [];
    const left: DeliveryKey[] = [];
    for (const { message, admissions } of group) {
      this.metrics.acceptedGroup(Math.max(message.events.length, 1));
      for (const [at, event] of message.events.entries()) {
        const admission = admissions[at];
        if (admission === 'run') run.push(firstClaim(message, identityOf(message, event, claimant as Id)));
        else if (admission !== 'pull' && admission !== 'refuse' && admission !== 'undecided')
          left.push({ environmentId: message.environmentId, eventId: event.eventId, ordinal: 0 });
      }
    }
    this.handoff.dispatch(run, left);
  }
}

function admitted({ message, admissions }: AdmittedMessage): FannedOut[] {
  return message.events.filter((_, at) => admissions[at] === 'run');
}

const identityOf = ({ id }: NewMessage, { eventId, targetId }: FannedOut, claimedBy: Id): DeliveryIdentity => ({
  eventId,
  ordinal: 0,
  claimedBy,
  direction: 'outbound',
  messageId: id,
  targetId,
  url: null,
});
