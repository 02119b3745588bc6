import { createContext, type ReactNode, useContext, useMemo } from 'react';
import { type Api, apiOf, type Environment, type OwnSession } from '../api/client';

const SCOPES = ['read', 'write', 'admin'] as const;

/** Who looks, and at which environment. */
export interface Signed {
  session: OwnSession;
  environment: Environment;
  api: Api;
  /** Whether the reader may do what needs this scope: what would be refused is not offered. */
  can: (scope: OwnSession['scope']) => boolean;
}

const Context = createContext<Signed | null>(null);

/** Tells everything below who is signed in. */
export function SignedProvider({
  session,
  environment,
  children,
}: {
  session: OwnSession;
  environment: Environment;
  children: ReactNode;
}): ReactNode {
  const signed = useMemo<Signed>(
    () => ({
      session,
      environment,
      api: apiOf(environment),
      can: (scope) => SCOPES.indexOf(session.scope) >= SCOPES.indexOf(scope),
    }),
    [session, environment],
  );
  return <Context value={signed}>{children}</Context>;
}

export function useSigned(): Signed {
  const signed = useContext(Context);
  if (signed === null) throw new Error('This stands outside of a session.');
  return signed;
}
