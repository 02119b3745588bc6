import type { ReactNode } from 'react';
import { Fault } from '../api/fault';
import { t } from '../kit/messages/t';

/**
 * Returns the current mail servers of a domain if the API refused to redirect the domain's mail. Returns an empty list
 * if the servers are unknown, and null for any other fault.
 */
export function mxOf(fault: unknown): string[] | null {
  if (!(fault instanceof Fault) || fault.type !== 'conflict') return null;
  const { mx } = fault.details;
  if (mx === undefined) return null;
  return Array.isArray(mx) ? mx.map((each: unknown) => (each as { exchange: string }).exchange) : [];
}

/** Shows the servers to which mail is currently delivered, and asks whether to redirect it. */
export function MxConflict({
  mx,
  isAcknowledged,
  onChange,
}: {
  mx: readonly string[];
  isAcknowledged: boolean;
  onChange: (isAcknowledged: boolean) => void;
}): ReactNode {
  return (
    <>
      <ul>
        {mx.map((exchange) => (
          <li key={exchange}>
            <code>{exchange}</code>
          </li>
        ))}
      </ul>
      <label className="acknowledge">
        <input type="checkbox" checked={isAcknowledged} onChange={(event) => onChange(event.target.checked)} />
        <span>{t('domain.acknowledge')}</span>
      </label>
    </>
  );
}
