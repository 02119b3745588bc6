import './applications.css';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { serviceNowMs } from '../api/client';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { usePreferences } from '../kit/preferences';
import { TextFilter } from '../kit/TextFilter';
import { Since } from '../kit/time/Since';
import { useSigned } from '../session/session';
import { useApplications, useFailingApplications } from './application-queries';
import { NewApplication } from './NewApplication';

/** List of applications. Each application is a customer of the signed-in organization. */
export function ApplicationsScreen(): ReactNode {
  const filters = useSearch({ from: '/$env/applications' });
  const { environment: env, can } = useSigned();
  const navigate = useNavigate();
  const { data, error, isPending, hasNextPage, fetchNextPage } = useApplications(filters);
  const [isCreating, setCreating] = useState(false);
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  const count = data?.pages[0]?.count;
  const isFiltered = filters.search !== undefined;
  return (
    <div className="page">
      <title>{`${t('nav.applications')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.applications')}</h1>
        {count && rows.length > 0 && (
          <span className="quiet">
            {t(count.is_capped ? 'list.count-capped' : 'list.count', { count: count.value })}
          </span>
        )}
        {can('write') ? (
          <button type="button" className="primary" onClick={() => setCreating(true)}>
            {t('application.new')}
          </button>
        ) : (
          <span className="quiet">{t('needs-write')}</span>
        )}
      </div>
      {!isFiltered && <Failing />}
      {(isFiltered || rows.length > 0) && (
        <form className="filters" role="search" aria-label={t('filter')} onSubmit={(event) => event.preventDefault()}>
          <TextFilter
            label={t('application.search')}
            value={filters.search ?? ''}
            onChange={(search) =>
              void navigate({ to: '/$env/applications', params: { env }, search: search === '' ? {} : { search } })
            }
          />
          {isFiltered && (
            <button
              type="button"
              onClick={() => void navigate({ to: '/$env/applications', params: { env }, search: {} })}
            >
              {t('filter.clear')}
            </button>
          )}
        </form>
      )}
      {isPending && <p role="status">{t('loading')}</p>}
      <FaultLine fault={error} />
      {data &&
        rows.length === 0 &&
        (isFiltered ? (
          <p className="empty" role="status">
            {t('applications.no-match')}
          </p>
        ) : (
          <div className="empty" role="status">
            <h2>{t('applications.none')}</h2>
            <p>{t('applications.none-text')}</p>
          </div>
        ))}
      {rows.length > 0 && (
        <div className="scroll" tabIndex={0} role="region" aria-label={t('nav.applications')}>
          <table className="plain">
            <thead>
              <tr>
                <th scope="col">{t('application.name')}</th>
                <th scope="col">{t('application.uid')}</th>
                <th scope="col">{t('column.id')}</th>
                <th scope="col">{t('created')}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ id, name, uid, created_at: at }) => (
                <tr key={id}>
                  <td>
                    <Link to="/$env/applications/$id" params={{ env, id }} search={{}}>
                      {name}
                    </Link>
                  </td>
                  <td className="long">{uid ?? '–'}</td>
                  <td>
                    <code>{id}</code>
                  </td>
                  <td className="number">
                    <Since at={at} nowMs={serviceNowMs()} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {hasNextPage && (
        <p>
          <button type="button" onClick={() => void fetchNextPage()}>
            {t('more')}
          </button>
        </p>
      )}
      {isCreating && <NewApplication onClose={() => setCreating(false)} />}
    </div>
  );
}

/** Applications with failing endpoints. Renders nothing if no endpoint fails. */
function Failing(): ReactNode {
  const { environment: env } = useSigned();
  const { language } = usePreferences();
  const { data } = useFailingApplications();
  if (data === undefined || data.data.length === 0) return null;
  const share = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 });
  return (
    <section className="failing" aria-labelledby="failing">
      <h2 id="failing">{t('applications.failing')}</h2>
      <ul>
        {data.data.map((each) => (
          <li key={each.application}>
            <Link to="/$env/applications/$id" params={{ env, id: each.application }} search={{}}>
              {each.name}
            </Link>
            <span className="status bad">
              <span aria-hidden="true">✕</span> {t('applications.rate', { share: share.format(each.failure_rate) })}
            </span>
            <span className="quiet">
              {t('applications.failed-count', {
                failed: each.failed + each.dlq,
                retried: each.retried,
                endpoints: each.failing_endpoints,
              })}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
