import '../kit/theme.css';
import '../portal/portal.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { takeToken } from '../api/portal';
import { apply } from '../kit/preferences';
import { Portal } from '../portal/Portal';

// Must run first, because it removes the token from the page's URL.
takeToken();
apply();

/** Returns whether a failure is temporary (no response, or a 5xx status). */
function isPassing(fault: unknown): boolean {
  const { status = 0 } = fault as { status?: number };
  return status === 0 || status >= 500;
}

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (count, fault) => count < 2 && isPassing(fault),
      refetchOnWindowFocus: true,
      refetchIntervalInBackground: false,
    },
  },
});
const place = document.getElementById('root');
if (place !== null)
  createRoot(place).render(
    <QueryClientProvider client={queries}>
      <Portal />
    </QueryClientProvider>,
  );
