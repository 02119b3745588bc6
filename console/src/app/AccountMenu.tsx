import { type ReactNode, useRef } from 'react';
import { SERVICE, signOut } from '../api/client';
import { Icon } from '../kit/icon/Icon';
import { t, word } from '../kit/messages/t';
import { prefer, type Preferences, usePreferences } from '../kit/preferences';
import { useSigned } from '../session/session';

/** Menu with the signed-in user, the display preferences and the sign-out button. */
export function AccountMenu({ onHelp, onCalls }: { onHelp: () => void; onCalls: () => void }): ReactNode {
  const { session } = useSigned();
  const { scheme, language } = usePreferences();
  const details = useRef<HTMLDetailsElement>(null);
  const close = (): void => details.current?.removeAttribute('open');
  const leave = (): void => void signOut().finally(() => location.assign(`${SERVICE}signin`));
  return (
    <details
      className="account"
      ref={details}
      onKeyDown={(event) => {
        if (event.key === 'Escape') {
          close();
          details.current?.querySelector('summary')?.focus();
        }
      }}
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) close();
      }}
    >
      <summary title={session.name}>
        <Icon name="account" /> <span>{session.name}</span>
      </summary>
      <div className="panel">
        <p className="quiet">{t('account.scope', { scope: word('scope', session.scope) })}</p>
        <label>
          {t('scheme')}
          <select value={scheme} onChange={(event) => prefer({ scheme: event.target.value as Preferences['scheme'] })}>
            <option value="system">{t('scheme.system')}</option>
            <option value="light">{t('scheme.light')}</option>
            <option value="dark">{t('scheme.dark')}</option>
          </select>
        </label>
        <label>
          {t('language')}
          <select
            value={language}
            onChange={(event) => prefer({ language: event.target.value as Preferences['language'] })}
          >
            <option value="en" lang="en">
              English
            </option>
            <option value="de" lang="de">
              Deutsch
            </option>
          </select>
        </label>
        <button
          type="button"
          onClick={() => {
            close();
            onHelp();
          }}
        >
          {t('shortcut.help')}
        </button>
        <button
          type="button"
          onClick={() => {
            close();
            onCalls();
          }}
        >
          {t('calls.title')}
        </button>
        <a className="button" href={`${SERVICE}docs`} target="_blank" rel="noreferrer noopener">
          {t('api-docs')}
        </a>
        <button type="button" onClick={leave}>
          {t('sign-out')}
        </button>
      </div>
    </details>
  );
}
