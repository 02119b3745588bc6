import { Link, Outlet, useLocation, useNavigate, useParams, useRouteContext } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Environment } from '../api/client';
import { t } from '../kit/messages/t';
import { keysOf } from '../kit/shortcuts/registry';
import { useShortcut } from '../kit/shortcuts/use-shortcut';
import { SignedProvider, useSigned } from '../session/session';
import { AccountMenu } from './AccountMenu';
import { CommandMenu } from './CommandMenu';
import { Help } from './Help';
import { inEnvironment } from './jump';
import { SCREENS } from './navigation';
import { Reachable } from './Reachable';

/** What stands around every screen. */
export function Shell(): ReactNode {
  const { env } = useParams({ from: '/$env' });
  const { session } = useRouteContext({ from: '/$env' });
  return (
    <SignedProvider session={session} environment={env}>
      <div className={`shell ${env}`}>
        <a className="skip" href="#main">{t('skip')}</a>
        <Top />
        <Navigation />
        <main id="main" tabIndex={-1}>
          <Reachable />
          <Outlet key={env} />
        </main>
      </div>
    </SignedProvider>
  );
}

function Top(): ReactNode {
  const { session } = useSigned();
  const [open, setOpen] = useState<'menu' | 'help' | null>(null);
  useShortcut('menu', () => setOpen('menu'));
  useShortcut('help', () => setOpen('help'));
  return (
    <header className="top">
      <span className="brand">Posthorn</span>
      <span className="organization">{session.organization.name}</span>
      <EnvironmentSwitch />
      <button type="button" className="search" onClick={() => setOpen('menu')} title={t('shortcut.menu')}>
        <span>{t('menu.open')}</span> <kbd>{keysOf('menu')}</kbd>
      </button>
      <AccountMenu onHelp={() => setOpen('help')} />
      {open === 'menu' && <CommandMenu onClose={() => setOpen(null)} />}
      {open === 'help' && <Help onClose={() => setOpen(null)} />}
    </header>
  );
}

/** Live is told by a word, a colour and a line around the page: nobody shall replay a thousand events in the wrong one. */
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
        <button key={each} type="button" className={each} aria-pressed={each === environment} title={each === other ? keysOf('environment') : undefined} onClick={() => go(each)}>
          {t(each === 'live' ? 'environment.live' : 'environment.test')}
        </button>
      ))}
    </div>
  );
}

function Navigation(): ReactNode {
  const { environment: env, can } = useSigned();
  const navigate = useNavigate();
  useShortcut('events', () => void navigate({ to: '/$env/events', params: { env } }));
  useShortcut('destinations', () => void navigate({ to: '/$env/destinations', params: { env } }));
  useShortcut('emails', () => void navigate({ to: '/$env/emails', params: { env } }));
  useShortcut('inbox', () => void navigate({ to: '/$env/inbox', params: { env } }));
  useShortcut('suppressions', () => void navigate({ to: '/$env/suppressions', params: { env } }));
  useShortcut('domains', () => void navigate({ to: '/$env/domains', params: { env } }));
  useShortcut('keys', () => void navigate({ to: '/$env/keys', params: { env } }), can('admin'));
  return (
    <nav aria-label={t('nav')}>
      {SCREENS.filter(({ scope }) => can(scope)).map(({ id, path, label }) => (
        <Link key={id} to={path} params={{ env }} title={keysOf(id)} activeProps={{ 'aria-current': 'page' }}>{t(label)}</Link>
      ))}
    </nav>
  );
}
