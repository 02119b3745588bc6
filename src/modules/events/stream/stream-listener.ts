import type { Writable } from 'node:stream';
import type { Caller } from '#kernel/tenant.js';
import type { EventFilter } from '../event-lists.js';
import { type GapReason, presentChange, type StreamGap } from './stream.dto.js';
import type { ChangeRow } from './stream.store.js';
import { CHANGE_KINDS, showPosition, type StreamPosition } from './stream-position.js';

/** What a listener asks for, out of everything in its environment; null matches nothing. */
export type StreamFilter = Pick<
  EventFilter,
  'status' | 'eventType' | 'targetId' | 'endpointId' | 'destinationId' | 'applicationId'
> & { direction?: string };

/** What let somebody in, as it came, to be asked again whether it is still good: a key, or the `Cookie` header of a session. */
export interface Proof {
  kind: 'key' | 'session';
  value: string;
}

/** Who listens, and how. */
export interface Listening {
  caller: Caller;
  proof: Proof;
  filter: StreamFilter | null;
  /** Behind which it goes on; null for one that begins with what happens next. */
  resumesAt: StreamPosition | null;
  /** Whether it stays once it has been told everything that was there. */
  follows: boolean;
}

/** What a client has not taken yet, at most: it is told more once it has taken this. */
const UNREAD_BYTES_MAX = 32 * 1024;
/** A client that has taken nothing for so long is gone. */
const STALLED_MS_MAX = 60_000;
const HEARTBEAT_MS = 15_000;

/** Why a stream ends, for the client to decide whether it comes again. */
export type EndReason = 'caught_up' | 'key_revoked' | 'session_ended' | 'shutdown';

/** One client of the stream. It is written to as fast as it reads, and no more is kept for it than it can be sent at once. */
export class StreamListener {
  /** Up to where it was told everything, while that is not where the others are; null for one that has been told nothing yet. */
  at: StreamPosition | null;
  /** Of one that does not stay: in front of it is everything that there was when it came. Null until that was asked. */
  endsAt: StreamPosition | null = null;
  /** Rows that were read for it alone since it was where the others are. */
  rowsBehind = 0;
  /** Whether it was with the others before. */
  hasKeptUp = false;
  private writtenAtMs: number;

  constructor(
    private readonly listening: Listening,
    private readonly answer: Writable & { socket?: Writable | null },
    private readonly monotonicMs: () => number,
  ) {
    this.at = listening.resumesAt;
    this.writtenAtMs = monotonicMs();
  }

  get caller(): Caller {
    return this.listening.caller;
  }

  get proof(): Proof {
    return this.listening.proof;
  }

  get follows(): boolean {
    return this.listening.follows;
  }

  get environmentId(): number {
    return this.caller.tenant.environmentId;
  }

  /** What Node holds together until the end of the turn is handed over first: only what the client does not take is unread. */
  get hasRoom(): boolean {
    if (this.answer.writableLength >= UNREAD_BYTES_MAX) this.answer.socket?.uncork();
    return this.answer.writableLength < UNREAD_BYTES_MAX;
  }

  /** Where its stream begins. */
  begin(at: StreamPosition): void {
    this.write('ready', at, {});
  }

  /** Tells a change if it is asked for. */
  tell(row: ChangeRow, place: StreamPosition): void {
    if (this.matches(row)) this.write(KIND_NAMES[row.kind] ?? '', place, presentChange(row));
  }

  /** Says that something is not told, and that what follows begins at this place. */
  gap(reason: GapReason, from: StreamPosition | null, to: StreamPosition): void {
    const gap: StreamGap = { reason, since: from && timeOf(from), until: timeOf(to) };
    this.write('gap', to, gap);
  }

  /** Says that the connection lives; with the place of the others, where it is with them. False when the client is gone. */
  pulse(at: StreamPosition | null): boolean {
    if (this.answer.destroyed) return false;
    const silentMs = this.monotonicMs() - this.writtenAtMs;
    if (this.answer.writableLength > 0) {
      if (silentMs < STALLED_MS_MAX) return true;
      this.answer.destroy();
      return false;
    }
    if (silentMs >= HEARTBEAT_MS && at !== null) this.write('heartbeat', at, {});
    return true;
  }

  end(reason: EndReason): void {
    this.answer.end(
      `${reason === 'shutdown' ? 'retry: 1000\n' : ''}event: end\ndata: ${JSON.stringify({ reason })}\n\n`,
    );
  }

  private write(event: string, place: StreamPosition, body: object): void {
    this.writtenAtMs = this.monotonicMs();
    this.answer.write(`event: ${event}\nid: ${showPosition(place)}\ndata: ${JSON.stringify(body)}\n\n`);
  }

  private matches(row: ChangeRow): boolean {
    const { filter } = this.listening;
    if (filter === null) return false;
    const aimed = filter.targetId ?? filter.endpointId;
    return (
      (filter.status === undefined || row.status === filter.status) &&
      (filter.eventType === undefined || row.eventType === filter.eventType) &&
      (filter.direction === undefined || row.direction === filter.direction) &&
      (aimed === undefined || row.targetId === aimed) &&
      (filter.applicationId === undefined || row.applicationId === filter.applicationId) &&
      (filter.destinationId === undefined ||
        row.targetId === filter.destinationId ||
        row.deliveryTargetId === filter.destinationId)
    );
  }
}

const KIND_NAMES = Object.fromEntries(Object.entries(CHANGE_KINDS).map(([name, kind]) => [kind, name]));

/** A client may have made its place up: no time is later than the last one that there is. */
const timeOf = ({ atMs }: StreamPosition): string => new Date(Math.min(atMs, 8.64e15)).toISOString();
