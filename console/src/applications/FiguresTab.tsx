import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client';
import { FaultLine } from '../kit/form/FaultLine';
import { PageSkeleton } from '../kit/load/Skeleton';
import { t } from '../kit/messages/t';
import { PathLink } from '../kit/PathLink';
import { usePreferences } from '../kit/preferences';
import { formatDuration } from '../kit/time/format';
import { Time } from '../kit/time/Time';
import { useSigned } from '../session/session';
import { OVERVIEW_RANGES, type OverviewRange } from './application-filters';
import { useApplication, useApplicationOverview } from './application-queries';

/** Messages sent to an application, and the results of their deliveries. */
export function FiguresTab(): ReactNode {
  const { id } = useParams({ from: '/$env/applications/$id' });
  const { range = '24h' } = useSearch({ from: '/$env/applications/$id/' });
  const { environment: env } = useSigned();
  const navigate = useNavigate();
  const { data: application } = useApplication(id);
  const { data, error, isPending } = useApplicationOverview(id, range);
  return (
    <>
      <form className="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          {t('filter.range')}
          <select
            value={range}
            onChange={(event) =>
              void navigate({
                to: '/$env/applications/$id',
                params: { env, id },
                search: { range: event.target.value as OverviewRange },
              })
            }
          >
            {OVERVIEW_RANGES.map((each) => (
              <option key={each} value={each}>
                {t(`overview-range.${each}`)}
              </option>
            ))}
          </select>
        </label>
      </form>
      {isPending && <PageSkeleton />}
      <FaultLine fault={error} />
      {data && <Totals of={data} id={id} />}
      {data && <Bars of={data} />}
      {application && (
        <dl className="facts">
          <div>
            <dt>{t('application.endpoints')}</dt>
            <dd>{application.endpoint_count}</dd>
          </div>
          <div>
            <dt>{t('created')}</dt>
            <dd>
              <Time at={application.created_at} />
            </dd>
          </div>
          {Object.entries(application.metadata).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}

function Totals({ of: { total, waiting }, id }: { of: Schemas['OverviewItem']; id: string }): ReactNode {
  const { environment: env } = useSigned();
  const { language } = usePreferences();
  const number = new Intl.NumberFormat(language);
  return (
    <dl className="tiles">
      <div>
        <dt>{t('figure.sent')}</dt>
        <dd>{number.format(total.received)}</dd>
      </div>
      <div>
        <dt>{t('figure.delivered')}</dt>
        <dd>{number.format(total.delivered)}</dd>
      </div>
      <div className={total.failed + total.dlq > 0 ? 'bad' : ''}>
        <dt>{t('figure.failed')}</dt>
        <dd>
          {total.failed + total.dlq > 0 && <span aria-hidden="true">✕ </span>}
          {total.failed + total.dlq === 0 ? (
            0
          ) : (
            <PathLink to={`/${env}/events`} search={{ application: id, status: 'dlq,failed' }}>
              {number.format(total.failed + total.dlq)}
            </PathLink>
          )}
        </dd>
      </div>
      <div>
        <dt>{t('figure.waiting')}</dt>
        <dd>
          {number.format(waiting.count)}
          {waiting.is_capped && '+'}
        </dd>
      </div>
      <div className="long">
        <dt>{t('figure.latency')}</dt>
        <dd>
          {total.latency_ms
            ? `${formatDuration(total.latency_ms.p50, language)} / ${formatDuration(total.latency_ms.p95, language)}`
            : '–'}
        </dd>
      </div>
    </dl>
  );
}

/** Chart of an application's deliveries per time window, with the same figures as a table. */
function Bars({ of: { data } }: { of: Schemas['OverviewItem'] }): ReactNode {
  const most = Math.max(1, ...data.map(({ delivered, failed, dlq }) => delivered + failed + dlq));
  const busy = data.filter(({ received, attempts }) => received + attempts > 0);
  return (
    <section aria-labelledby="bars">
      <h2 id="bars">{t('figure.bars')}</h2>
      <div className="bars" aria-hidden="true">
        {data.map(({ start, delivered, failed, dlq }) => (
          <span key={start} className="bar">
            <span className="bar-bad" style={{ height: `${((failed + dlq) / most) * 100}%` }} />
            <span className="bar-good" style={{ height: `${(delivered / most) * 100}%` }} />
          </span>
        ))}
      </div>
      <p className="quiet legend">
        <span>
          <i className="bar-good" /> {t('figure.delivered')}
        </span>{' '}
        <span>
          <i className="bar-bad" /> {t('figure.failed')}
        </span>
      </p>
      <details>
        <summary>{t('figure.table')}</summary>
        <div className="scroll" tabIndex={0} role="region" aria-label={t('figure.table')}>
          <table className="plain">
            <thead>
              <tr>
                <th scope="col">{t('filter.range')}</th>
                <th scope="col">{t('figure.sent')}</th>
                <th scope="col">{t('figure.delivered')}</th>
                <th scope="col">{t('figure.failed')}</th>
              </tr>
            </thead>
            <tbody>
              {busy.map(({ start, received, delivered, failed, dlq }) => (
                <tr key={start}>
                  <td>
                    <Time at={start} />
                  </td>
                  <td>{received}</td>
                  <td>{delivered}</td>
                  <td>{failed + dlq}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </section>
  );
}
