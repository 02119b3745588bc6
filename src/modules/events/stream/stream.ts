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
/** A read rests at least three times as long as it took: listening never takes more than a quarter of one connection. */
const REST_FACTOR = 3;
const PULSE_MS = 1_000;
const PAGE_ROWS = 1_000;
/** Pages in a row before others get a word. */
const PAGES_MAX = 10;
/** Of what is read for one listener alone: about what it may leave unread. */
const OWN_PAGE_ROWS = 100;
/** So long may those who are behind hold up the others. */
const CATCHING_UP_MS_MAX = 1_000;
/** What one listener may be behind: more is a gap. */
const BEHIND_ROWS_MAX = 5_000;
const BEHIND_MS_MAX = 3_600_000;

const PER_KEY_MAX = 100;
const PER_ORGANIZATION_MAX = 1_000;
const PER_PROCESS_MAX = 2_000;
const FULL_RETRY_SECONDS = 10;

/**
 * Everyone in this process who listens to what happens. One reader asks for all of them what the transactions did that have ended since it asked
 * last (ADR 23): nobody holds a connection, nothing is written where events are accepted and recorded, and nothing is asked while
 * nobody listens.
 */
@Injectable()
export class EventStream implements OnModuleDestroy {
  private readonly listening = new Set<StreamListener>();
  private readonly behind = new Set<StreamListener>();
  private readonly reader: Loop;
  private readonly pulse: Loop;
  /** Everything in front of it was told to those who listen; null while nobody does. */
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
    metrics.gauge('event_stream_listeners', 'Clients that listen to the stream of events.', [], (gauge: Gauge) =>
      gauge.set(this.listening.size + this.behind.size),
    );
  }

  /** Throws 429 where too many listen already: of the key, of its organization, or to this process. */
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

  /** Begins at the reader's next turn. */
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

  /** The drain waits for open answers, so this comes before it. */
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

  /** Tells those who listen what happened behind the position; false when there is more. */
  private async readOn(from: StreamPosition): Promise<boolean> {
    if (this.clock.nowMs() - from.atMs > BEHIND_MS_MAX) return this.skipToNow(from, 'too_old');
    let at = from;
    for (let pages = 0; pages < PAGES_MAX; pages += 1) {
      const environments = [...new Set([...this.listening].map(({ environmentId }) => environmentId))];
      if (environments.length === 0) return this.beginHere();
      const changes = await this.store.read(environments, at, null, PAGE_ROWS);
      // A turn that was given up may still come to its end, behind the one that took its place.
      if (this.position !== at) return false;
      if (changes.isOther) return this.skipToNow(at, 'storage');
      for (const listener of this.listening) this.tellAll(listener, changes);
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

  /** Tells one listener what it has not been told, as far as it takes it, up to where the others are; what it is not told is said to it. */
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
      // Another process told it more than this one has read yet.
      if (at.xid >= until.xid) return;
      for (const row of changes.rows) listener.tell(row, placeOf(row, changes));
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

  /** Whether one that does not stay would end without what was there when it came: that may lie behind a transaction that still runs. */
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

  /** One that does not take it all is told the rest by itself, once it does. */
  private tellAll(listener: StreamListener, changes: Changes): void {
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
      listener.tell(row, at);
    }
  }

  /** Ends the streams of keys and sessions that are not good any more, and says to the others that they live. */
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

  /** With storage away nobody knows: what was good is good until it is known not to be. */
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
