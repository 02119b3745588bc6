import { Link, useLocation, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { Icon } from '../kit/icon/Icon';
import { t } from '../kit/messages/t';
import { prefer, usePreferences } from '../kit/preferences';
import { keysOf } from '../kit/shortcuts/registry';
import { useShortcut } from '../kit/shortcuts/use-shortcut';
import { useSigned } from '../session/session';
import { GROUPS, type SCREENS } from './navigation';

/** Id of the navigation, for the menu button that opens it on phones. */
export const NAVIGATION_ID = 'screens';

/** Links to all screens that the user may open. On phones, they are visible only while `isOpen`. */
export function Navigation({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }): ReactNode {
  const { can } = useSigned();
  const { sidebar } = usePreferences();
  const { pathname } = useLocation();
  useEffect(onClose, [pathname, onClose]);
  useEffect(() => {
    if (!isOpen) return undefined;
    const close = ({ key }: KeyboardEvent): void => {
      if (key === 'Escape') onClose();
    };
    document.addEventListener('keydown', close);
    return () => document.removeEventListener('keydown', close);
  }, [isOpen, onClose]);
  const isCollapsed = sidebar === 'collapsed';
  return (
    <nav
      id={NAVIGATION_ID}
      aria-label={t('nav')}
      className={`${isOpen ? 'open' : ''} ${isCollapsed ? 'collapsed' : ''}`}
    >
      {GROUPS.map(({ heading, screens }) => {
        const shown = screens.filter(({ scope }) => can(scope));
        return shown.length === 0 ? null : (
          <div key={heading} role="group" aria-label={heading === null ? undefined : t(heading)}>
            {heading !== null && (
              <p className="group" aria-hidden="true">
                {t(heading)}
              </p>
            )}
            {shown.map((screen) => (
              <ScreenLink key={screen.id} {...screen} />
            ))}
          </div>
        );
      })}
      <button
        type="button"
        className="collapse"
        aria-pressed={isCollapsed}
        title={t('nav.collapse')}
        onClick={() => prefer({ sidebar: isCollapsed ? 'open' : 'collapsed' })}
      >
        <Icon name="sidebar" /> <span>{t('nav.collapse')}</span>
      </button>
    </nav>
  );
}

function ScreenLink({ id, path, label }: (typeof SCREENS)[number]): ReactNode {
  const { environment: env } = useSigned();
  const navigate = useNavigate();
  useShortcut(id, () => void navigate({ to: path, params: { env } }));
  return (
    <Link to={path} params={{ env }} title={`${t(label)} (${keysOf(id)})`} activeProps={{ 'aria-current': 'page' }}>
      <Icon name={id} />
      <span>{t(label)}</span>
    </Link>
  );
}
