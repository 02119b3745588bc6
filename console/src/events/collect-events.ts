import type { EventItem } from '../api/client';
import { Fault } from '../api/fault';

/** Maximum number of events in an export file. Larger exports require the API. */
export const EXPORT_MAX = 100_000;
/** Maximum number of times that one API call is tried. */
const TRIES_MAX = 6;
const WAIT_MS = 2_000;

interface CollectedPage {
  data: readonly EventItem[];
  next_cursor: string | null;
}

/**
 * Callback for the progress: the number of collected events, and the wait in seconds that the service requested, if
 * any.
 */
export type Progress = (done: number, waitsSeconds: number | null) => void;

/**
 * Collects all events of a query, and passes each page to the caller. Waits if the service requests it. Returns the
 * number of collected events, and whether there are more.
 */
export async function collectEvents(
  ask: (cursor: string | null) => Promise<CollectedPage>,
  take: (rows: readonly EventItem[]) => void,
  progress: Progress,
  signal: AbortSignal,
  max = EXPORT_MAX,
): Promise<{ count: number; isCut: boolean }> {
  let count = 0;
  let cursor: string | null = null;
  do {
    const page: CollectedPage = await retryWhileBusy(
      () => ask(cursor),
      (seconds) => progress(count, seconds),
      signal,
    );
    const rows = page.data.slice(0, max - count);
    take(rows);
    count += rows.length;
    progress(count, null);
    cursor = page.next_cursor;
    if (rows.length < page.data.length || (count >= max && cursor !== null)) return { count, isCut: true };
  } while (cursor !== null);
  return { count, isCut: false };
}

/** Returns the result of a call. While the service is busy or unreachable, waits and retries. */
export async function retryWhileBusy<T>(
  call: () => Promise<T>,
  waits: (seconds: number) => void,
  signal: AbortSignal,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      const isPassing = error instanceof Fault && (error.status === 429 || error.status === 0 || error.status >= 500);
      if (!isPassing || tries >= TRIES_MAX) throw error;
      const ms = error.retryAfterSeconds === null ? WAIT_MS * tries : error.retryAfterSeconds * 1000;
      waits(Math.ceil(ms / 1000));
      await pause(ms, signal);
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
