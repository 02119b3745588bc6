import { answered, type Api, type Environment, type EventItem, serviceNowMs } from '../api/client';
import { listenToEvents, type StreamedChange } from '../api/event-stream';
import { asQuery, asStreamQuery, canGrow, type EventFilters, isBroughtBy } from './event-filters';
import type { News, RowList } from './event-rows';
import { PAGE } from './first-page';

/** Interval at which changes from the stream are applied to the rows. */
const DRAW_EVERY_MS = 250;

/** Missed events, which the stream did not send. `count` is their minimum number, or null if it is unknown. */
export interface Missed {
  count: number | null;
  isCapped: boolean;
}

interface Listening {
  api: Api;
  environment: Environment;
  filters: EventFilters;
  rows: RowList<EventItem>;
  isReading: () => boolean;
  /** Returns the index of the first visible row. */
  viewed: () => number;
  /** Called after the rows changed. `goesOnAt` is the time from which the list continues, or null. */
  drawn: (goesOnAt: string | null) => void;
  missed: (missed: Missed) => void;
}

/**
 * Applies the changes from the stream to the rows, at most a few times a second, and reports gaps. Returns a function
 * that stops listening to the stream.
 */
export function listenForNews({
  api,
  environment,
  filters,
  rows,
  isReading,
  viewed,
  drawn,
  missed,
}: Listening): () => void {
  let queue: News<EventItem>[] = [];
  const draw = (): void => {
    if (queue.length === 0) return;
    const batch = queue;
    queue = [];
    drawn(rows.arrive(batch, isReading()));
  };
  const timer = setInterval(draw, DRAW_EVERY_MS);
  // The current gap in the stream. Consecutive gaps are merged.
  let gap: { since: string; until: string } | null = null;
  const countMissed = async ({ since, until }: { since: string; until: string }): Promise<void> => {
    const { count, is_capped: isCapped } = await answered(
      api.GET('/v1/events/count', { params: { query: asQuery({ ...filters, since, until }, serviceNowMs()) } }),
    );
    missed({ count: Math.max(0, count - rows.countBetween(since, until) - rows.notKept), isCapped });
  };
  const say = (since: string | null, until = new Date(serviceNowMs()).toISOString()): void => {
    missed({ count: null, isCapped: false });
    if (since === null) return;
    const current = (gap = { since: gap?.since ?? since, until });
    // Waits until the list contains the changes that have already arrived. Otherwise, their events would count as
    // missed.
    setTimeout(() => {
      if (gap === current) countMissed(current).catch(() => undefined);
    }, 4 * DRAW_EVERY_MS);
  };
  const ask = async (change: EventFilters, isNew: boolean): Promise<EventItem[]> => {
    const { data } = await answered(
      api.GET('/v1/events', {
        params: { query: { ...asQuery({ ...filters, ...change }, serviceNowMs()), limit: PAGE } },
      }),
    );
    queue.push(...data.reverse().map((row) => ({ isNew, row, isWhole: true })));
    return data;
  };
  // Loads the newest rows and the visible rows, because the stream does not send changes from before its start. If the
  // list contains none of the newest rows, it may have missed more events.
  const catchUp = async (): Promise<void> => {
    const last = rows.at(0)?.received_at ?? null;
    const seen = rows.at(viewed())?.received_at;
    if (canGrow(filters)) {
      const newest = await ask({}, true);
      if (last !== null && newest.length === PAGE && !newest.some(({ id }) => rows.get(id) !== undefined)) say(last);
    }
    if (seen !== undefined && (viewed() > 0 || !canGrow(filters))) await ask({ until: seen }, false);
  };
  const stop = listenToEvents(environment, asStreamQuery(filters), {
    ready: () => void catchUp().catch(() => undefined),
    gap: ({ since, until }) => say(since, until),
    changed: (kind, change) =>
      void queue.push({
        isNew: isBroughtBy(filters, { kind, status: change.status, attempt: change.attempt }),
        row: rowOf(change),
        attempt: change.attempt,
      }),
  });
  return () => {
    stop();
    clearInterval(timer);
  };
}

/** Builds a row from a change that the stream sent. The caller applies the attempt to the row. */
function rowOf({ id, event_type, endpoint, status, destination, message_id, received_at }: StreamedChange): EventItem {
  return {
    id,
    event_type,
    endpoint,
    status,
    destination,
    message_id,
    received_at,
    attempt_count: 0,
    last_attempt: null,
    next_attempt_at: null,
  };
}
