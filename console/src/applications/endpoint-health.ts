import { useQuery, useQueryClient } from '@tanstack/react-query';
import { answered, type Schemas, serviceNowMs } from '../api/client';
import { holdsNow } from '../api/holds-now';
import { t } from '../kit/messages/t';
import { failuresIn, type Health, healthOf } from '../kit/status/health';
import { useSigned } from '../session/session';
import { type OwnEndpoint, statsQuery, useOwnEndpointStats } from './application-queries';

const HOUR_MS = 3_600_000;
const REFETCH_MS = 30_000;

/** Health of an endpoint and the number of its pending deliveries, each null while unknown. */
export interface EndpointHealth {
  health: Health | null;
  pending: { count: number; isCapped: boolean } | null;
}

/** Queries the health of a customer's endpoint. Loads the last hour only if attempts failed in the last day. */
export function useEndpointHealth(app: string, of: OwnEndpoint, isAsked = true): EndpointHealth {
  const { api, environment } = useSigned();
  const { data: day, isError } = useOwnEndpointStats(app, of.id, isAsked);
  const hour = useQuery({
    queryKey: ['own-endpoint-hour', environment, app, of.id],
    enabled: isAsked && day !== undefined && failuresIn(day) > 0,
    staleTime: REFETCH_MS,
    refetchInterval: REFETCH_MS,
    queryFn: ({ signal }) =>
      answered(
        api.GET('/v1/app/{app}/endpoints/{endpoint}/stats', {
          params: {
            path: { app, endpoint: of.id },
            query: { since: new Date(serviceNowMs() - HOUR_MS).toISOString() },
          },
          signal,
        }),
      ),
  });
  const reason = disabledReason(of);
  const concerns = useQuery({
    queryKey: ['attention', environment],
    enabled: isAsked && reason !== null,
    staleTime: REFETCH_MS,
    queryFn: ({ signal }) => answered(api.GET('/v1/attention', { signal })),
  });
  const health = healthOf({
    status: reason === null ? 'active' : 'disabled',
    reason,
    disabledAt: disabledSince(concerns.data, of),
    circuit: of.circuit && { state: of.circuit.state, openedAt: of.circuit.opened_at, nextProbeAt: null },
    hour: hour.data ?? null,
    day: day ?? null,
  });
  return {
    health: health ?? (isError || hour.isError ? { state: 'unknown' } : null),
    pending: day === undefined ? null : { count: day.waiting.count, isCapped: day.waiting.is_capped },
  };
}

/**
 * Returns a function that counts the pending deliveries of an endpoint now, because the number on the page may be old.
 * It returns true if deliveries are pending, or if their number stays unknown.
 */
export function useHasPending(app: string): (of: OwnEndpoint) => Promise<boolean> {
  const signed = useSigned();
  const queries = useQueryClient();
  return ({ id }) => holdsNow(queries, statsQuery(signed, app, id), ({ waiting }) => waiting.count > 0);
}

/**
 * Returns the time at which an endpoint or its destination was disabled, or null if the list of problems does not
 * contain it.
 */
function disabledSince(
  concerns: Schemas['AttentionItem'] | undefined,
  { id, destination }: OwnEndpoint,
): string | null {
  const disabled = concerns?.data.find(
    ({ type, subject }) => type === 'target.disabled' && (subject === id || subject === destination),
  );
  return disabled?.since ?? null;
}

/** Returns the reason why an endpoint gets no deliveries, or null if it gets deliveries. */
function disabledReason({ status, disabled_reason: reason, destination_status: target }: OwnEndpoint): string | null {
  if (status === 'disabled') return reason ?? '';
  if (target === 'disabled') return t('health.destination-disabled');
  return target === 'gone' ? t('health.destination-gone') : null;
}
