/** Texts of the event list's filters and of pulled events, in English. */
export const eventFiltersEn = {
  'filter.response': 'Response status',
  'filter.response.refused': 'Enter a status from 200 to 599, or 3xx, 4xx or 5xx.',
  'status.acknowledged': 'Acknowledged',
  'explain.acknowledged': 'A consumer acknowledged this event.',
  'timeline.acknowledged': 'Feed',
  'timeline.acknowledged-by': '· last acknowledgment',
} as const;
