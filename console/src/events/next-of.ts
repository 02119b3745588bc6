import type { EventDetail } from './event-queries';

/**
 * Returns the time of the next attempt, or of the next probe if the circuit breaker blocks the delivery. Returns null
 * if nothing is scheduled or the time is unknown.
 */
export function nextOf({
  status,
  deliveries,
}: Pick<EventDetail, 'status' | 'deliveries'>): { at: string; isProbe: boolean } | null {
  if (status !== 'retrying') return null;
  const times = deliveries.flatMap(({ circuit, next_attempt_at: at }) => {
    if (circuit !== null) return circuit.next_probe_at === null ? [] : [{ at: circuit.next_probe_at, isProbe: true }];
    return at === null ? [] : [{ at, isProbe: false }];
  });
  return times.sort((a, b) => a.at.localeCompare(b.at))[0] ?? null;
}
