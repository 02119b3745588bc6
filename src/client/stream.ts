import { setTimeout as rest } from 'node:timers/promises';
import {
  errorOf,
  PosthornConnectionError,
  PosthornError,
  redirectOf,
  unexpected,
  UNEXPECTED_ANSWER,
} from './errors.js';
import { EventSourceParser } from './event-source.js';
import { reasonOf } from './retries.js';

export interface StreamedEvent {
  id: string;
  event_type: string;
  endpoint: string | null;
  status: string;
  destination: string | null;
  message_id: string | null;
  received_at: string;
  direction: 'outbound' | 'inbound';
  application?: string;
  payload_erased_at?: string;
}

export interface StreamedAttempt {
  destination: string | null;
  number: number;
  status: number | null;
  error: string | null;
  duration_ms: number;
  at: string;
  next_attempt_at: string | null;
}

export interface StreamedDelivery {
  destination: string | null;
  status: string;
  reason: string | null;
}

/** A message of the stream. A later stream can continue after `id`. */
export type StreamMessage =
  | { kind: 'ready'; id: string }
  | { kind: 'heartbeat'; id: string }
  | { kind: 'accepted'; id: string; event: StreamedEvent }
  | { kind: 'attempt'; id: string; event: StreamedEvent & { attempt: StreamedAttempt } }
  | { kind: 'status'; id: string; event: StreamedEvent & { delivery: StreamedDelivery } }
  /** Events between `since` and `until` are missing from the stream. The list of events contains them. */
  | { kind: 'gap'; id: string; gap: { reason: string; since: string | null; until: string } }
  /** The connection broke. After `retryMs`, a new connection continues where the old connection ended. */
  | { kind: 'lost'; id: string; reason: string; retryMs: number };

export interface StreamOptions {
  status?: string;
  event_type?: string;
  endpoint?: string;
  destination?: string;
  application?: string;
  direction?: 'outbound' | 'inbound';
  /** `id` of the last message of an earlier stream. */
  lastEventId?: string;
  signal?: AbortSignal;
}

export interface StreamConnection {
  baseUrl: string;
  apiKey: string;
  fetch: (request: Request) => Promise<Response>;
}

/** Time without data after which a connection counts as dead, even if TCP considers it open: three heartbeats. */
const SILENCE_MS_MAX = 45_000;
const BACKOFF_MS_FIRST = 500;
const BACKOFF_MS_MAX = 15_000;

/**
 * Streams events until the signal is aborted. Each connection continues where the previous one ended. Throws
 * `PosthornError` if a new connection cannot help: an invalid key or request, or a first response that is not a stream.
 */
export async function* streamEvents(
  connection: StreamConnection,
  options: StreamOptions = {},
): AsyncGenerator<StreamMessage, void, undefined> {
  const { signal, lastEventId = '', ...filters } = options;
  let last = lastEventId;
  let failures = 0;
  let hasListened = false;
  while (!(signal?.aborted ?? false)) {
    let reason = 'The connection was closed.';
    let retryMs: number | null = null;
    try {
      for await (const message of connect(connection, filters, last, signal)) {
        if ('asked' in message) {
          retryMs = message.asked;
          reason = message.reason;
          continue;
        }
        failures = 0;
        hasListened = true;
        last = message.id;
        yield message;
      }
    } catch (error) {
      if (signal?.aborted ?? false) return;
      if (error instanceof PosthornError && !mayPass(error, hasListened)) throw error;
      reason = error instanceof Error ? error.message : String(error);
      if (error instanceof PosthornError && error.retryAfterSeconds !== null) retryMs = error.retryAfterSeconds * 1_000;
    }
    retryMs ??= Math.min(BACKOFF_MS_FIRST * 2 ** failures, BACKOFF_MS_MAX) * (0.5 + Math.random() / 2);
    failures += 1;
    yield { kind: 'lost', id: last, reason, retryMs: Math.round(retryMs) };
    await rest(retryMs, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
  }
}

/** Returns whether to reconnect. An unexpected response means an outage if a stream worked before, else a wrong URL. */
function mayPass({ status, type }: PosthornError, hasListened: boolean): boolean {
  return status >= 500 || status === 429 || (type === UNEXPECTED_ANSWER && hasListened);
}

/** Yields the messages of one connection. Returns the reconnection settings that the service requested. */
async function* connect(
  { baseUrl, apiKey, fetch }: StreamConnection,
  filters: Record<string, unknown>,
  last: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamMessage | { asked: number | null; reason: string }> {
  const silent = new AbortController();
  const url = new URL(`${baseUrl}/v1/events/stream`);
  for (const [name, value] of Object.entries(filters)) if (typeof value === 'string') url.searchParams.set(name, value);
  const hush = (): void =>
    silent.abort(new PosthornConnectionError(`No data was received for ${SILENCE_MS_MAX / 1_000} s.`));
  let watch = setTimeout(hush, SILENCE_MS_MAX);
  try {
    const request = new Request(url, {
      redirect: 'manual',
      headers: {
        authorization: `Bearer ${apiKey}`,
        accept: 'text/event-stream',
        ...(last !== '' && { 'last-event-id': last }),
      },
      signal: signal === undefined ? silent.signal : AbortSignal.any([signal, silent.signal]),
    });
    const response = await fetch(request);
    const redirect = redirectOf(url.href, response);
    if (redirect !== null) throw redirect;
    if (!response.ok) throw await errorOf(response);
    const contentType = response.headers.get('content-type') ?? 'text/event-stream';
    if (!/^text\/event-stream\b/i.test(contentType))
      throw unexpected(url.href, response, `${response.status} with ${contentType.slice(0, 100)} instead of a stream`);
    const parser = new EventSourceParser();
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      clearTimeout(watch);
      for (const { event, id, data } of parser.take(decoder.decode(chunk, { stream: true }))) {
        const body = JSON.parse(data) as Record<string, unknown>;
        if (event === 'end') {
          if (body['reason'] === 'key_revoked')
            throw new PosthornError(401, 'unauthenticated', 'The key was revoked or has expired.', null);
          yield {
            asked: parser.retryMs,
            reason: body['reason'] === 'shutdown' ? 'The service is restarting.' : 'The stream was closed.',
          };
          return;
        }
        const message = messageOf(event, id, body);
        if (message !== null) yield message;
      }
      // Restarts the idle timeout once the consumer has taken the message, so that a slow consumer does not trigger it.
      watch = setTimeout(hush, SILENCE_MS_MAX);
    }
  } catch (error) {
    if (error instanceof PosthornError) throw error;
    if (silent.signal.aborted) throw silent.signal.reason;
    throw new PosthornConnectionError(reasonOf(error), { cause: error });
  } finally {
    clearTimeout(watch);
    silent.abort();
  }
}

/** Parses a message of the stream. Returns null for an unknown message of a later version. */
function messageOf(event: string, id: string, body: unknown): StreamMessage | null {
  if (event === 'ready' || event === 'heartbeat') return { kind: event, id };
  if (event === 'gap') return { kind: 'gap', id, gap: body as { reason: string; since: string | null; until: string } };
  if (event === 'accepted' || event === 'attempt' || event === 'status')
    return { kind: event, id, event: body } as StreamMessage;
  return null;
}
