import type { EventDetail } from './event-queries';

type Attempt = EventDetail['attempts'][number];
type Delivery = EventDetail['deliveries'][number];

/** One step in the life of an event. */
export type TimelineEntry =
  | { kind: 'accepted'; id: string; at: string }
  /** `isFinal`: with this attempt, the delivery ended as delivered. */
  | { kind: 'attempt'; id: string; at: string; attempt: Attempt; isGood: boolean; isFinal: boolean }
  /** The next step of a delivery. `at` is null while an attempt or a probe is in flight. */
  | { kind: 'next' | 'probe'; id: string; at: string | null; delivery: Delivery }
  | { kind: 'circuit'; id: string; at: string; delivery: Delivery }
  /** The final state of a delivery. The API does not return the time of this state. */
  | { kind: 'end'; id: string; delivery: Delivery; status: string }
  | { kind: 'set-aside'; id: string; status: string };

/** Returns whether an attempt delivered its event. */
export function isDelivered({ error, status }: Pick<Attempt, 'error' | 'status'>): boolean {
  return error === null && status !== null && status >= 200 && status < 300;
}

/**
 * Returns everything that happened to an event and what happens next, newest first. A delivery's final state follows
 * its last attempt.
 */
export function timelineOf(
  event: Pick<EventDetail, 'received_at' | 'status' | 'deliveries' | 'attempts'>,
): TimelineEntry[] {
  const { received_at: received, status, deliveries, attempts } = event;
  const placed: { ms: number; rank: number; entry: TimelineEntry }[] = [];
  const place = (at: string | null, rank: number, entry: TimelineEntry): void =>
    void placed.push({ ms: at === null ? Infinity : Date.parse(at), rank, entry });
  place(received, 0, { kind: 'accepted', id: 'accepted', at: received });
  for (const delivery of deliveries) {
    const own = attempts.filter((each) => each.delivery === delivery.id);
    const last = own.at(-1);
    for (const attempt of own) {
      const isGood = isDelivered(attempt);
      const isFinal = attempt === last && isGood && delivery.status === 'delivered';
      place(attempt.at, 1, {
        kind: 'attempt',
        id: `${delivery.id} ${attempt.number}`,
        at: attempt.at,
        attempt,
        isGood,
        isFinal,
      });
    }
    for (const entry of statesOf(delivery, last)) {
      if (entry.kind === 'next' || entry.kind === 'probe') place(entry.at, 4, entry);
      else if (entry.kind === 'circuit') place(entry.at, 3, entry);
      else place(last?.at ?? received, 2, entry);
    }
  }
  if (deliveries.length === 0 && status !== 'retrying')
    place(received, 2, { kind: 'set-aside', id: 'set-aside', status });
  return placed.sort((a, b) => (a.ms === b.ms ? b.rank - a.rank : a.ms < b.ms ? 1 : -1)).map(({ entry }) => entry);
}

function statesOf(delivery: Delivery, last: Attempt | undefined): TimelineEntry[] {
  const { id, status, circuit, next_attempt_at: next } = delivery;
  if (status !== 'retrying') {
    if (status === 'delivered' && last !== undefined && isDelivered(last)) return [];
    return [{ kind: 'end', id: `${id} end`, delivery, status: deliveryStatusOf(delivery, last !== undefined) }];
  }
  if (circuit === null) return [{ kind: 'next', id: `${id} next`, at: next, delivery }];
  const opened = circuit.opened_at;
  return [
    { kind: 'probe', id: `${id} probe`, at: circuit.next_probe_at, delivery },
    ...(opened === null ? [] : [{ kind: 'circuit' as const, id: `${id} circuit`, at: opened, delivery }]),
  ];
}

/**
 * Returns the state of a delivery as the console shows it. A delivery without an attempt went to a pull consumer, and
 * is shown as available. A delivery that a replay replaced is shown as superseded and not as failed.
 */
export function deliveryStatusOf(
  { status, reason, pull }: Pick<Delivery, 'status' | 'reason' | 'pull'>,
  hasAttempts: boolean,
): string {
  if (status === 'failed' && reason === 'superseded') return 'superseded';
  if (status !== 'delivered' || hasAttempts) return status;
  return pull?.acknowledged === true ? 'acknowledged' : 'available';
}

/**
 * Returns the state of an event as the console shows it. An event that was delivered without an attempt went to a pull
 * consumer, and is shown as available.
 */
export function eventStatusOf(
  { status, acknowledged }: { status: string; acknowledged?: boolean },
  attemptCount: number,
): string {
  if (status !== 'delivered' || attemptCount > 0) return status;
  return acknowledged === true ? 'acknowledged' : 'available';
}

/** Returns whether consumers acknowledged all deliveries of an event that they pull. */
export function isAcknowledged({ deliveries }: Pick<EventDetail, 'deliveries'>): boolean {
  const pulled = deliveries.flatMap(({ pull }) => pull ?? []);
  return pulled.length > 0 && pulled.every(({ acknowledged }) => acknowledged);
}

/** Longest time between the stream's report that an event was accepted and its report of the event's first attempt. */
const STREAM_DELAY_MS = 10_000;

/**
 * Returns the state of a row. A delivered row without an attempt can have two causes: a pull destination, or a stream
 * that reports the delivery before its attempt. The type of the destination shows the cause. If the type is unknown, a
 * row older than `STREAM_DELAY_MS` counts as pulled.
 */
export function rowStatusOf(
  row: { status: string; attempt_count: number; received_at: string; acknowledged?: boolean },
  targetType: string | undefined,
  nowMs: number,
): string {
  const isSettled = nowMs - Date.parse(row.received_at) > STREAM_DELAY_MS;
  const canBePulled = targetType === undefined ? isSettled : targetType === 'pull';
  return canBePulled ? eventStatusOf(row, row.attempt_count) : row.status;
}
