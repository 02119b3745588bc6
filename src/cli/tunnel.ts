import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import {
  type components,
  type PosthornClient,
  PosthornConnectionError,
  PosthornError,
  type StreamMessage,
} from '../client/index.js';
import { forward, HIDDEN, type LocalAnswer } from './forward.js';
import { ForwardingProgress, type Slot, type TunnelPlace } from './forwarding-progress.js';
import { configFolder, writePrivately } from './sessions.js';

type RawRequest = components['schemas']['RequestDetailItem'];

export interface Forwarded {
  event_id: string;
  endpoint: string;
  request: RawRequest | null;
  answer: LocalAnswer | null;
  /** True if the request may already have been forwarded, because an earlier run ended while forwarding it. */
  is_again: boolean;
  /** True if the request was received while the stream was interrupted. */
  is_late: boolean;
}

export type Notice =
  | Exclude<StreamMessage, { kind: 'accepted' | 'attempt' | 'status' | 'heartbeat' }>
  | { kind: 'hidden' }
  | { kind: 'waiting'; reason: string };

export interface TunnelOptions {
  concurrency?: number;
  folder?: string;
}

interface TunnelTurn {
  eventId: string;
  endpoint: string;
  slot: Slot;
  isLate: boolean;
  isAgain: boolean;
  /** Resolves once the previous request has been sent to the local program, to preserve the order. */
  previous: Promise<void>;
  sent: () => void;
}

export const CONCURRENCY_DEFAULT = 8;
const SEEN_MAX = 10_000;
const WAIT_MS_MAX = 15_000;

/**
 * Forwards received requests to a local program in the order of arrival, several at a time. The event stream announces
 * requests, and the tunnel fetches each raw request by its id. It uses the list of requests to find those that the
 * stream missed.
 *
 * The position is stored before and after each request. The next run continues from there and marks requests that may
 * be forwarded twice.
 */
export class Tunnel {
  private readonly file: string;
  private readonly seen = new Set<string>();
  private readonly ids = new Map<string, string>();
  private readonly running = new Set<Promise<void>>();
  private readonly ended = new AbortController();
  private readonly concurrency: number;
  private readonly folder: string;
  private progress = new ForwardingProgress('');
  private underWayBefore: ReadonlySet<string> = new Set();
  private doneBefore = new Set<string>();
  private lastSent: Promise<void> = Promise.resolve();
  private listing: Promise<void> | null = null;
  private hasSaidHidden = false;

  constructor(
    private readonly client: PosthornClient,
    private readonly to: URL,
    /** Id of one endpoint. Null for all endpoints of the environment. */
    private readonly endpointId: string | null,
    private readonly hooks: { forwarded: (forwarded: Forwarded) => void; notice: (notice: Notice) => void },
    { concurrency = CONCURRENCY_DEFAULT, folder = configFolder() }: TunnelOptions = {},
  ) {
    this.concurrency = concurrency;
    this.folder = folder;
    const name = createHash('sha256')
      .update(JSON.stringify([client.baseUrl, endpointId, to.href]))
      .digest('hex')
      .slice(0, 16);
    this.file = path.join(folder, `listen-${name}.json`);
  }

  /** Runs until the signal is aborted. If `resumes` is true, continues where the last run of this tunnel ended. */
  async run(resumes: boolean, signal: AbortSignal): Promise<void> {
    const place = resumes ? this.place() : null;
    if (place !== null) {
      this.progress = new ForwardingProgress(place.last_event_id);
      this.underWayBefore = new Set(place.under_way);
      this.doneBefore = new Set(place.done);
    }
    const untilEnd = AbortSignal.any([signal, this.ended.signal]);
    const stream = this.client.stream({
      direction: 'inbound',
      signal: untilEnd,
      ...(this.endpointId !== null && { endpoint: this.endpointId }),
      ...(place !== null && { lastEventId: place.last_event_id }),
    });
    try {
      for await (const message of stream) await this.take(message, untilEnd);
    } finally {
      await Promise.all(this.running);
    }
    if (this.ended.signal.aborted) throw this.ended.signal.reason;
  }

  private async take(message: StreamMessage, signal: AbortSignal): Promise<void> {
    if (message.kind === 'lost') return this.hooks.notice(message);
    if (message.kind === 'accepted' && message.event.endpoint !== null) {
      const { id, endpoint } = message.event;
      return this.begin(id, endpoint, this.progress.add(message.id, id), { isLate: false, isAgain: false }, signal);
    }
    const slot = this.progress.add(message.id, null);
    if (message.kind === 'gap') {
      this.hooks.notice(message);
      await this.whileAway(() => this.fill(message, signal), signal);
      await Promise.all(this.running);
    }
    if (message.kind === 'ready') this.hooks.notice(message);
    if (!signal.aborted) this.finish(slot);
  }

  /**
   * Forwards requests that were received during a gap of the stream, oldest first. Skips requests already forwarded.
   */
  private async fill(
    { id: streamId, gap: { since, until } }: Extract<StreamMessage, { kind: 'gap' }>,
    signal: AbortSignal,
  ): Promise<void> {
    if (since === null) return;
    // Searches from 90 s before the gap, because a request is stored some time after it got its time of receipt.
    const from = new Date(Date.parse(since) - 90_000).toISOString();
    const missed: { id: string; endpoint: string; receivedAt: string }[] = [];
    for await (const { id, path: endpoint } of this.client.all('/v1/endpoints', {
      params: { query: { limit: 100 } },
    })) {
      if (this.endpointId !== null && id !== this.endpointId) continue;
      this.ids.set(endpoint, id);
      // Skips a deleted endpoint, because its requests were deleted too.
      for (const { event_id: eventId, received_at: receivedAt, status } of (await orGone(
        this.requestsOf(id, from, until),
      )) ?? []) {
        if (eventId !== null && status !== 'duplicate') missed.push({ id: eventId, endpoint, receivedAt });
      }
    }
    missed.sort((a, b) => (a.id < b.id ? -1 : 1));
    for (const { id, endpoint, receivedAt } of missed) {
      // A request from before the gap is marked as repeated, because an earlier run may have forwarded it. The stored
      // position stays before the gap until all missed requests have been forwarded.
      if (!this.seen.has(id))
        await this.begin(
          id,
          endpoint,
          this.progress.add(streamId, id),
          { isLate: true, isAgain: receivedAt < since },
          signal,
        );
    }
  }

  private async requestsOf(id: string, since: string, until: string): Promise<components['schemas']['RequestItem'][]> {
    const found = [];
    for await (const request of this.client.all('/v1/endpoints/{id}/requests', {
      params: { path: { id }, query: { since, until, limit: 100 } },
    }))
      found.push(request);
    return found;
  }

  /** Starts to forward a request once the concurrency limit allows it. */
  private async begin(
    eventId: string,
    endpoint: string,
    slot: Slot,
    { isLate, isAgain }: Pick<TunnelTurn, 'isLate' | 'isAgain'>,
    signal: AbortSignal,
  ): Promise<void> {
    while (this.running.size >= this.concurrency) await Promise.race(this.running);
    if (signal.aborted) return;
    if (this.doneBefore.delete(eventId)) {
      this.note(eventId);
      return this.finish(slot);
    }
    const turn = {
      eventId,
      endpoint,
      slot,
      isLate,
      isAgain: isAgain || this.seen.has(eventId) || this.underWayBefore.has(eventId),
      previous: this.lastSent,
      sent: (): void => undefined,
    };
    this.note(eventId);
    this.lastSent = new Promise((resolve) => (turn.sent = resolve));
    const work = this.pass(turn, signal)
      .catch((error: unknown) => this.ended.abort(error))
      .finally(() => {
        turn.sent();
        this.running.delete(work);
      });
    this.running.add(work);
  }

  private async pass(
    { eventId, endpoint, slot, isLate, isAgain, previous, sent }: TunnelTurn,
    signal: AbortSignal,
  ): Promise<void> {
    const request = await this.fetch(eventId, endpoint, signal);
    await previous;
    if (signal.aborted) return;
    if (request !== null && request.headers.some(([, value]) => value === HIDDEN) && !this.hasSaidHidden) {
      this.hasSaidHidden = true;
      this.hooks.notice({ kind: 'hidden' });
    }
    slot.state = 'under_way';
    this.write();
    const forwarding = request === null || request.erased_at !== undefined ? null : forward(request, this.to);
    sent();
    const answer = await forwarding;
    this.hooks.forwarded({ event_id: eventId, endpoint, request, answer, is_again: isAgain, is_late: isLate });
    this.finish(slot);
  }

  private note(eventId: string): void {
    this.seen.add(eventId);
    if (this.seen.size > SEEN_MAX)
      for (const oldest of this.seen) {
        this.seen.delete(oldest);
        break;
      }
  }

  private finish(slot: Slot): void {
    this.progress.finish(slot);
    this.write();
  }

  /** Fetches a request, and waits while the service is unavailable. Returns null if the request no longer exists. */
  private async fetch(eventId: string, endpoint: string, signal: AbortSignal): Promise<RawRequest | null> {
    return this.whileAway(async () => {
      const id = this.endpointId ?? (await this.idOf(endpoint));
      return id === null
        ? null
        : orGone(
            this.client.get('/v1/endpoints/{id}/requests/{requestId}', {
              params: { path: { id, requestId: eventId } },
              signal,
            }),
          );
    }, signal);
  }

  /** Runs `work`, and retries while the service is unavailable. Returns null when the tunnel ends. */
  private async whileAway<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T | null> {
    for (let waitMs = 1_000; !signal.aborted; waitMs = Math.min(waitMs * 2, WAIT_MS_MAX)) {
      try {
        return await work();
      } catch (error) {
        if (signal.aborted) return null;
        if (
          !(error instanceof PosthornConnectionError) &&
          !(
            error instanceof PosthornError &&
            (error.status >= 500 || error.status === 429 || error.type === 'unexpected_answer')
          )
        )
          throw error;
        this.hooks.notice({ kind: 'waiting', reason: error.message });
        await rest(waitMs, undefined, { signal }).catch(() => undefined);
      }
    }
    return null;
  }

  private async idOf(endpoint: string): Promise<string | null> {
    if (!this.ids.has(endpoint)) await (this.listing ??= this.listEndpoints().finally(() => (this.listing = null)));
    return this.ids.get(endpoint) ?? null;
  }

  private async listEndpoints(): Promise<void> {
    for await (const { id, path: known } of this.client.all('/v1/endpoints', { params: { query: { limit: 100 } } }))
      this.ids.set(known, id);
  }

  private place(): TunnelPlace | null {
    try {
      const {
        last_event_id: last,
        under_way: underWay,
        done = [],
      } = JSON.parse(readFileSync(this.file, 'utf8')) as Omit<TunnelPlace, 'under_way'> & {
        under_way: string[] | string | null;
      };
      // Earlier versions, without concurrency, stored one id or null in `under_way`.
      return { last_event_id: last, under_way: [underWay ?? []].flat(), done };
    } catch {
      return null;
    }
  }

  private write(): void {
    const { place } = this.progress;
    if (place !== null) writePrivately(this.folder, this.file, place);
  }
}

/** Returns the result of an API call, or null if the service responded with 404. */
async function orGone<T>(asked: Promise<T>): Promise<T | null> {
  return asked.catch((error: unknown) => {
    if (error instanceof PosthornError && error.status === 404) return null;
    throw error;
  });
}
