import type { Id } from '#kernel/ids.js';
import type { Once } from '#kernel/once.js';
import type { Tenant } from '#kernel/tenant.js';

/** An event that is about to be accepted, with its one delivery. */
export interface NewEvent {
  environmentId: number;
  id: Id;
  /** The day on which retention ends, in days since the epoch. */
  expiresOnDay: number;
  targetId: Id;
  /** The address, when the target is not a destination but an ad-hoc URL. */
  url: string | null;
  eventType: string;
  /** Headers to forward, lower-case names. */
  headers: Record<string, string> | null;
  traceparent: string | null;
  /** The payload's very characters. */
  payload: string;
  payloadBytes: number;
  /** True for a target whose deliveries wait to be fetched. */
  pulled: boolean;
  /** The target's limit over all workers, or null. */
  ratePerSecond: number | null;
  /** The idempotency key of the request, and the answer that is kept for it. */
  once: { request: Once; status: number; body: string } | null;
}

/** Which delivery of which event. */
export interface DeliveryKey {
  environmentId: number;
  eventId: Id;
  /** Counts an event's deliveries from 0; a replay is a new one. */
  ordinal: number;
}

/** A delivery that a worker holds: all that an attempt needs, and the fence that its result is checked against. */
export interface ClaimedDelivery extends DeliveryKey {
  claimedBy: Id;
  targetId: Id;
  url: string | null;
  eventType: string;
  headers: Record<string, string> | null;
  traceparent: string | null;
  payload: string;
  /** Attempts made so far, and how many of them count against the retry policy. */
  attempts: number;
  attemptsUsed: number;
  firstAttemptAtMs: number | null;
  replayed: boolean;
}

/** What an attempt came to, or what was decided without one (`attempt` is null). */
export interface DeliveryResult extends DeliveryKey {
  claimedBy: Id;
  status: 'delivered' | 'failed' | 'dlq' | 'retrying';
  reason: string | null;
  /** When the next attempt is due; for `retrying`. */
  dueAtMs: number | null;
  /** True when the delivery waits for its target rather than for a time. */
  parked: boolean;
  attemptsUsed: number;
  attempt: {
    number: number;
    startedAtMs: number;
    durationMs: number;
    httpStatus: number | null;
    error: string | null;
    excerpt: string | null;
  } | null;
}

/** Where a new delivery goes first: to this process at once, behind its target's gate, or to whoever claims it. */
export type Admission = 'run' | 'park' | 'leave';

/** The worker in this process, as far as accepting knows it: it may take what was accepted without a hop. */
export interface Lane {
  /** The claim that rows are born with, or null while this process may not claim. */
  claimant(): Id | null;
  /** Decides for one event, and keeps a place for it when the answer is `run`. */
  admit(event: NewEvent): Admission;
  /** The commit is through: these run now. */
  take(deliveries: ClaimedDelivery[]): void;
  /** The commit failed: the places are free again. */
  giveBack(events: NewEvent[]): void;
  /** Rows were committed that nobody holds. */
  left(): void;
}

/** Tells workers elsewhere that deliveries are due. A wake-up only: losing it delays nothing by more than a sweep. */
export interface Handover {
  announce(deliveries: DeliveryKey[]): void;
}

/** Which deliveries to send again. */
export interface Redelivery {
  /** One event, whatever became of it. */
  eventId?: Id;
  /** Dead letters of one target, or of all. */
  targetId?: Id;
  /** Dead letters of events received at or after this time, in milliseconds since the epoch. */
  sinceMs?: number;
}

/** How much is waiting. */
export interface Backlog {
  /** Age in milliseconds of the oldest delivery that is due and held by nobody; 0 when there is none. */
  oldestDueAgeMs: number;
  /** Open deliveries, as PostgreSQL estimates them. */
  openEstimate: number;
}

/** The middle of everything: what was accepted, what is due, what came of it. */
export abstract class Ledger {
  /**
   * Resolves once the event is committed in PostgreSQL. Throws AlreadyAnswered or 409 for a used idempotency key,
   * and 503 when storage is away, in which case nothing was accepted or the same key repeats the answer.
   */
  abstract accept(event: NewEvent): Promise<void>;

  /** Resolves to false when the claim was lost and the result was not written. Waits out an absent storage. */
  abstract record(result: DeliveryResult): Promise<boolean>;

  /** Claims up to `limit` deliveries that are due, oldest first. */
  abstract claimDue(claimant: Id, limit: number): Promise<ClaimedDelivery[]>;

  /** Claims those of `keys` that are due and held by nobody. */
  abstract claimThese(claimant: Id, keys: readonly DeliveryKey[]): Promise<ClaimedDelivery[]>;

  /** Claims up to `limit` deliveries that wait behind a target's gate, the longest waiting first. */
  abstract claimParked(claimant: Id, environmentId: number, targetId: Id, limit: number): Promise<ClaimedDelivery[]>;

  /** Gives claims back unused: due at once, or parked behind their target. Waits out an absent storage. */
  abstract release(deliveries: readonly ClaimedDelivery[], parked: boolean): Promise<void>;

  /** Targets with deliveries behind their gate, at most a thousand. */
  abstract parkedTargets(): Promise<{ environmentId: number; targetId: Id }[]>;

  /** Puts everything that is due for a target behind its gate. */
  abstract park(environmentId: number, targetId: Id): Promise<void>;

  /** Ends every waiting delivery of a target that no retry can help; returns how many. */
  abstract failWaiting(environmentId: number, targetId: Id, reason: string): Promise<number>;

  /** Sends again; returns how many deliveries were made. */
  abstract redeliver(tenant: Tenant, selection: Redelivery): Promise<number>;

  /** The first attempt of an event as soon as it is recorded, or null after `waitMs`. */
  abstract firstAttempt(tenant: Tenant, eventId: Id, waitMs: number): Promise<AttemptRow | null>;

  abstract backlog(): Promise<Backlog>;

  /** Connects the worker of this process. */
  abstract attachLane(lane: Lane): void;

  /** Connects the queue that wakes workers elsewhere. */
  abstract attachHandover(handover: Handover): void;
}

/** An attempt as it is stored. */
export interface AttemptRow {
  number: number;
  status: number | null;
  error: string | null;
  durationMs: number;
  startedAt: Date;
  excerpt: string | null;
}

/** Who is alive. A claim by anyone else is no claim. */
export abstract class Presence {
  /** Registers or renews; false when this worker was declared dead and must take a new id. */
  abstract beat(worker: { id: Id; host: string; pid: number; leaseMs: number }): Promise<boolean>;

  /** Frees the claims of workers whose lease has ended; returns how many deliveries that freed. */
  abstract reap(): Promise<number>;

  /** Leaves: frees what this worker still holds. */
  abstract leave(id: Id): Promise<void>;
}
