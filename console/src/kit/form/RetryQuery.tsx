import { type Query, type QueryClient, QueryClientContext } from '@tanstack/react-query';
import { type ReactNode, useContext, useState } from 'react';
import { t } from '../messages/t';

interface RetryQueryProps {
  faults: readonly unknown[];
  /** Whether the button is disabled, because the service requested a wait. */
  isOff: boolean;
}

/**
 * Shows a button that loads failed data again. Renders nothing for the fault of an action, because a repeated action could
 * have an effect twice.
 */
export function RetryQuery({ faults, isOff }: RetryQueryProps): ReactNode {
  const client = useContext(QueryClientContext);
  const [isLoading, setLoading] = useState(false);
  if (!isOfLoad(client, faults)) return null;
  const retry = async (): Promise<void> => {
    setLoading(true);
    await client.refetchQueries({ predicate: hasFault(faults) });
    setLoading(false);
  };
  return (
    <button type="button" disabled={isLoading || isOff} onClick={() => void retry()}>
      {t('retry')}
    </button>
  );
}

/** Returns whether the faults are those of failed loads, and not of an action. */
export function isOfLoad(client: QueryClient | undefined, faults: readonly unknown[]): client is QueryClient {
  return client !== undefined && client.getQueryCache().findAll({ predicate: hasFault(faults) }).length > 0;
}

function hasFault(faults: readonly unknown[]): (query: Query) => boolean {
  return ({ state }) => faults.includes(state.error);
}
