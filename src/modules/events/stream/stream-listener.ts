import type { Writable } from 'node:stream';
import type { Caller } from '#kernel/tenant.js';
import type { EventFilter } from '../event-lists.js';
import { type GapReason, presentChange, type StreamGap } from './stream.dto.js';
import type { ChangeRow } from './stream.store.js';
import { CHANGE_KINDS, showPosition, type StreamPosition } from './stream-position.js';

/** Filter on the changes of an environment. If it is null, no change matches. */
export type StreamFilter = Pick<
  EventFilter,
  'status' | 'eventType' | 'targetId' | 'endpointId' | 'destinationId' | 'applicationId'
> & { direction?: string };

/** Credential of the client: a key, or the `Cookie` header of a session. Checked regularly while the stream is open. */
export interface Proof {
  kind: 'key' | 'session';
  value: string;
}

export interface Listening {
  caller: Caller;
  proof: Proof;
  filter: StreamFilter | null;
  /** Position after which the stream resumes; null to start with the next change. */
  resumesAt: StreamPosition | null;
  /** False if the stream ends after sending all changes that existed when the client connected. */
  follows: boolean;
}

/** Maximum number of unread bytes per client. The stream pauses until the client has read enough. */
const UNREAD_BYTES_MAX = 32 * 1024;
/** Time after which a client that has read nothing is considered disconnected. */
const STALLED_MS_MAX = 60_000;
const HEARTBEAT_MS = 15_000;

/** Reason why a stream ends. The client uses the reason to decide whether to reconnect. */
export type EndReason = 'caught_up' | 'key_revoked' | 'session_ended' | 'shutdown';

/** Sends changes to one client as fast as the client reads. Buffers nothing beyond the socket's write buffer. */
export class StreamListener {
  /**
   * Position after the last change sent to this client. Not updated while the client keeps up, because all clients that
   * keep up share one position. Null for a new client.
   */
  at: StreamPosition | null;
  /**
   * Position at which a stream without `follows` ends: after all changes that existed when the client connected. Null
   * until it is read.
   */
  endsAt: StreamPosition | null = null;
  /**
   * Number of rows read for this client alone. Reset when the client reaches the position that the other clients share,
   * or when changes are skipped.
   */
  rowsBehind = 0;
  /** True if the client has ever reached the position that the other clients share. */
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

  /** Returns true if more data may be sent. Uncorks the socket first, because corked data does not count as unread. */
  get hasRoom(): boolean {
    if (this.answer.writableLength >= UNREAD_BYTES_MAX) this.answer.socket?.uncork();
    return this.answer.writableLength < UNREAD_BYTES_MAX;
  }

  begin(at: StreamPosition): void {
    this.write('ready', at, {});
  }

  sendChange(row: ChangeRow, place: StreamPosition): void {
    if (this.matches(row)) this.write(KIND_NAMES[row.kind] ?? '', place, presentChange(row));
  }

  /** Sends a gap: changes are missing, and the stream continues at position `to`. */
  gap(reason: GapReason, from: StreamPosition | null, to: StreamPosition): void {
    const gap: StreamGap = { reason, since: from && timeOf(from), until: timeOf(to) };
    this.write('gap', to, gap);
  }

  /**
   * Sends a heartbeat with position `at` if nothing was sent for a while. Without a position, sends no heartbeat.
   * Returns false if the client is disconnected.
   */
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

/** Returns a position's time in RFC 3339, capped at the latest valid date, because a client can forge a position. */
const timeOf = ({ atMs }: StreamPosition): string => new Date(Math.min(atMs, 8.64e15)).toISOString();
