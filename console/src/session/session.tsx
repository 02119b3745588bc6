import { createContext, type ReactNode, useContext, useMemo } from 'react';
import { type Api, apiOf, type Environment, type OwnSession } from '../api/client';

const SCOPES = ['read', 'write', 'admin'] as const;

/** The session, and the selected environment. */
export interface Signed {
  session: OwnSession;
  environment: Environment;
  api: Api;
  /** Returns whether the user has this scope. The console hides actions that the API would refuse. */
  can: (scope: OwnSession['scope']) => boolean;
}

const Context = createContext<Signed | null>(null);

/** React context provider of the session. */
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
  if (signed === null) throw new Error('useSigned() is called outside of a session.');
  return signed;
}
