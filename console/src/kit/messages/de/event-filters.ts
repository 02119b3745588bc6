import type { eventFiltersEn } from '../en/event-filters';

/** Texts of the event list's filters and of pulled events, in German. */
export const eventFiltersDe: Readonly<Record<keyof typeof eventFiltersEn, string>> = {
  'filter.response': 'Antwortstatus',
  'filter.response.refused': 'Einen Status von 200 bis 599 eingeben, oder 3xx, 4xx oder 5xx.',
  'status.acknowledged': 'Bestätigt',
  'explain.acknowledged': 'Ein Consumer hat dieses Event bestätigt.',
  'timeline.acknowledged': 'Feed',
  'timeline.acknowledged-by': '· letzte Bestätigung',
};
