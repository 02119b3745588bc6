import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { Gauge } from 'prom-client';
import { Authenticator, SessionAuthenticator } from '#kernel/authenticator.js';
import { Clock } from '#kernel/clock.js';
import { Loop, type LoopDelay } from '#kernel/concurrency/loop.js';
import { ApiError } from '#kernel/errors.js';
import { Metrics } from '#kernel/observability/metrics.js';
import type { Caller } from '#kernel/tenant.js';
import type { GapReason } from './stream.dto.js';
import { type Changes, placeOf, StreamStore } from './stream.store.js';
import type { EndReason, Proof, StreamListener } from './stream-listener.js';
import type { StreamPosition } from './stream-position.js';

const POLL_MS = 250;
/** Pause after a read, as a multiple of the read's duration. Streams thus use at most a quarter of one connection. */
const REST_FACTOR = 3;
const PULSE_MS = 1_000;
const PAGE_ROWS = 1_000;
/** Maximum number of pages to read in a row before clients that lag behind are served. */
const PAGES_MAX = 10;
/** Page size of reads for a single client. A page is about as large as the limit of unread data. */
const OWN_PAGE_ROWS = 100;
/** Maximum time per iteration for clients that lag behind. All other clients wait during this time. */
const CATCHING_UP_MS_MAX = 1_000;
/**
 * Maximum number of rows that a client may lag behind. Beyond this number, the stream skips changes and sends a gap
 * message.
 */
const BEHIND_ROWS_MAX = 5_000;
const BEHIND_MS_MAX = 3_600_000;

const PER_KEY_MAX = 100;
const PER_ORGANIZATION_MAX = 1_000;
const PER_PROCESS_MAX = 2_000;
const FULL_RETRY_SECONDS = 10;

/**
 * Manages all stream clients of this process. One reader serves all of them: it reads the changes of transactions that
 * ended since its last read (ADR 23). Clients hold no database connections. Accepting events and recording attempts
 * need no extra writes. Without clients there are no reads.
 */
@Injectable()
export class EventStream implements OnModuleDestroy {
  private readonly listening = new Set<StreamListener>();
  private readonly behind = new Set<StreamListener>();
  private readonly reader: Loop;
  private readonly pulse: Loop;
  /**
   * Position that the clients in `listening` share: all changes before it were sent to them. Null if there are no
   * clients.
   */
  private position: StreamPosition | null = null;
  private isClosed = false;

  constructor(
    private readonly store: StreamStore,
    private readonly authenticator: Authenticator,
    private readonly sessions: SessionAuthenticator,
    private readonly clock: Clock,
    metrics: Metrics,
  ) {
    this.reader = new Loop(
      'EventStream',
      () => this.turn(),
      () => clock.nowMs(),
    );
    this.pulse = new Loop(
      'EventStreamPulse',
      () => this.beat(),
      () => clock.nowMs(),
    );
    metrics.gauge('event_stream_listeners', 'Clients connected to the event stream.', [], (gauge: Gauge) =>
      gauge.set(this.listening.size + this.behind.size),
    );
  }

  /** Throws 429 if too many streams are open for the key, for its organization, or in this process. */
  requireRoom({ keyId, tenant }: Caller): void {
    const all = [...this.listening, ...this.behind];
    const ofKey = all.filter(({ caller }) => caller.keyId === keyId).length;
    const ofOrganization = all.filter(({ caller }) => caller.tenant.organizationId === tenant.organizationId).length;
    if (ofKey < PER_KEY_MAX && ofOrganization < PER_ORGANIZATION_MAX && all.length < PER_PROCESS_MAX) return;
    const whose =
      ofKey >= PER_KEY_MAX
        ? `This key has ${PER_KEY_MAX} streams`
        : ofOrganization >= PER_ORGANIZATION_MAX
          ? `This organization has ${PER_ORGANIZATION_MAX} streams`
          : 'Too many streams are';
    throw new ApiError(
      'rate_limited',
      `${whose} open here already. Close one, or try again in ${FULL_RETRY_SECONDS} s.`,
      {},
      FULL_RETRY_SECONDS,
    );
  }

  /** Adds a client. Its stream begins with the reader's next iteration. */
  join(listener: StreamListener): void {
    if (this.isClosed) return listener.end('shutdown');
    this.behind.add(listener);
    this.reader.start();
    this.pulse.start();
    this.reader.wake();
  }

  leave(listener: StreamListener): void {
    this.listening.delete(listener);
    this.behind.delete(listener);
  }

  /** Ends all streams before the HTTP server drains connections, because draining waits until open responses end. */
  async onModuleDestroy(): Promise<void> {
    this.isClosed = true;
    for (const listener of [...this.listening, ...this.behind]) this.end(listener, 'shutdown');
    await Promise.all([this.reader.stop(), this.pulse.stop()]);
  }

  private async turn(): Promise<LoopDelay> {
    if (this.listening.size === 0 && this.behind.size === 0) {
      this.position = null;
      void this.reader.stop();
      void this.pulse.stop();
      return { restMs: 0 };
    }
    const startedMs = this.clock.monotonicMs();
    const isCurrent =
      this.listening.size === 0 || this.position === null ? await this.beginHere() : await this.readOn(this.position);
    if (!isCurrent) return { restMs: 0 };
    for (const listener of this.behind) {
      if (this.clock.monotonicMs() - startedMs > CATCHING_UP_MS_MAX) return { restMs: 0 };
      await this.catchUp(listener);
    }
    return { restMs: Math.max(POLL_MS, REST_FACTOR * (this.clock.monotonicMs() - startedMs)) };
  }

  private async beginHere(): Promise<boolean> {
    this.position = await this.store.now();
    return true;
  }

  /** Sends the changes after `from` to the clients in `listening`. Returns false if there are more changes. */
  private async readOn(from: StreamPosition): Promise<boolean> {
    if (this.clock.nowMs() - from.atMs > BEHIND_MS_MAX) return this.skipToNow(from, 'too_old');
    let at = from;
    for (let pages = 0; pages < PAGES_MAX; pages += 1) {
      const environments = [...new Set([...this.listening].map(({ environmentId }) => environmentId))];
      if (environments.length === 0) return this.beginHere();
      const changes = await this.store.read(environments, at, null, PAGE_ROWS);
      // Another iteration may have moved the clients' shared position during the read.
      if (this.position !== at) return false;
      if (changes.isOther) return this.skipToNow(at, 'storage');
      for (const listener of this.listening) this.sendAll(listener, changes);
      this.position = at = changes.through;
      if (changes.isEnd) return true;
    }
    return false;
  }

  private async skipToNow(from: StreamPosition, reason: 'too_old' | 'storage'): Promise<boolean> {
    const now = await this.store.now();
    for (const listener of this.listening) listener.gap(reason, from, now);
    this.position = now;
    return true;
  }

  /**
   * Serves a client that lags behind: sends the changes up to the shared position as fast as the client reads. Sends a
   * gap if changes are skipped.
   */
  private async catchUp(listener: StreamListener): Promise<void> {
    const until = this.position as StreamPosition;
    for (let { at } = listener; at !== null && !isSame(at, until); at = listener.at) {
      if (!listener.hasRoom) return;
      const changes = await this.store.read([listener.environmentId], at, until, OWN_PAGE_ROWS);
      if (this.position !== until || listener.at !== at || !this.behind.has(listener)) return;
      const reason = changes.isOther ? 'storage' : this.tooFar(listener, at, until);
      if (reason !== null) {
        listener.gap(reason, at, until);
        listener.at = until;
        listener.rowsBehind = 0;
        break;
      }
      // The client resumed at a position from another process, which this process has not reached yet.
      if (at.xid >= until.xid) return;
      for (const row of changes.rows) listener.sendChange(row, placeOf(row, changes));
      listener.rowsBehind += changes.rows.length;
      listener.at = changes.isEnd ? until : changes.through;
    }
    if (await this.isOwedMore(listener, until)) return;
    if (this.position !== until || !this.behind.has(listener)) return;
    this.behind.delete(listener);
    if (!listener.hasKeptUp) listener.begin(until);
    listener.hasKeptUp = true;
    listener.rowsBehind = 0;
    if (listener.follows) this.listening.add(listener);
    else listener.end('caught_up');
  }

  /** Returns true if `follows` is false and the client still lacks changes that existed when it connected. */
  private async isOwedMore(listener: StreamListener, until: StreamPosition): Promise<boolean> {
    if (listener.follows || listener.at === null) return false;
    listener.endsAt ??= await this.store.next();
    return listener.endsAt.epoch === until.epoch && until.xid < listener.endsAt.xid;
  }

  private tooFar(
    { rowsBehind, hasKeptUp }: StreamListener,
    at: StreamPosition,
    until: StreamPosition,
  ): GapReason | null {
    if (until.atMs - at.atMs > BEHIND_MS_MAX) return hasKeptUp ? 'slow' : 'too_old';
    if (rowsBehind >= BEHIND_ROWS_MAX) return hasKeptUp ? 'slow' : 'too_many';
    return null;
  }

  /** Sends changes to a client. A client that does not read fast enough moves to `behind` and is served separately. */
  private sendAll(listener: StreamListener, changes: Changes): void {
    let at = changes.from;
    for (const row of changes.rows) {
      if (row.environmentId !== listener.environmentId) continue;
      if (!listener.hasRoom) {
        listener.at = at;
        this.listening.delete(listener);
        this.behind.add(listener);
        return;
      }
      at = placeOf(row, changes);
      listener.sendChange(row, at);
    }
  }

  /** Ends the streams whose key or session is no longer valid, and sends heartbeats to the other clients. */
  private async beat(): Promise<LoopDelay> {
    const proofs = new Map([...this.listening, ...this.behind].map(({ proof }) => [proof.value, proof]));
    const refused = new Set<string>();
    for (const proof of proofs.values()) if (!(await this.isGood(proof))) refused.add(proof.value);
    for (const listener of [...this.listening, ...this.behind]) {
      const { kind, value } = listener.proof;
      if (refused.has(value)) this.end(listener, kind === 'key' ? 'key_revoked' : 'session_ended');
    }
    const { position } = this;
    for (const listener of this.listening) if (!listener.pulse(position)) this.leave(listener);
    for (const listener of this.behind) if (!listener.pulse(null)) this.leave(listener);
    return { restMs: PULSE_MS };
  }

  /** Returns whether a credential is valid. While storage is unavailable, it is assumed to be valid. */
  private async isGood({ kind, value }: Proof): Promise<boolean> {
    try {
      return kind === 'key'
        ? (await this.authenticator.authenticate(value)) !== null
        : await this.sessions.isInForce(value);
    } catch {
      return true;
    }
  }

  private end(listener: StreamListener, reason: EndReason): void {
    this.leave(listener);
    listener.end(reason);
  }
}

const isSame = (at: StreamPosition, until: StreamPosition): boolean =>
  at.epoch === until.epoch && at.xid === until.xid && at.key.kind === until.key.kind;
