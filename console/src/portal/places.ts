/**
 * A screen of the portal. It is stored in the state of a history entry instead of the URL, so that the Back button and
 * reloads work.
 */
export type Place =
  | { at: 'endpoints' }
  | { at: 'new' }
  | { at: 'endpoint'; id: string; isNew?: boolean }
  | { at: 'deliveries'; endpoint?: string }
  | { at: 'delivery'; id: string; endpoint?: string }
  | { at: 'catalogue' };

const ID = /^[a-z]+_[0-9A-Za-z]{26}$/;

/** Returns the state of a history entry for a screen. It contains none of the displayed data. */
export function stateOf(place: Place): object {
  const { isNew: _isNew, ...kept } = { isNew: undefined, ...place };
  return { portal: kept };
}

/** Returns the screen of a history entry. Returns the first screen if the entry has none. */
export function placeOf(state: unknown): Place {
  const { at, id, endpoint } = fieldsOf(fieldsOf(state)['portal']);
  const named = isId(id) ? id : null;
  const within = isId(endpoint) ? { endpoint } : {};
  if (at === 'new' || at === 'catalogue') return { at };
  if (at === 'deliveries') return { at, ...within };
  if (at === 'endpoint' && named !== null) return { at, id: named };
  if (at === 'delivery' && named !== null) return { at, id: named, ...within };
  return { at: 'endpoints' };
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && ID.test(value);
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
