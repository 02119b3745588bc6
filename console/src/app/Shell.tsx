import { Outlet, useLocation, useNavigate, useParams, useRouteContext } from '@tanstack/react-router';
import { type ReactNode, useCallback, useState } from 'react';
import type { Environment } from '../api/client';
import { Icon } from '../kit/icon/Icon';
import { t } from '../kit/messages/t';
import { PlacesProvider } from '../kit/places';
import { keysOf } from '../kit/shortcuts/registry';
import { useShortcut } from '../kit/shortcuts/use-shortcut';
import { Toasts } from '../kit/toast/Toasts';
import { SignedProvider, useSigned } from '../session/session';
import { AccountMenu } from './AccountMenu';
import { ApiCalls } from './ApiCalls';
import { CommandMenu } from './CommandMenu';
import { Help } from './Help';
import { inEnvironment, placeOfId } from './jump';
import { LeftOutHint } from './LeftOutHint';
import { Mark } from './Mark';
import { Navigation, NAVIGATION_ID } from './Navigation';
import { Reachable } from './Reachable';

/** Parts of the page that surround every screen. */
export function Shell(): ReactNode {
  const { env } = useParams({ from: '/$env' });
  const { session } = useRouteContext({ from: '/$env' });
  const [isMenuOpen, setMenuOpen] = useState(false);
  const closeMenu = useCallback(() => setMenuOpen(false), []);
  return (
    <SignedProvider session={session} environment={env}>
      <PlacesProvider of={(id) => placeOfId(id, env)}>
        <div className={`shell ${env}`}>
          <a className="skip" href="#main">
            {t('skip')}
          </a>
          <Top isMenuOpen={isMenuOpen} onMenu={() => setMenuOpen(!isMenuOpen)} />
          <Navigation isOpen={isMenuOpen} onClose={closeMenu} />
          <main id="main" tabIndex={-1}>
            <Reachable />
            <LeftOutHint />
            <Outlet key={env} />
          </main>
          <Toasts />
        </div>
      </PlacesProvider>
    </SignedProvider>
  );
}

function Top({ isMenuOpen, onMenu }: { isMenuOpen: boolean; onMenu: () => void }): ReactNode {
  const { session } = useSigned();
  const [open, setOpen] = useState<'menu' | 'help' | 'calls' | null>(null);
  useShortcut('menu', () => setOpen('menu'));
  useShortcut('help', () => setOpen('help'));
  return (
    <header className="top">
      <button
        type="button"
        className="menu-button"
        aria-label={t('nav.open')}
        aria-expanded={isMenuOpen}
        aria-controls={NAVIGATION_ID}
        onClick={onMenu}
      >
        <Icon name="menu" />
      </button>
      <span className="brand">
        <Mark /> Posthorn
      </span>
      <span className="organization">{session.organization.name}</span>
      <EnvironmentSwitch />
      <button type="button" className="search" onClick={() => setOpen('menu')} title={t('shortcut.menu')}>
        <Icon name="search" /> <span>{t('menu.open')}</span> <kbd>{keysOf('menu')}</kbd>
      </button>
      <AccountMenu onHelp={() => setOpen('help')} onCalls={() => setOpen('calls')} />
      {open === 'menu' && <CommandMenu onCalls={() => setOpen('calls')} onClose={() => setOpen(null)} />}
      {open === 'help' && <Help onClose={() => setOpen(null)} />}
      {open === 'calls' && <ApiCalls onClose={() => setOpen(null)} />}
    </header>
  );
}

/**
 * Switch between environments. In the live environment, shows a word, a color and a border around the page, so that
 * users notice which environment they change.
 */
function EnvironmentSwitch(): ReactNode {
  const { session, environment } = useSigned();
  const { pathname } = useLocation();
  const navigate = useNavigate();
  const other: Environment = environment === 'live' ? 'test' : 'live';
  const mayChange = session.environments.includes(other);
  const go = (to: Environment): void => void navigate({ to: inEnvironment(pathname, to) as '/' });
  useShortcut('environment', () => go(other), mayChange);
  return (
    <div className="environment" role="group" aria-label={t('environment')}>
      {session.environments.map((each) => (
        <button
          key={each}
          type="button"
          className={each}
          aria-pressed={each === environment}
          title={each === other ? keysOf('environment') : undefined}
          onClick={() => go(each)}
        >
          {t(each === 'live' ? 'environment.live' : 'environment.test')}
        </button>
      ))}
    </div>
  );
}
