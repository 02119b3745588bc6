import type { EventDetail } from './event-queries';

/** When it goes on: the next attempt, or the next probe of the circuit that it waits behind. Null when nothing is to come, or nobody knows when. */
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
