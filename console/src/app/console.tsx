import './early';
import '../kit/theme.css';
import '../kit/layout.css';
import './shell.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { type ReactNode, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { watchLoads } from '../kit/load/lazy-part';
import { apply, usePreferences } from '../kit/preferences';
import { listenToKeys } from '../kit/shortcuts/use-shortcut';
import { afterLoadedFile, afterMissingFile, followService } from './deployed';
import { queries, router } from './routes';

/** Root component of the console. Rerenders when the language changes. */
function Console(): ReactNode {
  const { language } = usePreferences();
  return (
    <QueryClientProvider client={queries}>
      <RouterProvider key={language} router={router} />
    </QueryClientProvider>
  );
}

apply();
listenToKeys();
watchLoads({ loaded: afterLoadedFile, failed: afterMissingFile });
followService(() => {
  void queries.refetchQueries({ predicate: ({ state }) => state.status === 'error' || state.fetchFailureCount > 0 });
  if (router.state.matches.some(({ status }) => status === 'error')) void router.invalidate();
});
// Loads the screen's files in parallel with the session request.
for (const route of router.getMatchedRoutes(router.latestLocation.pathname)[0])
  router.loadRouteChunk(route)?.catch(() => undefined);
const place = document.getElementById('root');
if (place !== null)
  createRoot(place).render(
    <StrictMode>
      <Console />
    </StrictMode>,
  );
