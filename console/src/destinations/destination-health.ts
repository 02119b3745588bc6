import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { answered, type Schemas } from '../api/client';
import { holdsNow } from '../api/holds-now';
import { failuresIn, type Health, healthOf, type TargetFacts, totalOf } from '../kit/status/health';
import { type Signed, useSigned } from '../session/session';
import { type DestinationDetail, useDestination, useFigures } from './destination-queries';

const REFETCH_MS = 30_000;

/** Health of a destination and the number of its pending deliveries, each null while unknown. */
export interface DestinationHealth {
  health: Health | null;
  pending: { count: number; isCapped: boolean } | null;
}

/** A destination from the list, or from its own page with all details. */
type Target = Pick<Schemas['DestinationItem'], 'id' | 'status'> &
  Partial<Pick<DestinationDetail, 'circuit' | 'disabled_reason'>>;

/**
 * Whether the health of a destination is that of its consumers. They fetch the events of a pull destination, so it has no
 * attempts that can fail.
 */
export function isHealthOfConsumers({ type, status }: Pick<Schemas['DestinationItem'], 'type' | 'status'>): boolean {
  return type === 'pull' && status === 'active';
}

/**
 * Queries the health of a destination. In a list, loads the details only if the destination is disabled or its circuit
 * may be open. Loads the last hour only if attempts failed in the last day.
 */
export function useDestinationHealth(target: Target, isAsked = true): DestinationHealth {
  const { id, status } = target;
  const { data: concerns, isError } = useAttention(isAsked);
  const needsDetail = target.circuit === undefined && (status === 'disabled' || isError || mayBeOpen(concerns, id));
  const { data: loaded } = useDestination(id, isAsked && needsDetail);
  const detail = needsDetail ? loaded : target;
  const figures = useOutcomes(id, isAsked);
  const pending = usePending(id, isAsked);
  const isKnown = (concerns !== undefined || isError) && detail !== undefined;
  // The health of an active destination stays unknown until its details are loaded. A disabled destination is shown as
  // disabled before the reason is loaded.
  if (status === 'active' && !isKnown) return { health: null, pending };
  const health = healthOf({
    ...figures,
    status,
    ...detailsOf(detail),
    disabledAt: sinceOf(concerns, 'target.disabled', id),
  });
  return { health: health ?? (figures.isError ? { state: 'unknown' } : null), pending };
}

/** Queries the outcomes of the last day, and of the last hour if attempts failed in the last day. */
function useOutcomes(id: string, isAsked: boolean): Pick<TargetFacts, 'day' | 'hour'> & { isError: boolean } {
  const day = useFigures(id, '24h', isAsked);
  const ofDay = day.data === undefined ? null : totalOf(day.data.data);
  const hour = useFigures(id, '1h', isAsked && ofDay !== null && failuresIn(ofDay) > 0);
  return {
    day: ofDay,
    hour: hour.data === undefined ? null : totalOf(hour.data.data),
    isError: (day.isError && day.data === undefined) || (hour.isError && hour.data === undefined),
  };
}

/**
 * Returns whether the circuit of a destination may be open: the list of problems contains the open circuit, or the list
 * is incomplete.
 */
function mayBeOpen(concerns: Schemas['AttentionItem'] | undefined, id: string): boolean {
  return concerns?.truncated.includes('circuit.open') === true || sinceOf(concerns, 'circuit.open', id) !== null;
}

function detailsOf(detail: Partial<DestinationDetail> | undefined): Pick<TargetFacts, 'reason' | 'circuit'> {
  const { disabled_reason: reason = null, circuit } = detail ?? {};
  if (circuit === undefined) return { reason, circuit: null };
  return { reason, circuit: { state: circuit.state, openedAt: circuit.opened_at, nextProbeAt: circuit.next_probe_at } };
}

/** Queries the current problems of the environment. They contain the time at which a target was disabled. */
function useAttention(isAsked: boolean) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['attention', environment],
    enabled: isAsked,
    staleTime: REFETCH_MS,
    refetchInterval: REFETCH_MS,
    queryFn: ({ signal }) => answered(api.GET('/v1/attention', { signal })),
  });
}

/** Query for the number of events with an open delivery to a destination. */
function pendingQuery({ api, environment }: Pick<Signed, 'api' | 'environment'>, id: string) {
  return queryOptions({
    queryKey: ['pending-of', environment, id],
    queryFn: ({ signal }) =>
      answered(api.GET('/v1/events/count', { params: { query: { destination: id, status: ['retrying'] } }, signal })),
  });
}

/** Counts the events with an open delivery to a destination. Null while the number is unknown. */
function usePending(id: string, isAsked: boolean): DestinationHealth['pending'] {
  const { data } = useQuery({
    ...pendingQuery(useSigned(), id),
    enabled: isAsked,
    staleTime: REFETCH_MS,
    refetchInterval: REFETCH_MS,
  });
  return data === undefined ? null : { count: data.count, isCapped: data.is_capped };
}

/**
 * Returns a function that counts the pending deliveries to a destination now, because the number on the page may be
 * old. It returns true if deliveries are pending, or if their number stays unknown.
 */
export function useHasPending(): (id: string) => Promise<boolean> {
  const signed = useSigned();
  const queries = useQueryClient();
  return (id) => holdsNow(queries, pendingQuery(signed, id), ({ count }) => count > 0);
}

/** Returns the start of a current problem of a destination, or null if the list does not contain it. */
function sinceOf(
  concerns: Schemas['AttentionItem'] | undefined,
  type: Schemas['ConcernItem']['type'],
  id: string,
): string | null {
  return concerns?.data.find((each) => each.type === type && each.subject === id)?.since ?? null;
}
