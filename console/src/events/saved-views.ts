import { useCallback, useState } from 'react';
import { type EventSearch, readSearch } from './columns';

/** A named set of filters and columns of the event list. */
export interface SavedView {
  name: string;
  search: EventSearch;
}

/** Maximum number of views. A longer list would be hard to use, and browsers limit the storage. */
export const VIEWS_MAX = 20;
const NAME_MAX = 60;

/** Parses stored views. Ignores invalid views. */
export function readViews(stored: string | null): SavedView[] {
  try {
    const said: unknown = JSON.parse(stored ?? '[]');
    if (!Array.isArray(said)) return [];
    return (said as unknown[])
      .flatMap((each) => {
        const { name, search } = (each ?? {}) as { name?: unknown; search?: unknown };
        if (typeof name !== 'string' || name === '' || typeof search !== 'object' || search === null) return [];
        return [{ name: name.slice(0, NAME_MAX), search: readSearch(search as Record<string, unknown>) }];
      })
      .slice(0, VIEWS_MAX);
  } catch {
    return [];
  }
}

/** Adds a view, or replaces the view with the same name. Returns the list unchanged if it is full. */
export function withView(views: readonly SavedView[], view: SavedView): SavedView[] {
  const name = view.name.trim().slice(0, NAME_MAX);
  const at = views.findIndex((each) => each.name === name);
  if (name === '' || (at === -1 && views.length >= VIEWS_MAX)) return [...views];
  const next = { name, search: view.search };
  return at === -1 ? [...views, next] : views.map((each, index) => (index === at ? next : each));
}

/**
 * Returns the saved views of an environment. They are stored in this browser, separately for each environment, because
 * they can contain ids of the environment.
 */
export function useSavedViews(environmentId: string): {
  views: SavedView[];
  save: (view: SavedView) => void;
  remove: (name: string) => void;
} {
  const key = `posthorn.views.${environmentId}`;
  const [views, setViews] = useState(() => readViews(stored(key)));
  const keep = useCallback(
    (next: SavedView[]) => {
      setViews(next);
      try {
        localStorage.setItem(key, JSON.stringify(next));
      } catch {
        // Without storage, the views are lost when the user leaves the page.
      }
    },
    [key],
  );
  return {
    views,
    save: (view) => keep(withView(views, view)),
    remove: (name) => keep(views.filter((each) => each.name !== name)),
  };
}

function stored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}
