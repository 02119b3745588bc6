import { Injectable, Logger } from '@nestjs/common';
import { isStorageAway } from '#kernel/database.js';
import { unavailable } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import type { ClaimedDelivery, DeliveryKey, FannedOut, Handover, Lane, NewMessage } from './accept.contract.js';
import { FanOutStore, type FanOut } from './fan-out.store.js';
import { FirstRequests } from './idempotent-requests.js';
import { GroupCommit } from './group-commit.js';
import { LedgerContext } from '#modules/events/ledger-context.js';
import { oneByOne } from './accept-group.js';

const BACKLOG_MAX = 10_000;
const BACKLOG_BYTES_MAX = 128 * 1024 * 1024;
const GROUP_ITEMS_MAX = 256;
const GROUP_BYTES_MAX = 4 * 1024 * 1024;
/** What an event of a fan-out costs a group besides the payload: so that about two thousand of them are one. */
const EVENT_WEIGHT_BYTES = 2_048;
/** As for sends: under load one commit of what would be several. */
const GAP_MS = 4;

/** The group commit of fan-outs: a message and all its events go in together, or not at all. */
@Injectable()
export class FanningOut {
  private readonly logger = new Logger(FanningOut.name);
  private readonly group: GroupCommit<NewMessage, void>;
  private lane: Lane | null = null;
  private handover: Handover | null = null;

  constructor(
    private readonly store: FanOutStore,
    private readonly firstRequests: FirstRequests,
    private readonly context: LedgerContext,
  ) {
    this.group = new GroupCommit<NewMessage, void>({
      write: (messages) => this.write(messages),
      itemsMax: GROUP_ITEMS_MAX,
      weigh: ({ payloadBytes, events }) => payloadBytes + events.length * EVENT_WEIGHT_BYTES,
      weightMax: GROUP_BYTES_MAX,
      lingerMs: 0,
      gapMs: GAP_MS,
    });
  }

  /** Resolves once the message is committed. Throws as `Ledger.accept` does. */
  fanOut(message: NewMessage): Promise<void> {
    if (this.group.backlog >= BACKLOG_MAX || this.group.backlogWeight >= BACKLOG_BYTES_MAX) {
      throw unavailable('Storage does not keep up. Nothing was accepted, try again.');
    }
    return this.firstRequests.hold(message.once?.request ?? null, () => this.group.add(message));
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

  private async write(messages: NewMessage[], partitionsMade = false): Promise<(void | Error)[]> {
    const claimant = this.lane?.claimant() ?? null;
    const group = messages.map((message) => ({ message, admissions: message.events.map((event) => this.admission(event, claimant)) }));
    try {
      const stored = await this.store.insert(group, claimant, this.context.config.idempotencyTtlMs);
      return await this.committed(group, claimant, stored);
    } catch (error) {
      this.lane?.giveBack(group.flatMap(admitted));
      if (isStorageAway(error)) {
        this.logger.warn(`Accepting fan-outs failed: ${(error as Error).message}`);
        throw unavailable('Storage is not reachable. Nothing was accepted, try again.');
      }
      return oneByOne({
        items: messages, error, partitionsMade, ensurePartitions: () => this.context.ensurePartitions(), write: (items, made) => this.write(items, made),
      });
    }
  }

  private admission(event: FannedOut, claimant: Id | null): FanOut['admissions'][number] {
    if (event.refused) return 'refuse';
    if (event.pulled) return 'pull';
    return claimant && this.lane ? this.lane.admit(event) : 'leave';
  }

  private async committed(group: readonly FanOut[], claimant: Id | null, stored: Set<number> | 'all'): Promise<(void | Error)[]> {
    const results: (void | Error)[] = [];
    const run: ClaimedDelivery[] = [];
    const left: DeliveryKey[] = [];
    const back: FannedOut[] = [];
    for (const [i, { message, admissions }] of group.entries()) {
      if (stored !== 'all' && !stored.has(i)) {
        results.push(message.once ? await this.firstRequests.answered(message.once.request) : undefined);
        back.push(...admitted({ message, admissions }));
        continue;
      }
      results.push(undefined);
      this.context.metrics.acceptedGroup(Math.max(message.events.length, 1));
      for (const [at, event] of message.events.entries()) {
        const admission = admissions[at];
        if (admission === 'run') run.push(claimedAtBirth(message, event, claimant as Id));
        else if (admission !== 'pull' && admission !== 'refuse') left.push({ environmentId: message.environmentId, eventId: event.eventId, ordinal: 0 });
      }
    }
    this.lane?.giveBack(back);
    this.lane?.take(run);
    if (left.length === 0) return results;
    if (this.lane) this.lane.left();
    else this.handover?.announce(left);
    return results;
  }
}

function admitted({ message, admissions }: FanOut): FannedOut[] {
  return message.events.filter((_, at) => admissions[at] === 'run');
}

function claimedAtBirth(message: NewMessage, { eventId, targetId }: FannedOut, claimedBy: Id): ClaimedDelivery {
  const { environmentId, id: messageId, eventType, headers, traceparent, payload } = message;
  return {
    environmentId, eventId, ordinal: 0, claimedBy, direction: 'outbound', messageId, targetId, url: null, eventType, headers,
    traceparent, payload, attempts: 0, attemptsUsed: 0, firstAttemptAtMs: null, replayed: false,
  };
}
