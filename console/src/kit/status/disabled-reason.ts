import { type MessageKey, t } from '../messages/t';

/** The service's reason for a target that a person disabled without giving a reason. */
export const BY_PERSON = 'Disabled through the API.';

/**
 * Translations of the reasons that the service itself sets, by the service's English text. Reasons that a person wrote
 * are shown as they are.
 */
export const REASON_TEXTS: Readonly<Record<string, MessageKey>> = {
  [BY_PERSON]: 'health.by-api',
  'The receiver answered 410 Gone.': 'health.by-receiver',
};

/** Returns why a target is disabled, in the user's language if the service gave the reason. */
export function disabledReason(reason: string): string {
  const key = REASON_TEXTS[reason];
  return key === undefined ? reason : t(key);
}
