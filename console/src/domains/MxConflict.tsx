import type { ReactNode } from 'react';
import { Fault } from '../api/fault';
import { t } from '../kit/messages/t';

/** Where the mail of a domain goes now, when that is why something was refused, empty where nobody can tell; null otherwise. */
export function mxOf(fault: unknown): string[] | null {
  if (!(fault instanceof Fault) || fault.type !== 'conflict') return null;
  const { mx } = fault.details;
  if (mx === undefined) return null;
  return Array.isArray(mx) ? mx.map((each: unknown) => (each as { exchange: string }).exchange) : [];
}

/** Says where mail goes, and asks whether it may be taken away from there. */
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
