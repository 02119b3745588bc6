import { Injectable, Logger } from '@nestjs/common';
import { isStorageAway } from '#kernel/database.js';
import { unavailable } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { AcceptStore, type Admitted } from './accept.store.js';
import {
  Ledger,
  type AttemptRow,
  type Backlog,
  type ClaimedDelivery,
  type DeliveryKey,
  type DeliveryResult,
  type Handover,
  type Lane,
  type NewEvent,
  type NewMessage,
  type ReceivedEvent,
  type Redelivered,
  type Redelivery,
} from './accept.contract.js';
import { DueStore } from './due.store.js';
import { FanningOut } from './fan-out.js';
import { FirstRequests } from './idempotent-requests.js';
import { GroupCommit } from './group-commit.js';
import { LedgerContext } from '#modules/events/ledger-context.js';
import { Receiving } from './receive.js';
import { RecordStore } from './record.store.js';
import { oneByOne } from './accept-group.js';
import { RedeliverStore } from './redeliver.store.js';

/** More than this waiting for a commit means that storage does not keep up: the rest is refused, nothing is lost. */
const ACCEPT_BACKLOG_MAX = 20_000;
const GROUP_ITEMS_MAX = 256;
const GROUP_BYTES_MAX = 4 * 1024 * 1024;
/** Under load this makes one commit of what would be three, and costs the median accept a millisecond or two. */
const ACCEPT_GAP_MS = 4;
/** Nobody waits for a recorded attempt, so it may wait for company. */
const RECORD_LINGER_MS = 20;
const STORAGE_BACKOFF_MS_MAX = 2_000;
const ATTEMPT_POLL_MS = 40;

/** The statements of the ledger. */
@Injectable()
export class LedgerStores {
  constructor(
    readonly accepting: AcceptStore,
    readonly recording: RecordStore,
    readonly due: DueStore,
    readonly redelivering: RedeliverStore,
  ) {}
}

/** The ledger over PostgreSQL: group commit on both sides of a delivery. */
@Injectable()
export class GroupLedger extends Ledger {
  private readonly logger = new Logger(GroupLedger.name);
  private readonly accepting: AcceptStore;
  private readonly recording: RecordStore;
  private readonly due: DueStore;
  private readonly redelivering: RedeliverStore;
  private readonly accepts: GroupCommit<NewEvent, void>;
  private readonly records: GroupCommit<DeliveryResult, boolean>;
  private lane: Lane | null = null;
  private handover: Handover | null = null;

  constructor(
    stores: LedgerStores,
    private readonly receiving: Receiving,
    private readonly fanningOut: FanningOut,
    private readonly firstRequests: FirstRequests,
    private readonly context: LedgerContext,
  ) {
    super();
    ({ accepting: this.accepting, recording: this.recording, due: this.due, redelivering: this.redelivering } = stores);
    this.accepts = new GroupCommit<NewEvent, void>({
      write: (events) => this.writeAccepted(events),
      itemsMax: GROUP_ITEMS_MAX,
      weigh: (event) => event.payloadBytes,
      weightMax: GROUP_BYTES_MAX,
      lingerMs: 0,
      gapMs: ACCEPT_GAP_MS,
    });
    this.records = new GroupCommit<DeliveryResult, boolean>({
      write: (results) => this.writeRecorded(results),
      itemsMax: GROUP_ITEMS_MAX,
      weigh: () => 1,
      weightMax: GROUP_ITEMS_MAX,
      lingerMs: RECORD_LINGER_MS,
      gapMs: 0,
    });
  }

  async accept(event: NewEvent): Promise<void> {
    if (this.accepts.backlog >= ACCEPT_BACKLOG_MAX) throw unavailable('Storage does not keep up. Nothing was accepted, try again.');
    return this.firstRequests.hold(event.once?.request ?? null, () => this.accepts.add(event));
  }

  async fanOut(message: NewMessage): Promise<void> {
    await this.fanningOut.fanOut(message);
  }

  async receive(event: ReceivedEvent): Promise<void> {
    await this.receiving.receive(event);
  }

  record(result: DeliveryResult): Promise<boolean> {
    return this.records.add(result);
  }

  claimDue(claimant: Id, limit: number): Promise<ClaimedDelivery[]> {
    return this.due.claimDue(claimant, limit);
  }

  claimThese(claimant: Id, keys: readonly DeliveryKey[]): Promise<ClaimedDelivery[]> {
    return this.due.claimThese(claimant, keys);
  }

  claimParked(claimant: Id, environmentId: number, targetId: Id, limit: number): Promise<ClaimedDelivery[]> {
    return this.due.claimParked(claimant, environmentId, targetId, limit);
  }

  async release(deliveries: readonly ClaimedDelivery[], parked: boolean): Promise<void> {
    if (deliveries.length > 0) await this.patiently('Giving back claims', () => this.due.release(deliveries, parked));
  }

  parkedTargets(): Promise<{ environmentId: number; targetId: Id }[]> {
    return this.due.parkedTargets();
  }

  async park(environmentId: number, targetId: Id): Promise<void> {
    while ((await this.due.park(environmentId, targetId)) > 0);
  }

  async failWaiting(environmentId: number, targetId: Id, reason: string): Promise<number> {
    let total = 0;
    for (let count = -1; count !== 0; total += count) count = await this.due.failWaiting(environmentId, targetId, reason);
    return total;
  }

  async redeliver(tenant: Tenant, selection: Redelivery): Promise<number> {
    const count = selection.eventId
      ? await this.redelivering.one(tenant, selection.eventId)
      : await this.redelivering.deadLetters(tenant, selection);
    // Outside of the caller's unit of work, which the dispatcher's loop would otherwise go on in.
    if (count > 0) this.redelivering.afterCommit(() => this.lane?.left());
    return count;
  }

  async redeliverTo(environmentId: number, picked: readonly Redelivered[]): Promise<number> {
    const count = await this.redelivering.to(environmentId, picked);
    if (count > 0) this.redelivering.afterCommit(() => this.lane?.left());
    return count;
  }

  async firstAttempt(tenant: Tenant, eventId: Id, waitMs: number): Promise<AttemptRow | null> {
    for (let waitedMs = 0; ; waitedMs += ATTEMPT_POLL_MS) {
      const row = await this.redelivering.firstAttempt(tenant, eventId);
      if (row || waitedMs >= waitMs) return row;
      await new Promise((resolve) => setTimeout(resolve, ATTEMPT_POLL_MS));
    }
  }

  backlog(): Promise<Backlog> {
    return this.due.backlog();
  }

  attachLane(lane: Lane): void {
    this.lane = lane;
    this.receiving.attachLane(lane);
    this.fanningOut.attachLane(lane);
  }

  attachHandover(handover: Handover): void {
    this.handover = handover;
    this.receiving.attachHandover(handover);
    this.fanningOut.attachHandover(handover);
  }

  /** Waits until everything that was handed in is committed. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.accepts.drained(), this.receiving.drained(), this.fanningOut.drained(), this.records.drained()]);
  }

  private async writeAccepted(events: NewEvent[], partitionsMade = false): Promise<(void | Error)[]> {
    const claimant = this.lane?.claimant() ?? null;
    const group = events.map((event) => ({ event, admission: this.admission(event, claimant) }));
    try {
      const stored = await this.accepting.insert(group, claimant, this.context.config.idempotencyTtlMs);
      this.context.metrics.acceptedGroup(group.length);
      return await this.committed(group, claimant, stored);
    } catch (error) {
      this.lane?.giveBack(group.filter(({ admission }) => admission === 'run').map(({ event }) => event));
      if (isStorageAway(error)) {
        this.logger.warn(`Accepting failed: ${(error as Error).message}`);
        throw unavailable('Storage is not reachable. Nothing was accepted, try again.');
      }
      return oneByOne({
        items: events, error, partitionsMade, ensurePartitions: () => this.context.ensurePartitions(), write: (items, made) => this.writeAccepted(items, made),
      });
    }
  }

  private admission(event: NewEvent, claimant: Id | null): Admitted['admission'] {
    if (event.pulled) return 'pull';
    return claimant && this.lane ? this.lane.admit(event) : 'leave';
  }

  private async committed(group: Admitted[], claimant: Id | null, stored: Set<number> | 'all'): Promise<(void | Error)[]> {
    const results: (void | Error)[] = [];
    const run: ClaimedDelivery[] = [];
    const left: DeliveryKey[] = [];
    const back: NewEvent[] = [];
    for (const [i, { event, admission }] of group.entries()) {
      if (stored !== 'all' && !stored.has(i)) {
        results.push(event.once ? await this.firstRequests.answered(event.once.request) : undefined);
        if (admission === 'run') back.push(event);
        continue;
      }
      results.push(undefined);
      if (admission === 'run') run.push(claimedAtBirth(event, claimant as Id));
      else if (admission !== 'pull') left.push({ environmentId: event.environmentId, eventId: event.id, ordinal: 0 });
    }
    this.lane?.giveBack(back);
    this.lane?.take(run);
    if (left.length > 0) {
      if (this.lane) this.lane.left();
      else this.handover?.announce(left);
    }
    return results;
  }

  private async writeRecorded(results: DeliveryResult[]): Promise<(boolean | Error)[]> {
    try {
      const held = await this.patiently('Recording', () => this.recording.write(results));
      this.context.metrics.recordedGroup(results, held);
      return results.map((result) => held.has(`${result.eventId}/${result.ordinal}`));
    } catch (error) {
      return this.splitRecord(results, error);
    }
  }

  /** Waits out an absent storage. */
  private async patiently<R>(what: string, work: () => Promise<R>): Promise<R> {
    for (let failures = 0; ; failures += 1) {
      try {
        return await work();
      } catch (error) {
        if (!isStorageAway(error)) throw error;
        const restMs = Math.min(50 * 2 ** failures, STORAGE_BACKOFF_MS_MAX);
        this.logger.warn(`${what} failed, again in ${restMs} ms: ${(error as Error).message}`);
        await new Promise((resolve) => setTimeout(resolve, restMs));
      }
    }
  }

  private async splitRecord(results: DeliveryResult[], error: unknown): Promise<(boolean | Error)[]> {
    if (results.length === 1) return [error as Error];
    const written: (boolean | Error)[] = [];
    for (const result of results) written.push(...(await this.writeRecorded([result])));
    return written;
  }
}

function claimedAtBirth(event: NewEvent, claimant: Id): ClaimedDelivery {
  return {
    environmentId: event.environmentId,
    eventId: event.id,
    ordinal: 0,
    claimedBy: claimant,
    direction: 'outbound',
    messageId: null,
    targetId: event.targetId,
    url: event.url,
    eventType: event.eventType,
    headers: event.headers,
    traceparent: event.traceparent,
    payload: event.payload,
    attempts: 0,
    attemptsUsed: 0,
    firstAttemptAtMs: null,
    replayed: false,
  };
}
