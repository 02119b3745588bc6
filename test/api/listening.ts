import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { PosthornServer } from '../support/server.js';
import { until } from './polling.js';
import { WITHIN_MS } from './scene.js';

/** One event of the stream, with its data parsed. */
export interface Told {
  event: string;
  id: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test says which fields it expects, and fails otherwise
  data: any;
}

/** A client of the event stream. */
export interface Listener {
  readonly headers: Headers;
  readonly told: Told[];
  /** Reconnection delay that the server requested, in milliseconds. */
  retryMs(): number | null;
  /** Events that report a change. */
  changes(): Told[];
  /** Resolves with the first event of this kind that satisfies the predicate. */
  heard(event: string, is?: (item: Told) => boolean, withinMs?: number): Promise<Told>;
  /** Resolves when the server has ended the stream. */
  ended: Promise<void>;
  close(): void;
}

/** Opens a stream and reads it until it ends or is closed. Resolves once the stream has started. */
export async function listen(
  server: Pick<PosthornServer, 'url' | 'apiKey'>,
  query = '',
  headers: Record<string, string> = {},
): Promise<Listener> {
  const leaving = new AbortController();
  const response = await fetch(`${server.url}/v1/events/stream${query}`, {
    headers: { authorization: `Bearer ${server.apiKey}`, ...headers },
    signal: leaving.signal,
  });
  if (response.status !== 200 || response.body === null)
    throw new Error(`The stream was answered ${response.status}: ${await response.text()}`);
  const told: Told[] = [];
  let retryMs: number | null = null;
  const parser = createParser({
    onEvent: ({ event = '', id = '', data }: EventSourceMessage) =>
      void told.push({ event, id, data: JSON.parse(data) }),
    onRetry: (ms) => (retryMs = ms),
  });
  const body = response.body;
  const ended = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of body) parser.feed(decoder.decode(chunk, { stream: true }));
  })().catch(() => undefined);
  const heard = async (
    event: string,
    is: (item: Told) => boolean = () => true,
    withinMs = WITHIN_MS,
  ): Promise<Told> => {
    const [found] = await until(
      async () => told.filter((item) => item.event === event && is(item)),
      (items) => items.length > 0,
      withinMs,
    );
    if (found === undefined) throw new Error(`Nothing was told by ${event}.`);
    return found;
  };
  const changes = (): Told[] => told.filter(({ event }) => ['accepted', 'attempt', 'status'].includes(event));
  const listener: Listener = {
    headers: response.headers,
    told,
    retryMs: () => retryMs,
    changes,
    heard,
    ended,
    close: () => leaving.abort(),
  };
  await until(
    async () => told,
    (items) => items.some(({ event }) => event === 'ready' || event === 'gap'),
    WITHIN_MS,
  );
  return listener;
}
