import type { ReactNode } from 'react';
import { germanField, germanHeadline } from '../messages/de-faults';
import { en } from '../messages/en';
import { type MessageKey, t } from '../messages/t';
import { usePreferences } from '../preferences';

/** Additional fields of an error. */
interface FaultFields {
  type?: string;
  requestId?: string | null;
  fields?: readonly { path: string; message: string }[];
  details?: Readonly<Record<string, unknown>>;
  retryAfterSeconds?: number | null;
}

/** Shows why a call failed and what to do, in the user's language. Renders nothing without a fault. */
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
    </div>
  );
}

/** Returns the headline, and the service's message if the headline is a translation that says less. */
function headlineOf(fault: FaultFields, language: string): { headline: string; original: string | null } {
  const { type, details = {} } = fault;
  if (type === 'unreachable') return { headline: t('unreachable'), original: null };
  if (usersOf(details).length > 0) return { headline: t('fault.in-use'), original: null };
  const key = `fault.reason.${String(details['reason'])}`;
  if (key in en) return { headline: t(key as MessageKey), original: null };
  const message = fault instanceof Error ? fault.message : null;
  const german = language === 'de' ? germanHeadline(type) : null;
  if (german !== null) return { headline: german, original: message };
  return { headline: message ?? t('wrong.title'), original: null };
}

/** Returns the objects that use the object to delete: ids, or kinds with ids. */
function usersOf({ used_by: users }: Readonly<Record<string, unknown>>): string[] {
  if (!Array.isArray(users)) return [];
  return (users as unknown[]).map((user) =>
    typeof user === 'object' && user !== null ? Object.values(user).join(' ') : String(user),
  );
}
