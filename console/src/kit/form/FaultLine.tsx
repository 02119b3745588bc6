import type { ReactNode } from 'react';
import { t } from '../messages/t';

/** Additional fields of an error. */
interface FaultFields {
  type?: string;
  requestId?: string | null;
  fields?: readonly { path: string; message: string }[];
  retryAfterSeconds?: number | null;
}

/** Shows why a call failed, in the words of the service or the browser. Renders nothing without a fault. */
export function FaultLine({ fault }: { fault: unknown }): ReactNode {
  if (fault === null || fault === undefined) return null;
  const { type, requestId, fields = [], retryAfterSeconds } = fault as FaultFields;
  return (
    <div className="fault" role="alert">
      <p>{type === 'unreachable' ? t('unreachable') : fault instanceof Error ? fault.message : t('wrong.title')}</p>
      {fields.length > 0 && (
        <ul>
          {fields.map(({ path, message }) => (
            <li key={path + message}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
      {retryAfterSeconds !== null && retryAfterSeconds !== undefined && (
        <p>{t('fault.wait', { seconds: retryAfterSeconds })}</p>
      )}
      {requestId && (
        <p className="quiet">
          {t('fault.request')} <code>{requestId}</code>
        </p>
      )}
    </div>
  );
}
