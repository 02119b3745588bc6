import { Link } from '@tanstack/react-router';
import { createContext, type ReactNode, useContext } from 'react';

const Places = createContext<(id: string) => string | null>(() => null);

/** Provides the mapping from ids to screens. Features refer to each other's screens only through ids. */
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
 * Returns a function that maps an id to the path of the id's screen, below the console's base path. The function
 * returns null if the id has no screen.
 */
export function usePlaceOf(): (id: string) => string | null {
  return useContext(Places);
}

/** Shows an id, or a name for it, as a link to its screen if there is one. */
export function IdLink({ id, children }: { id: string; children?: ReactNode }): ReactNode {
  const place = usePlaceOf()(id);
  const shown = children ?? <code>{id}</code>;
  return place === null ? <>{shown}</> : <Link to={place as '/'}>{shown}</Link>;
}
