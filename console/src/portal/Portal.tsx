import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { hasToken, onEnded, type OwnPortal, ownPortal, portalNowMs, renew } from '../api/portal';
import { applyBrand } from '../kit/brand/brand';
import { FaultLine } from '../kit/form/FaultLine';
import { Skeleton } from '../kit/load/Skeleton';
import { preferHere, usePreferences } from '../kit/preferences';
import { isFramed, onToken, postHeight, postToHost } from '../session/host';
import { Catalogue } from './Catalogue';
import { PortalProvider } from './context';
import { Deliveries } from './Deliveries';
import { DeliveryView } from './DeliveryView';
import { EndpointForm } from './EndpointForm';
import { Endpoints } from './Endpoints';
import { EndpointView } from './EndpointView';
import { type Place, placeOf, stateOf } from './places';
import { p } from './texts';

/** Time before the token expires at which the portal requests the next token, so that API calls do not have to wait. */
const ASK_BEFORE_MS = 30_000;

/** The portal of one customer. */
export function Portal(): ReactNode {
  usePreferences();
  const { portal, fault, isEnded } = useOwnPortal();
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => (frame.current === null ? undefined : postHeight(frame.current)), []);
  return (
    <div ref={frame} className={isFramed() ? 'portal framed' : 'portal'}>
      {portal === null &&
        (fault === null && !isEnded ? (
          <Skeleton parts={['title', 'text', 'title', ['rows', 3]]} />
        ) : (
          <Closed fault={fault} />
        ))}
      {portal !== null && <Shown portal={portal} isEnded={isEnded} />}
    </div>
  );
}

/** Returns the session of this portal. Loads it again whenever the embedding page passes a new token. */
function useOwnPortal(): { portal: OwnPortal | null; fault: unknown; isEnded: boolean } {
  const queries = useQueryClient();
  const [portal, setPortal] = useState<OwnPortal | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const [isEnded, setEnded] = useState(!hasToken());
  const application = portal?.application.id ?? null;
  const begin = useCallback((next: OwnPortal): void => {
    const { locale, theme } = next;
    preferHere({ language: locale.startsWith('de') ? 'de' : 'en', scheme: theme.scheme });
    applyBrand(document.documentElement, theme);
    setPortal(next);
    setEnded(false);
    setFault(null);
  }, []);
  useEffect(() => onEnded(() => setEnded(true)), []);
  useEffect(() => {
    if (hasToken())
      ownPortal().then((own) => {
        begin(own);
        postToHost({ type: 'ready' });
      }, setFault);
  }, [begin]);
  useEffect(
    () =>
      onToken(
        (token) =>
          void renew(token, application).then((next) => {
            if (next === null) return;
            begin(next);
            void queries.invalidateQueries();
          }),
      ),
    [application, begin, queries],
  );
  useEffect(() => {
    if (isEnded) postToHost({ type: 'expired' });
  }, [isEnded]);
  useEffect(() => {
    if (portal === null || isEnded) return;
    const leftMs = Date.parse(portal.expires_at) - portalNowMs();
    const timers = [
      setTimeout(() => postToHost({ type: 'expired' }), Math.max(leftMs - ASK_BEFORE_MS, 0)),
      setTimeout(() => setEnded(true), Math.max(leftMs, 0)),
    ];
    return () => timers.forEach(clearTimeout);
  }, [portal, isEnded]);
  return { portal, fault, isEnded };
}

function Closed({ fault }: { fault: unknown }): ReactNode {
  const isOver = fault === null || (fault as { status?: number }).status === 401;
  return (
    <main className="closed">
      <title>{p('title')}</title>
      <h1>{p('closed.title')}</h1>
      {isOver ? <p>{p('closed.text')}</p> : <FaultLine fault={fault} />}
    </main>
  );
}

function Shown({ portal, isEnded }: { portal: OwnPortal; isEnded: boolean }): ReactNode {
  const [place, setPlace] = useState<Place>(() => placeOf(history.state));
  const main = useRef<HTMLElement>(null);
  const show = useCallback((next: Place): void => {
    setPlace(next);
    // Moves the focus to the content, as browsers do after loading a page.
    main.current?.focus();
  }, []);
  const go = useCallback(
    (next: Place): void => {
      // Replaces the form of a new endpoint in the history, so that the Back button does not return to the form after
      // the endpoint exists.
      if (placeOf(history.state).at === 'new') history.replaceState(stateOf(next), '');
      else history.pushState(stateOf(next), '');
      show(next);
    },
    [show],
  );
  useEffect(() => {
    const back = ({ state }: PopStateEvent): void => show(placeOf(state));
    window.addEventListener('popstate', back);
    return () => window.removeEventListener('popstate', back);
  }, [show]);
  return (
    <PortalProvider portal={portal} go={go}>
      <title>{p('of', { name: portal.application.name || portal.organization })}</title>
      <Heading portal={portal} place={place} go={go} />
      {portal.kind === 'preview' && <p className="notice">{p('preview')}</p>}
      {isEnded && <Ended />}
      <main ref={main} tabIndex={-1}>
        {place.at === 'endpoints' && <Endpoints />}
        {place.at === 'new' && (
          <EndpointForm
            endpoint={null}
            onDone={(id) => go(id === null ? { at: 'endpoints' } : { at: 'endpoint', id, isNew: true })}
          />
        )}
        {place.at === 'endpoint' && <EndpointView key={place.id} id={place.id} isNew={place.isNew === true} />}
        {place.at === 'deliveries' && <Deliveries of={place.endpoint ?? ''} />}
        {place.at === 'delivery' && (
          <DeliveryView
            key={place.id}
            id={place.id}
            back={place.endpoint === undefined ? { at: 'deliveries' } : { at: 'deliveries', endpoint: place.endpoint }}
          />
        )}
        {place.at === 'catalogue' && <Catalogue />}
      </main>
    </PortalProvider>
  );
}

/**
 * Notice that the session has ended. In a frame, it appears only if the embedding page passes no new token for half a
 * minute.
 */
function Ended(): ReactNode {
  const [isWaiting, setWaiting] = useState(isFramed);
  useEffect(() => {
    const timer = setTimeout(() => setWaiting(false), ASK_BEFORE_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p className="notice" role="status">
      {p(isWaiting ? 'renewing' : 'ended')}
    </p>
  );
}

function Heading({ portal, place, go }: { portal: OwnPortal; place: Place; go: (place: Place) => void }): ReactNode {
  const {
    theme: { logo },
    return_url: back,
    environment,
  } = portal;
  const tabs = [
    ['endpoints', ['endpoints', 'endpoint', 'new']],
    ['deliveries', ['deliveries', 'delivery']],
    ['catalogue', ['catalogue']],
  ] as const;
  return (
    <header className="portal-head">
      <div className="brand">
        {logo !== null && <img src={logo} alt={portal.organization} />}
        <h1>{portal.application.name || p('title')}</h1>
        {environment === 'test' && <span className="tag">{p('test-mark')}</span>}
        {back !== null && (
          <a className="back" href={back} target="_top" rel="noreferrer noopener">
            ← {p('back')}
          </a>
        )}
      </div>
      <nav aria-label={p('sections')}>
        {tabs.map(([at, places]) => {
          const isHere = (places as readonly string[]).includes(place.at);
          return (
            <button
              key={at}
              type="button"
              className="tab"
              {...(isHere && { 'aria-current': 'page' as const })}
              onClick={() => go({ at })}
            >
              {p(`nav.${at}`)}
            </button>
          );
        })}
      </nav>
    </header>
  );
}
