import { type MessageKey, t } from '../messages/t';

/**
 * Translations of the reasons that the service itself sets, by the service's English text. Reasons that a person wrote
 * are shown as they are.
 */
export const REASON_TEXTS: Readonly<Record<string, MessageKey>> = {
  'Disabled through the API.': 'health.by-api',
  'The receiver answered 410 Gone.': 'health.by-receiver',
};

/** Returns why a target is disabled, in the user's language if the service gave the reason. */
export function disabledReason(reason: string): string {
  const key = REASON_TEXTS[reason];
  return key === undefined ? reason : t(key);
}
