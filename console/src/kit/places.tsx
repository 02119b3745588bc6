import { Link } from '@tanstack/react-router';
import { createContext, type ReactNode, useContext } from 'react';

const Places = createContext<(id: string) => string | null>(() => null);

/** Tells everything below which screen shows an id: screens know each other by ids alone. */
export function PlacesProvider({
  of,
  children,
}: {
  of: (id: string) => string | null;
  children: ReactNode;
}): ReactNode {
  return <Places value={of}>{children}</Places>;
}

/** The screen of an id, as a path below the console's; null when there is none. */
export function usePlaceOf(): (id: string) => string | null {
  return useContext(Places);
}

/** An id, or a name for it, that leads to its screen where there is one. */
export function IdLink({ id, children }: { id: string; children?: ReactNode }): ReactNode {
  const place = usePlaceOf()(id);
  const shown = children ?? <code>{id}</code>;
  return place === null ? <>{shown}</> : <Link to={place as '/'}>{shown}</Link>;
}
