import { createContext, type ReactNode, useContext, useMemo } from 'react';
import type { OwnPortal, Permission } from '../api/portal';
import type { Place } from './places';

/** Session of the customer portal, with the permissions that it grants. */
export interface InPortal {
  portal: OwnPortal;
  /** Value for `{app}` in API paths. */
  app: string;
  can: (permission: Permission) => boolean;
  go: (place: Place) => void;
}

const Context = createContext<InPortal | null>(null);

export function PortalProvider({
  portal,
  go,
  children,
}: {
  portal: OwnPortal;
  go: (place: Place) => void;
  children: ReactNode;
}): ReactNode {
  const value = useMemo<InPortal>(
    () => ({ portal, app: portal.application.id, can: (permission) => portal.permissions.includes(permission), go }),
    [portal, go],
  );
  return <Context value={value}>{children}</Context>;
}

export function usePortal(): InPortal {
  const value = useContext(Context);
  if (value === null) throw new Error('usePortal() is called outside of a portal.');
  return value;
}
