import { germanHeadline } from '../messages/de-faults';
import { en } from '../messages/en';
import { type MessageKey, t } from '../messages/t';

/** Additional fields of an error. */
export interface FaultFields {
  status?: number;
  type?: string;
  requestId?: string | null;
  fields?: readonly { path: string; message: string }[];
  details?: Readonly<Record<string, unknown>>;
  retryAfterSeconds?: number | null;
}

/**
 * Returns the headline of a fault. If the headline is a translation with fewer details than the service's message, also
 * returns the message. A failed load changed nothing, so its headline does not advise to check for changes.
 */
export function headlineOf(
  fault: FaultFields,
  language: string,
  isLoad = false,
): { headline: string; original: string | null } {
  const { type, status = 0, details = {} } = fault;
  if (type === 'unreachable') return { headline: t('unreachable'), original: null };
  if (usersOf(details).length > 0) return { headline: t('fault.in-use'), original: null };
  const key = `fault.reason.${String(details['reason'])}`;
  if (key in en) return { headline: t(key as MessageKey), original: null };
  const message = fault instanceof Error ? fault.message : null;
  if (type === 'internal' && status >= 500) {
    const internal = isLoad ? 'fault.internal-load' : 'fault.internal';
    return internalHeadline(status, forUsers(message), language, internal);
  }
  const german = language === 'de' ? germanHeadline(type) : null;
  if (german !== null) return { headline: german, original: message };
  return { headline: message ?? t('wrong.title'), original: null };
}

/**
 * Returns the headline of an error of the service or of a proxy. The service's message for a 501 or 503 says what is
 * unavailable. Its message for a 500 addresses the author of an API client.
 */
function internalHeadline(
  status: number,
  message: string | null,
  language: string,
  internal: MessageKey,
): { headline: string; original: string | null } {
  if (status !== 500 && language === 'en' && message !== null && !/^HTTP \d/.test(message))
    return { headline: message, original: null };
  return { headline: t(status === 500 ? internal : 'fault.unavailable'), original: message };
}

/** Returns the service's message, or null if it advises to use an Idempotency-Key, which users of the console cannot. */
function forUsers(message: string | null): string | null {
  return message?.includes('Idempotency-Key') ? null : message;
}

/** Returns the objects that use an object and prevent its deletion: as ids, or as kinds with ids. */
export function usersOf({ used_by: users }: Readonly<Record<string, unknown>>): string[] {
  if (!Array.isArray(users)) return [];
  return (users as unknown[]).map((user) =>
    typeof user === 'object' && user !== null ? Object.values(user).join(' ') : String(user),
  );
}
