import { type MessageKey, t } from '../messages/t';

/**
 * Texts for the reasons that the service itself gives, by the service's wording. Reasons written by a person have no
 * text.
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
