import { Injectable, Logger } from '@nestjs/common';
import { isStorageAway } from '#kernel/database.js';
import { unavailable } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import type { Admission, Arrival, ClaimedDelivery, DeliveryKey, Handover, Lane, ReceivedEvent } from './accept.contract.js';
import { GroupCommit } from './group-commit.js';
import { LedgerContext } from '#modules/events/ledger-context.js';
import { oneByOne } from './accept-group.js';
import { ReceiveStore, type Received } from './receive.store.js';

const BACKLOG_MAX = 10_000;
const BACKLOG_BYTES_MAX = 128 * 1024 * 1024;
const GROUP_ITEMS_MAX = 256;
const GROUP_BYTES_MAX = 4 * 1024 * 1024;
/** As for sends: under load one commit of what would be several. */
const GAP_MS = 4;

/** The group commit of what endpoints receive: like that of sends, but an event has any number of deliveries. */
@Injectable()
export class Receiving {
  private readonly logger = new Logger(Receiving.name);
  private readonly group: GroupCommit<ReceivedEvent, void>;
  private lane: Lane | null = null;
  private handover: Handover | null = null;

  constructor(
    private readonly store: ReceiveStore,
    private readonly context: LedgerContext,
  ) {
    this.group = new GroupCommit<ReceivedEvent, void>({
      write: (events) => this.write(events),
      itemsMax: GROUP_ITEMS_MAX,
      weigh: (event) => event.payloadBytes + event.request.sizeBytes,
      weightMax: GROUP_BYTES_MAX,
      lingerMs: 0,
      gapMs: GAP_MS,
    });
  }

  /** Resolves once the event is committed. Throws 503 when storage is away or does not keep up. */
  receive(event: ReceivedEvent): Promise<void> {
    if (this.group.backlog >= BACKLOG_MAX || this.group.backlogWeight >= BACKLOG_BYTES_MAX) throw unavailable('Storage does not keep up. Nothing was accepted, try again.');
    return this.group.add(event);
  }

  attachLane(lane: Lane): void {
    this.lane = lane;
  }

  attachHandover(handover: Handover): void {
    this.handover = handover;
  }

  drained(): Promise<void> {
    return this.group.drained();
  }

  private async write(events: ReceivedEvent[], partitionsMade = false): Promise<(void | Error)[]> {
    const claimant = this.lane?.claimant() ?? null;
    const group = events.map((event) => ({ event, admissions: event.deliveries.map((arrival) => this.admission(arrival, claimant)) }));
    try {
      await this.store.insert(group, claimant);
    } catch (error) {
      this.lane?.giveBack(group.flatMap(({ event, admissions }) => event.deliveries.filter((_, i) => admissions[i] === 'run')));
      if (isStorageAway(error)) {
        this.logger.warn(`Receiving failed: ${(error as Error).message}`);
        throw unavailable('Storage is not reachable. Nothing was accepted, try again.');
      }
      return oneByOne({
        items: events, error, partitionsMade, ensurePartitions: () => this.context.ensurePartitions(), write: (items, made) => this.write(items, made),
      });
    }
    this.context.metrics.acceptedGroup(group.length);
    this.handOn(group, claimant);
    return events.map(() => undefined);
  }

  private admission(arrival: Arrival, claimant: Id | null): Received['admissions'][number] {
    if (arrival.pulled) return 'pull';
    return claimant && this.lane ? this.lane.admit(arrival) : ('leave' satisfies Admission);
  }

  private handOn(group: readonly Received[], claimant: Id | null): void {
    const run: ClaimedDelivery[] = [];
    const left: DeliveryKey[] = [];
    for (const { event, admissions } of group) {
      for (const [ordinal, arrival] of event.deliveries.entries()) {
        const admission = admissions[ordinal];
        if (admission === 'run') run.push(claimedAtBirth(event, arrival, ordinal, claimant as Id));
        else if (admission !== 'pull') left.push({ environmentId: event.environmentId, eventId: event.id, ordinal });
      }
    }
    this.lane?.take(run);
    if (left.length === 0) return;
    if (this.lane) this.lane.left();
    else this.handover?.announce(left);
  }
}

function claimedAtBirth(event: ReceivedEvent, { targetId }: Arrival, ordinal: number, claimedBy: Id): ClaimedDelivery {
  const { environmentId, id: eventId, eventType, headers, traceparent, payload } = event;
  return {
    environmentId, eventId, ordinal, claimedBy, direction: 'inbound', messageId: null, targetId, url: null, eventType, headers, traceparent, payload,
    attempts: 0, attemptsUsed: 0, firstAttemptAtMs: null, replayed: false,
  };
}
