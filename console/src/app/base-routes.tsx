import { createRootRoute, createRoute, notFound } from '@tanstack/react-router';
import { type Environment, type OwnSession, ownSession, signInAddress } from '../api/client';
import { ARRIVED } from './arrived';
import { Missing, Wrong } from './Missing';
import { Shell } from './Shell';

/**
 * The session request. It is sent once, and all callers share it. Later API calls detect that the session has ended.
 */
let asked: Promise<OwnSession> | null = null;

/** Returns the session. Leaves the page for the sign-in page if no user is signed in. */
export async function signedIn(): Promise<OwnSession> {
  asked ??= ownSession().then((session) => {
    if (session !== null) return session;
    location.assign(
      signInAddress(
        location.pathname === ARRIVED.pathname
          ? ARRIVED.pathname + ARRIVED.search
          : location.pathname + location.search,
      ),
    );
    // Never resolves, because the sign-in page is about to replace this page.
    return new Promise<never>(() => undefined);
  });
  asked.catch(() => void (asked = null));
  return asked;
}

export const root = createRootRoute({ notFoundComponent: Missing, errorComponent: Wrong });

/** Parent of all screens, which need a session. */
export const environment = createRoute({
  getParentRoute: () => root,
  path: '/$env',
  params: {
    parse: ({ env }): { env: Environment } => ({ env: env as Environment }),
    stringify: ({ env }) => ({ env }),
  },
  beforeLoad: async ({ params: { env } }) => {
    const session = await signedIn();
    if (!session.environments.includes(env)) notFound({ throw: true });
    return { session };
  },
  component: Shell,
  errorComponent: Wrong,
});
