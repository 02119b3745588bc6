/** Filters of the event type list, as in the page's URL. */
export interface EventTypeFilters {
  group?: string;
  archived?: true;
}

export function readEventTypeFilters({ group, archived }: Readonly<Record<string, unknown>>): EventTypeFilters {
  const named = (typeof group === 'string' || typeof group === 'number') && String(group).trim() !== '';
  return {
    ...(named && { group: String(group).trim() }),
    ...(archived === true || archived === 'true' ? { archived: true as const } : {}),
  };
}
