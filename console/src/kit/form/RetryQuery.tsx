import { type Query, QueryClientContext } from '@tanstack/react-query';
import { type ReactNode, useContext, useState } from 'react';
import { t } from '../messages/t';

/**
 * Shows a button that loads failed data again. Renders nothing for the fault of an action, because a repeated action could
 * have an effect twice.
 */
export function RetryQuery({ fault }: { fault: unknown }): ReactNode {
  const client = useContext(QueryClientContext);
  const [isLoading, setLoading] = useState(false);
  const query = client?.getQueryCache().findAll({ predicate: ({ state }: Query) => state.error === fault })[0];
  if (client === undefined || query === undefined) return null;
  const retry = async (): Promise<void> => {
    setLoading(true);
    await client.refetchQueries({ queryKey: query.queryKey, exact: true });
    setLoading(false);
  };
  return (
    <button type="button" disabled={isLoading} onClick={() => void retry()}>
      {t('retry')}
    </button>
  );
}
