import { Link } from '@tanstack/react-router';
import { createContext, type ReactNode, useContext } from 'react';

const Places = createContext<(id: string) => string | null>(() => null);

/** Provides the mapping from ids to screens, so that features can link to each other's screens only by id. */
export function PlacesProvider({
  of,
  children,
}: {
  of: (id: string) => string | null;
  children: ReactNode;
}): ReactNode {
  return <Places value={of}>{children}</Places>;
}

/**
 * Returns a function that maps an id to the path of its screen, below the console's base path. The function returns
 * null for an id without a screen.
 */
export function usePlaceOf(): (id: string) => string | null {
  return useContext(Places);
}

/** Shows an id or its name. Links to the id's screen if there is one. */
export function IdLink({ id, children }: { id: string; children?: ReactNode }): ReactNode {
  const place = usePlaceOf()(id);
  const shown = children ?? <code>{id}</code>;
  return place === null ? <>{shown}</> : <Link to={place as '/'}>{shown}</Link>;
}
