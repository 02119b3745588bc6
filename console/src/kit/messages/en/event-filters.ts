/** Texts of the event list's filters, in English. */
export const eventFiltersEn = {
  'filter.response': 'Response status',
  'filter.response.refused': 'Enter a status from 200 to 599, or 3xx, 4xx or 5xx.',
} as const;
