import { germanHeadline } from '../messages/de-faults';
import { en } from '../messages/en';
import { type MessageKey, t } from '../messages/t';

/** Additional fields of an error. */
export interface FaultFields {
  type?: string;
  requestId?: string | null;
  fields?: readonly { path: string; message: string }[];
  details?: Readonly<Record<string, unknown>>;
  retryAfterSeconds?: number | null;
}

/**
 * Returns the headline of a fault. If the headline is a translation with fewer details than the service's message, also
 * returns the message.
 */
export function headlineOf(fault: FaultFields, language: string): { headline: string; original: string | null } {
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

/** Returns the objects that use an object and prevent its deletion: as ids, or as kinds with ids. */
export function usersOf({ used_by: users }: Readonly<Record<string, unknown>>): string[] {
  if (!Array.isArray(users)) return [];
  return (users as unknown[]).map((user) =>
    typeof user === 'object' && user !== null ? Object.values(user).join(' ') : String(user),
  );
}
