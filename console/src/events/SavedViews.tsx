import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { CopyButton } from '../kit/CopyButton';
import { Disclosure } from '../kit/Disclosure';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import type { EventSearch } from './columns';
import { useSavedViews, VIEWS_MAX } from './saved-views';

/** Links with a name, filters and columns. They are stored in this browser. */
export function SavedViews({ search }: { search: EventSearch }): ReactNode {
  const { environment: env, session } = useSigned();
  const { views, save, remove } = useSavedViews(`${session.organization.id}.${env}`);
  const [name, setName] = useState('');
  const isFull = views.length >= VIEWS_MAX && !views.some((each) => each.name === name.trim());
  const keep = (): void => {
    save({ name, search });
    setName('');
  };
  return (
    <Disclosure label={t('views')}>
      {(close) => (
        <div className="views">
          {views.length === 0 && <p className="quiet">{t('views.none')}</p>}
          <ul>
            {views.map((view) => (
              <li key={view.name}>
                <Link to="/$env/events" params={{ env }} search={view.search} onClick={close}>
                  {view.name}
                </Link>
                <button
                  type="button"
                  className="small"
                  aria-label={t('views.remove', { name: view.name })}
                  onClick={() => remove(view.name)}
                >
                  ✕
                </button>
              </li>
            ))}
          </ul>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              keep();
            }}
          >
            <label>
              {t('views.name')}
              <input value={name} maxLength={60} autoComplete="off" onChange={({ target }) => setName(target.value)} />
            </label>
            <button type="submit" disabled={name.trim() === '' || isFull}>
              {t('views.save')}
            </button>
          </form>
          {isFull && <p className="quiet">{t('views.full', { count: VIEWS_MAX })}</p>}
          <CopyButton text={() => location.href} label={t('views.copy')} />
        </div>
      )}
    </Disclosure>
  );
}
