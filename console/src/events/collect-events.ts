import type { EventItem } from '../api/client';
import { retryWhileBusy } from '../api/retry-while-busy';

/** Maximum number of events in an export file. Larger exports require the API. */
export const EXPORT_MAX = 100_000;

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
