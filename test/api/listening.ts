import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { PosthornServer } from '../support/server.js';
import { until } from './polling.js';
import { WITHIN_MS } from './scene.js';

export interface StreamItem {
  event: string;
  id: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- each test asserts the fields that it reads
  data: any;
}

/** A client of the event stream. */
export interface Listener {
  readonly headers: Headers;
  readonly items: StreamItem[];
  /** Returns the reconnection delay that the server requested, in milliseconds, or null. */
  retryMs(): number | null;
  /** Returns the events that report a change. */
  changes(): StreamItem[];
  /** Resolves with the first event of this kind that satisfies the predicate. */
  waitFor(event: string, is?: (item: StreamItem) => boolean, withinMs?: number): Promise<StreamItem>;
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
  const received: StreamItem[] = [];
  let retryMs: number | null = null;
  const parser = createParser({
    onEvent: ({ event = '', id = '', data }: EventSourceMessage) =>
      void received.push({ event, id, data: JSON.parse(data) }),
    onRetry: (ms) => (retryMs = ms),
  });
  const body = response.body;
  const ended = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of body) parser.feed(decoder.decode(chunk, { stream: true }));
  })().catch(() => undefined);
  const waitFor = async (
    event: string,
    is: (item: StreamItem) => boolean = () => true,
    withinMs = WITHIN_MS,
  ): Promise<StreamItem> => {
    const [found] = await until(
      async () => received.filter((item) => item.event === event && is(item)),
      (items) => items.length > 0,
      withinMs,
    );
    if (found === undefined) throw new Error(`No item arrived of type ${event}.`);
    return found;
  };
  const changes = (): StreamItem[] => received.filter(({ event }) => ['accepted', 'attempt', 'status'].includes(event));
  const listener: Listener = {
    headers: response.headers,
    items: received,
    retryMs: () => retryMs,
    changes,
    waitFor,
    ended,
    close: () => leaving.abort(),
  };
  await until(
    async () => received,
    (items) => items.some(({ event }) => event === 'ready' || event === 'gap'),
    WITHIN_MS,
  );
  return listener;
}
