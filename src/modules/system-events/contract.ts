import type { Id } from '#kernel/ids.js';

/** What the service tells an organization of itself. `catalogue.ts` says what each one carries. */
export const SYSTEM_EVENT_TYPES = [
  'circuit.closed',
  'circuit.opened',
  'destination.disabled',
  'destination.enabled',
  'domain.failed',
  'domain.verified',
  'email.bounced',
  'email.complained',
  'email.failed',
  'endpoint.verification_failing',
  'event.dead_lettered',
  'replay.completed',
] as const;
export type SystemEventType = (typeof SYSTEM_EVENT_TYPES)[number];

/** Something that happened. */
export interface Signal {
  environmentId: number;
  type: SystemEventType;
  /** The id of what it is about: signals of one subject are told together. */
  subject: Id;
  /** What the event says of it, in the form of the API: small, and without secrets. */
  details: Record<string, unknown>;
  /** How often it happened; 1 when left out. */
  count?: number;
}

/** Signals of one type, gathered. `type`, `timestamp` and `data` go over the wire. */
export interface SystemEvent {
  /** The event's id, also where no destination gets it. */
  id: Id;
  environmentId: number;
  type: SystemEventType;
  /** RFC 3339. */
  timestamp: string;
  data: SystemEventData;
}

/** What an event says: how often something happened and when, and the most frequent hundred of what it happened to. */
export interface SystemEventData {
  count: number;
  first_at: string;
  last_at: string;
  items: (Record<string, unknown> & { count: number })[];
  /** Whether there is more than `items` shows; `count` holds all of it. */
  items_truncated: boolean;
}

/** Called with every event of its type. */
export type SystemEventListener = (event: SystemEvent) => Promise<void>;

/** The service's own events: where contexts say what happened, and where extensions hear of it. */
export abstract class SystemEvents {
  /** Notes that something happened, in the caller's transaction: it is told if and only if that commits. */
  abstract note(signal: Signal): Promise<void>;

  /**
   * Calls `listener` with every event of a type, or of all, after the commit of what it tells: at least once, in one of
   * the processes that deliver (not in ROLE=api). One that rejects, or takes over ten seconds, is called again with
   * growing pauses of up to a minute; after ten calls the event is logged and passed over.
   */
  abstract on(type: SystemEventType | '*', listener: SystemEventListener): void;
}
