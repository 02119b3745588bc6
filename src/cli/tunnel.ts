import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { type components, type PosthornClient, PosthornConnectionError, PosthornError, type StreamMessage } from '../client/index.js';
import { forward, HIDDEN, type LocalAnswer } from './forward.js';
import { configFolder, writePrivately } from './sessions.js';

type RawRequest = components['schemas']['RequestDetailItem'];

/** What became of one received webhook. */
export interface Forwarded {
  event_id: string;
  endpoint: string;
  request: RawRequest | null;
  answer: LocalAnswer | null;
  /** It may have been forwarded before: the command ended while it was. */
  is_again: boolean;
  /** It was received while the stream could not tell of it. */
  is_late: boolean;
}

/** What the tunnel says besides what it forwards. */
export type Notice = Exclude<StreamMessage, { kind: 'accepted' | 'attempt' | 'status' | 'heartbeat' }> | { kind: 'hidden' } | { kind: 'waiting'; reason: string };

interface Place {
  last_event_id: string;
  /** Being forwarded when it was written: nobody knows whether it arrived. */
  under_way: string | null;
}

const SEEN_MAX = 10_000;
const WAIT_MS_MAX = 15_000;

/**
 * Forwards what endpoints receive to a program on this machine, one after the other. The stream says what came, its raw request is fetched by its
 * id; what the stream could not tell is fetched from the list. The place is written down before and after each, so that the
 * next run goes on there and says what it may do twice.
 */
export class Tunnel {
  private readonly file: string;
  private readonly seen = new Set<string>();
  private readonly ids = new Map<string, string>();
  private underWayBefore: string | null = null;
  private last = '';
  private hasSaidHidden = false;

  constructor(
    private readonly client: PosthornClient,
    private readonly to: URL,
    /** One endpoint; null for all of the environment. */
    private readonly endpointId: string | null,
    private readonly hooks: { forwarded: (forwarded: Forwarded) => void; notice: (notice: Notice) => void },
    private readonly folder = configFolder(),
  ) {
    const name = createHash('sha256').update(JSON.stringify([client.baseUrl, endpointId, to.href])).digest('hex').slice(0, 16);
    this.file = path.join(folder, `listen-${name}.json`);
  }

  /** Until the signal is aborted. `resumes` goes on where the last run of the same tunnel ended. */
  async run(resumes: boolean, signal: AbortSignal): Promise<void> {
    const place = resumes ? this.place() : null;
    this.underWayBefore = place?.under_way ?? null;
    const stream = this.client.stream({
      direction: 'inbound', signal, ...(this.endpointId !== null && { endpoint: this.endpointId }), ...(place !== null && { lastEventId: place.last_event_id }),
    });
    for await (const message of stream) await this.take(message, signal);
  }

  private async take(message: StreamMessage, signal: AbortSignal): Promise<void> {
    if (message.kind === 'lost') return this.hooks.notice(message);
    if (message.kind === 'accepted' && message.event.endpoint !== null) await this.pass(message.event.id, message.event.endpoint, false, signal);
    if (message.kind === 'gap') {
      this.hooks.notice(message);
      await this.whileAway(() => this.fill(message.gap, signal), signal);
    }
    if (message.kind === 'ready') this.hooks.notice(message);
    if (!signal.aborted) this.write({ last_event_id: (this.last = message.id), under_way: null });
  }

  /** What was received between two times, oldest first, without what was forwarded already. */
  private async fill({ since, until }: { since: string | null; until: string }, signal: AbortSignal): Promise<void> {
    if (since === null) return;
    // Ids are made a moment before their request is stored: what may have been on its way is looked at too.
    const from = new Date(Date.parse(since) - 90_000).toISOString();
    const missed: { id: string; endpoint: string; receivedAt: string }[] = [];
    for await (const { id, path: endpoint } of this.client.all('/v1/endpoints', { params: { query: { limit: 100 } } })) {
      if (this.endpointId !== null && id !== this.endpointId) continue;
      this.ids.set(endpoint, id);
      // One that is deleted meanwhile took what it received with it.
      for (const { event_id: eventId, received_at: receivedAt, status } of (await orGone(this.requestsOf(id, from, until))) ?? []) {
        if (status !== 'duplicate') missed.push({ id: eventId, endpoint, receivedAt });
      }
    }
    missed.sort((a, b) => (a.id < b.id ? -1 : 1));
    for (const { id, endpoint, receivedAt } of missed) {
      // What is older than the gap and is not known here may have been forwarded by an earlier run: it is said to be so.
      if (!this.seen.has(id)) await this.pass(id, endpoint, true, signal, receivedAt < since);
    }
  }

  private async requestsOf(id: string, since: string, until: string): Promise<components['schemas']['RequestItem'][]> {
    const found = [];
    for await (const request of this.client.all('/v1/endpoints/{id}/requests', { params: { path: { id }, query: { since, until, limit: 100 } } })) found.push(request);
    return found;
  }

  private async pass(eventId: string, endpoint: string, isLate: boolean, signal: AbortSignal, mayBeAgain = false): Promise<void> {
    const request = await this.fetch(eventId, endpoint, signal);
    if (signal.aborted) return;
    if (request !== null && request.headers.some(([, value]) => value === HIDDEN) && !this.hasSaidHidden) {
      this.hasSaidHidden = true;
      this.hooks.notice({ kind: 'hidden' });
    }
    const isAgain = mayBeAgain || this.seen.has(eventId) || this.underWayBefore === eventId;
    if (this.last !== '') this.write({ last_event_id: this.last, under_way: eventId });
    const answer = request === null || request.erased_at !== undefined ? null : await forward(request, this.to);
    this.seen.add(eventId);
    if (this.seen.size > SEEN_MAX) for (const oldest of this.seen) { this.seen.delete(oldest); break; }
    this.hooks.forwarded({ event_id: eventId, endpoint, request, answer, is_again: isAgain, is_late: isLate });
  }

  /** Null when it is gone. Waits for as long as the service is away: nothing is left out because of that. */
  private async fetch(eventId: string, endpoint: string, signal: AbortSignal): Promise<RawRequest | null> {
    return this.whileAway(async () => {
      const id = this.endpointId ?? (await this.idOf(endpoint));
      return id === null ? null : orGone(this.client.get('/v1/endpoints/{id}/requests/{requestId}', { params: { path: { id, requestId: eventId } }, signal }));
    }, signal);
  }

  /** Does it again for as long as the service is away; null when the tunnel ends. */
  private async whileAway<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T | null> {
    for (let waitMs = 1_000; !signal.aborted; waitMs = Math.min(waitMs * 2, WAIT_MS_MAX)) {
      try {
        return await work();
      } catch (error) {
        if (signal.aborted) return null;
        if (!(error instanceof PosthornConnectionError) && !(error instanceof PosthornError && (error.status >= 500 || error.status === 429))) throw error;
        this.hooks.notice({ kind: 'waiting', reason: error.message });
        await rest(waitMs, undefined, { signal }).catch(() => undefined);
      }
    }
    return null;
  }

  private async idOf(endpoint: string): Promise<string | null> {
    if (!this.ids.has(endpoint)) for await (const { id, path: known } of this.client.all('/v1/endpoints', { params: { query: { limit: 100 } } })) this.ids.set(known, id);
    return this.ids.get(endpoint) ?? null;
  }

  private place(): Place | null {
    try {
      const place = JSON.parse(readFileSync(this.file, 'utf8')) as Place;
      this.last = place.last_event_id;
      return place;
    } catch {
      return null;
    }
  }

  private write(place: Place): void {
    writePrivately(this.folder, this.file, place);
  }
}

/** Null for what is not there any more. */
async function orGone<T>(asked: Promise<T>): Promise<T | null> {
  return asked.catch((error: unknown) => {
    if (error instanceof PosthornError && error.status === 404) return null;
    throw error;
  });
}
