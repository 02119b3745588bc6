import type { ReactNode } from 'react';
import { germanField } from '../messages/de-faults';
import { t } from '../messages/t';
import { usePreferences } from '../preferences';
import { type FaultFields, headlineOf, usersOf } from './fault-headline';
import { RetryQuery } from './RetryQuery';

/**
 * Shows why a call failed and what to do, in the user's language, with a button that loads failed data again. Renders
 * nothing without a fault.
 */
export function FaultLine({ fault }: { fault: unknown }): ReactNode {
  const { language } = usePreferences();
  if (fault === null || fault === undefined) return null;
  const { requestId, fields = [], details = {}, retryAfterSeconds } = fault as FaultFields;
  const { headline, original } = headlineOf(fault, language);
  const users = usersOf(details);
  return (
    <div className="fault" role="alert">
      <p>{headline}</p>
      {fields.length > 0 && (
        <ul>
          {fields.map(({ path, message }) => (
            <li key={path + message}>
              <code>{path}</code> {language === 'de' ? germanField(message) : message}
            </li>
          ))}
        </ul>
      )}
      {users.length > 0 && (
        <ul>
          {users.map((user) => (
            <li key={user}>
              <code>{user}</code>
            </li>
          ))}
        </ul>
      )}
      {original !== null && fields.length === 0 && (
        <p className="quiet">
          {t('fault.original')}: <span lang="en">{original}</span>
        </p>
      )}
      {retryAfterSeconds !== null && retryAfterSeconds !== undefined && (
        <p>{t('fault.wait', { seconds: retryAfterSeconds })}</p>
      )}
      {requestId && (
        <p className="quiet">
          {t('fault.request')} <code>{requestId}</code>
        </p>
      )}
      <RetryQuery fault={fault} />
    </div>
  );
}
