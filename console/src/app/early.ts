/**
 * Prefetches the session and the first rows of the event list while the rest of the console is still loading. This is a
 * separate file with few imports, so that it runs early.
 */
import { askEarly, CONSOLE_HEADER, ENVIRONMENT_HEADER } from '../api/early-answers';
import { firstPageQuery } from '../events/first-page';

const service = new URL('..', document.baseURI).href;
const [environment, screen, more] = location.pathname.slice(new URL(document.baseURI).pathname.length).split('/');
const query = screen === 'events' && more === undefined ? firstPageQuery(new URLSearchParams(location.search)) : null;

void askEarly(new Request(`${service}v1/session`, { headers: CONSOLE_HEADER }));
if (query !== null && (environment === 'live' || environment === 'test')) {
  void askEarly(
    new Request(`${service}v1/events?${query.toString()}`, {
      headers: { ...CONSOLE_HEADER, [ENVIRONMENT_HEADER]: environment },
    }),
  );
}
