import { type Query, QueryClientContext } from '@tanstack/react-query';
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
  const isOfFault = ({ state }: Query): boolean => faults.includes(state.error);
  if (client === undefined || client.getQueryCache().findAll({ predicate: isOfFault }).length === 0) return null;
  const retry = async (): Promise<void> => {
    setLoading(true);
    await client.refetchQueries({ predicate: isOfFault });
    setLoading(false);
  };
  return (
    <button type="button" disabled={isLoading || isOff} onClick={() => void retry()}>
      {t('retry')}
    </button>
  );
}
