import type { Id } from '#kernel/ids.js';
import type { Once } from '#kernel/idempotency.js';
import type { Tenant } from '#kernel/tenant.js';

/** What a lane must know of a delivery that is about to be accepted. */
export interface Arrival {
  environmentId: number;
  /** The message whose payload it shares with others. */
  messageId?: Id;
  targetId: Id;
  /** The body's very characters, or its bytes where it is no text. */
  payload: string | Buffer;
  /** True for a target whose deliveries wait to be fetched. */
  pulled: boolean;
  /** The target's limit over all workers, or null. */
  ratePerSecond: number | null;
  /** Most attempts that one worker may have under way at the target at once, or null. */
  concurrency: number | null;
}

/** An event that is about to be accepted, with its one delivery. */
export interface NewEvent extends Arrival {
  id: Id;
  /** The day on which retention ends, in days since the epoch. */
  expiresOnDay: number;
  /** The address, when the target is not a destination but an ad-hoc URL. */
  url: string | null;
  eventType: string;
  /** Headers to forward, lower-case names. */
  headers: Record<string, string> | null;
  traceparent: string | null;
  /** The payload's very characters. */
  payload: string;
  payloadBytes: number;
  /** The idempotency key of the request, and the answer that is kept for it. */
  once: { request: Once; status: number; body: string } | null;
}

/** Endpoints that one message goes to, at most. */
export const FAN_OUT_MAX = 1_000;

/** One event of a fan-out. */
export interface FannedOut extends Arrival {
  /** Behind the message's id, in order and without a gap: see `Ids.block`. */
  eventId: Id;
  /** The application's endpoint that subscribes. */
  endpointId: Id;
  /** True for one that is disabled: the event fails at once, where everybody can see it and it can be sent again. */
  refused: boolean;
}

/** A message that is about to be accepted for every endpoint that subscribes to it. */
export interface NewMessage {
  environmentId: number;
  id: Id;
  expiresOnDay: number;
  applicationId: Id;
  eventType: string;
  channels: readonly string[];
  headers: Record<string, string> | null;
  traceparent: string | null;
  /** The payload's very characters, stored once. */
  payload: string;
  payloadBytes: number;
  /** None when nothing subscribes: the message is kept as one event that says so. At most a thousand. */
  events: readonly FannedOut[];
  once: { request: Once; status: number; body: string } | null;
}

/** Why an event goes nowhere: nothing matched (`ignored`), or for a received one what else became of it. */
export type Disposition = 'quarantined' | 'parked' | 'ignored';

/** The request behind a received event, as it came. */
export interface NewRequest {
  method: string;
  /** The whole URL, the endpoint's own included. */
  url: string;
  /** What came behind the endpoint's path, and the query without its question mark. */
  path: string;
  query: string;
  /** Names in lower case, in their order, repeated ones too. */
  headers: readonly (readonly [string, string])[];
  /** The body as it came; null when the event's payload is the same bytes. */
  body: Buffer | null;
  sizeBytes: number;
  ip: string;
  verification: 'verified' | 'failed' | 'none';
  /** The provider's own id of its delivery, where it sends one. */
  dedupeId: string | null;
  /** A sentence on what happened to it, such as a transform that failed open. */
  note: string | null;
  /** The request that this one repeats. */
  replayOf: Id | null;
}

/** An event that came in through an endpoint and is about to be accepted, with one delivery for each matching route. */
export interface ReceivedEvent {
  environmentId: number;
  id: Id;
  expiresOnDay: number;
  endpointId: Id;
  endpointPath: string;
  eventType: string;
  /** Headers that its deliveries carry, lower-case names, the content type among them. */
  headers: Record<string, string>;
  traceparent: string | null;
  /** The body as deliveries send it: text, or bytes where it is none. */
  payload: string | Buffer;
  payloadBytes: number;
  disposition: Disposition | null;
  /** None when there is a disposition. */
  deliveries: readonly Arrival[];
  request: NewRequest;
}

/** Which delivery of which event. */
export interface DeliveryKey {
  environmentId: number;
  eventId: Id;
  /** Counts an event's deliveries from 0; a replay is a new one. */
  ordinal: number;
}

/** Sent through the API, or received from a provider. */
export type Direction = 'outbound' | 'inbound';

/** A delivery that a worker holds: all that an attempt needs, and the fence that its result is checked against. */
export interface ClaimedDelivery extends DeliveryKey {
  claimedBy: Id;
  direction: Direction;
  /** The message of a fan-out that the event belongs to; null for any other event. */
  messageId: Id | null;
  targetId: Id;
  /** The address, when the target is an ad-hoc URL. */
  url: string | null;
  eventType: string;
  headers: Record<string, string> | null;
  traceparent: string | null;
  /** Null when the event is past its retention, or its payload was erased. */
  payload: string | Buffer | null;
  /** Why it ends without an attempt: cancelled, or its payload was erased. */
  withdrawn?: 'cancelled' | 'erased' | null;
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
  /** True when it was put where its target's consumer fetches it. */
  pulled: boolean;
  /** False for an ad-hoc URL, which has no metrics. */
  counted: boolean;
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
  /** Decides for one delivery, and keeps a place for it when the answer is `run`. */
  admit(arrival: Arrival): Admission;
  /** The commit is through: these run now. */
  take(deliveries: ClaimedDelivery[]): void;
  /** The commit failed: the places are free again. */
  giveBack(arrivals: readonly Arrival[]): void;
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
  /** Dead letters of what one endpoint received. */
  endpointId?: Id;
  /** Dead letters of events received at or after this time, in milliseconds since the epoch. */
  sinceMs?: number;
}

/** An event and a target that it is sent to again. */
export interface Redelivered {
  eventId: Id;
  /** The day of its partition, as `YYYY-MM-DD`. */
  expiresOn: string;
  targetId: Id;
  endpointId: Id | null;
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

  /** The same for a fan-out: the message and all its events in one commit, or nothing. */
  abstract fanOut(message: NewMessage): Promise<void>;

  /** The same for what an endpoint received: the event, its request and its deliveries in one commit. */
  abstract receive(event: ReceivedEvent): Promise<void>;

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

  /** Sends events again to the given targets, inside the caller's transaction; returns how many deliveries were made. */
  abstract redeliverTo(environmentId: number, picked: readonly Redelivered[]): Promise<number>;

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

/** A raw request in a list. */
export interface RequestRow {
  id: Id;
  method: string;
  path: string;
  /** `routed`, or why it goes nowhere. */
  status: 'routed' | Disposition;
  verification: 'verified' | 'failed' | 'none';
  sizeBytes: number;
  dedupeId: string | null;
  note: string | null;
  replayOf: Id | null;
}

/** A raw request as it came. */
export interface RequestDetail extends RequestRow {
  /** When it was erased: what is left are the names of its headers. */
  erasedAt: Date | null;
  endpointId: Id;
  url: string;
  query: string;
  headers: [string, string][];
  body: Buffer;
  ip: string;
}

/** Raw requests behind received events; a request has the id of its event. */
export abstract class Requests {
  /** Of one endpoint, newest first, older than `beforeId`. */
  abstract page(environmentId: number, endpointId: Id, beforeId: Id, limit: number): Promise<RequestRow[]>;

  /** Null when there is none in this environment. */
  abstract find(environmentId: number, id: Id): Promise<RequestDetail | null>;
}

/** Whose events: those that went to a target by itself, or those of an endpoint. */
export interface EventAim {
  targetId?: Id;
  endpointId?: Id;
}

/** Knows what some of the names stand for that events are filtered by; null for any other. */
export type FindAim = (environmentId: number, name: string) => Promise<EventAim | null>;

/** Knows endpoints by their ids and paths; connected by the contexts that have them. */
export abstract class EventSources {
  /** What an `ep_` id or a path stands for; the id of an endpoint that is gone is still one. */
  abstract aim(environmentId: number, name: string): Promise<EventAim | null>;

  abstract attach(find: FindAim): void;
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
