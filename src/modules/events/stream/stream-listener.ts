import type { Writable } from 'node:stream';
import type { Caller } from '#kernel/tenant.js';
import type { EventFilter } from '../event-lists.js';
import { type GapReason, presentChange, type StreamGap } from './stream.dto.js';
import type { ChangeRow } from './stream.store.js';
import { CHANGE_KINDS, showPosition, type StreamPosition } from './stream-position.js';

/** Filter on the changes of an environment. A null value matches nothing. */
export type StreamFilter = Pick<
  EventFilter,
  'status' | 'eventType' | 'targetId' | 'endpointId' | 'destinationId' | 'applicationId'
> & { direction?: string };

/** A key, or the `Cookie` header of a session, kept to check periodically whether it is still valid. */
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
  /** False if the stream ends after all existing changes were sent. */
  follows: boolean;
}

/** Maximum number of unread bytes per client. More is sent only after the client has read them. */
const UNREAD_BYTES_MAX = 32 * 1024;
/** A client that reads nothing for this time is considered disconnected. */
const STALLED_MS_MAX = 60_000;
const HEARTBEAT_MS = 15_000;

/** Why a stream ends. The client uses it to decide whether to reconnect. */
export type EndReason = 'caught_up' | 'key_revoked' | 'session_ended' | 'shutdown';

/** Writes data as fast as the client reads it, and keeps nothing for it beyond the write buffer. */
export class StreamListener {
  /** Changes before it were sent, while it differs from the shared position; null if nothing was sent yet. */
  at: StreamPosition | null;
  /** Stream end for a client that does not follow: after all that existed on connecting. Null until determined. */
  endsAt: StreamPosition | null = null;
  /** Rows read for this client alone since it last was at the shared position. */
  rowsBehind = 0;
  /** The client was at the shared position before. */
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

  /** Uncork first: Node.js buffers writes until the end of the tick. Only data not accepted counts as unread. */
  get hasRoom(): boolean {
    if (this.answer.writableLength >= UNREAD_BYTES_MAX) this.answer.socket?.uncork();
    return this.answer.writableLength < UNREAD_BYTES_MAX;
  }

  begin(at: StreamPosition): void {
    this.write('ready', at, {});
  }

  tell(row: ChangeRow, place: StreamPosition): void {
    if (this.matches(row)) this.write(KIND_NAMES[row.kind] ?? '', place, presentChange(row));
  }

  /** Sends a gap: changes are missing, and the stream continues at position `to`. */
  gap(reason: GapReason, from: StreamPosition | null, to: StreamPosition): void {
    const gap: StreamGap = { reason, since: from && timeOf(from), until: timeOf(to) };
    this.write('gap', to, gap);
  }

  /** With the shared position if the client is at it. Returns false if the client has disconnected. */
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

/** A client can forge a position, so its time is limited to the latest valid one. */
const timeOf = ({ atMs }: StreamPosition): string => new Date(Math.min(atMs, 8.64e15)).toISOString();
